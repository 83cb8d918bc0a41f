"""Makes the table of `cargo xtask bench scale`: clusters, and strangers that belong to none.

Rows are made chunk by chunk from a counter-based generator, so that a table of any size is made in
little memory, and the first rows of a larger table are those of a smaller one.
"""

import argparse
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CLUSTERS = 120
INTRINSIC = 9  # dimensions that a cluster spreads in; elsewhere there is but noise
NOISE = 0.05
SPREAD = 12.0  # between the centres of clusters, when a cluster itself has 1
STRANGERS = 0.001
FAMILIES = 25  # half of the strangers come in families: groups that are near each other
CHUNK = 100_000


class World:
    """Where clusters and families are; the same for every chunk."""

    def __init__(self, columns: int, seed: int = 7):
        draw = np.random.Generator(np.random.Philox(key=[seed, 0]))
        self.columns = columns
        self.centres = draw.normal(size=(CLUSTERS, columns)) * SPREAD / np.sqrt(columns)
        self.directions = draw.normal(size=(CLUSTERS, INTRINSIC, columns)) / np.sqrt(columns)
        # A few large clusters and many small ones.
        sizes = 1.0 / np.arange(1, CLUSTERS + 1) ** 0.7
        self.shares = sizes / sizes.sum()
        self.families = draw.normal(size=(FAMILIES, columns)) * 6 * SPREAD / np.sqrt(columns)
        self.seed = seed

    def chunk(self, number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of one chunk and what they are: the number of a cluster, -1 for a stranger alone, -2 for one of a family."""
        draw = np.random.Generator(np.random.Philox(key=[self.seed, number + 1]))
        kind = draw.choice(CLUSTERS, size=CHUNK, p=self.shares)
        along = draw.normal(size=(CHUNK, INTRINSIC))
        data = draw.normal(size=(CHUNK, self.columns), scale=NOISE)
        for cluster in range(CLUSTERS):
            of = kind == cluster
            data[of] += self.centres[cluster] + along[of] @ self.directions[cluster]
        strange = draw.random(CHUNK) < STRANGERS
        alone = strange & (draw.random(CHUNK) < 0.5)
        together = strange & ~alone
        far = draw.normal(size=(CHUNK, self.columns)) * 6 * SPREAD / np.sqrt(self.columns)
        data[alone] = far[alone]
        data[together] += (
            self.families[draw.integers(0, FAMILIES, CHUNK)[together]]
            - self.centres[kind[together]]
            - np.einsum("ri,rij->rj", along[together], self.directions[kind[together]])
        )
        kind[alone], kind[together] = -1, -2
        return data[:rows].astype(np.float32), kind[:rows]


def write(path: str, rows: int, columns: int, start: int = 0) -> None:
    """Writes rows `start` to `start + rows` to a Parquet file, under another name until it is whole."""
    world = World(columns)
    names = [f"c{i}" for i in range(1, columns + 1)]
    schema = pa.schema(
        [("id", pa.int64()), ("kind", pa.string())] + [(name, pa.float32()) for name in names]
    )
    if start % CHUNK:
        raise SystemExit(f"--start must be a multiple of {CHUNK}")
    unfinished = f"{path}.unfinished"
    with pq.ParquetWriter(unfinished, schema, compression="none", use_dictionary=["kind"]) as writer:
        for first in range(start, start + rows, CHUNK):
            data, kind = world.chunk(first // CHUNK, min(CHUNK, start + rows - first))
            texts = np.array([f"cluster {k}" for k in range(CLUSTERS)] + ["family", "stranger"])
            columns_ = [pa.array(np.arange(first, first + len(data))), pa.array(texts[kind])]
            columns_ += [pa.array(np.ascontiguousarray(column)) for column in data.T]
            writer.write_table(pa.table(columns_, schema=schema))
    os.replace(unfinished, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--start", type=int, default=0, help="leave so many rows out before the first")
    args = parser.parse_args()
    write(args.path, args.rows, args.columns, args.start)
