"""Placing the rows of a Spark data frame, and of a stream of them; and fitting a map to some of them.

    from liontsne.distributed import spark as lion_spark
    placed = lion_spark.place(df, "map.lion", id="id")
    placed.write.parquet("placed")

Partitions are placed where they are, and stay there. Only outliers travel. The result has the same bits
as that of `lion place`, with any partitions. On a cluster, every worker needs liontsne, and the map file
at the same path unless Spark ships it (`ship=True`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from liontsne.distributed import Placer, Positions, _columns, _landmarks, placer
from liontsne.distributed._landmarks import Sampler
from liontsne.distributed._placer import PENDING, PROBLEM
from liontsne.distributed._service import Service
from liontsne.distributed._spark import (
    FEATURES,
    plainly,
    quoted,
    refuse_vectors,
    resolve,
    with_one_array,
    with_pending,
)
from liontsne.distributed._worker_error import kind_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from liontsne import LionTSNE

__all__ = ["fit_landmarks", "place", "release", "stream"]

# What an answer remembers: the data frame that Spark keeps for it.
RESOLVED = "_liontsne_resolved"


def place(
    df: "DataFrame",
    map: str | os.PathLike[str],
    *,
    bad_rows: str = "stop",
    ship: bool = False,
    **options: Any,
) -> "DataFrame | tuple[DataFrame, DataFrame]":
    """Places the rows of a Spark data frame on the map of a file.

    All rows but outliers are placed at once. Spark keeps them (`persist`, in memory or on disk),
    without their features. Positions of outliers are filled in when you ask for the result. `release`
    frees what Spark keeps. Partitions and the order of rows stay as they are.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Features as columns of numbers, or as one column of arrays. If it was read from files, the
        sentence about a bad row names the file, and for Parquet the row in it.
    map : path
        The map file.
    bad_rows : {"stop", "aside"}
        "stop": a row that cannot be placed ends the job with a `ValueError`. "aside": it is set aside.
    ship : bool
        Whether Spark sends the map file to the workers. If not, they need it at the same path.
    **options
        As for `liontsne.distributed.placer`: `id`, `columns`, `keep`, `file`, `row`, `prefix`,
        `local`, ...

    Returns
    -------
    DataFrame, or two of them
        The kept columns and those of `lion place` (`neighbours` and `group` as `long`, because Spark
        has no unsigned numbers); with `bad_rows="aside"` a pair of them:
        the placed rows, and the others with a column `problem`.
    """
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise TypeError(
            f"this is {kind_of(df)}, and spark.place takes a data frame of Spark: "
            "session.createDataFrame(frame) makes one, or distributed.placer(...)(frame) places "
            "a frame of pandas here"
        )
    made = placer(map, bad_rows=bad_rows, signed=True, **options)
    resolved = resolve(df, made, with_pending, ship=ship)
    try:
        positions = made.positions(part.column(0) for part in resolved.outliers())
    except BaseException:
        resolved.packs.unpersist()
        raise
    placed = resolved.rows(fill, shared(df, positions), good(made))
    vars(placed)[RESOLVED] = resolved
    if bad_rows == "stop":
        return placed
    return placed, resolved.rows(only_bad, None, [made.prefix + PROBLEM])


def release(placed: "DataFrame") -> None:
    """Frees what Spark keeps for a result of `place` (of a pair, the first). If you ask for placed rows
    after that, they are computed again."""
    resolved = vars(placed).get(RESOLVED)
    if resolved is None:
        raise ValueError("this data frame is none that place has returned: release that one")
    resolved.packs.unpersist()


def shared(df: "DataFrame", value: Any) -> Any:
    """What each worker gets once; through Spark Connect, which cannot do so, with its tasks."""
    from pyspark.errors import PySparkException

    try:
        return df.sparkSession.sparkContext.broadcast(value)
    except PySparkException:
        return value


def good(made: Placer) -> list[str]:
    """The columns that are said of rows that are placed."""
    return [name for name in made.types if name != made.prefix + PROBLEM]


def fill(made: Placer, resolved: pa.RecordBatch, positions: Positions) -> pa.RecordBatch:
    """On a worker: placed rows."""
    return made.fill(without_bad(made, resolved), positions)


def without_bad(made: Placer, resolved: pa.RecordBatch) -> pa.RecordBatch:
    """On a worker: the rows that are not to be set aside."""
    if made.bad_rows == "stop":
        return resolved
    return resolved.filter(resolved.column(made.prefix + PROBLEM).is_null())


def only_bad(made: Placer, resolved: pa.RecordBatch, _: None) -> pa.RecordBatch:
    """On a worker: the rows that are to be set aside."""
    return resolved.filter(resolved.column(made.prefix + PROBLEM).is_valid())


# Landmarks

Batches = Iterable[pa.RecordBatch]


def fit_landmarks(
    df: "DataFrame",
    n: int,
    *,
    id: str,
    label: str | None = None,
    columns: Sequence[str] | None = None,
    stratify: bool = False,
    cover: bool = False,
    save: str | os.PathLike[str] | None = None,
    **params: Any,
) -> "LionTSNE":
    """Fits a map to some rows, the landmarks, of a Spark data frame.

    The choice is that of `lion fit --landmarks` and `LionTSNE.fit_landmarks`: a hash of its id and the
    seed decide whether a row is a landmark. Each partition is looked at where it is. What travels is the
    rows that may be landmarks or judge them (about `n` + 100000 rows in all), and the moments for the
    PCA. The map is fitted here. It has the same bits with any partitions, in any order.

    Rows are counted first, because most of them need not travel then. If that is slow,
    because the data frame is the result of much work, `persist` it before.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Features as columns of numbers, or as one column of arrays.
    n : int
        The number of rows to map.
    id : str
        The column that names the rows. It is required: rows in many places have no numbers.
    label : str or None
        The column that holds labels.
    columns : list of str or None
        The columns to use; None is all others.
    stratify : bool, default=False
        Take equally many landmarks of each label, as far as there are enough rows.
    cover : bool, default=False
        Give up to a tenth of the landmarks to rows beyond the radius of all others.
    save : path or None
        Where to save the map.
    **params
        As for `liontsne.LionTSNE`: `perplexity`, `pca`, `metric`, `random_state`, ...

    Returns
    -------
    LionTSNE
        Fitted. `sampled_from_` says what the landmarks stand for.
    """
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise TypeError(
            f"this is {kind_of(df)}, and spark.fit_landmarks takes a data frame of Spark: "
            "session.createDataFrame(frame) makes one, or LionTSNE().fit_landmarks takes tables here"
        )
    lion, choose = _landmarks.sampler(n, id, label, columns, stratify, cover, params)
    schema = df.limit(0).toArrow().schema
    with refuse_vectors(df, columns):
        choose = choose.held_to(schema)

    def count() -> _landmarks.Counts:
        if not stratify:
            return {"": df.count()}
        parts = collected(df.select(*quoted([label])), [label], partial(counted, choose))
        return _landmarks.total(parts)

    def states(choose: Sampler) -> Iterable[bytes]:
        named = [name for name in (id, label) if name is not None]
        known = with_one_array(df.select(*quoted(choose.needed)), choose.features, named)
        return collected(known, known.columns, partial(sampled, choose), choose)

    return _landmarks.fit(lion, choose, count, states, save)


def collected(
    df: "DataFrame", names: list[str], work: Any, choose: Sampler | None = None
) -> list[bytes]:
    """What work says of each partition, in bytes. States that may be large are merged on the workers
    first."""
    # mapInArrow does not take names with dots: columns travel by number.
    numbered = df.toDF(*(f"_{number}" for number in range(len(names))))
    said = numbered.mapInArrow(partial(work, names), "said binary")
    if choose is not None and choose.has_moments:
        said = said.repartition(_landmarks.TOGETHER).mapInArrow(partial(merged, choose), "said binary")
    return plainly(said.toArrow).column(0).to_pylist()


def counted(choose: Sampler, names: list[str], batches: Batches) -> Iterator[pa.RecordBatch]:
    """On a worker: how many rows of each label a partition has."""
    yield said(_landmarks.packed(choose.count(batch.rename_columns(names) for batch in batches)))


def sampled(choose: Sampler, names: list[str], batches: Batches) -> Iterator[pa.RecordBatch]:
    """On a worker: what is known of the rows of a partition."""
    together = FEATURES if FEATURES in names else None
    yield said(choose.sample((batch.rename_columns(names) for batch in batches), together))


def merged(choose: Sampler, batches: Batches) -> Iterator[pa.RecordBatch]:
    """On a worker: what is known of the rows of some partitions."""
    yield said(choose.merge(state.as_py() for batch in batches for state in batch.column(0)))


def said(state: bytes) -> pa.RecordBatch:
    return pa.record_batch({"said": pa.array([state], pa.binary())})


# Streams

Sink = Callable[["DataFrame", int], None]


def stream(
    map: str | os.PathLike[str],
    sink: Sink,
    *,
    id: str,
    service: str = "http://127.0.0.1:7878",
    token: str | None = None,
    patience: float = 60.0,
    rejected: Sink | None = None,
    ship: bool = False,
    **options: Any,
) -> Sink:
    """Returns the function for `foreachBatch` of a stream, which places it batch by batch.

        query = df.writeStream.foreachBatch(lion_spark.stream("map.lion", sink, id="id")).start()

    The workers place all rows but outliers. Outliers, and nothing else, are sent to a running `lion
    serve` with the same map. Its store keeps them between batches: an outlier that comes close to
    those of an earlier batch joins their group. They are sent in the order of their ids and stored by
    id. So a batch that is run again changes nothing and has the same result. An id should stand for
    one row: if it comes again and is no outlier any more, the service still has the old row.

    Parameters
    ----------
    map : path
        The map file.
    sink : function of a DataFrame and the number of the batch
        Gets the placed rows of each batch. After a failure it may get a batch again, as any function
        for `foreachBatch`.
    id : str
        The column that names rows.
    service : str
        The address of `lion serve map.lion --store points.db`.
    token : str or None
        What is in its token file, if it has one.
    patience : float
        Seconds for which the service may be unavailable before the batch fails.
    rejected : function of a DataFrame and the number of the batch
        Gets the rows that cannot be placed, with a column `problem`. Without it they stop the
        query.
    ship : bool
        As for `place`.
    **options
        As for `liontsne.distributed.placer`. Those that say how to place must be those of the service.
    """
    bad_rows = "stop" if rejected is None else "aside"
    made = placer(map, id=id, bad_rows=bad_rows, signed=True, **options)
    asked = Service(service, token, patience)

    def place_batch(df: "DataFrame", epoch: int) -> None:
        resolved = resolve(df, made, with_values, ship=ship, of_stream=True)
        try:
            answers = from_service(list(resolved.outliers()), made, id, asked)
            sink(resolved.rows(put, shared(df, answers), good(made)), epoch)
            if rejected is not None:
                rejected(resolved.rows(only_bad, None, [made.prefix + PROBLEM]), epoch)
        finally:
            resolved.packs.unpersist()

    return place_batch


def with_values(made: Placer, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The step of `stream`: resolved rows, and the ids and values of the outliers among them."""
    resolved = made.resolve(batch)
    outliers = batch.filter(resolved.column(made.prefix + PENDING).is_valid())
    width = made.map.input_dims
    x, _ = made.rows(outliers)
    values = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), width)
    ids = outliers.column(made.id).cast(pa.string())
    return resolved, pa.record_batch({"id": ids, "x": values})


