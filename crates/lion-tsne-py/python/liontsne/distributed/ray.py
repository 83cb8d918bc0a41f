"""Placing the rows of a Ray dataset.

    from liontsne.distributed import ray as lion_ray
    placed = lion_ray.place(dataset, "map.lion", id="id")
    placed.write_parquet("placed")

Blocks are placed where they are, and stay there. Only outliers travel. The result has the same bits as
that of `lion place`, with any blocks. On a cluster, every node needs liontsne, and the map file at the
same path.
"""

import os
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from liontsne.distributed import Placer, Positions, _columns, placer
from liontsne.distributed._placer import PENDING, PROBLEM
from liontsne.distributed._worker_error import kind_of, told

if TYPE_CHECKING:
    from ray.data import Dataset


def place(
    dataset: "Dataset", map: str | os.PathLike[str], *, bad_rows: str = "stop", **options: Any
) -> "Dataset | tuple[Dataset, Dataset]":
    """Places the rows of a Ray dataset on the map of a file.

    All rows but outliers are placed at once. Ray keeps them in its object store (`materialize`),
    without their features. Positions of outliers are filled in when you ask for the result. Blocks
    stay as they are. Their order is Ray's (`DataContext.execution_options.preserve_order`).

    Parameters
    ----------
    dataset : ray.data.Dataset
        Features as columns of numbers, or as one column of lists or tensors.
    map : path
        The map file.
    bad_rows : {"stop", "aside"}
        "stop": a row that cannot be placed ends the job with a `ValueError`. "aside": it is set aside.
    **options
        As for `liontsne.distributed.placer`: `id`, `columns`, `keep`, `file`, `row`, `prefix`,
        `local`, ... `file="path"` names the files of a dataset that was read with
        `include_paths=True`.

    Returns
    -------
    Dataset, or two of them
        The kept columns and those of `lion place`; with
        `bad_rows="aside"` a pair of them: the placed rows, and the others with a column `problem`.
    """
    import ray.data

    if not isinstance(dataset, ray.data.Dataset):
        raise TypeError(
            f"this is {kind_of(dataset)}, and ray.place takes a dataset of Ray: "
            "ray.data.from_pandas(frame) or from_arrow(table) makes one, or "
            "distributed.placer(...)(frame) places a frame of pandas here"
        )
    made = placer(map, bad_rows=bad_rows, **options)
    check(made, dataset)
    made = held(made, dataset)
    resolved = plainly(by_block(dataset, partial(resolve, made)))
    found = by_block(resolved.select_columns([made.prefix + PENDING]), pending_of)
    parts: Any = found.iter_batches(batch_size=None, batch_format="pyarrow")
    positions = ray.put(made.positions(part.column(0) for part in parts if part.num_columns))
    placed = by_block(resolved, partial(fill, made), positions)
    return placed if bad_rows == "stop" else (placed, by_block(resolved, partial(rejected, made)))


# One block


def resolve(made: Placer, block: pa.Table) -> pa.Table:
    """Resolved rows. Tensors that pass through stay tensors."""
    if not block.num_columns:
        return block
    made = made.held_to(without_tensors(block.schema.empty_table()).schema)
    return made.resolve(without_tensors(block, made.columns))


def pending_of(block: pa.Table) -> pa.Table:
    """The different outliers among resolved rows."""
    if not block.num_columns:
        return block
    return pa.table({PENDING: pc.unique(block.column(0).drop_null())})


def fill(made: Placer, block: pa.Table, positions: Any) -> pa.Table:
    """The placed rows of resolved ones."""
    problem = made.prefix + PROBLEM
    if problem in block.column_names:
        block = block.filter(pc.is_null(block.column(problem))).drop_columns(problem)
    return made.fill(block, fetched(positions)) if block.num_columns else block


@lru_cache(maxsize=1)
def fetched(positions: Any) -> Positions:
    """What is in the object store, fetched once for each process."""
    import ray

    return ray.get(positions)


def rejected(made: Placer, block: pa.Table) -> pa.Table:
    """The rows that could not be placed."""
    if not block.num_columns:
        return block
    problem, pending = made.prefix + PROBLEM, made.prefix + PENDING
    said = {pending, *made.types} - {problem}
    names = [name for name in block.column_names if name not in said]
    return block.filter(pc.is_valid(block.column(problem))).select(names)


def check(made: Placer, dataset: "Dataset") -> None:
    """Says what is wrong with the columns before the job begins, where they are known by then."""
    known = dataset.schema(fetch_if_missing=False)
    if known is None or not known.names:
        return
    schema = known.base_schema
    if isinstance(schema, pa.Schema):
        made.schema(without_tensors(schema.empty_table()).schema)
        return
    # Blocks of pandas: the types are not those that Arrow will have, the names are.
    schema = pa.schema([(str(name), pa.null()) for name in known.names])
    asked = [made.id, made.file, made.row, *(made.columns or ()), *(made.keep or ())]
    for name in asked:
        if name is not None:
            _columns.find(schema, name)


def held(made: Placer, dataset: "Dataset") -> Placer:
    """The same, with features that are the same columns in all blocks: where the map has no names
    of its own, those that are features in the first block."""
    names = made.map.columns
    if made.columns is not None or names and not _columns.is_numbered(names):
        return made
    known = dataset.schema()
    schema = known.base_schema if known is not None else None
    if known is not None and not isinstance(schema, pa.Schema):
        # Blocks of pandas: Arrow's types are known when there are rows.
        some: Any = dataset.take_batch(1000, batch_format="pyarrow") if dataset.take(1) else None
        schema = None if some is None else some.schema
    if schema is None or not schema.names:
        return made
    return made.held_to(without_tensors(schema.empty_table()).schema)


def without_tensors(block: pa.Table, only: Sequence[str] | None = None) -> pa.Table:
    """The same rows, with lists where Ray has tensors of one dimension: in these columns, or in
    all."""
    for at, field in enumerate(block.schema):
        if only is not None and field.name not in only:
            continue
        if isinstance(field.type, pa.ExtensionType) and "tensor" in field.type.extension_name:
            parts = [part.storage for part in block.column(at).chunks]
            lists = pa.chunked_array(parts, field.type.storage_type)
            block = block.set_column(at, field.name, lists)
    return block


# All blocks


def by_block(dataset: "Dataset", work: Any, *given: Any) -> "Dataset":
    """The answers of a function for each block: a task each, in processes that stay and keep the
    map open."""
    return dataset.map_batches(
        work, batch_size=None, batch_format="pyarrow", zero_copy_batch=True, fn_args=given
    )


def plainly(dataset: "Dataset") -> "Dataset":
    """Computes a dataset; what a worker says is wrong is said here, without the pages around it."""
    from ray.exceptions import RayTaskError

    try:
        return dataset.materialize()
    except RayTaskError as error:
        problem = told(str(error))
        if problem is None:
            raise
    raise problem
