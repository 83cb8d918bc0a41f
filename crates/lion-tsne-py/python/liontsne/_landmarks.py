"""Tables that pass by in parts, from files or from anything that Arrow or NumPy knows, for
landmarks."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np

from liontsne._native import Landmarks

# What tables have, and lists of them have not.
TABLES = ("__arrow_c_stream__", "__arrow_c_array__", "to_batches")
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


class FitsLandmarks:
    """What `LionTSNE` does with tables that are larger than memory."""

    def fit_landmarks(
        self,
        source: Any,
        n_landmarks: int,
        *,
        id: str | None = None,
        label: str | None = None,
        columns: Sequence[str] | None = None,
        stratify: bool = False,
        cover: bool = False,
    ) -> Self:
        """Fits the map to some rows, the landmarks, of a table that may be larger than memory. The
        table is read once.

        A hash of its id and the seed decide whether a row is a landmark. Without ids, the number of
        the row is hashed. So the order of rows with ids does not matter, nor how they come in
        parts. The PCA, if there is one, is that of all rows. `transform` and `place` place the
        other rows.

        Columns must be numbers without gaps, and are taken as they are: `scale` and `missing` are
        refused here. `lion fit --landmarks` prepares columns of all kinds, and `load` reads its map.

        Afterwards, `sampled_from_` says what the landmarks stand for: `rows` is the number of rows
        of the table, and `beyond` is how many of them lie beyond `radius_` of every landmark. That
        number is an estimate from `judged` rows, with an error of `beyond_error`.

        Parameters
        ----------
        source : path, pattern (`"big/*.parquet"`), list of these, or a table
            Parquet, Arrow or CSV files; several files are one table, and those of a pattern are
            sorted by name. Or a pyarrow Table, Dataset or RecordBatchReader, anything with Arrow's
            stream interface, an array, or an iterable of record batches or arrays.
        n_landmarks : int
            The number of rows to map.
        id : str or None
            The column that names the rows.
        label : str or None
            The column that holds labels.
        columns : list of str or None
            The columns to use; None is all others.
        stratify : bool, default=False
            Take equally many landmarks of each label, as far as there are enough rows.
        cover : bool, default=False
            Give up to a tenth of the landmarks to rows beyond the radius of all others.

        Examples
        --------
        >>> import numpy as np
        >>> from liontsne import LionTSNE
        >>> parts = (np.random.default_rng(part).normal(size=(500, 4)) for part in range(6))
        >>> lion = LionTSNE(perplexity=10).fit_landmarks(parts, 200)
        >>> lion.embedding_.shape, lion.sampled_from_["rows"]
        ((200, 2), 3000)
        """
        landmarks = Landmarks(**self._landmark_options(n_landmarks, label, stratify, cover))
        names, width = pass_by(landmarks, source, id, label, columns)
        return self._fit_chosen(landmarks, names, width)

    def _landmark_options(
        self, n_landmarks: int, label: str | None, stratify: bool, cover: bool
    ) -> dict[str, Any]:
        """How landmarks are chosen, in the words of the native module."""
        # It needs scikit-learn, and workers of engines import this file.
        from liontsne import _params

        for name, plain in (("scale", (None, "none")), ("missing", (None, "refuse"))):
            if (asked := getattr(self, name)) not in plain:
                raise ValueError(
                    f"fit_landmarks takes numbers as they are, so {name}={asked!r} would have no effect: "
                    "use lion fit --landmarks, which prepares columns, and load its map"
                )
        if not isinstance(self.init, str):
            raise ValueError("init must be pca, spectral or random: landmarks are some of the rows")
        if stratify and label is None:
            raise ValueError("stratify shares landmarks out by label: say which column, label=...")
        params = self._fit_params(None, _params.seed(self.random_state))
        return {
            "count": _params.whole("n_landmarks", n_landmarks, 4),
            "stratified": bool(stratify),
            "cover": bool(cover),
            "params": params | {"init": _params.init(self.init)},
        }

    def _fit_chosen(self, landmarks: Landmarks, names: list[str] | None, width: int) -> Self:
        """Fits the map to landmarks of so many columns, which may have names."""
        from liontsne import _params

        # As the command line has it: names that only count columns are not kept.
        kept = None if names is None or is_numbered(names) else names
        with self._progress(self.callback) as progress:
            map = landmarks.fit(columns=kept, progress=progress)
        _params.warn_of_perplexity(self.perplexity, map.perplexity, len(map.embedding))
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self._hold(map, None, _params.seed(self.random_state))


class Part(NamedTuple):
    """Some rows: an array, or something with columns; the file they are in, and how many rows of it
    come before. Where numbers of rows say nothing, the column that names rows."""

    rows: Any
    file: str = ""
    before: int = 0
    id: str | None = None

    def row(self, number: int) -> str:
        """Where a row is, in words."""
        if self.id is not None:
            return f"id {text(self.rows.column(self.id)[number].as_py())}"
        return (f"{self.file}, " if self.file else "") + f"row {self.before + number}"


def pass_by(
    landmarks: Landmarks,
    source: Any,
    id: str | None,
    label: str | None,
    columns: Sequence[str] | None,
) -> tuple[list[str] | None, int]:
    """Shows all rows to the landmarks; the answer is the names of the columns that were used, if
    they have names, and their number."""
    wanted = None if columns is None else [str(name) for name in columns]
    names, width = show(landmarks, parts_of(source, (id, label), wanted), id, label, wanted)
    if not landmarks.seen:
        raise ValueError("the source has no rows")
    return names, width


def show(
    landmarks: Landmarks,
    parts: Iterable[Part],
    id: str | None,
    label: str | None,
    wanted: list[str] | None,
    called: list[str] | None = None,
) -> tuple[list[str] | None, int]:
    """Shows parts to the landmarks, with the same answer. If one column of lists is wanted, its items
    may have names."""
    names: list[str] | None = None
    width = 0
    for part in parts:
        ids = labels = None
        is_array = isinstance(part.rows, np.ndarray)
        if not (part.rows.size if is_array else part.rows.num_rows):
            continue
        if not is_array:
            wanted = chosen(part, id, label, wanted)
            rows, names = features(part, wanted, width)
            names = called or names
            ids = None if id is None else ids_of(part, id)
            labels = None if label is None else texts_of(part, label)
        elif id is None and label is None and wanted is None:
            rows = array(part)
        else:
            raise ValueError("arrays have no names of columns: id, label, columns are for tables")
        width = rows.shape[1]
        add(landmarks, part, rows, ids, labels, names)
    return names, width


def add(
    landmarks: Landmarks,
    part: Part,
    rows: np.ndarray,
    ids: Any,
    labels: Any,
    names: list[str] | None,
) -> None:
    """Adds rows; one that cannot be used is named by its file and its number there, or by its id."""
    try:
        landmarks.add(
            rows,
            ids=None if ids is None else packed(ids),
            labels=None if labels is None else packed(labels),
        )
    except ValueError as error:
        bad = np.argwhere(~(np.abs(rows) <= LARGEST))
        if not len(bad):
            raise ValueError(f"{part.file}: {error}" if part.file else str(error)) from None
        row, column = bad[0]
        value = rows[row, column]
        place = f"{part.row(int(row))}, column {names[column] if names else column}"
    else:
        return
    if np.isfinite(value):
        why = f"{value:g}: values beyond 1e15 are too large, so scale the column down"
    else:
        word = "NaN" if np.isnan(value) else f"{value:f}"
        why = f"{word}: every value must be a finite number, so fill or remove it"
    raise ValueError(f"{place} is {why}")


def array(part: Part) -> np.ndarray:
    """An array as rows of float32."""
    if part.rows.ndim != 2:
        raise ValueError(f"arrays of rows have 2 dimensions, not {part.rows.ndim}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(part.rows, dtype=np.float32)


def chosen(
    part: Part, id: str | None, label: str | None, wanted: list[str] | None
) -> list[str]:
    """The columns to use: those asked for, or all but ids and labels. All must be there."""
    there, place = part.rows.schema.names, part.file or "the table"
    used = wanted if wanted is not None else [name for name in there if name not in (id, label)]
    for name in (*used, id, label):
        if name is not None and there.count(name) != 1:
            many = "more than one" if name in there else "no"
            listed = ", ".join(there)
            raise ValueError(f"{place} has {many} column {name!r}; the columns there are: {listed}")
    if not used:
        raise ValueError(f"{place} has no column to use beside id and label")
    return used


def features(part: Part, used: list[str], width: int) -> tuple[np.ndarray, list[str]]:
    """The values of these columns and their names; a single column of lists has as many as a list
    has numbers, which is `width` unless that is 0."""
    import pyarrow.types as kinds

    place, count = part.file or "the table", part.rows.num_rows
    first = part.rows.column(used[0])
    lists = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    if len(used) == 1 and any(kind(first.type) for kind in lists):
        width = same_length(part, used[0], first, width)
        values = numbers(place, used[0], first.flatten())
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(values.reshape(count, width), dtype=np.float32)
        return rows, [f"{used[0]}[{item}]" for item in range(1, width + 1)]
    rows = np.empty((count, len(used)), dtype=np.float32)
    with np.errstate(over="ignore"):
        for at, name in enumerate(used):
            rows[:, at] = numbers(place, name, part.rows.column(name))
    return rows, used


def same_length(part: Part, name: str, column: Any, width: int) -> int:
    """The length of all lists of a column: `width`, or that of the first where it is 0."""
    import pyarrow.compute as compute

    lengths = compute.fill_null(compute.list_value_length(column), -1)
    lengths = lengths.to_numpy(zero_copy_only=False)
    width = width or max(int(lengths[0]), 0)
    bad = np.flatnonzero(lengths != width) if width else np.arange(1)
    if len(bad):
        length = int(lengths[bad[0]])
        what = f"a list of length {length}" if length >= 0 else "no list"
        others = f", and those before have {width}" if width else ""
        raise ValueError(
            f"{part.row(int(bad[0]))}, column {name} has {what}{others}: every "
            "row must have a list of the same length, so correct or remove it"
        )
    return width


def numbers(place: str, name: str, column: Any) -> np.ndarray:
    """A column of numbers; what is missing is NaN."""
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_boolean(kind) or kinds.is_decimal(kind):
        column = column.cast("float64")
    elif not (kinds.is_integer(kind) or kinds.is_floating(kind)):
        raise ValueError(
            f"{place}: column {name!r} holds {kind}, not numbers: use it as id or label, name "
            "the columns to use with columns=[...], or use lion fit --landmarks, which prepares such columns"
        )
    return column.to_numpy(zero_copy_only=False)


def ids_of(part: Part, name: str) -> Any:
    """A column of ids: each row has one."""
    import pyarrow.compute as compute

    ids = texts_of(part, name)
    empty = compute.index(compute.binary_length(ids), 0).as_py()
    if empty >= 0:
        where = f"{part.row(empty)}, " if part.id is None else ""
        raise ValueError(f"{where}column {name} is empty: every row needs an id")
    return ids


def texts_of(part: Part, name: str) -> Any:
    """A column of ids or labels as an array of texts; what is missing is the empty one."""
    import pyarrow as pa
    import pyarrow.types as kinds

    column = part.rows.column(name)
    kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    plain = (kinds.is_string, kinds.is_large_string, kinds.is_integer)
    if not any(is_plain(kind) for is_plain in plain):
        return pa.array([text(value) for value in column.to_pylist()], pa.large_string())
    if kind != column.type:
        column = column.cast(kind)
    return column.cast(pa.large_string()).fill_null("")


def packed(texts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Texts as the native module takes them: where each begins and the last ends, and all bytes."""
    _, ends, values = texts.buffers()
    first, last = texts.offset, texts.offset + len(texts) + 1
    return (
        # What came from another process may be anywhere in memory.
        np.require(np.frombuffer(ends, np.int64)[first:last], requirements="A"),
        np.frombuffer(values, np.uint8) if values else np.empty(0, np.uint8),
    )


