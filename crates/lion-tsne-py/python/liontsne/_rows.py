"""Tables of any kind become rows of float32, as scikit-learn checks them; values are checked by the
native module."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import validate_data

from liontsne import _values
from liontsne._native import Map

# Up to so many columns a covariance matrix is small enough; beyond, vectors are found one by one.
COVARIANCE_UP_TO = 2000
COMPONENTS = 50
# What NumPy and pandas say of values that are no numbers.
OF_VALUES = ("could not convert", "argument must be", "DType", "dtype", "Cannot cast", "cannot cast")


def checked(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Any:
    """Rows of float32 in C order, or a sparse matrix in rows. `reset` at fit: names and number of
    columns are learnt."""
    if not issparse(X) and (listed := _values.list_column(X)) is not None:
        return of_lists(estimator, *listed, reset=reset)
    if not reset:
        X = _values.in_order(X, getattr(estimator, "feature_names_in_", ()))
    try:
        with np.errstate(over="ignore"):
            return validate_data(
                estimator,
                X,
                reset=reset,
                dtype=np.float32,
                order="C",
                accept_sparse="csr" if sparse else False,
                ensure_all_finite=issparse(X),
                ensure_min_samples=2 if reset else 1,
            )
    except (TypeError, ValueError) as error:
        raise type(error)(plainer(X, error)) from None


def plainer(X: Any, error: Exception) -> str:
    """Which value of these rows it is that NumPy cannot take; else its own sentence.

    >>> plainer([["1", "blue"]], ValueError("could not convert string to float: 'blue'"))
    "row 0, column 1 holds 'blue', which is not a number: encode the column as numbers or leave it out"
    """
    sentence = str(error)
    if "inhomogeneous" in sentence:
        return _values.ragged(X) or sentence
    if not any(words in sentence for words in OF_VALUES):
        return sentence
    return _values.fault(_values.cells(X)) or sentence


def of_lists(
    estimator: Any, rows: np.ndarray, names: list[str] | None, *, reset: bool
) -> np.ndarray:
    """The rows of a column of lists, after the checks that scikit-learn does of other tables."""
    count, width = rows.shape
    if count < (least := 2 if reset else 1):
        raise ValueError(f"Found array with {count} sample(s) while a minimum of {least} is required")
    if reset:
        estimator.n_features_in_ = width
        estimator.__dict__.pop("feature_names_in_", None)
        if names:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    elif width != estimator.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return rows


def quick(X: Any, columns: int) -> np.ndarray | None:
    """Rows of a plain array, in which there is nothing to check but values; None of anything else.
    scikit-learn's checks take longer than placing a row does."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.shape[1] != columns or not len(X):
        return None
    if X.dtype == np.float32:
        return np.ascontiguousarray(X)
    if X.dtype != np.float64:
        return None
    with np.errstate(over="ignore"):
        return X.astype(np.float32, order="C")


def asked(
    rows: np.ndarray, ask: Callable[..., Any], *more: Any, of: Any = None, **others: Any
) -> Any:
    """What the native module answers of these rows. A value that is no number is named by its row
    and its column, whose name the estimator `of` may know.

    >>> from liontsne._native import Map
    >>> asked(np.array([[1, 2], [3, np.inf]], dtype="float32"), Map.fit)
    Traceback (most recent call last):
    ValueError: row 1, column 1 is inf: every value must be a finite number, so fill or remove it
    """
    try:
        return ask(rows, *more, **others)
    except ValueError:
        bad = np.argwhere(~np.isfinite(rows))
        if not len(bad):
            raise
        row, column = bad[0]
        word = "NaN" if np.isnan(rows[row, column]) else f"{rows[row, column]:f}"
        names = getattr(of, "feature_names_in_", None)
        name = column if names is None or len(names) != rows.shape[1] else names[column]
    raise ValueError(
        f"row {row}, column {name} is {word}: every value must be a finite number, so fill or remove it"
    )


