"""Tables of pandas, polars and pyarrow as they come: a column of lists becomes rows, and a value that
cannot be used is named by its row and its column."""

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
LEAVE_OUT = "encode the column as numbers or leave it out"


def columns(X: Any) -> list[tuple[str, Any]] | None:
    """The columns of a frame or table by name; None of anything else."""
    if hasattr(X, "column_names") and hasattr(X, "column"):  # pyarrow
        return [(str(name), X.column(at)) for at, name in enumerate(X.column_names)]
    if hasattr(X, "iter_columns"):  # polars
        return [(column.name, column) for column in X.iter_columns()]
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        return [(str(name), X.iloc[:, at]) for at, name in enumerate(X.columns)]
    return None


def in_order(X: Any, names: Sequence[str]) -> Any:
    """A frame or table with the columns of these names alone, in this order. X as it is, if it does not
    have each of them once.

    >>> import pandas
    >>> in_order(pandas.DataFrame({"b": [1], "c": [2], "a": [3]}), ["a", "b"]).to_numpy()
    array([[3, 1]])
    """
    if len(names) == 0 or (there := columns(X)) is None:
        return X
    times = Counter(name for name, _ in there)
    if any(times[name] != 1 for name in names):
        return X
    place = {name: at for at, (name, _) in enumerate(there)}
    return X.iloc[:, [place[name] for name in names]] if hasattr(X, "iloc") else X.select(list(names))


def list_column(X: Any) -> tuple[np.ndarray, list[str] | None] | None:
    """The rows of a table whose one column has a list of numbers for each row, or of such a column
    itself, and the names of their items; None of any other table.

    >>> import pandas
    >>> frame = pandas.DataFrame({"embedding": [[1, 2], [3, 4]]})
    >>> list_column(frame)[1], list_column(frame["embedding"])[0].tolist()
    (['embedding[1]', 'embedding[2]'], [[1.0, 2.0], [3.0, 4.0]])
    """
    there = columns(X)
    if there is None:
        if type(X) is np.ndarray and X.dtype != object or not holds_lists(X):
            return None
        # A list of lists, or an array of objects, is a table already unless it has one dimension.
        if isinstance(X, (list, tuple)) or getattr(X, "ndim", 1) != 1:
            return None
        name = getattr(X, "name", None)
        there = [("" if name is None else str(name), X)]
    lists = [name for name, values in there if holds_lists(values)]
    if not lists:
        return None
    if len(there) > 1:
        other = next(name for name, _ in there if name != lists[0])
        raise ValueError(
            f"column {lists[0]} holds a list of numbers for each row, and column {other} is there too: "
            f"pass the column {lists[0]} alone, or no column of lists"
        )
    name, values = there[0]
    rows = stacked(name, values)
    return rows, [f"{name}[{item}]" for item in range(1, rows.shape[1] + 1)] if name else None


def holds_lists(values: Any) -> bool:
    """Whether the first value that is there is a list."""
    if getattr(getattr(values, "dtype", None), "kind", "O") in "biufcSUMmV":
        return False
    try:
        first = next((value for value in values if value is not None), None)
    except TypeError:
        return False
    first = first.as_py() if hasattr(first, "as_py") else first
    return isinstance(first, (list, tuple, np.ndarray)) or type(first).__name__ == "Series"


def stacked(name: str, values: Any) -> np.ndarray:
    """A column of lists as rows of float32."""
    if (flat := flattened(values)) is not None:
        with np.errstate(over="ignore"):
            return flat.astype(np.float32).reshape(len(values), -1)
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif hasattr(values, "to_list"):
        values = values.to_list()
    place = f", column {name}" if name else ""
    values = list(values)
    width = next(len(value) for value in values if value is not None)
    for row, value in enumerate(values):
        if value is None or isinstance(value, float):
            raise ValueError(f"row {row}{place} is empty: every row needs a list of {width} numbers")
        if len(value) != width:
            raise ValueError(
                f"row {row}{place} has length {len(value)} instead of {width}: correct it or remove the row"
            )
    try:
        with np.errstate(over="ignore"):
            return np.array(values, dtype=np.float32).reshape(len(values), width)
    except (TypeError, ValueError):
        items = ((f"{name}[{item + 1}]", [value[item] for value in values]) for item in range(width))
        raise ValueError(fault(items) or f"column {name} holds lists of what are not numbers") from None


def flattened(values: Any) -> np.ndarray | None:
    """All numbers of a column of pyarrow or polars whose lists are there and are equally long, one
    after another: a million lists as objects of Python take minutes."""
    if hasattr(values, "to_pylist"):
        import pyarrow as pa
        import pyarrow.compute as pc

        lengths, flat = pc.list_value_length(values), pc.list_flatten(values)
        if not (pa.types.is_floating(flat.type) or pa.types.is_integer(flat.type)):
            return None
        same = not values.null_count and pc.min(lengths) == pc.max(lengths)
        return flat.to_numpy(zero_copy_only=False) if same and not flat.null_count else None
    if hasattr(values, "explode") and hasattr(values, "null_count") and callable(values.null_count):
        lists = values.arr.to_list() if hasattr(values.dtype, "shape") else values
        same = not values.null_count() and lists.list.len().n_unique() == 1
        flat = lists.explode() if same else None
        usable = flat is not None and flat.dtype.is_numeric() and not flat.null_count()
        return flat.to_numpy() if usable else None
    return None


def cells(X: Any) -> Iterator[tuple[str, Sequence[Any]]]:
    """The columns of anything that has two dimensions, as Python's own values, with their names or
    numbers."""
    there = columns(X)
    if there is not None:
        for name, values in there:
            yield name, values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        return
    rows = X if isinstance(X, (list, tuple)) else np.asarray(X, dtype=object).tolist()
    for at in range(max((len(row) for row in rows if hasattr(row, "__len__")), default=0)):
        yield str(at), [row[at] if at < len(row) else None for row in rows]


def fault(named: Iterator[tuple[str, Sequence[Any]]]) -> str | None:
    """What is wrong with the first value of these columns that is no number: one sentence."""
    for name, values in named:
        for row, value in enumerate(values):
            if wrong := of_value(value):
                return f"row {row}, column {name} {wrong}"
    return None


def of_value(value: Any) -> str | None:
    """What is wrong with a value, if anything is.

    >>> of_value("blue")
    "holds 'blue', which is not a number: encode the column as numbers or leave it out"
    >>> of_value(1.5), of_value("1.5")
    (None, None)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "is empty: every value must be a finite number, so fill it or remove the row"
    if isinstance(value, TEMPORAL):
        return f"holds {value}, a date or time: {LEAVE_OUT}"
    try:
        float(value)
    except ValueError:
        return f"holds {value!r}, which is not a number: {LEAVE_OUT}"
    except TypeError:
        kind = type(value).__name__
        return f"holds a {kind}; the argument must be a string or a number: {LEAVE_OUT}"
    return None


def ragged(X: Any) -> str | None:
    """Which row of a list of rows is not as long as the first."""
    if not isinstance(X, (list, tuple)) or not all(hasattr(row, "__len__") for row in X):
        return None
    width = len(X[0]) if X else 0
    row = next((row for row, values in enumerate(X) if len(values) != width), None)
    if row is None:
        return None
    return f"row {row} has length {len(X[row])} instead of {width}: correct it or remove the row"
