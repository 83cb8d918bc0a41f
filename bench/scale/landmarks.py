"""One engine fits a map to landmarks of a Parquet table with so many workers on this machine, and says how long it took.

Start-up is told apart, as in engine.py: the cluster, and a few small jobs.
"""

import json
import sys
import time

import pyarrow.parquet as pq
from engine import JOBS, WARM_UP, dask_cluster, ray_cluster, spark_session


def spark(workers):
    from liontsne.distributed.spark import fit_landmarks

    session = spark_session(workers)
    return fit_landmarks, lambda source: session.read.parquet(source), session.stop


def ray(workers):
    from liontsne.distributed.ray import fit_landmarks

    cluster = ray_cluster(workers)
    return fit_landmarks, lambda source: cluster.data.read_parquet(source), cluster.shutdown


def dask(workers):
    import dask.dataframe

    from liontsne.distributed.dask import fit_landmarks

    stop = dask_cluster(workers)
    return fit_landmarks, lambda source: dask.dataframe.read_parquet(source, split_row_groups=True), stop


def main():
    name, workers, table, landmarks, out = sys.argv[1:]
    begun = time.perf_counter()
    small = f"{out}-first.parquet"
    pq.write_table(pq.ParquetFile(table).read_row_group(0).slice(0, WARM_UP), small)
    fit, read, stop = {"spark": spark, "ray": ray, "dask": dask}[name](int(workers))

    def work(source, many, **params):
        fit(read(source), many, id="id", label="kind", n_jobs=int(workers), save=out, **params)

    for _ in range(JOBS):
        work(small, 1000, max_iter=50)
    started = time.perf_counter()
    work(table, int(landmarks))
    done = time.perf_counter()
    stop()
    print(json.dumps({"start_up": started - begun, "seconds": done - started, "rows": pq.ParquetFile(table).metadata.num_rows}))


if __name__ == "__main__":
    main()