def text(value: Any) -> str:
    """A value as the command line writes it as an id or label: whole numbers without a point, all
    others without an exponent; what is missing is empty.

    >>> [text(value) for value in (99.0, 2.5, 1e-7, True, "00193", None, float("nan"))]
    ['99', '2.5', '0.0000001', 'true', '00193', '', '']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return "" if value is None else str(value)
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return str(value)
    if value == int(value) and abs(value) < 9e15:
        return str(int(value))
    return np.format_float_positional(value, trim="-")


def parts_of(
    source: Any, texts: Sequence[str | None] = (), wanted: Sequence[str] | None = None
) -> Iterator[Part]:
    """The source, part by part. Where it is text, these columns stay texts, and those wanted (None:
    all others) are numbers."""
    if isinstance(source, (str, os.PathLike)):
        yield from parts_of_files([source], texts, wanted)
    elif isinstance(source, np.ndarray) or any(hasattr(source, sign) for sign in TABLES):
        yield from parts_of_items([source])
    elif isinstance(source, Iterable):
        items = iter(source)
        first = next(items, None)
        if isinstance(first, (str, os.PathLike)):
            yield from parts_of_files([first, *items], texts, wanted)
        elif first is not None:
            yield from parts_of_items(chain([first], items))
    else:
        raise TypeError(
            "the source must be files, a table of Arrow, an array, or an iterable of those, not "
            f"{type(source).__name__}"
        )


def parts_of_files(
    given: Sequence[str | os.PathLike[str]],
    texts: Sequence[str | None],
    wanted: Sequence[str] | None,
) -> Iterator[Part]:
    """The rows of files, each file in turn."""
    from pyarrow import dataset

    for path in expanded(given):
        ending = os.path.splitext(path)[1].lower()
        if os.path.isdir(path):
            inside = os.path.join(path, "*.parquet")
            raise ValueError(f'{path} is a folder: name the files in it, such as "{inside}"')
        if ending == ".npy":
            raise ValueError(f'{path}: give the array, np.load("{path}", mmap_mode="r")')
        if ending not in FORMATS:
            raise ValueError(f"{path}: its name must end in {', '.join(FORMATS)}")
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{path}: there is no such file")
        format: Any = FORMATS[ending]
        if format == "csv":
            format = csv_format(path, texts, wanted)
        before = 0
        for batch in plainly(path, dataset.dataset(path, format=format).to_batches()):
            yield Part(batch, path, before)
            before += batch.num_rows


def plainly(path: str, batches: Iterable[Any]) -> Iterator[Any]:
    """Batches of a file; what Arrow says is wrong with them is said with the file's name."""
    from pyarrow import ArrowInvalid

    try:
        yield from batches
    except ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None


