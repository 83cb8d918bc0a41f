"""Tables that pass by in parts, from files or from anything that Arrow or NumPy knows, for landmarks."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from liontsne._native import Landmarks

# Rows of an array that are looked at together.
PART = 65536
# Values beyond this are refused: the native module says so too, by a number of the part.
LARGEST = 1e15
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


class Part(NamedTuple):
    """Some rows: an array, or something with columns; the file they are in, and how many rows of it
    come before."""

    rows: Any
    file: str
    before: int


def pass_by(
    landmarks: Landmarks,
    source: Any,
    id: str | None,
    label: str | None,
    columns: Sequence[str] | None,
) -> tuple[list[str] | None, int]:
    """Shows all rows to the landmarks; the answer is the names of the columns that were used, if
    they have names, and their number."""
    names: list[str] | None = None
    width = 0
    wanted = None if columns is None else [str(name) for name in columns]
    for part in parts_of(source):
        if isinstance(part.rows, np.ndarray):
            if id is not None or label is not None or wanted is not None:
                raise ValueError("arrays have no columns to be named: id, label and columns are for tables")
            rows, ids, labels, used = array(part), None, None, None
        else:
            rows, ids, labels, used = columns_of(part, id, label, wanted)
            wanted = used
        if len(rows):
            add(landmarks, part, rows, ids, labels, used)
        names, width = used, rows.shape[1]
    if not landmarks.seen:
        raise ValueError("the source has no rows")
    return names, width


def add(
    landmarks: Landmarks,
    part: Part,
    rows: np.ndarray,
    ids: list[str] | None,
    labels: list[str] | None,
    names: list[str] | None,
) -> None:
    """Adds rows; one that cannot be used is named by its file and its number there, counted from
    1."""
    try:
        landmarks.add(rows, ids=ids, labels=labels)
    except ValueError as error:
        bad = np.argwhere(~(np.abs(rows) <= LARGEST))
        if not len(bad):
            raise ValueError(f"{part.file}: {error}" if part.file else str(error)) from None
        row, column = bad[0]
        value = rows[row, column]
        place = f"{part.file}, " if part.file else ""
        place += f"row {part.before + row + 1}, column {names[column] if names else column + 1}"
    else:
        return
    if np.isfinite(value):
        raise ValueError(f"{place} is {value:g}: values beyond 1e15 are too large, scale the column down")
    word = "NaN" if np.isnan(value) else f"{value:f}"
    raise ValueError(f"{place} is {word}: every value must be a finite number, so fill or remove it")


def array(part: Part) -> np.ndarray:
    """An array as rows of float32."""
    if part.rows.ndim != 2:
        raise ValueError(f"arrays of rows have 2 dimensions, not {part.rows.ndim}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(part.rows, dtype=np.float32)


def columns_of(
    part: Part, id: str | None, label: str | None, wanted: list[str] | None
) -> tuple[np.ndarray, list[str] | None, list[str] | None, list[str]]:
    """The rows of a record batch or table, their ids and labels, and the columns that were used."""
    batch, there = part.rows, part.rows.schema.names
    place = part.file or "the table"
    used = wanted if wanted is not None else [name for name in there if name not in (id, label)]
    for name in [*used, *(name for name in (id, label) if name is not None)]:
        if there.count(name) != 1:
            many = "no" if name not in there else "more than one"
            raise ValueError(f"{place} has {many} column {name!r}; the columns there are: {', '.join(there)}")
    if not used:
        raise ValueError(f"{place} has no column to use beside id and label")
    rows = np.empty((batch.num_rows, len(used)), dtype=np.float32)
    with np.errstate(over="ignore"):
        for at, name in enumerate(used):
            rows[:, at] = numbers(place, name, batch.column(name))
    ids = None if id is None else texts(part, id, batch.column(id))
    labels = None if label is None else ["" if v is None else str(v) for v in batch.column(label).to_pylist()]
    return rows, ids, labels, used


def numbers(place: str, name: str, column: Any) -> np.ndarray:
    """A column of numbers; what is missing is NaN."""
    import pyarrow.types as kinds

    kind = column.type
    if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind)):
        raise ValueError(
            f"{place}: column {name!r} holds {kind}, not numbers: use it as id or label, or name "
            "the columns to use with columns=[...]"
        )
    if kinds.is_boolean(kind) or kinds.is_decimal(kind):
        column = column.cast("float64")
    return column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()


def texts(part: Part, name: str, column: Any) -> list[str]:
    """A column of ids: each row has one."""
    values = column.to_pylist()
    if None in values:
        row = part.before + values.index(None) + 1
        place = f"{part.file}, " if part.file else ""
        raise ValueError(f"{place}row {row}, column {name} is empty: every row needs an id of its own")
    return [str(value) for value in values]


def parts_of(source: Any) -> Iterator[Part]:
    """The source, part by part."""
    if isinstance(source, (str, os.PathLike)):
        yield from parts_of_files([source])
    elif isinstance(source, np.ndarray):
        yield from parts_of_items([source])
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "to_batches"):
        yield from parts_of_items([source])
    elif isinstance(source, Iterable):
        items = iter(source)
        first = next(items, None)
        if isinstance(first, (str, os.PathLike)):
            yield from parts_of_files([first, *items])
        elif first is not None:
            yield from parts_of_items(chain([first], items))
    else:
        raise TypeError(
            f"the source must be files, a table of Arrow, an array, or an iterable of those, not {type(source).__name__}"
        )


def parts_of_files(given: Sequence[str | os.PathLike[str]]) -> Iterator[Part]:
    """The rows of files, each file in turn."""
    from pyarrow import dataset

    for path in expanded(given):
        ending = os.path.splitext(path)[1].lower()
        if ending not in FORMATS:
            raise ValueError(f"{path}: its name must end in {', '.join(FORMATS)}")
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{path}: there is no such file")
        before = 0
        for batch in dataset.dataset(path, format=FORMATS[ending]).to_batches():
            yield Part(batch, path, before)
            before += batch.num_rows


def expanded(given: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Paths as they are; a pattern that is no file's name becomes the files that match it, sorted by
    name.

    >>> expanded(["no-such-*.parquet"])
    Traceback (most recent call last):
    FileNotFoundError: no-such-*.parquet: no file has a name like this
    """
    files: list[str] = []
    for path in map(os.fspath, given):
        if not any(sign in path for sign in "*?[") or os.path.exists(path):
            files.append(path)
        elif found := sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file)):
            files.extend(found)
        else:
            raise FileNotFoundError(f"{path}: no file has a name like this")
    for path in files:
        if files.count(path) > 1:
            raise ValueError(f"{path} is given twice: leave one out")
    return files


def parts_of_items(items: Iterable[Any]) -> Iterator[Part]:
    """Arrays, record batches, tables and what else has Arrow's stream interface, one after another."""
    before = 0
    for item in items:
        for rows in pieces(item):
            yield Part(rows, "", before)
            before += len(rows) if isinstance(rows, np.ndarray) else rows.num_rows


def pieces(item: Any) -> Iterator[Any]:
    """An array as arrays of few rows, anything else as record batches."""
    if isinstance(item, np.ndarray):
        yield from (item[at : at + PART] for at in range(0, len(item), PART)) if item.ndim else [item]
    elif hasattr(item, "to_batches"):
        yield from item.to_batches()
    elif hasattr(item, "num_rows") and hasattr(item, "schema"):
        yield item
    elif hasattr(item, "__arrow_c_stream__"):
        import pyarrow

        yield from pyarrow.RecordBatchReader.from_stream(item)
    else:
        yield from pieces(np.asarray(item))
