"""Outliers of the table of `cargo xtask bench scale`, as many as wanted: rows at the rim of its clusters, and strangers, are
resolved on a map, and those that are outliers are kept as the bytes that their positions depend on."""

import os
import sys

import numpy as np
import pyarrow as pa
from liontsne.distributed import placer
from table import CLUSTERS, INTRINSIC, NOISE, SPREAD, World

CHUNK = 50_000
# Of nine intrinsic dimensions two rows in a hundred are farther from the centre of their cluster than the root of this.
RIM, BEYOND = 19.7, 2.6


def at_the_rim(world, number):
    """Rows of clusters as far out as the outermost 2 % are, and one stranger in twenty."""
    draw = np.random.Generator(np.random.Philox(key=[world.seed + 1, number]))
    kind = draw.choice(CLUSTERS, size=CHUNK, p=world.shares)
    along = draw.normal(size=(CHUNK, INTRINSIC))
    length = np.sqrt(RIM + draw.exponential(BEYOND, CHUNK))
    along *= (length / np.linalg.norm(along, axis=1))[:, None]
    data = draw.normal(size=(CHUNK, world.columns), scale=NOISE)
    for cluster in range(CLUSTERS):
        of = kind == cluster
        data[of] += world.centres[cluster] + along[of] @ world.directions[cluster]
    alone = draw.random(CHUNK) < 0.05
    data[alone] = draw.normal(size=(alone.sum(), world.columns)) * 6 * SPREAD / np.sqrt(world.columns)
    return data.astype(np.float32)


def main():
    map, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    place, world, left, number = placer(map, threads=0), World(50), count, 0
    schema = pa.schema({"stranger": pa.binary()})
    with pa.OSFile(f"{out}.unfinished", "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        while left:
            rows = at_the_rim(world, number)
            table = pa.table({f"c{at}": column for at, column in enumerate(rows.T, 1)})
            found = place.resolve(table)["stranger"].combine_chunks().drop_null()[:left]
            writer.write_batch(pa.record_batch([found], schema=schema))
            left, number = left - len(found), number + 1
    os.replace(f"{out}.unfinished", out)


if __name__ == "__main__":
    main()
