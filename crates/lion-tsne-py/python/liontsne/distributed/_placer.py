"""The function from record batches to record batches that any engine can run."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liontsne import _native
from liontsne.distributed import _columns
from liontsne.distributed._columns import Chosen, Problem
from liontsne.distributed._open import Opened, Options, opened
from liontsne.distributed._positions import Outliers, Positions
from liontsne.distributed._worker_error import kind_of

# Rows of a table that are resolved at a time.
TOGETHER = 1 << 14

# The column of pending outliers keeps its first name, which jobs outside know.
PENDING, PROBLEM = "stranger", "problem"


@dataclass(frozen=True)
class Placer:
    """Places rows of Arrow data on a map, in parts that do not know of each other.

    `placer` makes it. It pickles as the path and checksum of the map and a few options. Each process
    opens the map once.
    """

    path: str
    checksum: str
    options: Options
    id: str | None = None
    columns: tuple[str, ...] | None = None
    keep: tuple[str, ...] | None = None
    bad_rows: str = "stop"
    file: str | None = None
    row: str | None = None
    prefix: str = ""
    signed: bool = False

    @property
    def map(self) -> _native.Map:
        """The map, opened once for this process."""
        return self._opened.map

    # The three steps

    def resolve(self, batches: Any) -> Any:
        """The first step: gives every row that is no outlier its position.

        An outlier is pending: it gets its verdict, but no position and no group. The column
        `stranger` holds the bytes that its position depends on.

        Takes a `RecordBatch` or `Table` and returns one. Or takes an iterable of record batches and
        returns an iterator. The columns that are features in the first batch are features in all
        batches, in any order.
        """
        if isinstance(batches, (pa.RecordBatch, pa.Table)):
            return self._each(self._resolved, batches)
        return self._resolved_alike(batches_of(batches))

    #: The earlier name of `resolve`.
    settle = resolve

    def positions(self, pending: Iterable[Any]) -> Positions:
        """The second step: computes the positions of all outliers of a job.

        Takes the columns `stranger` of all parts, as arrays, chunked arrays or single bytes. Order
        and repetitions do not matter."""
        outliers = Outliers(self._opened.placer)
        for part in pending:
            outliers.add(part)
        return outliers.positions()

    def fill(self, batches: Any, positions: Positions) -> Any:
        """The third step: fills in the positions of outliers. It takes and returns the same kinds of
        data as `resolve`."""
        return self._each(partial(self._filled, positions), batches)

    def __call__(self, data: Any) -> Any:
        """Does all three steps in this process.

        A `Table` or `RecordBatch` returns one. An object with Arrow's PyCapsule interface, such as a
        polars frame, returns a table. A `RecordBatchReader` returns a reader, and any other iterable
        of record batches an iterator. In the last two cases rows wait in a temporary file until the
        last row is read, so memory does not grow with the rows.
        """
        if isinstance(data, pa.RecordBatchReader):
            schema = self.final_schema(data.schema)
            return pa.RecordBatchReader.from_batches(schema, self._spooled(data))
        if not isinstance(data, (pa.RecordBatch, pa.Table)):
            if not hasattr(data, "__arrow_c_stream__"):
                return self._spooled(batches_of(data))
            data = pa.table(data)
        resolved = self.resolve(data)
        return self.fill(resolved, self.positions([resolved.column(self.prefix + PENDING)]))

    def _spooled(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema, outliers = None, Outliers(self._opened.placer)
        with tempfile.TemporaryFile(prefix="liontsne-") as file:
            for batch in self.resolve(batches):
                if schema is None:
                    schema, writer = batch.schema, pa.ipc.new_stream(file, batch.schema)
                elif set(batch.schema.names) == set(schema.names):
                    batch = batch.select(schema.names)
                if batch.schema != schema:
                    raise ValueError("all batches must have the same columns of the same types")
                writer.write_batch(batch)
                outliers.add(batch.column(self.prefix + PENDING))
            if schema is None:
                return
            writer.close()
            file.seek(0)
            with pa.ipc.open_stream(file) as resolved:
                yield from self.fill(resolved, outliers.positions())

    # What comes out

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema that `resolve` returns for rows of this schema."""
        return self._schema(schema, self._chosen(schema), PENDING)

    def final_schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema that `fill`, and a call, return for rows of this schema."""
        return self._schema(schema, self._chosen(schema))

    def features(self, schema: pa.Schema) -> list[str]:
        """The columns of a table that are features: a single one if it holds lists."""
        return list(self._chosen(schema).features)

    def kept(self, schema: pa.Schema) -> list[str]:
        """The columns of a table that are kept."""
        return list(self._chosen(schema).kept)

    def _schema(self, schema: pa.Schema, chosen: Chosen, *more: str) -> pa.Schema:
        ours = self.types
        ours |= {self.prefix + name: pa.binary() for name in more}
        for name in chosen.kept:
            if name in ours:
                raise ValueError(
                    f"column {name} passes through, and what is said of rows has one of that name: "
                    'give prefix="liontsne_" or another, or choose what passes through with keep'
                )
        kept = [_columns.find(schema, name) for name in chosen.kept]
        return pa.schema([*kept, *(pa.field(name, type) for name, type in ours.items())])

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The columns that are added to each row, except `stranger`."""
        types = {
            name: pa.int64() if self.signed and type.startswith("uint") else pa.type_for_alias(type)
            for name, type in _native.placement_types(self.map.dims)
        }
        if self.bad_rows == "aside":
            types[PROBLEM] = pa.string()
        return {self.prefix + name: type for name, type in types.items()}

    # One batch

    @property
    def _opened(self) -> Opened:
        """The map and all that was made of it, from this process's own store."""
        return opened(self.path, self.checksum, self.options)

    def _chosen(self, schema: pa.Schema) -> Chosen:
        here = self._opened
        beside = tuple(name for name in (self.id, self.file, self.row) if name is not None)
        return _columns.choose(
            schema, here.width, here.names, self.columns, self.keep, beside, here.recipe
        )

    def rows(self, batch: pa.RecordBatch) -> tuple[np.ndarray, list[Problem]]:
        """The features of a batch as rows, and what is wrong with some of them."""
        here, chosen = self._opened, self._chosen(batch.schema)
        if here.recipe:
            return _columns.encoded(here.map, batch, chosen, here.recipe)
        return _columns.rows(batch, chosen, here.width)

    def _each(self, step: Any, batches: Any) -> Any:
        if isinstance(batches, pa.RecordBatch):
            return step(batches)
        if isinstance(batches, pa.Table):
            parts = batches.to_batches(max_chunksize=TOGETHER) or [empty(batches.schema)]
            return pa.Table.from_batches([step(batch) for batch in parts])
        return (step(batch) for batch in batches)

    def held_to(self, schema: pa.Schema) -> "Placer":
        """The same for tables whose features have the names that they have in this one."""
        return replace(self, columns=tuple(self.features(schema)))

    def _resolved_alike(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = None
        for batch in batches:
            held = held or self.held_to(batch.schema)
            yield held._resolved(batch)

    def _resolved(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        chosen = self._chosen(batch.schema)
        schema = self._schema(batch.schema, chosen, PENDING)
        columns = self._said(batch, chosen)
        kept = [batch.column(name) for name in chosen.kept]
        said = [
            columns[field.name.removeprefix(self.prefix)].cast(field.type)
            for field in list(schema)[len(kept) :]
        ]
        return pa.RecordBatch.from_arrays([*kept, *said], schema=schema)

    def _said(self, batch: pa.RecordBatch, chosen: Chosen) -> dict[str, pa.Array]:
        """What is said of the rows of a batch, column by column."""
        here = self._opened
        x, problems = self.rows(batch)
        self._stop_at(batch, problems)
        good = np.delete(np.arange(len(x)), [bad.row for bad in problems])
        try:
            resolved = batch_of(_native.resolve(here.placer, x[good] if problems else x))
        except ValueError:
            # Numbers, but none that a map can use: too large, or without a direction.
            refused = refused_rows(here, chosen, x, good)
            self._stop_at(batch, refused)
            if not refused:
                raise
            problems = problems + refused
            good = np.setdiff1d(good, [bad.row for bad in refused])
            resolved = batch_of(_native.resolve(here.placer, x[good]))
        said = dict(zip(resolved.schema.names, resolved.columns))
        if problems:
            where = np.full(len(x), -1)
            where[good] = np.arange(len(good))
            where = pa.array(where, mask=where < 0)
            said = {name: column.take(where) for name, column in said.items()}
        if self.bad_rows == "aside":
            words = {bad.row: self._sentence(batch, bad) for bad in problems}
            said[PROBLEM] = pa.array([words.get(row) for row in range(len(x))], pa.string())
        return said

    def _filled(self, positions: Positions, batch: pa.RecordBatch) -> pa.RecordBatch:
        at = batch.schema.get_field_index(self.prefix + PENDING)
        if at < 0:
            raise ValueError(f"there is no column {self.prefix + PENDING}: resolve the rows first")
        pending, names = batch.column(at), batch.schema.names
        columns = list(batch.columns)
        if pending.null_count < len(pending):
            for name, given in positions.of(pending).items():
                old = names.index(self.prefix + name)
                columns[old] = pc.coalesce(columns[old], given.cast(columns[old].type))
        del columns[at]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema.remove(at))

    # Bad rows

    def _stop_at(self, batch: pa.RecordBatch, problems: list[Problem]) -> None:
        if problems and self.bad_rows == "stop":
            raise ValueError(
                f'{self._sentence(batch, problems[0])} (bad_rows="aside" sets such rows aside)'
            )

    def _sentence(self, batch: pa.RecordBatch, bad: Problem) -> str:
        """Where a bad row came from, as far as that is known, and what is wrong with it."""

        def value(column: str | None, words: str) -> list[str]:
            return [words.format(batch.column(column)[bad.row].as_py())] if column else []

        where = [*value(self.file, "{}"), *value(self.row, "row {}"), *value(self.id, "id {}")]
        where = where or [f"row {bad.row} of a batch of {batch.num_rows} rows"]
        if bad.column is not None:
            where.append(f"column {bad.column}")
        return f"{', '.join(where)} {bad.words}"


def refused_rows(here: Opened, chosen: Chosen, x: np.ndarray, good: np.ndarray) -> list[Problem]:
    """Those of the good rows that the map itself refuses."""
    names = chosen.features
    if chosen.is_list:
        names = tuple(_columns.items(names[0], here.width))
    return [
        Problem(int(good[row]), None if column is None else names[column], words)
        for row, column, words in _native.problems(here.placer, x[good])
    ]


def batches_of(data: Any) -> Iterable[pa.RecordBatch]:
    """Something that could be an iterable of record batches; all else is refused at once."""
    if isinstance(data, (str, bytes, dict, np.ndarray)) or not isinstance(data, Iterable):
        raise TypeError(
            f"this is {kind_of(data)}, and a placer takes a table or record batch of pyarrow, an "
            "iterable of record batches, or a frame"
        )
    return data


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of these columns."""
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def batch_of(columns: _native.Columns) -> pa.RecordBatch:
    """What the native module says, as a record batch."""
    return pa.RecordBatchReader.from_stream(columns).read_next_batch()
