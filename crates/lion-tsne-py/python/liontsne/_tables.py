"""Data frames whose columns are no plain numbers: made rows by the same code as on the command line."""

import csv
import io
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liontsne import _native


@dataclass(frozen=True)
class Prepared:
    """A frame that was made rows."""

    rows: np.ndarray
    columns: list[str]
    """The names of their numbers."""
    recipe: bytes | None
    """What was done, if it is more than choosing columns."""
    names: list[str]
    """The columns of the frame that rows are made of."""
    said: list[tuple[str, str, str]]
    """What became of each column: its name, its kind, and words."""
    kept: list[int] | None
    """The rows that are left, if rows with gaps were left out."""

    def only_kept(self, *values: Any) -> tuple[Any, ...]:
        """The values of the rows that are left."""
        return tuple(
            None if value is None else np.asarray(value)[self.kept] for value in values
        )

    def ids(self, X: Any, ids: Any, count: int) -> list[str] | None:
        """Names of the rows: those given, or the frame's own, or the numbers of those left."""
        # Here and not above: workers of an engine read recipes with this module, without scikit-learn.
        from liontsne import _rows

        if self.kept is None or ids is not None:
            return _rows.ids_of(X, ids, count)
        own = _rows.ids_of(X, None, len(X))
        return [own[row] if own else str(row) for row in self.kept]


def prepared(estimator: Any, X: Any) -> Prepared | None:
    """The rows of a frame that has anything but plain numbers, or whose columns shall be scaled;
    None for all else, which scikit-learn's checks see to."""
    for name, choices in (("scale", SCALES), ("missing", MISSING)):
        value = getattr(estimator, name)
        if value is not None and value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    asked = estimator.scale not in (None, "none") or estimator.missing not in (None, "refuse")
    frame = as_frame(X, asked)
    if frame is None or not asked and is_plain(frame):
        return None
    bytes, format = table_of(frame)
    told = _native.prepare_table(
        bytes, format, scale=estimator.scale or "auto", missing=estimator.missing
    )
    for warning in told["warnings"]:
        warnings.warn(in_python(warning), stacklevel=4)
    said = told["table"]
    if estimator.verbose:
        for name, kind, words in said:
            if kind != "number":
                print(f"column {name} ({kind}): {words}")
        if told["scale"]:
            print(in_python(told["scale"]))
    recipe = told["recipe"]
    lists = [name for name, kind, _ in said if kind == "list"]
    numbers = [name for name, kind, _ in said if kind == "number"]
    if lists and numbers:
        warnings.warn(
            f"{lists[0]} is a list of numbers, which are the features: {', '.join(numbers)} left out",
            stacklevel=4,
        )
    names = (
        [column["name"] for column in json.loads(recipe)["columns"]]
        if recipe is not None
        else lists or told["columns"]
    )
    return Prepared(told["rows"], told["columns"], recipe, names, said, told["kept"])


def in_python(words: str) -> str:
    """Words with parameters of Python for flags of the command line.

    >>> in_python("units differ: --scale standard gives all columns the same weight")
    'units differ: scale="standard" gives all columns the same weight'
    """
    return re.sub(r"--(\w+) (\w+)", r'\1="\2"', words)


SCALES = ("auto", "standard", "robust", "none")
MISSING = ("mean", "median", "drop", "refuse")


def encoded(map: _native.Map, X: Any, names: Sequence[str]) -> np.ndarray:
    """Rows for a map with a recipe: columns are found by name, or are in order where X has none."""
    frame = as_frame(X, True)
    if frame is None:
        rows = np.asarray(X, dtype=object)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ValueError(
                f"X must be a frame, or have the {len(names)} columns that the map was fitted to: "
                + ", ".join(names)
            )
        bytes, format = csv_of(names, rows), "csv"
    else:
        bytes, format = table_of(frame)
    rows, differences = _native.encode_table(map, bytes, format)
    for difference in differences:
        warnings.warn(difference, stacklevel=4)
    return rows


def list_rows(X: Any, names: Sequence[str]) -> np.ndarray:
    """Rows of a map that was fitted to a frame without a recipe: a column of lists, or columns."""
    frame = as_frame(X, False)
    if frame is None:
        return np.asarray(X, dtype=np.float32)
    column = [frame[name] for name in names]
    if len(column) == 1:
        values = column[0].to_numpy() if hasattr(column[0], "to_numpy") else column[0]
        return np.stack([np.asarray(row, dtype=np.float32) for row in values])
    return np.stack([np.asarray(values, dtype=np.float32) for values in column], axis=1)


def names_of(map: _native.Map) -> list[str]:
    """The columns of the table that the map's recipe makes rows of."""
    return [column["name"] for column in json.loads(map.recipe or "{}").get("columns", [])]


def as_frame(X: Any, asked: bool) -> Any:
    """X if it is a frame of named columns; an array as one where its columns are to be changed."""
    kind = type(X).__module__.partition(".")[0]
    if kind in ("pandas", "polars", "pyarrow") and (hasattr(X, "columns") or hasattr(X, "schema")):
        return X if getattr(X, "ndim", 2) == 2 else None
    if asked and type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biuf":
        return X
    return None


def is_plain(frame: Any) -> bool:
    """Whether all columns are numbers without gaps."""
    kind = type(frame).__module__.partition(".")[0]
    if kind == "pandas":
        numbers = all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes)
        return numbers and not frame.isna().to_numpy().any()
    if kind == "polars":
        numbers = all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in frame.dtypes)
        return numbers and not any(frame.null_count().row(0)) if numbers else False
    import pyarrow as pa

    def is_number(type: pa.DataType) -> bool:
        return pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_boolean(type)

    plain = all(is_number(field.type) for field in frame.schema)
    return plain and not any(column.null_count for column in frame.columns)


def table_of(frame: Any) -> tuple[bytes, str]:
    """The frame as bytes: Arrow where that can be had, else CSV."""
    kind = type(frame).__module__.partition(".")[0]
    out = io.BytesIO()
    if kind == "polars":
        frame.write_ipc_stream(out)
        return out.getvalue(), "arrow"
    if isinstance(frame, np.ndarray):
        return csv_of([f"c{column + 1}" for column in range(frame.shape[1])], frame), "csv"
    try:
        import pyarrow as pa

        if kind == "pandas":
            frame = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.ipc.new_stream(out, frame.schema) as stream:
            stream.write(frame)
        return out.getvalue(), "arrow"
    except (ImportError, ValueError, TypeError):
        # No pyarrow, or a column of several types, which Arrow does not have.
        return frame.to_csv(index=False).encode(), "csv"


def csv_of(names: Sequence[str], rows: np.ndarray) -> bytes:
    """Rows as CSV with these names."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(
        ["" if value is None or value != value else value for value in row] for row in rows.tolist()
    )
    return text.getvalue().encode()
