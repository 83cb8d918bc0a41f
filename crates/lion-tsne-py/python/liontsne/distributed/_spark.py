"""The steps of a job on Spark."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liontsne.distributed import Placer
from liontsne.distributed._placer import PENDING
from liontsne.distributed._worker_error import told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")
Batches = Iterable[pa.RecordBatch]
# Resolves a batch on a worker: the resolved rows, and what the driver must know of the outliers.
Step = Callable[[Placer, pa.RecordBatch], tuple[pa.RecordBatch, pa.RecordBatch]]
# Makes placed rows of resolved ones on a worker, with what the driver has found out.
Finish = Callable[[Placer, pa.RecordBatch, Any], pa.RecordBatch]

TYPES = {
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.int64(): "long",
    pa.binary(): "binary",
}
# Where a row came from, and its features, on the way to the placer.
FILE, ROW, FEATURES = "_liontsne_file", "_liontsne_row", "_liontsne_features"
# Spark sends 10000 rows at a time to Python, each of them a pack: so they are no more than 250 MB.
PACK = 25_000
# Packs that are unpacked together.
TOGETHER = 64


@dataclass(frozen=True)
class Resolved:
    """Resolved rows, packed: each row that Spark has is some hundreds of ours in Arrow's form. Its
    own rows and columns, to and fro, would cost as much as a quarter of the placing."""

    packs: "DataFrame"
    made: Placer
    kept: Sequence[Any]
    """The columns that pass through, as Spark has them."""

    def outliers(self) -> Iterator[pa.RecordBatch]:
        """What the steps tell the driver of outliers. All rows are resolved by this. What was passed
        on is not kept here."""
        found = self.packs.where("outliers is not null").select("outliers")
        chunks = plainly(found.toArrow).column(0).chunks
        while chunks:
            yield from map(unpacked, chunks.pop())

    def rows(self, finish: Finish, given: Any, said: Sequence[str]) -> "DataFrame":
        """The rows as `finish` makes them: what passes through, and these of the columns that are
        said of each row; to be computed."""
        from pyspark.sql.types import StructField, StructType

        types = self.made.types
        fields = [StructField(name, of_word(TYPES[types[name]])) for name in said]
        schema = StructType([*self.kept, *fields])
        work = partial(unpack, self.made, finish, given, schema.names)
        return self.packs.select("rows").mapInArrow(work, schema)


def resolve(
    df: "DataFrame", made: Placer, step: Step, *, ship: bool, of_stream: bool = False
) -> Resolved:
    """The rows of a data frame, to be resolved when they are asked for, and then kept by Spark. A
    batch of a stream knows nothing of files."""
    schema = schema_of(df, made)
    made.schema(schema)  # What is wrong with the columns is said before the job begins.
    features, kept = made.features(schema), made.kept(schema)
    check_case(df, made, kept)
    made = replace(made, columns=tuple(features), keep=tuple(kept))
    if ship:
        df.sparkSession.addArtifacts(made.path, file=True)
    names = list(dict.fromkeys([*kept, *features]))
    if of_stream:
        known = df.select(*quoted(names))
    else:
        known, made = with_source(df, made, names)
    known = with_one_array(known, features, kept)
    # mapInArrow does not take names with dots: columns travel by number.
    numbered = known.toDF(*(f"_{number}" for number in range(len(known.columns))))
    work = partial(pack, made, step, known.columns, ship)
    packs = numbered.mapInArrow(work, "rows binary, outliers binary").persist()
    return Resolved(packs, made, [df.schema[name] for name in kept])


# On a worker


def pack(
    made: Placer, step: Step, names: list[str], ship: bool, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Packs of resolved rows, from rows with columns of these names. The map is where it is on the
    driver, or where Spark has put it."""
    if ship:
        from pyspark import SparkFiles

        made = replace(made, path=SparkFiles.get(os.path.basename(made.path)))
    for batch in batches:
        batch = spread(batch.rename_columns(names), made.columns or ())
        resolved, outliers = step(made, batch)
        resolved = resolved.select([n for n in resolved.schema.names if n not in (FILE, ROW)])
        rows = max(1, PACK * len(resolved) // max(1, resolved.nbytes))
        parts = [packed(resolved[at : at + rows]) for at in range(0, len(resolved), rows)]
        told = [packed(outliers) if len(outliers) else None, *[None] * len(parts)][: len(parts)]
        yield pa.record_batch(
            {"rows": pa.array(parts, pa.binary()), "outliers": pa.array(told, pa.binary())}
        )


def unpack(
    made: Placer, finish: Finish, given: Any, names: list[str], batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Placed rows, with these columns, of packs."""
    given = getattr(given, "value", given)  # Of a broadcast.
    for batch in batches:
        for at in range(0, len(batch), TOGETHER):
            packs = [unpacked(one) for one in batch.column(0)[at : at + TOGETHER]]
            for resolved in pa.Table.from_batches(packs).combine_chunks().to_batches():
                yield finish(made, resolved, given).select(names)


def packed(batch: pa.RecordBatch) -> bytes:
    """A batch in Arrow's stream format, which does not take with it what it is a part of."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpacked(pack: pa.Scalar) -> pa.RecordBatch:
    """The batch of a pack."""
    return pa.ipc.open_stream(pack.as_buffer()).read_next_batch()


def with_pending(made: Placer, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The step of `place`: resolved rows, and the different outliers among them."""
    resolved = made.resolve(batch)
    pending = pc.unique(resolved.column(made.prefix + PENDING).drop_null())
    return resolved, pa.record_batch({PENDING: pending})


# Columns


def quoted(names: Iterable[str]) -> list[str]:
    """Names as Spark takes them, whatever is in them."""
    return ["`" + name.replace("`", "``") + "`" for name in names]


def of_word(word: str) -> Any:
    """The type of a word such as `array<float>`."""
    from pyspark.sql.types import DataType

    return DataType.fromDDL(word)


def with_one_array(df: "DataFrame", features: list[str], kept: list[str]) -> "DataFrame":
    """The same rows with the features as one array, where these are of one type: Spark writes that
    to Arrow in two thirds of the time that many columns take."""
    from pyspark.sql import functions as F

    types = {df.schema[name].dataType.simpleString() for name in features}
    if len(features) == 1 or types not in ({"float"}, {"double"}) or set(features) & set(kept):
        return df
    others = [name for name in df.columns if name not in features]
    return df.select(*quoted(others), F.array(*quoted(features)).alias(FEATURES))


def spread(batch: pa.RecordBatch, features: Sequence[str]) -> pa.RecordBatch:
    """The features as columns again."""
    at = batch.schema.get_field_index(FEATURES)
    if at < 0:
        return batch
    values = batch.column(at).flatten()
    rows = np.arange(0, len(values), len(features))
    columns = [values.take(pa.array(rows + number)) for number in range(len(features))]
    others = [*batch.columns[:at], *batch.columns[at + 1 :]]
    names = [name for name in batch.schema.names if name != FEATURES]
    return pa.RecordBatch.from_arrays([*others, *columns], [*names, *features])


def schema_of(df: "DataFrame", made: Placer) -> pa.Schema:
    """The Arrow types of a data frame, whose features must not be vectors of Spark's."""
    schema = df.limit(0).toArrow().schema
    with refuse_vectors(df, made.columns):
        made.features(schema)
    return schema


@contextmanager
def refuse_vectors(df: "DataFrame", columns: Sequence[str] | None) -> Iterator[None]:
    """If columns cannot be features because they hold vectors of Spark's, says what to do."""
    try:
        yield
    except ValueError:
        for field in df.schema:
            name = field.name
            is_vector = type(field.dataType).__name__ == "VectorUDT"
            if is_vector and (columns is None or name in columns):
                raise ValueError(
                    f"column {name} holds vectors of Spark's own kind: make arrays of them, "
                    f'df.withColumn("{name}", pyspark.ml.functions.vector_to_array("{name}"))'
                ) from None
        raise


def check_case(df: "DataFrame", made: Placer, kept: list[str]) -> None:
    """Refuses columns that pass through and have a name of ours but for its case, which is one name
    for Spark unless it was told otherwise."""
    if df.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true":
        return
    ours = {name.lower(): name for name in made.types}
    for name in kept:
        if name.lower() in ours:
            raise ValueError(
                f"column {name} passes through, and what is said of rows has {ours[name.lower()]}, "
                'the same name to Spark: give prefix="liontsne_" or another, or choose what passes '
                "through with keep"
            )


def with_source(df: "DataFrame", made: Placer, names: list[str]) -> tuple["DataFrame", Placer]:
    """Columns of rows that know from which file they are and, in Parquet, which row in it, if that
    can be known and nobody has said it already."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    # Of what is cached, Spark keeps no file; to ask for it would read the table anew.
    is_cached = df.storageLevel.useDisk or df.storageLevel.useMemory
    df = df.select(*quoted(names))
    if made.file or made.row or is_cached:
        return df, made
    path = F.col("_metadata.file_path").alias(FILE)
    number = F.col("_metadata.row_index").alias(ROW)
    for columns in ([path, number], [path]):
        try:
            with unlogged():
                known = df.select("*", *columns)
                return known, replace(made, file=FILE, row=ROW if ROW in known.columns else None)
        except AnalysisException:
            continue
    return df, made


@contextmanager
def unlogged() -> Iterator[None]:
    """Keeps Spark from logging the errors of this thread: it does so even where an error is the
    answer to a question."""
    from pyspark.logger import PySparkLogger

    here = threading.get_ident()
    names = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
    loggers = [PySparkLogger.getLogger(name) for name in names]

    def of_others(record: Any) -> bool:
        return record.thread != here

    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


# What workers say


def plainly(work: Callable[[], T]) -> T:
    """Does work on the cluster; what a worker says is wrong is said here, without the pages around
    it."""
    from pyspark.errors import PySparkException

    try:
        return work()
    except PySparkException as error:
        problem = told(str(error))
        if problem is None:
            raise
    raise problem
