"""The steps of a job, as plans of Spark."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from liontsne.distributed import Placer
from liontsne.distributed._placer import STRANGER
from liontsne.distributed._told import told

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

T = TypeVar("T")
Batches = Iterable[pa.RecordBatch]
Step = Callable[[Placer, Batches], Iterator[pa.RecordBatch]]

TYPES = {
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.int64(): "long",
    pa.binary(): "binary",
}

CHANGED = (
    "an outlier among these rows has no position: the data frame is not the same each time it is "
    "computed, so cache or write it before it is placed"
)


def settle(
    df: "DataFrame", made: Placer, *, ship: bool, step: Step = Placer.settle, **more: str
) -> "DataFrame":
    """The settled rows of a data frame, to be computed. Another `step` may settle batches on the
    workers, and say more of rows, in columns of these names and types."""
    from pyspark.sql.types import StructField, StructType

    schema = schema_of(df, made)
    made.schema(schema)  # What is wrong with the columns is said before the job begins.
    features, kept = made.features(schema), made.kept(schema)
    made = replace(made, columns=tuple(features), keep=tuple(kept))
    if ship:
        df.sparkSession.addArtifacts(made.path, file=True)
    said = {name: TYPES[type] for name, type in made.types.items()}
    said |= {made.prefix + STRANGER: "binary"} | more
    fields = [df.schema[name] for name in kept]
    fields += [StructField(name, of_word(type)) for name, type in said.items()]
    known, made = with_source(df, made, list(dict.fromkeys([*kept, *features])))
    # mapInArrow does not take names with dots: columns travel by number.
    numbered = known.toDF(*(f"_{number}" for number in range(len(known.columns))))
    names = (known.columns, [field.name for field in fields])
    return numbered.mapInArrow(partial(on_worker, made, step, names, ship), StructType(fields))


def on_worker(
    made: Placer, step: Step, names: tuple[list[str], list[str]], ship: bool, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Settled rows, of columns with these names to columns with those. The map is where it is on
    the driver, or where Spark has put it."""
    if ship:
        from pyspark import SparkFiles

        made = replace(made, path=SparkFiles.get(os.path.basename(made.path)))
    given, wanted = names
    for settled in step(made, (batch.rename_columns(given) for batch in batches)):
        yield settled.select(wanted)


def put(settled: "DataFrame", key: "Column", given: pa.Table, prefix: str) -> "DataFrame":
    """Settled rows with what is given for some of them, by a key in its first column. It is a join
    with a small table that Spark sends to all workers: quicker than to take every row to Python and
    back for the sake of a few."""
    from pyspark.sql import functions as F

    names = {prefix + name: f"_liontsne_{name}" for name in given.column_names}
    there, *others = names.values()
    table = settled.sparkSession.createDataFrame(given.rename_columns([there, *others]))
    found = settled.join(F.broadcast(table), on=key == F.col(there), how="left")

    # Rows that were lost with a worker and came out otherwise the second time.
    changed = F.raise_error(F.lit(CHANGED))

    def column(name: str) -> "Column":
        old = F.col(*quoted([name]))
        if names.get(name) not in others:
            return old
        missing = [F.when(key.isNotNull(), changed)] if name == prefix + "x" else []
        return F.coalesce(F.col(names[name]), old, *missing).alias(name)

    return found.select(*(column(name) for name in settled.columns))


# Columns


def quoted(names: Iterable[str]) -> list[str]:
    """Names as Spark takes them, whatever is in them."""
    return ["`" + name.replace("`", "``") + "`" for name in names]


def of_word(word: str) -> Any:
    """The type of a word such as `array<float>`."""
    from pyspark.sql.types import DataType

    return DataType.fromDDL(word)


def schema_of(df: "DataFrame", made: Placer) -> pa.Schema:
    """The Arrow types of a data frame, whose features must not be vectors of Spark's."""
    schema = df.limit(0).toArrow().schema
    vectors = [field.name for field in df.schema if type(field.dataType).__name__ == "VectorUDT"]
    try:
        made.features(schema)
    except ValueError:
        for name in vectors:
            if made.columns is None or name in made.columns:
                raise ValueError(
                    f"column {name} holds vectors of Spark's own kind: make arrays of them, "
                    f'df.withColumn("{name}", pyspark.ml.functions.vector_to_array("{name}"))'
                ) from None
        raise
    return schema


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
    file, row = "_liontsne_file", "_liontsne_row"
    path = F.col("_metadata.file_path").alias(file)
    number = (F.col("_metadata.row_index") + 1).alias(row)
    for columns in ([path, number], [path]):
        try:
            known = df.select("*", *columns)
            return known, replace(made, file=file, row=row if row in known.columns else None)
        except AnalysisException:
            continue
    return df, made


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
