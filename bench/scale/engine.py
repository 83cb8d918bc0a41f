"""One engine places a Parquet table with so many workers on this machine, and says how long it took.

Start-up is told apart: the cluster, and a few small jobs in which workers import what they need and open the map, and Java
compiles what it runs.
"""

import json
import os
import shutil
import sys
import time

import pyarrow.dataset as ds
import pyarrow.parquet as pq

WARM_UP = 100_000  # rows of each small job
JOBS = 3


def alone(workers, table, map, out):
    """No engine: the one Arrow function in this process."""
    from liontsne.distributed import placer

    def work(source, out):
        place = placer(map, id="id", keep=["kind"], threads=workers)
        writer = None
        for batch in place(ds.dataset(source).to_batches(batch_size=16384)):
            writer = writer or pq.ParquetWriter(out, batch.schema)
            writer.write_batch(batch)
        writer.close()

    return work, lambda: None


def spark_session(workers):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    build = SparkSession.builder.master(f"local[{workers}]")
    settings = {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        build = build.config(name, value)
    session = build.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def spark(workers, table, map, out):
    from liontsne.distributed import spark as engine

    session = spark_session(workers)

    def work(source, out):
        placed = engine.place(session.read.parquet(source), map, id="id", keep=["kind"])
        placed.write.mode("overwrite").parquet(out)
        engine.release(placed)

    return work, session.stop


def ray_cluster(workers):
    # The last of these keeps it to the loopback.
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    os.environ |= quiet | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    import ray as cluster

    cluster.init(num_cpus=workers, include_dashboard=False, object_store_memory=2_000_000_000, logging_level="ERROR")
    cluster.data.DataContext.get_current().enable_progress_bars = False
    return cluster


def ray(workers, table, map, out):
    from liontsne.distributed import ray as engine

    cluster = ray_cluster(workers)

    def work(source, out):
        shutil.rmtree(out, ignore_errors=True)
        engine.place(cluster.data.read_parquet(source), map, id="id", keep=["kind"]).write_parquet(out)

    return work, cluster.shutdown


def dask_cluster(workers):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)

    def stop():
        client.close()
        cluster.close()

    return stop


def dask(workers, table, map, out):
    import dask.dataframe

    from liontsne.distributed import dask as engine

    stop = dask_cluster(workers)

    def work(source, out):
        frame = dask.dataframe.read_parquet(source, split_row_groups=True)
        engine.place(frame, map, id="id", keep=["kind"]).to_parquet(out, overwrite=True)

    return work, stop


def main():
    name, workers, table, map, out = sys.argv[1:]
    begun = time.perf_counter()
    small = f"{out}-first.parquet"
    pq.write_table(pq.ParquetFile(table).read_row_group(0).slice(0, WARM_UP), small)
    work, stop = {"alone": alone, "spark": spark, "ray": ray, "dask": dask}[name](int(workers), table, map, out)
    for _ in range(JOBS):
        work(small, f"{out}-first")
    started = time.perf_counter()
    work(table, out)
    done = time.perf_counter()
    rows = pq.ParquetFile(table).metadata.num_rows
    written = ds.dataset(out).count_rows()
    if written != rows:
        raise SystemExit(f"{name} wrote {written} of {rows} rows")
    stop()
    print(json.dumps({"start_up": started - begun, "seconds": done - started, "rows": rows}))


if __name__ == "__main__":
    main()
