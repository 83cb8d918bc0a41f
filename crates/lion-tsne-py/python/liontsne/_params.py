"""What scikit-learn calls things, in the words of the native module."""

import os
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from liontsne import _native

PERPLEXITY = 30.0  # the default, or as much as the rows allow

Progress = Callable[[str, int, int, float | None], bool | None]


def seed(random_state: Any) -> int:
    """The seed of a `random_state`: the number itself, a draw from a generator, and 0 for None.

    >>> seed(None), seed(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be 0 or more, not {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`; 0 is all of them, which is also what None means here.

    >>> threads(None), threads(-1), threads(3)
    (0, 0, 3)
    """
    if n_jobs is None or n_jobs == -1:
        return 0
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def number(name: str, value: Any) -> float:
    """A real number, or a sentence that says which parameter is none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, not {value!r}")
    return float(value)


def perplexity(value: Any) -> float | None:
    """None for "auto" and for the default, for which the native module takes 30 or as much as the
    rows allow.

    >>> perplexity(30.0), perplexity("auto"), perplexity(12)
    (None, None, 12.0)
    """
    given = number_or_auto("perplexity", value)
    return None if given == PERPLEXITY else given


def warn_of_perplexity(asked: Any, used: float, rows: int) -> None:
    """Says so where fewer rows than the default perplexity needs made it smaller."""
    if asked != "auto" and asked == PERPLEXITY and used < PERPLEXITY:
        warnings.warn(
            f"perplexity {used:g} was used instead of {PERPLEXITY:g}, as much as {rows} rows allow",
            stacklevel=4,
        )


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number of at least so much, or a sentence that says which parameter is none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")
    return int(value)


def whole_or_auto(name: str, value: Any, least: int = 0) -> int | None:
    """None for "auto", which the native module works out itself."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto" or a whole number, not {value!r}')
    return whole(name, value, least)


def dims(n_components: Any) -> int:
    """Dimensions of a map."""
    if not isinstance(n_components, Integral) or n_components not in (1, 2, 3):
        raise ValueError(f"n_components must be 1, 2 or 3, not {n_components!r}")
    return int(n_components)


def number_or_auto(name: str, value: Any) -> float | None:
    """None for "auto", which the native module works out itself."""
    if isinstance(value, str) and value == "auto" or value is None:
        return None
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto" or a number, not {value!r}')
    return number(name, value)


def one_of(name: str, value: Any, choices: Sequence[str] | None = None) -> str:
    """One of these words, or a sentence that lists them; the native module's unless given.

    >>> one_of("metric", "cosine")
    'cosine'
    """
    choices = choices or _native.choices(name) or ()
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def method(value: Any) -> str:
    """The way to compute repulsion; hyphens are as good as underscores."""
    word = value.replace("-", "_") if isinstance(value, str) else value
    choices = [name.replace("-", "_") for name in _native.choices("method") or ()]
    return one_of("method", word, choices).replace("_", "-")


def init(value: Any) -> Any:
    """The first layout: a word, or places as float32."""
    if isinstance(value, str):
        return one_of("init", value)
    places = np.ascontiguousarray(value, dtype=np.float32)
    if places.ndim != 2:
        names = ", ".join(_native.choices("init") or ())
        raise ValueError(f"init must be {names} or a table of places, one for each row")
    return places


def neighbors(known: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Neighbours that were found elsewhere: row numbers and distances, one line for each row.

    >>> neighbors(([[1.5], [1.5]], [[1], [0]]))
    Traceback (most recent call last):
    ValueError: neighbors must be (indices, distances), in this order: scikit-learn's kneighbors \
gives them the other way round
    """
    if known is None:
        return None
    try:
        indices, distances = (np.asarray(part) for part in known)
    except (TypeError, ValueError):
        raise ValueError("neighbors must be two tables, (indices, distances)") from None
    if indices.dtype.kind not in "iu":
        raise ValueError(
            "neighbors must be (indices, distances), in this order: "
            "scikit-learn's kneighbors gives them the other way round"
            if distances.dtype.kind in "iu"
            else f"the indices of neighbors must be whole numbers, not {indices.dtype}"
        )
    if indices.ndim != 2 or indices.shape != distances.shape:
        raise ValueError(
            "the indices and distances of neighbors must be tables of the same shape, one line for "
            f"each row, not of shapes {indices.shape} and {distances.shape}"
        )
    return indices.astype(np.int64), distances.astype(np.float64)


def pca(value: Any) -> int | str:
    """Components, "auto" or "none"; None is "none"."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return one_of("pca", value, ("auto", "none"))
    return whole("pca", value, 1)


def radius(name: str, value: Any) -> Any:
    """A percentile such as "99%", a distance, or None for the default."""
    return value if value is None or isinstance(value, str) else number(name, value)
