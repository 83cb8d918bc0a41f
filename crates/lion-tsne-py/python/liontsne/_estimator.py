"""What `LionTSNE` and `TSNE` have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    kl_divergence_: float
    n_features_in_: int

    @contextmanager
    def _progress(self, callback: Progress | None = None) -> Iterator[Progress | None]:
        """Tells the callback how far the fit is, and shows it if `verbose`."""
        bar = _progress.bar() if self.verbose else None
        try:
            yield _progress.listener(bar, callback)
        finally:
            if bar:
                bar.close()

    def _in_words(self) -> str:
        """What was fitted, in one line."""
        rows, dims = self.embedding_.shape
        known = "adopted" if np.isnan(self.kl_divergence_) else f"KL divergence {self.kl_divergence_:.3f}"
        return f"{rows} rows of {self.n_features_in_} columns on a {dims}-D map, {known}"

    def _labels(self) -> list[str] | None:
        """The labels that the map has for its rows."""
        return None

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks show: scikit-learn's diagram and, once fitted, a picture of the map that
        needs no kernel."""
        shown = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown and "embedding_" in self.__dict__:
            from liontsne._picture import of_map

            shown["text/html"] += of_map(self.embedding_, self._labels(), f"{self._in_words()}.")
        return shown

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
