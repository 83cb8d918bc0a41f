"""Places in DuckDB and polars, through Arrow: what either has goes in as it is, and what comes out
is read by either without a copy.

    pip install duckdb polars
    python duckdb_polars.py
"""

import os
import tempfile

import duckdb
import numpy as np
import polars as pl

from liontsne import LionTSNE, distributed

rng = np.random.default_rng(0)
centres = 9 * rng.normal(size=(4, 3))


def readings(count, strays=0):
    """Three numbers for each, around four centres but for a few."""
    values = centres[rng.integers(4, size=count)] + rng.normal(size=(count, 3))
    values[:strays] = 50 * rng.normal(size=(strays, 3))
    return pl.DataFrame(values, schema=["a", "b", "c"])


map = os.path.join(tempfile.mkdtemp(prefix="liontsne-"), "map.lion")
LionTSNE(max_iter=300).fit(readings(600)).save(map)
place = distributed.placer(map, threads=0)

# DuckDB: a query goes in as a stream of batches, and the answer, a stream too, is queried like a
# table. Columns are found by their names, and all others pass through. A connection has one open
# answer at a time, hence the cursor.
database, new = duckdb.connect(), readings(20000, strays=200)
database.sql(
    "create table readings as select c, b, a, 'hall ' || floor(random() * 3)::int as hall from new"
)
placed = place(database.cursor().sql("select * from readings").to_arrow_reader(2048))
print(database.sql("select verdict, count(*) as rows from placed group by verdict order by rows"))

# polars: a frame goes in, and an Arrow table comes out that polars takes as it is.
frame = readings(2, strays=1).with_columns(name=pl.Series(["strange", "ordinary"]))
print(pl.from_arrow(place(frame)).select("name", "x", "y", "verdict", "score"))
