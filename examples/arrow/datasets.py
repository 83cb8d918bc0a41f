"""Files that are larger than memory, by pyarrow alone: a folder of Parquet files is read batch by
batch, and written batch by batch with a place for each row. What waits for the last outlier waits
in a temporary file.

    python datasets.py
"""

import os
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from liontsne import LionTSNE, distributed

# All files go into a new folder.
os.chdir(tempfile.mkdtemp(prefix="liontsne-"))

rng = np.random.default_rng(0)
centres = 9 * rng.normal(size=(4, 6))


def rows(count):
    """Points around four centres, and one in fifty that belongs nowhere."""
    near = centres[rng.integers(4, size=count)] + rng.normal(size=(count, 6))
    return np.where(rng.random((count, 1)) < 0.02, 60 * rng.normal(size=(count, 6)), near)


# A map, fitted once, and three files of new rows.
LionTSNE(max_iter=300).fit(centres[rng.integers(4, size=600)] + rng.normal(size=(600, 6))).save(
    "map.lion"
)
for part in range(3):
    values = {f"c{column + 1}": values for column, values in enumerate(rows(2000).T)}
    names = [f"{part}-{row}" for row in range(2000)]
    pq.write_table(pa.table({"name": names} | values), f"new-{part}.parquet")

# All of it as one stream of batches. Which file and row a row is from is said of bad ones.
new = ds.dataset([f"new-{part}.parquet" for part in range(3)])
place = distributed.placer("map.lion", id="name", threads=0)
placed = place(new.to_batches(batch_size=500))
ds.write_dataset(placed, "placed", schema=place.final_schema(new.schema), format="parquet")

counts = ds.dataset("placed").to_table(columns=["verdict"])["verdict"].value_counts()
for count in counts.to_pylist():
    print(f"{count['counts']:5} {count['values']}")
print(f"in {os.path.abspath('placed')}")
