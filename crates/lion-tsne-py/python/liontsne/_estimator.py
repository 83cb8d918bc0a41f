"""What `LionTSNE` and `TSNE` have in common."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from liontsne import _progress
from liontsne._params import Progress


class MapEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator that fits a map. Those that inherit from it are dataclasses, because scikit-learn
    finds parameters in the signature of the constructor; how they are compared and printed is left
    to scikit-learn."""

    verbose: int
    embedding_: np.ndarray

    @contextmanager
    def _progress(self, callback: Progress | None = None) -> Iterator[Progress | None]:
        """Tells the callback how far the fit is, and shows it if `verbose`."""
        bar = _progress.bar() if self.verbose else None
        try:
            yield _progress.listener(bar, callback)
        finally:
            if bar:
                bar.close()

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
