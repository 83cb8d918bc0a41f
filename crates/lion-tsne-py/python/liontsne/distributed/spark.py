"""Placing the rows of a Spark data frame, and of a stream of them.

    from liontsne.distributed import spark
    placed = spark.place(df, "map.lion", id="id")
    placed.write.parquet("placed")

Partitions are settled where they are, and stay there; only outliers travel. The result is that of
`lion place` bit by bit, whatever the partitions. On a cluster, every worker needs liontsne, and the
map file at the same path unless Spark ships it (`ship=True`).
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liontsne.distributed import Placer, _columns, placer
from liontsne.distributed._placer import PROBLEM, STRANGER
from liontsne.distributed._service import Service
from liontsne.distributed._spark import Batches, plainly, put, quoted, settle

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["place", "release", "stream"]

# What an answer remembers: the data frame that Spark keeps for it.
SETTLED = "_liontsne_settled"


def place(
    df: "DataFrame",
    map: str | os.PathLike[str],
    *,
    bad_rows: str = "stop",
    ship: bool = False,
    **options: Any,
) -> "DataFrame | tuple[DataFrame, DataFrame]":
    """Places the rows of a Spark data frame into the map of a file.

    Rows are settled at once, each of them once, and kept by Spark (`persist`, in memory or on disk)
    without their features; the rest is done when the answer is asked for. `release` lets go of what
    is kept. Partitions and the order of rows stay as they are.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Features as columns of numbers, or as one column of arrays. Where it was read from files,
        the sentence about a bad row names the file, and for Parquet the row in it.
    map : path
        The map file.
    bad_rows : {"stop", "aside"}
        Whether a row that cannot be placed ends the job with a `ValueError`, or is set aside.
    ship : bool
        Whether Spark sends the map file to the workers. Otherwise they need it at the same path.
    **options
        As for `liontsne.distributed.placer`: `id`, `columns`, `keep`, `file`, `row`, `prefix`,
        `local`, ...

    Returns
    -------
    DataFrame, or two of them
        The columns that pass through, and what `lion place` says of each row (`neighbours` and
        `group` as `long`: Spark has no unsigned numbers); with `bad_rows="aside"` a pair of them:
        the placed rows, and the others with a column `problem`.
    """
    made = placer(map, bad_rows=bad_rows, signed=True, **options)
    settled = settle(df, made, ship=ship).persist()
    stranger = settled[quoted([made.prefix + STRANGER])[0]]
    different = settled.where(stranger.isNotNull()).select(stranger).distinct()
    try:
        # This settles all rows.
        positions = made.positions([plainly(different.toArrow).column(0)]).table
    except BaseException:
        settled.unpersist()
        raise
    group = positions.column_names.index("group")
    positions = positions.set_column(group, "group", positions.column(group).cast(pa.int64()))
    placed, bad = apart(put(settled, stranger, positions, made.prefix), made)
    vars(placed)[SETTLED] = settled
    return placed if bad is None else (placed, bad)


def release(placed: "DataFrame") -> None:
    """Lets Spark forget what it keeps for an answer of `place` (of a pair, the first). Placed rows
    that are asked for after that are settled anew."""
    settled = vars(placed).get(SETTLED)
    if settled is None:
        raise ValueError("this data frame is none that place has returned: release that one")
    settled.unpersist()


def apart(rows: "DataFrame", made: Placer) -> "tuple[DataFrame, DataFrame | None]":
    """The placed rows, and the bad ones where they were to be set aside."""
    rows = rows.drop(made.prefix + STRANGER)
    if made.bad_rows == "stop":
        return rows, None
    problem = made.prefix + PROBLEM
    kept = [name for name in rows.columns if name not in made.types]
    is_good = rows[quoted([problem])[0]].isNull()
    return rows.where(is_good).drop(problem), rows.where(~is_good).select(*quoted([*kept, problem]))


# Streams

Sink = Callable[["DataFrame", int], None]
# The values of an outlier as they came, on the way to the service.
VALUES = "_liontsne_values"


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
    """The function for `foreachBatch` of a stream that is placed batch by batch.

        query = df.writeStream.foreachBatch(spark.stream("map.lion", sink, id="id")).start()

    Rows are settled on the workers. Outliers, and nothing else, are sent to a running `lion serve`
    with the same map, whose store keeps them between batches: one that comes close to those of an
    earlier batch joins their group. They are sent in the order of their ids, and put there by id,
    so that a batch that is run again changes nothing and has the same answer. An id should stand
    for one row: where it comes again and is no outlier any more, the service still has the old one.

    Parameters
    ----------
    map : path
        The map file.
    sink : function of a DataFrame and the number of the batch
        Gets the placed rows of each batch. It may get a batch again, after a failure, as any such
        function.
    id : str
        The column that names rows.
    service, token : str
        Where `lion serve map.lion --store points.db` runs, and what is in its token file if it has
        one.
    patience : float
        Seconds for which the service may be away before the batch fails.
    rejected : function of a DataFrame and the number of the batch
        Gets the rows that cannot be placed, with a column `problem`. Without it they stop the
        query.
    ship : bool
        As for `place`.
    **options
        As for `liontsne.distributed.placer`; those that say how to place must be the service's own.
    """
    bad_rows = "stop" if rejected is None else "aside"
    made = placer(map, id=id, bad_rows=bad_rows, signed=True, **options)
    asked = Service(service, token, patience)

    def place_batch(df: "DataFrame", epoch: int) -> None:
        settled = settle(df, made, ship=ship, step=settle_and_show, **{VALUES: "array<float>"})
        settled = settled.persist()
        try:
            key, answers = from_service(settled, made, id, asked)
            placed, bad = apart(put(settled, key, answers, made.prefix).drop(VALUES), made)
            sink(placed, epoch)
            if rejected is not None and bad is not None:
                rejected(bad, epoch)
        finally:
            settled.unpersist()

    return place_batch


def settle_and_show(made: Placer, batches: Batches) -> Iterator[pa.RecordBatch]:
    """On a worker: settled rows, and the values of those that are outliers."""
    width = made.map.input_dims
    given, batches = tee(batches)
    for batch, settled in zip(given, made.settle(batches)):
        is_outlier = (
            settled.column(made.prefix + STRANGER).is_valid().to_numpy(zero_copy_only=False)
        )
        rows = np.flatnonzero(is_outlier)
        x, _ = _columns.rows(batch.take(pa.array(rows)), made._chosen(batch.schema), width)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), width)
        where = pa.array(np.cumsum(is_outlier) - 1, mask=~is_outlier)
        values = lists.cast(pa.list_(pa.float32())).take(where)
        yield settled.append_column(VALUES, values)


def from_service(
    settled: "DataFrame", made: Placer, id: str, service: Service
) -> "tuple[Column, pa.Table]":
    """What the service says of the outliers among settled rows, and the key of a row in it."""
    from pyspark.sql import functions as F

    values = F.col(VALUES)
    key = F.when(values.isNotNull(), F.col(quoted([id])[0]).cast("string"))
    outliers = settled.where(values.isNotNull()).select(key.alias("id"), values.alias("x"))
    points = each_once(plainly(outliers.toArrow), id)
    types = {name: type for name, type in replace(made, prefix="").types.items() if name != PROBLEM}
    schema = pa.schema({"id": pa.string()} | types)
    if not len(points):
        return key, schema.empty_table()
    if service.checksum() != made.checksum:
        raise ValueError(
            f"the service at {service.address} has another map than {made.path}: start it with "
            "that file"
        )
    answers = service.place(points)
    return key, pa.Table.from_pylist(answers, schema)


def each_once(points: pa.Table, id: str) -> pa.Table:
    """Points in the order of their ids, each once."""
    points = points.take(pc.sort_indices(points, [("id", "ascending")]))
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
