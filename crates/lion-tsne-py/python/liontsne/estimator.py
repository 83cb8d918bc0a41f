"""`LionTSNE`: a t-SNE map as a scikit-learn estimator that places new rows and finds outliers."""

import os
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from liontsne import _params, _rows, _tables
from liontsne._estimator import MapEstimator
from liontsne._landmarks import FitsLandmarks
from liontsne._native import Map, Placer
from liontsne._show import ShowsMap
from liontsne._transfer import TransfersLabels
from liontsne._update import OF_UPDATES, UpdatesMap

if TYPE_CHECKING:
    from liontsne._explain import Explanation
    from liontsne.placements import Placements

BESIDE_OUTLIER = 2  # the codes of the verdicts from here on are those of strange rows
MANY, NEARLY_ALL = 20, 0.98  # of so many rows such a share is too large to be chance
DEFAULT_ALPHA = 0.01  # the share of ordinary rows that may be called outliers


@dataclass(eq=False, repr=False, match_args=False)
class LionTSNE(ShowsMap, FitsLandmarks, UpdatesMap, TransfersLabels, MapEstimator):
    """A t-SNE map on which new rows are placed by LION (local interpolation with outlier control).

    A new row that is like the rows of the map gets a position among its neighbours. A row that is
    not is an outlier, and gets a position apart. Placing never changes the map: a row of the map is
    placed where it is. `update` makes the next map, with new rows in it.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    perplexity : float or "auto", default=30.0
        Effective number of neighbours. The table needs three times as many other rows. If it has
        fewer rows than the default needs, the perplexity is as large as they allow, with a warning;
        "auto" does the same without one. Any other number that is too large is refused.
    early_exaggeration : float, default=12.0
        The factor of the attraction during the first iterations.
    learning_rate : float or "auto", default="auto"
        Step length.
    descent : {"accelerated", "classic"}, default="accelerated"
        How the map moves down the gradient. "accelerated" has more momentum and longer steps,
        each cheaper to compute, and mostly reaches a lower KL divergence in less time. "classic"
        does as other t-SNE programs do. Maps of fewer than 5000 different rows always take it.
    max_iter : int or "auto", default="auto"
        The number of iterations. "auto" is 750 of the classic descent. The accelerated one goes
        on until the KL divergence changes by less than 2 % within 50 iterations, at most 1000.
    exaggeration_iter : int or "auto", default="auto"
        How many of them, from the first on, exaggerate the attraction. "auto" is a third of
        `max_iter`, at most 250. Of the accelerated descent it is three tenths, at most 150.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between rows.
    method : {"auto", "exact", "barnes_hut", "fft"}, default="auto"
        How repulsion is computed.
    init : {"pca", "spectral", "random"} or array of shape (n_samples, n_components), default="pca"
        The first layout.
    pca : int, "auto" or None, default="auto"
        Components of the PCA before t-SNE. "auto" is 50 if there are more columns.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched.
    radius : str or float, default="99%"
        r_x: rows within this distance are neighbours. A distance, or a percentile of the distances
        from each row to its nearest other row.
    power : float or "auto", default="auto"
        The power of inverse-distance weighting, for `local="idw"`; "auto" is cross-validated.
    r_y : str, float or None, default=None
        How far outliers are from the rest of the map: a distance, or a percentile P of the distances
        between nearest positions, which makes it 2 P + r_close. None is "100%".
    r_close : str, float or None, default=None
        How far outliers are from the position of their group: a distance or such a percentile. None
        is "10%".
    local : {"energy", "attraction", "idw"}, default="energy"
        The rule for the position of an ordinary row. "energy": where t-SNE's attraction and
        repulsion balance. "attraction": the same without the repulsion. "idw": inverse-distance
        weighting, as in the paper.
    taper : {"none", "triangle", "trapezoid"}, default="none"
        Whether the weight of neighbours falls to 0 towards the radius.
    split_clusters : bool, default=False
        If neighbours lie in clusters far apart, keep those around the nearest one.
    alpha : float, default=0.01
        The share of ordinary rows that may be called outliers. A row is an outlier if its score, a
        p-value, is at most `alpha`. A map of fewer than 99 rows cannot tell 1 %. There the default
        is 1 / (n_samples + 1), and 0.01 means the default.
    verdict : {"calibrated", "paper"}, default="calibrated"
        The rule for outliers. "calibrated": by the p-value. "paper": fewer than two neighbours
        within the radius. Maps of fewer than 20 rows, and files of earlier versions, have only the
        rule of the paper.
    fdr : float or None, default=None
        A false discovery rate. Of the rows of one call that are called outliers, at most this share
        is ordinary, on average (Benjamini and Hochberg). It applies on top of `alpha`.
    pca_residual : str, default="none"
        For `verdict="paper"`: a row is an outlier too if its PCA residual is larger than this
        percentile of the residuals of the map's rows.
    outliers : {"nearest", "random"}, default="nearest"
        Which free position an outlier gets.
    scale : {"auto", "standard", "robust", "none"} or None, default=None
        How columns of a data frame are scaled. "auto" leaves columns that share a unit as they are,
        and scales those of different units and kinds to unit variance. None is "auto" for frames
        with columns that are no numbers or with gaps, and "none" for all other rows.
    missing : {"mean", "median", "drop", "refuse"} or None, default=None
        What becomes of gaps in a data frame. None is "median" for frames, and "refuse" for arrays.
    random_state : int, RandomState or None, default=None
        The seed. None is 0: the same rows give the same map.
    n_jobs : int or None, default=None
        Threads; None and -1 are all. No result depends on it.
    verbose : int, default=0
        1 shows how far the fit is.
    callback : callable or None, default=None
        Called as `callback(stage, done, total, kl)` while fitting. If it returns False during the
        descent, the map reached so far is kept.
    off_plane : str or None, default=None
        The earlier name of `pca_residual`.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_samples, n_components)
        The positions of the rows.
    kl_divergence_ : float
        How badly the map keeps neighbourhoods; nan for positions made elsewhere.
    n_iter_ : int
        Iterations done.
    perplexity_ : float
        The perplexity that was used.
    radius_ : float
        The distance within which rows are neighbours.
    alpha_ : float or None
        The largest score of an outlier; None with the rule of the paper.
    promised_ : float or None
        The share of ordinary rows that is called outliers: `alpha_`, rounded down to a multiple of
        1 / (n_samples + 1). None with the rule of the paper, which promises nothing.
    power_ : float
        The power of inverse-distance weighting.
    power_curve_ : array of shape (n, 2)
        Powers and their cross-validated errors.
    ids_ : array of shape (n_samples,)
        The ids of the rows.
    labels_ : array of shape (n_samples,) or None
        The labels of the rows, if they have any.
    sampled_from_ : dict
        For a map of landmarks: what they stand for. See `fit_landmarks`.
    update_ : dict
        For a map that was updated: what the last update did. See `update`.
    table_ : list of (column, kind, words)
        For a data frame whose columns had to be made numbers: what became of each column.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from liontsne import LionTSNE
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.normal(size=(120, 4)) + 6 * rng.integers(0, 3, size=(120, 1))).astype("float32")
    >>> lion = LionTSNE(perplexity=10).fit(X)
    >>> bool((lion.transform(X) == lion.embedding_).all())
    True
    >>> placed = lion.place([[0.1, 0.2, 0.1, 0.0], [70, 80, 90, 60]])
    >>> list(placed.verdict)
    ['interpolated', 'outlier']
    """

    n_components: int = 2
    perplexity: float | str = 30.0
    _: KW_ONLY
    early_exaggeration: float = 12.0
    learning_rate: float | str = "auto"
    descent: str = "accelerated"
    max_iter: int | str = "auto"
    exaggeration_iter: int | str = "auto"
    metric: str = "euclidean"
    method: str = "auto"
    init: Any = "pca"
    pca: int | str | None = "auto"
    neighbors: str = "auto"
    radius: str | float = "99%"
    power: float | str = "auto"
    r_y: str | float | None = None
    r_close: str | float | None = None
    local: str = "energy"
    taper: str = "none"
    split_clusters: bool = False
    alpha: float = DEFAULT_ALPHA
    verdict: str = "calibrated"
    fdr: float | None = None
    pca_residual: str = "none"
    outliers: str = "nearest"
    scale: str | None = None
    missing: str | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: _params.Progress | None = None
    off_plane: str | None = None

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ids: Any = None,
        neighbors: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fits the map.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            Sparse rows go through a PCA and never become dense. Columns of a pandas, polars or
            pyarrow frame need not be numbers: booleans and dates become numbers, text of few
            different values a category, other text is left out, and gaps are filled.
        y : array of shape (n_samples,) or None
            Labels, if they are classes. The map keeps them for pictures, evaluation and
            `predict_label`. They are never used to fit.
        ids : sequence of distinct values or None
            Names of the rows, returned as `nearest_id`. A pandas index that names each row is used
            without asking.
        neighbors : pair of arrays (indices, distances), each of shape (n_samples, k), or None
            Nearest neighbours that you know already, nearest first. They replace the search. `k` is
            at least three times the perplexity, not counting the row itself, which may be among
            them. Distances can be of any metric. `X` is needed all the same: new rows are compared
            with it.
        groups : sequence or None
            The group of each row: a patient, a writer, a day. Give it if new rows come from other
            groups. The calibration of verdicts then leaves out whole groups.
        """
        table = _tables.prepared(self, X)
        if table is not None and table.kept is not None:
            y, ids, groups = table.only_kept(y, ids, groups)
        rows, reducer, seed = self._rows_to_fit(X, table)
        params = self._fit_params(reducer, seed) | {"init": _params.init(self.init)}
        if (known := _params.neighbors(neighbors)) is not None:
            params["neighbours"] = known
        if groups is not None:
            params["groups"] = np.unique(np.asarray(groups), return_inverse=True)[1].ravel().tolist()
        with self._progress(self.callback) as progress:
            map = _rows.asked(
                rows,
                Map.fit,
                of=self,
                **self._known(X, y, ids, len(rows), reducer, table),
                params=params,
                progress=progress,
            )
        _params.warn_of_perplexity(self.perplexity, map.perplexity, len(rows))
        return self._hold(map, reducer, seed)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fits the map and returns the positions of its rows."""
        return self.fit(X, y, **fit_params).embedding_

    @classmethod
    def from_embedding(
        cls, X: Any, Y: Any, y: Any = None, *, ids: Any = None, **params: Any
    ) -> Self:
        """Adopts positions made elsewhere, by umap-learn, openTSNE or anything else.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : array of shape (n_samples, 2) or (n_samples, 3)
            Their positions.
        y, ids
            As for `fit`.
        **params
            Parameters of the constructor. Those of the descent have no effect.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(80, 6))
        >>> lion = LionTSNE.from_embedding(X, X[:, :2], perplexity=10)
        >>> bool(np.allclose(lion.transform(X), X[:, :2]))
        True
        """
        places = np.ascontiguousarray(Y, dtype=np.float32)
        if places.ndim != 2:
            raise ValueError(
                f"Y must be a table with one place for each row, not an array of shape {places.shape}"
            )
        self = cls(**{"n_components": places.shape[1]} | params)
        table = _tables.prepared(self, X)
        if table is not None and table.kept is not None:
            if len(places) != len(X):
                raise ValueError(f"X has {len(X)} rows but Y has {len(places)} places")
            places = np.ascontiguousarray(places[table.kept])
            y, ids, _ = table.only_kept(y, ids, None)
        rows, reducer, seed = self._rows_to_fit(X, table)
        map = _rows.asked(
            rows,
            Map.fit,
            of=self,
            places=places,
            **self._known(X, y, ids, len(rows), reducer, table),
            params=self._fit_params(reducer, seed),
        )
        return self._hold(map, reducer, seed)

    def _rows_to_fit(
        self, X: Any, table: _tables.Prepared | None = None
    ) -> tuple[np.ndarray, _rows.SparsePca | None, int]:
        seed = _params.seed(self.random_state)
        self.__dict__.pop("table_", None)
        if table is not None:
            if type(X) is not np.ndarray:
                self.feature_names_in_ = np.array(table.names, dtype=object)
            self.n_features_in_ = len(table.names)
            self.table_ = table.said
            return table.rows, None, seed
        rows = _rows.checked(self, X, reset=True)
        if not issparse(rows):
            return rows, None, seed
        metric = _params.one_of("metric", self.metric)
        reducer = _rows.SparsePca.fit(rows, _params.pca(self.pca), metric, seed)
        return reducer.scores(rows), reducer, seed

    def _known(
        self,
        X: Any,
        y: Any,
        ids: Any,
        count: int,
        reducer: _rows.SparsePca | None,
        table: _tables.Prepared | None = None,
    ) -> dict[str, Any]:
        """What is known of the rows beside their values."""
        if table is not None:
            return {
                "labels": _rows.labels_of(y, count),
                "ids": table.ids(X, ids, count),
                "columns": table.columns,
                "recipe": table.recipe,
            }
        names = getattr(self, "feature_names_in_", None)
        return {
            "labels": _rows.labels_of(y, count),
            "ids": _rows.ids_of(X, ids, count),
            "columns": None if names is None or reducer else names.tolist(),
        }

    def _fit_params(self, reducer: _rows.SparsePca | None, seed: int) -> dict[str, Any]:
        return {
            "perplexity": _params.perplexity(self.perplexity),
            "descent": _params.one_of("descent", self.descent),
            "iterations": _params.whole_or_auto("max_iter", self.max_iter, 1),
            "exaggeration": _params.number("early_exaggeration", self.early_exaggeration),
            "exaggeration_iterations": _params.whole_or_auto("exaggeration_iter", self.exaggeration_iter),
            "learning_rate": _params.number_or_auto("learning_rate", self.learning_rate),
            "dims": _params.dims(self.n_components),
            "pca": "none" if reducer else _params.pca(self.pca),
            "metric": "euclidean" if reducer else _params.one_of("metric", self.metric),
            "method": _params.method(self.method),
            "neighbours": _params.one_of("neighbors", self.neighbors),
            "radius": _params.radius("radius", self.radius),
            "power": _params.number_or_auto("power", self.power),
            "r_y": _params.radius("r_y", self.r_y),
            "r_close": _params.radius("r_close", self.r_close),
            "seed": seed,
            "threads": _params.threads(self.n_jobs),
        }

    def _options(self, seed: int) -> dict[str, Any]:
        """How rows are placed; radius and power are the map's."""
        options = {
            "local": _params.one_of("local", self.local),
            "taper": _params.one_of("taper", self.taper),
            "split_clusters": bool(self.split_clusters),
            "positions": _params.one_of("outliers", self.outliers),
            "seed": seed,
            "threads": _params.threads(self.n_jobs),
        }
        rule = _params.one_of("verdict", self.verdict)
        name, limit = "pca_residual", self.pca_residual
        if self.off_plane is not None:
            name, limit = "off_plane", self.off_plane
        # The default is what the map can do: small maps and old files have the paper's rule alone.
        if rule == "paper":
            options |= {"verdict": rule, name: limit}
        elif limit != "none":
            raise ValueError(f'{name} is for verdict="paper": the calibrated verdict tests the residual')
        for name, default in (("alpha", DEFAULT_ALPHA), ("fdr", None)):
            if (share := getattr(self, name)) != default:
                options[name] = _params.number(name, share)
        return options

    def _hold(self, map: Map, reducer: _rows.SparsePca | None, seed: int, **more: Any) -> Self:
        """Takes a map as what was fitted, ready for new rows."""
        self._placer = Placer(map, self._options(seed) | more)
        self._map, self._reducer, self._seed, self._more = map, reducer, seed, more
        self._recipe = _tables.names_of(map)
        self.embedding_ = map.embedding
        self.kl_divergence_ = float("nan") if map.kl is None else map.kl
        self.n_iter_ = map.n_iter
        self.perplexity_ = map.perplexity
        self.radius_ = self._placer.r_x
        self.alpha_ = self._placer.alpha
        self.promised_ = self._placer.promised
        self.power_ = self._placer.power
        self.power_curve_ = map.power_curve
        for of_another_map in ("sampled_from_", *OF_UPDATES):
            self.__dict__.pop(of_another_map, None)
        if map.sampled_from is not None:
            self.sampled_from_ = map.sampled_from
        return self

    # Placing

    def transform(self, X: Any) -> np.ndarray:
        """Returns the positions of rows. A row of the map has its own position. Outliers lie apart."""
        return self._ask(self._ready().coordinates, X)

    def predict(self, X: Any) -> np.ndarray:
        """Returns -1 for outliers (`outlier` and `beside-outlier`) and 1 for all other rows."""
        verdicts, _ = self._ask(self._ready().judge, X)
        warn_of_outliers(verdicts)
        return np.where(verdicts >= BESIDE_OUTLIER, -1, 1)

    def score_samples(self, X: Any) -> np.ndarray:
        """Returns the scores: p-values from 0 to 1, where small means unusual. Of ordinary rows, a
        share p has a score of at most p."""
        return self._ask(self._ready().score, X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns numbers that are negative for outliers. Among outliers, and among other rows, small
        means unusual.

        An outlier has its score minus 1, any other row has its score. A threshold on the score would
        not do: `alpha` depends on the map, and the rule of the paper does not use the score.
        """
        verdicts, scores = self._ask(self._ready().judge, X)
        return np.where(verdicts >= BESIDE_OUTLIER, np.minimum(scores - 1, -np.finfo(float).eps), scores)

    def place(self, X: Any, *, ids: Any = None) -> "Placements":
        """Returns everything that is known of each row: position, verdict, score, nearest row, group.

        The result is a table for pyarrow, polars, DuckDB and pandas. It can be plotted.
        """
        from liontsne.placements import Placements

        ready, rows = self._ready(), self._rows_to_place(X)
        native = _rows.asked(rows, ready.place, _rows.ids_of(X, ids, len(rows)), of=self)
        warn_of_outliers(native.verdict_codes)
        return Placements(native, self)

    def _ask(self, ask: Callable[[np.ndarray], Any], X: Any) -> Any:
        return _rows.asked(self._rows_to_place(X), ask, of=self)

    def _ready(self) -> Placer:
        try:
            return self._placer
        except AttributeError:
            check_is_fitted(self)
            raise

    def _rows_to_place(self, X: Any) -> np.ndarray:
        if self._recipe:
            return _tables.encoded(self._map, X, self._recipe)
        if "table_" in self.__dict__:
            X = _tables.list_rows(X, self.feature_names_in_.tolist())
            return _rows.quick(X, X.shape[1])
        if self._reducer is None and "feature_names_in_" not in self.__dict__:
            rows = _rows.quick(X, self.n_features_in_)
            if rows is not None:
                return rows
        rows = _rows.checked(self, X, reset=False)
        if self._reducer is not None:
            return self._reducer.scores(rows)
        return rows.toarray(order="C") if issparse(rows) else rows

    # Keeping

    def explain(
        self, rows: Any = None, *, text: str | None = None, by: str = "auto", select: Any = None
    ) -> "Explanation":
        """What sets the clusters of the map apart, and a name for each.

        Parameters
        ----------
        rows : data frame or dict of columns, or None
            A value for each row of the map, in their order: numbers, categories, texts. None takes
            the columns that the map was fitted to.
        text : str or None
            The column of texts to take keywords from. None takes the one with the longest texts.
        by : {"auto", "labels", "density"}, default="auto"
            Where clusters come from. "auto": labels if the map has them, else density.
        select : row numbers or mask, or None
            Explains these rows against the rest, in the place of clusters.

        Returns
        -------
        Explanation
            Prints readably; `clusters` has everything, `to_pandas()` a line for each column that
            sets a cluster apart, `labels()` the cluster of each row.

        Examples
        --------
        >>> import numpy as np
        >>> from liontsne import LionTSNE
        >>> rng = np.random.default_rng(0)
        >>> X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + [20, 0, 0]])
        >>> lion = LionTSNE(random_state=0).fit(X)
        >>> found = lion.explain({"age": X[:, 0]}, by="density")
        >>> sorted(cluster["name"] for cluster in found.clusters if cluster["level"] == 1)
        ['high age', 'low age']
        """
        from liontsne._explain import explain

        check_is_fitted(self)
        return explain(self._map, rows, text, by, select)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the map file. `liontsne.load` and the program `lion` read it. An old file stays
        intact until the new one is complete."""
        self._ready()
        self._kept().save(os.fspath(path))

    def _kept(self) -> Map:
        """The map as files have it: with the PCA of sparse rows, if it is of such."""
        return self._map if self._reducer is None else self._reducer.kept_in(self._map)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_map" in state:
            state["_map"] = state["_map"].to_bytes()
            for made_again in ("_placer", "embedding_", "power_curve_"):
                del state[made_again]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        kept = state.pop("_map", None)
        told = {name: state.pop(name) for name in OF_UPDATES if name in state}
        super().__setstate__(state)
        if kept is not None:
            self._hold(Map.from_bytes(kept), self._reducer, self._seed, **self._more)
        self.__dict__.update(told)

    # What scikit-learn asks for

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __repr__(self, N_CHAR_MAX=700) -> str:
        words = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        if "_map" not in self.__dict__:
            return words
        return f"{words}  # {self._in_words()}, r_x {self.radius_:.4g}"

    def _labels(self) -> list[str] | None:
        return self._map.labels


def warn_of_outliers(verdicts: np.ndarray) -> None:
    """Says what is likely wrong where next to no row is like the rows of the map."""
    strange = np.count_nonzero(verdicts >= BESIDE_OUTLIER)
    if len(verdicts) >= MANY and strange >= NEARLY_ALL * len(verdicts):
        warnings.warn(
            f"{strange} of {len(verdicts)} rows are outliers: most likely their columns are scaled or "
            "ordered otherwise than those of the map. Prepare them as the rows of the fit were: of a "
            "pipeline, call the pipeline itself and not its last step",
            stacklevel=3,
        )
