"""`TSNE`: the plain map, with scikit-learn's names and defaults."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from liontsne import _params, _rows
from liontsne._estimator import MapEstimator
from liontsne._native import Map

# The steps of scikit-learn's descent are multiplied by 4, ours are not.
STEP = 4.0
LARGEST_ANGLE = 0.5


@dataclass(eq=False, repr=False, match_args=False)
class TSNE(MapEstimator):
    """t-SNE with the names and defaults of `sklearn.manifold.TSNE`. It can replace it.

    These things differ:

    - `n_components` is 1, 2 or 3.
    - `perplexity` is at most a third of the number of other rows.
    - `metric` is "euclidean" or "cosine".
    - The descent always takes `max_iter` iterations.
    - `method` can also be "fft" and "auto", and `init` can be "spectral".
    - `n_jobs=None` is all threads, and `random_state=None` is 0.

    What cannot be done as in scikit-learn is refused, or leads to a warning.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    perplexity : float or "auto", default=30.0
        Effective number of neighbours. The default is less where there are fewer than 91 rows, with
        a warning; "auto" is the same without one.
    early_exaggeration : float, default=12.0
        The factor of the attraction during the first 250 iterations.
    learning_rate : float or "auto", default="auto"
        Step length, as scikit-learn counts it: a fourth of what other programs call so.
    max_iter : int, default=1000
        The number of iterations.
    n_iter_without_progress : int
        Not used: the descent does not end early.
    min_grad_norm : float
        Not used: the descent does not end early.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between rows.
    metric_params : None
        Neither metric has any.
    init : {"pca", "random", "spectral"} or array of shape (n_samples, n_components), default="pca"
        The first layout.
    verbose : int, default=0
        1 shows how far the fit is.
    random_state : int, RandomState or None, default=None
        The seed.
    method : {"barnes_hut", "exact", "fft", "auto"}, default="barnes_hut"
        How repulsion is computed; "auto" is the quickest.
    angle : float, default=0.5
        Opening angle of Barnes-Hut; at most 0.5.
    n_jobs : int or None, default=None
        Threads; None and -1 are all.

    Attributes
    ----------
    embedding_, kl_divergence_, n_iter_, learning_rate_, n_features_in_, feature_names_in_
        As in scikit-learn. `learning_rate_` is that of the exaggerated iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from liontsne import TSNE
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]] * 5) + np.arange(20)[:, None] / 9
    >>> TSNE(init="random", perplexity=3).fit_transform(X).shape
    (20, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float | str = 30.0
    early_exaggeration: float = 12.0
    learning_rate: float | str = "auto"
    max_iter: int = 1000
    n_iter_without_progress: int = 300
    min_grad_norm: float = 1e-7
    metric: str = "euclidean"
    metric_params: None = None
    init: Any = "pca"
    verbose: int = 0
    random_state: Any = None
    method: str = "barnes_hut"
    angle: float = 0.5
    n_jobs: int | None = None

    def fit_transform(self, X: Any, y: Any = None, *, neighbors: Any = None) -> np.ndarray:
        """Fits the map and returns the positions of its rows."""
        return self.fit(X, neighbors=neighbors).embedding_

    def fit(self, X: Any, y: Any = None, *, neighbors: Any = None) -> Self:
        """Fits the map. `y` is not used. `neighbors` are nearest neighbours that you know already, as
        for `LionTSNE.fit`."""
        rows = _rows.checked(self, X, reset=True, sparse=False)
        params = self._fit_params()
        if (known := _params.neighbors(neighbors)) is not None:
            params["neighbours"] = known
        names = getattr(self, "feature_names_in_", None)
        with self._progress() as progress:
            map = _rows.asked(
                rows,
                Map.fit,
                of=self,
                columns=None if names is None else names.tolist(),
                params=params,
                progress=progress,
            )
        _params.warn_of_perplexity(self.perplexity, map.perplexity, len(rows))
        self.embedding_ = map.embedding
        self.kl_divergence_ = map.kl
        self.n_iter_ = map.n_iter
        automatic = max(len(rows) / params["exaggeration"], 50.0)
        self.learning_rate_ = (params["learning_rate"] or automatic) / STEP
        return self

    def _fit_params(self) -> dict[str, Any]:
        if self.metric_params:
            raise ValueError(
                f"metric_params must be None: the {self.metric} metric has no parameters"
            )
        if self.n_iter_without_progress != 300 or self.min_grad_norm != 1e-7:
            warnings.warn(
                "n_iter_without_progress and min_grad_norm have no effect: "
                "the descent takes max_iter iterations",
                stacklevel=3,
            )
        rate = _params.number_or_auto("learning_rate", self.learning_rate)
        return {
            "perplexity": _params.perplexity(self.perplexity),
            "descent": "classic",
            "iterations": _params.whole("max_iter", self.max_iter, 1),
            "exaggeration": _params.number("early_exaggeration", self.early_exaggeration),
            "exaggeration_iterations": 250,
            "learning_rate": None if rate is None else STEP * rate,
            "dims": _params.dims(self.n_components),
            "pca": "none",
            "metric": _params.one_of("metric", self.metric),
            "method": _params.method(self.method),
            "theta": self._theta(),
            "init": _params.init(self.init),
            "seed": _params.seed(self.random_state),
            "threads": _params.threads(self.n_jobs),
        }

    def _theta(self) -> float:
        angle = _params.number("angle", self.angle)
        if angle > LARGEST_ANGLE and self.method in ("barnes_hut", "barnes-hut"):
            warnings.warn(
                f"angle {angle} is taken as {LARGEST_ANGLE}: larger ones harm the map", stacklevel=4
            )
        return min(angle, LARGEST_ANGLE)