def csv_format(path: str, texts: Sequence[str | None], wanted: Sequence[str] | None) -> Any:
    """How to read a CSV file: these columns as they are written, numbers as float64, whatever they
    look like in the first rows. It must have a header."""
    import pyarrow
    from pyarrow import csv, dataset

    try:
        with csv.open_csv(path) as reader:
            schema = reader.schema
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None
    if all(is_number(name) for name in schema.names):
        raise ValueError(
            f"{path}: its first line has nothing but numbers, and must have the names of the "
            "columns: give the file a header, or use lion fit, which reads files without one"
        )
    types = {}
    for field in schema:
        numbers = (pyarrow.int64(), pyarrow.float64(), pyarrow.null())
        if field.name in texts or wanted is not None and field.name not in wanted:
            types[field.name] = pyarrow.string()
        elif field.type in numbers:
            types[field.name] = pyarrow.float64()
    return dataset.CsvFileFormat(convert_options=csv.ConvertOptions(column_types=types))


def is_numbered(names: Sequence[str]) -> bool:
    """Whether these are the names of columns that have none.

    >>> is_numbered(["c1", "c2"]), is_numbered(["c1", "age"]), is_numbered([])
    (True, False, False)
    """
    return bool(names) and list(names) == [f"c{column}" for column in range(1, len(names) + 1)]


