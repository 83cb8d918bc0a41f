"""Which columns of a table are features and which pass through, and how features become rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liontsne import _native
from liontsne._landmarks import is_numbered


@dataclass(frozen=True)
class Chosen:
    """Columns of a table."""

    features: tuple[str, ...]
    """The features, or the one column of lists that holds all of them."""
    is_list: bool
    kept: tuple[str, ...]
    """Those that pass through."""


@dataclass(frozen=True)
class Problem:
    """Why a row cannot be placed."""

    row: int
    column: str | None
    words: str


@lru_cache(maxsize=32)
def choose(
    schema: pa.Schema,
    width: int,
    names: tuple[str, ...],
    columns: tuple[str, ...] | None,
    keep: tuple[str, ...] | None,
    beside: tuple[str, ...],
    recipe: tuple[str, ...] = (),
) -> Chosen:
    """The columns of a table for a map of `width` columns, which have `names` if the map knows any.
    Those `beside` are never features by themselves. A map with a `recipe` makes its rows of the
    columns that this names, whatever their types.

    >>> schema = pa.schema({"id": pa.string(), "b": pa.float64(), "a": pa.int8()})
    >>> choose(schema, 2, ("a", "b"), None, None, ("id",))
    Chosen(features=('a', 'b'), is_list=False, kept=('id',))
    """
    for name in [*beside, *(columns or ()), *(keep or ())]:
        find(schema, name)
    if recipe:
        features = columns or recipe
        for name in features:
            find(schema, name)
        if len(features) != len(recipe):
            raise ValueError(
                f"columns names {len(features)} columns, and the map was fitted to {len(recipe)}: "
                + ", ".join(recipe)
            )
        return Chosen(tuple(features), False, passing(schema, features, keep, beside))
    features = columns or by_name(schema, names)
    features = features or by_position(schema, names, {*beside, *(keep or ())})
    is_list = len(features) == 1 and of_lists(find(schema, features[0]).type)
    for name in features:
        type = find(schema, name).type
        # Categories are no features by themselves; numbers among them are if someone says so.
        values = type.value_type if pa.types.is_dictionary(type) else type
        if not is_list and not of_numbers(values):
            raise ValueError(
                f"column {name} holds {type}, not numbers: choose the features with columns"
            )
    if not is_list and len(features) != width:
        raise ValueError(
            f"the table has {len(features)} columns to use, and the map wants {width}, those it "
            f"was fitted to: choose them with columns{left_out(schema, features)}"
        )
    return Chosen(tuple(features), is_list, passing(schema, features, keep, beside))


def passing(
    schema: pa.Schema,
    features: Sequence[str],
    keep: tuple[str, ...] | None,
    beside: tuple[str, ...],
) -> tuple[str, ...]:
    """The columns that pass through: those asked for, or all that are no features."""
    if keep is None:
        taken = set(features)
        return tuple(name for name in schema.names if name not in taken)
    return tuple(dict.fromkeys([*beside, *keep]))


def left_out(schema: pa.Schema, features: Sequence[str]) -> str:
    """The columns that are no features, in words.

    >>> left_out(pa.schema({"a": pa.int8(), "b": pa.string()}), ["a"])
    ' (not among them: b, which holds string)'
    """
    others = [field for field in schema if field.name not in features]
    said = [f"{field.name}, which holds {field.type}" for field in others[:5]]
    more = f"; and {len(others) - 5} more" if len(others) > 5 else ""
    return f" (not among them: {'; '.join(said)}{more})" if said else ""


def by_name(schema: pa.Schema, names: Sequence[str]) -> list[str]:
    """The columns that the map was fitted to, if all of them are there: by their names, or as one
    column of lists whose items have these names."""
    if not names:
        return []
    there = set(schema.names)
    if there.issuperset(names):
        return list(names)
    lists = names[0].removesuffix("[1]")
    if lists in there and list(names) == items(lists, len(names)):
        return [lists]
    return []


def by_position(schema: pa.Schema, names: Sequence[str], but: set[str]) -> list[str]:
    """All columns of numbers, or else the one of lists of numbers, where the map or the table has
    no names of its own: c1, c2 and so on are none."""
    left = [
        field
        for field in schema
        # pandas has the index of a frame as a column of such a name.
        if field.name not in but and not field.name.startswith("__index_level_")
    ]
    numbers = [field.name for field in left if of_numbers(field.type)]
    lists = [field.name for field in left if of_lists(field.type)]
    if names and not is_numbered(names) and not is_numbered(numbers):
        there = set(schema.names)
        missing = next(name for name in names if name not in there)
        raise ValueError(
            f"the table has no column {missing}, which the map was fitted to: rename one, or give "
            "the features in the map's order with columns"
        )
    if lists and (numbers or len(lists) > 1):
        raise ValueError(
            f"column {lists[0]} holds lists of numbers, and there are other columns that could be "
            "features: choose with columns"
        )
    return lists or numbers


def find(schema: pa.Schema, name: str) -> pa.Field:
    """The one column of this name."""
    match schema.get_all_field_indices(name):
        case [at]:
            return schema.field(at)
        case []:
            there = ", ".join(schema.names[:10]) + (", …" if len(schema.names) > 10 else "")
            raise ValueError(f"there is no column {name}; the columns there are: {there}")
        case _:
            raise ValueError(f"there is more than one column {name}: rename one of them")


def items(name: str, count: int) -> list[str]:
    """What the items of a column of lists are called."""
    return [f"{name}[{item}]" for item in range(1, count + 1)]


def of_numbers(type: pa.DataType) -> bool:
    """Whether values of this type can be features; a column of nothing but nulls has a type too."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    return pa.types.is_decimal128(type) or any(kind(type) for kind in kinds)


