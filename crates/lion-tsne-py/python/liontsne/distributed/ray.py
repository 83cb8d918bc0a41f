"""Placing the rows of a Ray dataset, and fitting a map to some of them.

    from liontsne.distributed import ray as lion_ray
    placed = lion_ray.place(dataset, "map.lion", id="id")
    placed.write_parquet("placed")

Blocks are placed where they are, and stay there. Only outliers travel. The result has the same bits as
that of `lion place`, with any blocks. On a cluster, every node needs liontsne, and the map file at the
same path.
"""

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from liontsne.distributed import Placer, Positions, _columns, _landmarks, placer
from liontsne.distributed._landmarks import Sampler
from liontsne.distributed._placer import PENDING, PROBLEM
from liontsne.distributed._worker_error import kind_of, told

if TYPE_CHECKING:
    from ray.data import Dataset

    from liontsne import LionTSNE


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


# Landmarks


def fit_landmarks(
    dataset: "Dataset",
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
    """Fits a map to some rows, the landmarks, of a Ray dataset.

    The choice is that of `lion fit --landmarks` and `LionTSNE.fit_landmarks`: a hash of its id and the
    seed decide whether a row is a landmark. Each block is looked at where it is. What travels is the
    rows that may be landmarks or judge them (about `n` + 100000 rows in all), and the moments for the
    PCA. The map is fitted here. It has the same bits with any blocks, in any order.

    Rows are counted first, because most of them need not travel then. If that is slow,
    because the dataset is the result of much work, `materialize` it before.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Features as columns of numbers, or as one column of lists or tensors.
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
    import ray.data

    if not isinstance(dataset, ray.data.Dataset):
        raise TypeError(
            f"this is {kind_of(dataset)}, and ray.fit_landmarks takes a dataset of Ray: "
            "ray.data.from_pandas(frame) or from_arrow(table) makes one, or "
            "LionTSNE().fit_landmarks takes tables here"
        )
    lion, choose = _landmarks.sampler(n, id, label, columns, stratify, cover, params)
    if (schema := schema_of(dataset)) is None:
        raise ValueError("the dataset has no rows")
    choose = choose.held_to(schema)

    def count() -> _landmarks.Counts:
        if not stratify:
            return {"": dataset.count()}
        return _landmarks.total(said_of(dataset.select_columns([label]), partial(counted, choose)))

    def states(choose: Sampler) -> Iterable[bytes]:
        return said_of(dataset.select_columns(choose.needed), partial(sampled, choose))

    return _landmarks.fit(lion, choose, count, states, save)


def said_of(dataset: "Dataset", work: Any) -> Iterable[bytes]:
    """What work says of each block, in bytes, as blocks are done."""
    from ray.exceptions import RayTaskError

    try:
        blocks: Any = by_block(dataset, work).iter_batches(batch_size=None, batch_format="pyarrow")
        for block in blocks:
            yield from block.column(0).to_pylist() if block.num_columns else []
        return
    except RayTaskError as error:
        problem = told(str(error))
        if problem is None:
            raise
    raise problem


def counted(choose: Sampler, block: pa.Table) -> pa.Table:
    """How many rows of each label a block has."""
    return said(_landmarks.packed(choose.count(block.to_batches())))


def sampled(choose: Sampler, block: pa.Table) -> pa.Table:
    """What is known of the rows of a block."""
    block = without_tensors(block, choose.features)
    return said(choose.sample(block.to_batches()))


def said(state: bytes) -> pa.Table:
    return pa.table({"said": pa.array([state], pa.large_binary())})


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
    schema = schema_of(dataset)
    return made if schema is None else made.held_to(schema)


def schema_of(dataset: "Dataset") -> pa.Schema | None:
    """The columns of a dataset, and their types in Arrow; None if it has neither columns nor rows."""
    known = dataset.schema()
    schema = known.base_schema if known is not None else None
    if known is not None and not isinstance(schema, pa.Schema):
        # Blocks of pandas: Arrow's types are known when there are rows.
        some: Any = dataset.take_batch(1000, batch_format="pyarrow") if dataset.take(1) else None
        schema = None if some is None else some.schema
    if schema is None or not schema.names:
        return None
    return without_tensors(schema.empty_table()).schema


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