def is_number(name: str) -> bool:
    """Whether a name is a number.

    >>> is_number(" -1.5e3"), is_number("c1"), is_number("")
    (True, False, False)
    """
    try:
        float(name)
    except ValueError:
        return False
    return True


def expanded(given: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Paths as they are; a pattern that is no file's name becomes the files that match it, sorted
    by name.

    >>> expanded(["no-such-*.parquet"])
    Traceback (most recent call last):
    FileNotFoundError: no-such-*.parquet: no file has a name like this
    """
    files: list[str] = []
    for path in map(os.fspath, given):
        if not any(sign in path for sign in "*?[") or os.path.exists(path):
            files.append(path)
        elif found := sorted(filter(os.path.isfile, glob.glob(path, recursive=True))):
            files.extend(found)
        else:
            raise FileNotFoundError(f"{path}: no file has a name like this")
    for path in files:
        if files.count(path) > 1:
            raise ValueError(f"{path} is given twice: leave one out")
    return files


def parts_of_items(items: Iterable[Any]) -> Iterator[Part]:
    """Arrays, record batches, tables and what else has Arrow's stream interface, one after
    another."""
    before = 0
    for item in items:
        for rows in pieces(item):
            yield Part(rows, before=before)
            before += len(rows) if isinstance(rows, np.ndarray) else rows.num_rows


def pieces(item: Any) -> Iterator[Any]:
    """An array as arrays of few rows, anything else as record batches."""
    if isinstance(item, np.ndarray):
        rows = len(item) if item.ndim else 0
        yield from (item[at : at + PART] for at in range(0, rows, PART)) if rows else [item]
    elif hasattr(item, "to_batches"):
        yield from item.to_batches()
    elif hasattr(item, "num_rows") and hasattr(item, "schema"):
        yield item
    elif hasattr(item, "__arrow_c_stream__"):
        import pyarrow

        yield from pyarrow.RecordBatchReader.from_stream(item)
    else:
        yield from pieces(np.asarray(item))
