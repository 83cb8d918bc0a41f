"""Placing the rows of a Dask data frame.

    from liontsne.distributed import dask as lion_dask
    placed = lion_dask.place(frame, "map.lion", id="id")
    placed.to_parquet("placed")

Partitions are placed where they are, and stay there. Only outliers travel. The result has the same bits
as that of `lion place`, with any partitions. On a cluster, every worker needs the map file at the same
path.
"""

import os
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa

from liontsne.distributed import Placer, Positions, placer
from liontsne.distributed._placer import PENDING, PROBLEM
from liontsne.distributed._worker_error import kind_of


def place(
    frame: Any, map: str | os.PathLike[str], *, bad_rows: str = "stop", **options: Any
) -> Any:
    """Places the rows of a Dask data frame on the map of a file.

    All rows but outliers are placed at once, on the cluster if there is one
    (`dask.distributed.Client`). Dask keeps them there (`persist`), without their features. Positions
    of outliers are filled in when you ask for the result. Partitions, divisions, index and the types
    of kept columns stay as they are.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Features as columns of numbers, or as one column of lists.
    map : path
        The map file.
    bad_rows : {"stop", "aside"}
        "stop": a row that cannot be placed ends the job with a `ValueError`. "aside": it is set aside.
    **options
        As for `liontsne.distributed.placer`: `id`, `columns`, `keep`, `file`, `row`, `prefix`,
        `local`, ...

    Returns
    -------
    dask.dataframe.DataFrame, or two of them
        The kept columns and those of `lion place`; with
        `bad_rows="aside"` a pair of them: the placed rows, and the others with a column `problem`.
    """
    import dask
    import dask.dataframe as dd

    if not isinstance(frame, dd.DataFrame):
        raise TypeError(
            f"this is {kind_of(frame)}, and dask.place takes a data frame of Dask: "
            "dask.dataframe.from_pandas(frame, npartitions=4) makes one, or "
            "distributed.placer(...)(frame) places a frame of pandas here"
        )
    for name in frame.columns:
        if not isinstance(name, str):
            raise ValueError(
                f"column {name!r} has a name that is no text: frame.rename(columns=str) makes "
                "texts of all names"
            )
    place = placer(map, bad_rows=bad_rows, **options)
    schema = schema_of(frame._meta, place)
    kept = place.kept(schema)
    # What passes through stays in pandas, with its types; the placer sees what it needs to see.
    place.schema(schema)
    place = replace(place, columns=tuple(place.features(schema)), keep=())
    needed = [*(place.columns or ()), *(n for n in (place.id, place.file, place.row) if n)]
    types = {name: schema.field(name).type for name in needed}
    resolved = frame.map_partitions(
        resolve, place, kept, types, meta=meta_of(frame._meta[kept], place, pending=True)
    ).persist()
    pending = [dask.delayed(pending_of)(part, place) for part in resolved.to_delayed()]
    positions = dask.delayed(place.positions)(pending).persist()
    placed = resolved.map_partitions(
        fill, place, positions, meta=meta_of(frame._meta[kept], place, problem=False)
    )
    if bad_rows == "stop":
        return placed
    columns = [*kept, place.prefix + PROBLEM]
    meta = meta_of(frame._meta[kept], place)[columns]
    return placed, resolved.map_partitions(rejected, place, columns, meta=meta)


# One partition


def resolve(
    frame: pd.DataFrame, place: Placer, kept: list[str], types: dict[str, pa.DataType]
) -> pd.DataFrame:
    """Resolved rows: the columns that pass through, and what is said of each. The placer needs the
    columns of these types."""
    table = pa.table({name: in_arrow(frame[name], type) for name, type in types.items()})
    return beside(frame[kept], place.resolve(table))


def in_arrow(column: pd.Series, type: pa.DataType) -> pa.Array:
    """A column in Arrow. Objects have the type that they have in all partitions, be there none."""
    if column.dtype != object:
        return pa.array(column, from_pandas=True)
    column = column.where(column.notna(), None)
    try:
        return pa.array(column, type, from_pandas=True)
    except pa.ArrowException as error:
        if pa.types.is_list(type):
            raise ValueError(
                f"column {column.name} must hold a list of numbers in every row: {error}"
            ) from None
    return pa.array([None if value is None else str(value) for value in column], pa.string())


def pending_of(frame: pd.DataFrame, place: Placer) -> pa.Array:
    """The outliers among resolved rows."""
    pending = frame[place.prefix + PENDING].dropna().drop_duplicates()
    return pa.array(pending, pa.binary())


def fill(frame: pd.DataFrame, place: Placer, positions: Positions) -> pd.DataFrame:
    """Placed rows of resolved ones."""
    pending, problem = place.prefix + PENDING, place.prefix + PROBLEM
    if problem in frame:
        frame = frame[frame[problem].isna()].drop(columns=problem)
    given = [place.prefix + name for name in positions.table.column_names]
    table = pa.Table.from_pandas(frame[given], preserve_index=False)
    filled = in_pandas(place.fill(table, positions), frame.index)
    return frame.drop(columns=pending).assign(**{name: filled[name] for name in filled})


def rejected(frame: pd.DataFrame, place: Placer, columns: list[str]) -> pd.DataFrame:
    """Rows that could not be placed."""
    return frame.loc[frame[place.prefix + PROBLEM].notna(), columns]


# Types

IN_PANDAS = {
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.string(): pd.StringDtype("pyarrow"),
    pa.binary(): pd.ArrowDtype(pa.binary()),
}


def in_pandas(table: pa.Table, index: pd.Index) -> pd.DataFrame:
    """Columns with the types that pandas has for numbers and texts that may be missing."""
    return table.to_pandas(types_mapper=IN_PANDAS.get).set_axis(index)


def beside(kept: pd.DataFrame, resolved: pa.Table) -> pd.DataFrame:
    """What passes through, and what was said."""
    said = in_pandas(resolved, kept.index)
    return pd.concat([kept, said.drop(columns=[name for name in said if name in kept])], axis=1)


def meta_of(
    kept: pd.DataFrame, place: Placer, *, pending: bool = False, problem: bool = True
) -> pd.DataFrame:
    """The columns that come out, without rows."""
    types = place.types | ({place.prefix + PENDING: pa.binary()} if pending else {})
    if not problem:
        types.pop(place.prefix + PROBLEM, None)
    return beside(kept, pa.schema(types.items()).empty_table())


def schema_of(meta: pd.DataFrame, place: Placer) -> pa.Schema:
    """The Arrow types of a frame. A column of objects may hold anything: texts, or the lists of
    numbers that someone says are in it."""
    schema = pa.Schema.from_pandas(meta, preserve_index=False).remove_metadata()
    for at, name in enumerate(meta.columns):
        if meta[name].dtype == object:
            asked = place.columns is not None and len(place.columns) == 1 and name in place.columns
            type = pa.list_(pa.float64()) if asked else pa.string()
            schema = schema.set(at, pa.field(str(name), type))
    return schema
