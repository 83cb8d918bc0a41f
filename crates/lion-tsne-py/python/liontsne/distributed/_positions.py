"""Where the outliers of a job are."""

from functools import cached_property
from typing import Any

import pyarrow as pa


class Positions:
    """The position and group of each outlier of a job: small, and made to be sent to all workers."""

    def __init__(self, strangers: pa.Array, places: pa.RecordBatch) -> None:
        self._strangers, self._places = strangers, places

    @property
    def table(self) -> pa.Table:
        """`stranger`, `x`, `y`, (`z`), `group`: one row for each different outlier."""
        names = ["stranger", *self._places.schema.names]
        return pa.table([self._strangers, *self._places.columns], names=names)

    def of(self, strangers: pa.Array) -> dict[str, pa.Array]:
        """The columns `x`, `y`, (`z`), `group` for the rows of a column `stranger`; null where that
        is null."""
        rows = [None if one is None else self._row_of(one) for one in strangers.to_pylist()]
        where = pa.array(rows, pa.int64())
        return {name: self._places.column(name).take(where) for name in self._places.schema.names}

    def _row_of(self, stranger: bytes) -> int:
        try:
            return self._rows[stranger]
        except KeyError:
            raise ValueError(
                "an outlier among these rows has no position: give positions the strangers of all "
                "parts of the job"
            ) from None

    @cached_property
    def _rows(self) -> dict[bytes, int]:
        """Made where it is needed: it is larger than what it is made of."""
        return {stranger: row for row, stranger in enumerate(self._strangers.to_pylist())}

    def __getstate__(self) -> dict[str, Any]:
        return {"_strangers": self._strangers, "_places": self._places}

    def __len__(self) -> int:
        return len(self._strangers)

    def __repr__(self) -> str:
        groups = len(set(self._places.column("group").to_pylist()))
        return f"Positions({len(self)} outliers in {groups} groups)"