def from_service(
    outliers: list[pa.RecordBatch], made: Placer, id: str, service: Service
) -> pa.Table:
    """What the service says of outliers."""
    types = {name: type for name, type in replace(made, prefix="").types.items() if name != PROBLEM}
    schema = pa.schema({"id": pa.string()} | types)
    if not outliers:
        return schema.empty_table()
    if service.checksum() != made.checksum:
        raise ValueError(
            f"the service at {service.address} has another map than {made.path}: start it with "
            "that file"
        )
    points = each_once(pa.Table.from_batches(outliers), id)
    return pa.Table.from_pylist(service.place(points), schema)


def each_once(points: pa.Table, id: str) -> pa.Table:
    """Points in the order of their ids, each once."""
    points = points.take(pc.sort_indices(points.column("id")))
    ids = points.column("id").to_pylist()
    if None in ids:
        raise ValueError(f"column {id} is empty in the row of an outlier: every point needs an id")
    first = [row for row, name in enumerate(ids) if row == 0 or name != ids[row - 1]]
    if len(first) == len(ids):
        return points
    values = points.column("x").to_pylist()
    for row, name in enumerate(ids[1:], 1):
        if name == ids[row - 1] and values[row] != values[row - 1]:
            raise ValueError(
                f"id {name} is twice among the outliers of this batch, with different values: keep "
                "the latest of each id before the stream is placed"
            )
    return points.take(first)


def put(made: Placer, resolved: pa.RecordBatch, answers: pa.Table) -> pa.RecordBatch:
    """On a worker: resolved rows, the outliers among them as the service has them."""
    resolved = without_bad(made, resolved)
    is_outlier = resolved.column(made.prefix + PENDING).is_valid()
    ids = pc.if_else(is_outlier, resolved.column(made.id).cast(pa.string()), None)
    where = pc.index_in(ids, answers.column("id"), skip_nulls=True)
    if pc.any(pc.and_(is_outlier, where.is_null())).as_py():
        raise ValueError(
            "an outlier is here that was not there before: the stream is not the same each time it "
            "is computed, so cache it before it is placed"
        )
    columns = dict(zip(resolved.schema.names, resolved.columns))
    for name in answers.column_names[1:]:
        given = answers.column(name).combine_chunks().take(where)
        old = columns[made.prefix + name]
        columns[made.prefix + name] = pc.if_else(is_outlier, given.cast(old.type), old)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=resolved.schema)