def texts(name: str, values: Any, rows: int) -> list[str] | None:
    """One text for each row."""
    if values is None:
        return None
    words = [str(value) for value in (values.tolist() if hasattr(values, "tolist") else values)]
    if len(words) != rows:
        raise ValueError(f"there are {rows} rows but {len(words)} {name}")
    return words


def labels_of(y: Any, rows: int) -> list[str] | None:
    """Labels for `y`: classes are carried along; measurements (real numbers) are not labels."""
    if y is None:
        return None
    values = y if hasattr(y, "dtype") and not hasattr(y, "cat") else np.asarray(y)
    if getattr(values, "ndim", 1) != 1:
        return None
    if len(values) != rows:
        raise ValueError(f"X has {rows} rows but y has {len(values)}")
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "f":
        return None
    return texts("labels", values, rows)


def ids_of(X: Any, ids: Any, rows: int) -> list[str] | None:
    """The ids given, or a frame's index if it names the rows and names no two alike."""
    if ids is not None:
        return texts("ids", ids, rows)
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    if not getattr(index, "is_unique", False):
        return None
    words = texts("ids", index, rows)
    return words if words is not None and len(set(words)) == rows else None


class SparsePca:
    """PCA of a sparse matrix that never becomes dense; for the cosine metric rows are brought to
    unit length first. Its numbers are those that a map file keeps, so that a map that was read
    projects rows as the one that was written did."""

    def __init__(
        self,
        mean: np.ndarray,
        components: np.ndarray,
        variances: list[float],
        total_variance: float,
        unit: bool,
    ):
        self.mean = mean
        self.components = components
        self.variances = variances
        self.total_variance = total_variance
        self.unit = unit
        self.weights = components.T.astype(np.float64)
        self.shift = mean.ravel().astype(np.float64) @ self.weights

    @classmethod
    def fit(cls, X: csr_matrix, choice: int | str, metric: str, seed: int) -> Self:
        """Of these rows."""
        from sklearn.decomposition import PCA

        if choice == "none":
            raise ValueError('sparse rows need a PCA: leave pca="auto", or pass X.toarray()')
        rows, columns = X.shape
        wanted = COMPONENTS if choice == "auto" else int(choice)
        by_covariance = columns <= COVARIANCE_UP_TO
        most = min(rows, columns) if by_covariance else min(rows, columns) - 1
        unit = metric == "cosine"
        pca = PCA(
            n_components=max(1, min(wanted, most)),
            svd_solver="covariance_eigh" if by_covariance else "arpack",
            random_state=seed % 2**32,
        ).fit(of_unit_length(X) if unit else X)
        variances = np.maximum(pca.explained_variance_, 0.0)
        share = float(pca.explained_variance_ratio_.sum())
        return cls(
            np.ascontiguousarray(pca.mean_, dtype=np.float32).reshape(1, -1),
            np.ascontiguousarray(pca.components_, dtype=np.float32),
            variances.tolist(),
            float(variances.sum() / share) if share > 0.0 else 0.0,
            unit,
        )

    @classmethod
    def taken_from(cls, map: Map) -> tuple[Map, Self | None]:
        """A map of sparse rows without its PCA, and the PCA; any other map as it is."""
        before = map.before_projection()
        if before is None or map.pca is None:
            return map, None
        return before, cls(*map.pca, map.metric == "cosine")

    def kept_in(self, map: Map) -> Map:
        """A map of rows that went through this PCA, with the PCA in it."""
        return map.projected_by(
            self.mean, self.components, self.variances, self.total_variance, self.unit
        )

    @property
    def columns(self) -> int:
        """Of the rows that it takes."""
        return self.mean.size

    def scores(self, X: Any) -> np.ndarray:
        """Rows as the native module gets them. Dense ones become sparse, so that equal rows have
        equal bits."""
        rows = csr_matrix(X, dtype=np.float64)
        rows = of_unit_length(rows) if self.unit else rows
        return (rows @ self.weights - self.shift).astype(np.float32)


def of_unit_length(X: csr_matrix) -> csr_matrix:
    """Each row divided by its length."""
    from sklearn.preprocessing import normalize

    return normalize(X)
