"""Where the outliers of a job are."""

from functools import cached_property
from typing import Any

import pyarrow as pa


class Positions:
    """The position and group of each outlier of a job: small, and made to be sent to all workers."""

    def __init__(self, pending: pa.Array, places: pa.RecordBatch) -> None:
        self._pending, self._places = pending, places

    @property
    def table(self) -> pa.Table:
        """`stranger`, `x`, `y`, (`z`), `group`: one row for each different outlier."""
        names = ["stranger", *self._places.schema.names]
        return pa.table([self._pending, *self._places.columns], names=names)

    def of(self, pending: pa.Array) -> dict[str, pa.Array]:
        """The columns `x`, `y`, (`z`), `group` for the rows of a column `stranger`; null where that
        is null."""
        rows = [None if one is None else self._row_of(one) for one in pending.to_pylist()]
        where = pa.array(rows, pa.int64())
        return {name: self._places.column(name).take(where) for name in self._places.schema.names}

    def _row_of(self, pending: bytes) -> int:
        try:
            return self._rows[pending]
        except KeyError:
            raise ValueError(
                "an outlier among these rows has no position: give positions the outliers of all "
                "parts of the job"
            ) from None

    @cached_property
    def _rows(self) -> dict[bytes, int]:
        """Made where it is needed: it is larger than what it is made of."""
        return {pending: row for row, pending in enumerate(self._pending.to_pylist())}

    def __getstate__(self) -> dict[str, Any]:
        return {"_pending": self._pending, "_places": self._places}

    def __len__(self) -> int:
        return len(self._pending)

    def __repr__(self) -> str:
        groups = len(set(self._places.column("group").to_pylist()))
        return f"Positions({len(self)} outliers in {groups} groups)"
