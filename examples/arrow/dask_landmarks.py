"""A table in many parts, by Dask: a map of some of its rows, chosen where they are, and then all rows
placed on it. Nothing but landmarks, held-out rows and outliers travels. Spark and Ray are alike.

    python dask_landmarks.py
"""

import os
import tempfile

import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from liontsne.distributed import dask as lion_dask

# All files go into a new folder.
os.chdir(tempfile.mkdtemp(prefix="liontsne-"))
os.mkdir("data")

# Four files of points around five centres. One kind is rare.
rng = np.random.default_rng(0)
centres = 9 * rng.normal(size=(5, 6))
for part in range(4):
    kind = rng.choice(5, size=3000, p=[0.3, 0.3, 0.2, 0.19, 0.01])
    values = centres[kind] + rng.normal(size=(3000, 6))
    columns = {f"f{column}": values[:, column] for column in range(6)}
    names = {"id": [f"{part}-{row}" for row in range(3000)], "kind": [f"kind {k}" for k in kind]}
    pq.write_table(pa.table(names | columns), f"data/{part}.parquet")

# 500 landmarks, as many of each kind as there are.
frame = dd.read_parquet("data/")
lion = lion_dask.fit_landmarks(
    frame, 500, id="id", label="kind", stratify=True, save="map.lion", max_iter=300
)
stands_for = lion.sampled_from_
print(f"{len(lion.embedding_)} landmarks stand for {stands_for['rows']} rows")
print(f"{stands_for['beyond']} of them lie beyond the radius of every landmark")

# All rows on that map.
placed = lion_dask.place(frame, "map.lion", id="id", keep=["kind"])
placed.to_parquet("placed")
for verdict, count in placed.verdict.value_counts().compute().items():
    print(f"{count:5} {verdict}")
print(f"in {os.path.abspath('placed')}")