def of_lists(type: pa.DataType) -> bool:
    """Whether each value is a list of numbers."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(kind(type) for kind in kinds) and of_numbers(type.value_type)


def rows(batch: pa.RecordBatch, chosen: Chosen, width: int) -> tuple[np.ndarray, list[Problem]]:
    """Rows of float32, and what is wrong with some of them: at most one thing each, rows ascending.
    Numbers are rounded as `lion place` rounds them."""
    if chosen.is_list:
        return of_list_column(chosen.features[0], batch.column(chosen.features[0]), width)
    columns = [batch.column(name) for name in chosen.features]
    x = np.empty((batch.num_rows, width), np.float32)
    with np.errstate(over="ignore"):
        for at, column in enumerate(columns):
            x[:, at] = numbers(column)

    def problem(row: int) -> Problem:
        at = int(np.argmin(np.isfinite(x[row])))
        return Problem(row, chosen.features[at], of_value(columns[at][row].as_py()))

    return x, [problem(int(row)) for row in not_finite(x)]


def encoded(
    map: _native.Map, batch: pa.RecordBatch, chosen: Chosen, names: tuple[str, ...]
) -> tuple[np.ndarray, list[Problem]]:
    """The same by the recipe of a map. How a text is written is not asked of a whole batch, so that
    a row is the same in any of them."""
    columns = [batch.column(name) for name in chosen.features]
    table = pa.RecordBatch.from_arrays(columns, names=list(names))

    def rows_of(part: pa.RecordBatch) -> np.ndarray:
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, part.schema) as stream:
            stream.write_batch(part)
        return _native.encode_table(map, out.getvalue().to_pybytes(), "arrow", look=False)[0]

    x = np.zeros((batch.num_rows, map.input_dims), np.float32)
    if not batch.num_rows:
        return x, []
    try:
        return rows_of(table), []
    except ValueError:
        pass
    # Some row cannot be used: which, one at a time tells.
    problems = []
    for row in range(batch.num_rows):
        try:
            x[row] = rows_of(table.slice(row, 1))[0]
        except ValueError as error:
            words = str(error).removeprefix("X, row 0, ")
            problems.append(Problem(row, None, words))
    return x, problems


def of_list_column(name: str, column: pa.Array, width: int) -> tuple[np.ndarray, list[Problem]]:
    """The same where each row is a list."""
    lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False)
    right = lengths == width
    if not right.all():
        column = column.filter(pa.array(right))
    values = column.flatten()
    x = np.zeros((len(right), width), np.float32)
    with np.errstate(over="ignore"):
        x[right] = numbers(values).reshape(-1, width)
    before = np.cumsum(right) - 1

    def problem(row: int) -> Problem:
        if not right[row]:
            length = lengths[row]
            words = EMPTY if length < 0 else f"has length {length} instead of {width}: correct it"
            return Problem(row, name, words)
        at = int(np.argmin(np.isfinite(x[row])))
        value = values[int(before[row]) * width + at].as_py()
        return Problem(row, f"{name}[{at + 1}]", of_value(value))

    bad = sorted({*np.flatnonzero(~right).tolist(), *not_finite(x).tolist()})
    return x, [problem(row) for row in bad]


def not_finite(x: np.ndarray) -> np.ndarray:
    """The rows with a value that is no finite number."""
    finite = np.isfinite(x)
    return np.empty(0, np.int64) if finite.all() else np.flatnonzero(~finite.all(axis=1))


EMPTY = "is empty; every value must be a finite number: fill it or remove the row"


def of_value(value: object) -> str:
    """What is wrong with a value that is no finite float32."""
    if value is None:
        return EMPTY
    number = float(value)  # type: ignore[arg-type]
    if np.isfinite(number):
        return f"is {number:g}, too large for a 32-bit float: scale the column down"
    shown = "NaN" if np.isnan(number) else str(number)
    return f"is {shown}; every value must be a finite number: fill it or remove the row"


def numbers(column: pa.Array) -> np.ndarray:
    """The values of a column; NaN for null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan, np.float32)
    is_float = pa.types.is_floating(column.type)
    if is_float or not column.null_count and not pa.types.is_decimal128(column.type):
        return column.to_numpy(zero_copy_only=False)
    if pa.types.is_decimal128(column.type):
        values = decimals(column)
    else:
        # Beside nulls NumPy would have whole numbers in 64 bits, which then were rounded twice.
        values = column.fill_null(False if column.type == pa.bool_() else 0).to_numpy(False)
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    if column.null_count:
        values[column.is_null().to_numpy(False)] = np.nan
    return values


def decimals(column: pa.Array) -> np.ndarray:
    """Decimals as float64: the whole number that is kept, times a power of ten; 0 for null."""
    scale = column.type.scale
    kept = np.frombuffer(column.buffers()[1], "<i8").reshape(-1, 2)
    low, high = kept[column.offset : column.offset + len(column)].T
    if ((low < 0) == (high == -1)).all() and np.isin(high, (0, -1)).all():
        whole = low.astype(np.float64)
    else:
        wide = (int(h) << 64 | int(l) & (1 << 64) - 1 for l, h in zip(low, high))
        whole = np.fromiter((float(number) for number in wide), np.float64, len(low))
    return whole * unit(scale)


def unit(scale: int) -> float:
    """10 to the power of -scale, by repeated squaring: other ways round otherwise.

    >>> unit(2), unit(-1)
    (0.01, 10.0)
    """
    power, square, left = 1.0, 10.0, abs(scale)
    while left:
        power *= square if left & 1 else 1.0
        square *= square
        left >>= 1
    return 1.0 / power if scale > 0 else power
