"""Where the outliers of a job are."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liontsne import _native


class Outliers:
    """The pending outliers of a job, each different one once: what one process holds of them."""

    def __init__(self, placer: _native.Placer) -> None:
        self._pending = _native.PendingOutliers(placer)

    def add(self, pending: pa.Array | pa.ChunkedArray | bytes) -> None:
        """Adds those of a column `stranger`, or a single one."""
        if isinstance(pending, bytes):
            pending = pa.array([pending])
        for part in pending.chunks if isinstance(pending, pa.ChunkedArray) else [pending]:
            self._pending.add(*values_of(part))

    def positions(self) -> "Positions":
        """Their positions. There are no outliers here after that."""
        batch = pa.RecordBatchReader.from_stream(self._pending.positions()).read_next_batch()
        return Positions(batch)


class Positions:
    """The position and group of each outlier of a job: small, and made to be sent to all workers."""

    def __init__(self, places: pa.RecordBatch) -> None:
        self._places = places

    @property
    def table(self) -> pa.Table:
        """`key`, `x`, `y`, (`z`), `group`: one row for each different outlier, in the order of the
        keys. A key is a hash of 128 bits."""
        return pa.Table.from_batches([self._places])

    @property
    def names(self) -> list[str]:
        """`x`, `y`, (`z`), `group`: what an outlier is given."""
        return self._places.schema.names[1:]

    def of(self, pending: pa.Array) -> dict[str, pa.Array]:
        """The columns `x`, `y`, (`z`), `group` for the rows of a column `stranger`; null where that
        is null."""
        keys = self._places.column("key")
        first = keys.offset * keys.type.byte_width
        found = _native.find_outliers(view(keys.buffers()[1], np.uint8)[first:], *values_of(pending))
        if (found < 0).any():
            raise ValueError(
                "an outlier among these rows has no position: give positions the outliers of all "
                "parts of the job"
            )
        is_pending = pending.is_valid().to_numpy(zero_copy_only=False)
        where = np.zeros(len(pending), np.int64)
        where[is_pending] = found
        where = pa.array(where, mask=~is_pending)
        return {name: self._places.column(name).take(where) for name in self.names}

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        groups = pc.count_distinct(self._places.column("group")).as_py()
        return f"Positions({len(self)} outliers in {groups} groups)"


def values_of(pending: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """What is not null of a column of bytes, for the native module: where each begins and ends, and
    all bytes, which are not copied."""
    pending = pending.drop_null().cast(pa.large_binary())
    _, offsets, values = pending.buffers()
    offsets = view(offsets, np.int64)[pending.offset :][: len(pending) + 1]
    return offsets, view(values, np.uint8)


def view(buffer: pa.Buffer | None, type: type[np.generic]) -> np.ndarray:
    """The values of a buffer; an empty array need not have one."""
    return np.frombuffer(b"" if buffer is None else buffer, type)
