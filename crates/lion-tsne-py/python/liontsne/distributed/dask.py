"""Placing the rows of a Dask data frame, and fitting a map to some of them.

    from liontsne.distributed import dask as lion_dask
    placed = lion_dask.place(frame, "map.lion", id="id")
    placed.to_parquet("placed")

Partitions are placed where they are, and stay there. Only outliers travel. The result has the same bits
as that of `lion place`, with any partitions. On a cluster, every worker needs the map file at the same
path.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from liontsne.distributed import Placer, Positions, _landmarks, placer
from liontsne.distributed._landmarks import Sampler
from liontsne.distributed._placer import PENDING, PROBLEM
from liontsne.distributed._worker_error import kind_of

if TYPE_CHECKING:
    from liontsne import LionTSNE


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
    check_names(frame)
    place = placer(map, bad_rows=bad_rows, **options)
    schema = schema_of(frame._meta, place.columns)
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


# Landmarks


def fit_landmarks(
    frame: Any,
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
    """Fits a map to some rows, the landmarks, of a Dask data frame.

    The choice is that of `lion fit --landmarks` and `LionTSNE.fit_landmarks`: a hash of its id and the
    seed decide whether a row is a landmark. Each partition is looked at where it is. What travels is the
    rows that may be landmarks or judge them (about `n` + 100000 rows in all), and the moments for the
    PCA. The map is fitted here. It has the same bits with any partitions, in any order.

    Rows are counted first, because most of them need not travel then. If that is slow,
    because the data frame is the result of much work, `persist` it before.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Features as columns of numbers, or as one column of lists, which `columns` names.
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
    import dask
    import dask.dataframe as dd

    if not isinstance(frame, dd.DataFrame):
        raise TypeError(
            f"this is {kind_of(frame)}, and dask.fit_landmarks takes a data frame of Dask: "
            "dask.dataframe.from_pandas(frame, npartitions=4) makes one, or "
            "LionTSNE().fit_landmarks takes tables here"
        )
    check_names(frame)
    lion, choose = _landmarks.sampler(n, id, label, columns, stratify, cover, params)
    schema = schema_of(frame._meta, choose.columns)
    choose = choose.held_to(schema)

    def parts(work: Any, choose: Sampler, names: list[str]) -> list[Any]:
        types = {name: schema.field(name).type for name in names}
        return [dask.delayed(work)(choose, part, types) for part in frame[names].to_delayed()]

    def count() -> _landmarks.Counts:
        if label is None or not stratify:
            return {"": len(frame)}
        return _landmarks.total(dask.compute(*parts(counted, choose, [label])))

    def states(choose: Sampler) -> Iterable[bytes]:
        found = parts(sampled, choose, choose.needed)
        while len(found) > 1:
            step = range(0, len(found), _landmarks.TOGETHER)
            some = [found[at : at + _landmarks.TOGETHER] for at in step]
            found = [dask.delayed(choose.merge)(states) for states in some]
        return dask.compute(*found)

    return _landmarks.fit(lion, choose, count, states, save)


def counted(choose: Sampler, frame: pd.DataFrame, types: dict[str, pa.DataType]) -> bytes:
    """How many rows of each label a partition has."""
    return _landmarks.packed(choose.count(in_batches(frame, types)))


def sampled(choose: Sampler, frame: pd.DataFrame, types: dict[str, pa.DataType]) -> bytes:
    """What is known of the rows of a partition."""
    return choose.sample(in_batches(frame, types))


def in_batches(frame: pd.DataFrame, types: dict[str, pa.DataType]) -> list[pa.RecordBatch]:
    """The rows of a partition in Arrow, in these columns."""
    columns = {name: in_arrow(frame[name], type) for name, type in types.items()}
    return pa.table(columns).to_batches()


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
    given = [place.prefix + name for name in (PENDING, *positions.names)]
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


def check_names(frame: Any) -> None:
    """Refuses names of columns that are no texts."""
    for name in frame.columns:
        if not isinstance(name, str):
            raise ValueError(
                f"column {name!r} has a name that is no text: frame.rename(columns=str) makes "
                "texts of all names"
            )


def schema_of(meta: pd.DataFrame, columns: Sequence[str] | None) -> pa.Schema:
    """The Arrow types of a frame. A column of objects may hold anything: texts, or the lists of
    numbers that someone says are in it."""
    schema = pa.Schema.from_pandas(meta, preserve_index=False).remove_metadata()
    for at, name in enumerate(meta.columns):
        if meta[name].dtype == object:
            asked = columns is not None and len(columns) == 1 and name in columns
            type = pa.list_(pa.float64()) if asked else pa.string()
            schema = schema.set(at, pa.field(str(name), type))
    return schema
