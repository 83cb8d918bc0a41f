"""Tables of any kind become rows of float32, as scikit-learn checks them; values are checked by the
native module."""

import re
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import validate_data

# Up to so many columns a covariance matrix is small enough; beyond, vectors are found one by one.
COVARIANCE_UP_TO = 2000
COMPONENTS = 50


def checked(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Any:
    """Rows of float32 in C order, or a sparse matrix in rows. `reset` at fit: names and number of
    columns are learnt."""
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
    except ValueError as error:
        raise ValueError(plainer(str(error))) from None


def plainer(sentence: str) -> str:
    """Says of text among numbers what to do about it.

    >>> plainer("could not convert string to float: 'blue'")
    "X holds 'blue', which is not a number: encode or leave out columns of text"
    """
    text = sentence.partition("could not convert string to float: ")[2]
    text = re.sub(r"^np\.str_\((.*)\)$", r"\1", text)
    return (
        f"X holds {text}, which is not a number: encode or leave out columns of text"
        if text
        else sentence
    )


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


def asked(rows: np.ndarray, ask: Callable[..., Any], *more: Any, **others: Any) -> Any:
    """What the native module answers of these rows. A value that is no number is named as NumPy
    names it.

    >>> from liontsne._native import Map
    >>> asked(np.array([[1, 2], [3, np.inf]], dtype="float32"), Map.fit)
    Traceback (most recent call last):
    ValueError: X[1, 1] is inf: every value must be a finite number, so fill or remove it
    """
    try:
        return ask(rows, *more, **others)
    except ValueError:
        bad = np.argwhere(~np.isfinite(rows))
        if not len(bad):
            raise
        row, column = bad[0]
        word = "NaN" if np.isnan(rows[row, column]) else f"{rows[row, column]:f}"
    raise ValueError(
        f"X[{row}, {column}] is {word}: every value must be a finite number, so fill or remove it"
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
    unit length first."""

    def __init__(self, components: np.ndarray, shift: np.ndarray, unit: bool):
        self.components = components
        self.shift = shift
        self.unit = unit

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
        components = np.ascontiguousarray(pca.components_.T, dtype=np.float64)
        return cls(components, pca.mean_ @ components, unit)

    def scores(self, X: Any) -> np.ndarray:
        """Rows as the native module gets them. Dense ones become sparse, so that equal rows have
        equal bits."""
        rows = csr_matrix(X, dtype=np.float64)
        rows = of_unit_length(rows) if self.unit else rows
        return (rows @ self.components - self.shift).astype(np.float32)


def of_unit_length(X: csr_matrix) -> csr_matrix:
    """Each row divided by its length."""
    from sklearn.preprocessing import normalize

    return normalize(X)
