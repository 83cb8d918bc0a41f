"""Spark: data frames on two local workers, and on a cluster of two executors."""

import os
import pickle
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from liontsne import distributed
from liontsne.distributed import _spark, spark


def start(master: str, folder: Path) -> SparkSession:
    """A session that is quiet, small and talks to this machine alone."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        # Short jobs: the compiler should not work longer than they do.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.local.dir": folder,
        # A partition for each file, however small.
        "spark.sql.files.openCostInBytes": 1 << 30,
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": 3,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(master).appName("liontsne")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Two workers; a task that is lost is tried again, as on any cluster."""
    session = start("local[2,4]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture
def frame(session, tmp_path):
    """A function that makes a data frame with a partition for each part, from a file each."""

    def make(parts):
        folder = tmp_path / f"{len(parts)} parts"
        folder.mkdir()
        for number, part in enumerate(parts):
            pq.write_table(part, folder / f"{number}.parquet")
        whole = session.read.parquet(str(folder))
        assert whole.rdd.getNumPartitions() == len(parts)
        return whole

    return make


@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_partitions_give_the_bits_of_lion_place(frame, job, count):
    placed = spark.place(frame(job.parts(count, shuffled=count > 1)), job.map, id="id")
    assert placed.columns[:4] == ["id", "kind", "x", "y"]
    assert dict(placed.dtypes)["neighbours"] == dict(placed.dtypes)["group"] == "bigint"
    job.check(placed.toArrow())
    spark.release(placed)


def test_rows_are_settled_once_and_stay_in_order(frame, job, tmp_path):
    seen = tmp_path / "seen"

    def count(batches):
        for batch in batches:
            with open(seen, "a") as file:
                file.write(f"{batch.num_rows}\n")
            yield batch

    df = frame(job.parts(2))
    placed = spark.place(df.mapInArrow(count, df.schema), job.map, id="id", keep=[])
    assert placed.columns[:2] == ["id", "x"]
    for _ in range(2):
        assert placed.toArrow()["id"].to_pylist() == df.toArrow()["id"].to_pylist()
    assert sum(map(int, seen.read_text().split())) == job.new.num_rows
    spark.release(placed)
    placed.count()
    assert sum(map(int, seen.read_text().split())) == 2 * job.new.num_rows


def test_arrays_are_features_and_vectors_are_refused(frame, job):
    features = [F.col(name) for name in job.new.column_names[2:]]
    df = frame(job.parts(2)).select("id", "kind", F.array(*features).alias("v.1"))
    job.check(spark.place(df, job.map, id="id", columns=["v.1"]).toArrow())

    from pyspark.ml.functions import array_to_vector

    vectors = df.select("id", array_to_vector(F.col("`v.1`")).alias("v"))
    for columns in (None, ["v"]):
        with pytest.raises(ValueError, match="^column v holds vectors .* vector_to_array"):
            spark.place(vectors, job.map, id="id", columns=columns)


def test_names_that_clash_need_a_prefix(frame, job):
    df = frame(job.parts(1)).withColumn("x", F.lit("mine"))
    with pytest.raises(ValueError, match="column x passes through"):
        spark.place(df, job.map, id="id")
    placed = spark.place(df, job.map, id="id", prefix="lion ").toArrow()
    assert set(placed["x"].to_pylist()) == {"mine"}
    names = [name.removeprefix("lion ") for name in placed.column_names if name != "x"]
    job.check(placed.drop_columns("x").rename_columns(names))


# Bad rows


@pytest.fixture(scope="module")
def files(bad, tmp_path_factory) -> Path:
    """The table with bad rows as three files of 1000 rows."""
    folder = tmp_path_factory.mktemp("bad")
    table = bad.drop_columns(["file", "row"])
    for part in range(3):
        pq.write_table(table[1000 * part : 1000 * part + 1000], folder / f"part-{part}.parquet")
    return folder


def test_a_bad_row_stops_the_job_by_its_name(session, job, files):
    one = session.read.parquet(str(files / "part-0.parquet")).where("id > 'a'").repartition(3)
    with pytest.raises(ValueError) as caught:
        spark.place(one, job.map, id="id")
    said = str(caught.value)
    assert said.startswith(f"file:{files}/part-0.parquet, row 18, id n17, column f3 is NaN")
    assert "\n" not in said
    with pytest.raises(ValueError, match="^id n17, column f3 is NaN"):
        spark.place(one.cache(), job.map, id="id")
    one.unpersist()

    three = session.read.schema(one.schema).csv(str(files / "three"))
    one.write.option("header", False).csv(str(files / "three"))
    with pytest.raises(ValueError, match=r"^file:.*/three/part-.*\.csv, column f3 is NaN"):
        spark.place(three, job.map, columns=one.columns[2:])


def test_bad_rows_go_aside(session, job, files, bad):
    df = session.read.parquet(str(files))
    placed, rejected = spark.place(df, job.map, id="id", bad_rows="aside")
    assert rejected.columns == ["id", "kind", "problem"]
    problems = {row.id: row.problem for row in rejected.collect()}
    assert set(problems) == {"n17", "n1234"}
    assert "part-0.parquet, row 18, id n17, column f3 is NaN" in problems["n17"]
    assert "part-1.parquet, row 235, id n1234, column f0 is empty" in problems["n1234"]

    good = [row for row in range(job.new.num_rows) if row not in (17, 1234)]
    alone = distributed.placer(job.map, id="id", signed=True)(job.new.take(good))
    ours = placed.toArrow().sort_by("id")
    assert ours.cast(alone.schema).equals(alone.sort_by("id"))


def test_no_rows_and_no_strangers(session, frame, job):
    df = frame(job.parts(2))
    assert spark.place(df.where("id = 'nobody'"), job.map, id="id").count() == 0
    known = [v == "interpolated" for v in job.expected["verdict"].to_pylist()]
    few = session.createDataFrame(job.new.filter(known)[:100])
    placed = spark.place(few, job.map, id="id").toArrow()
    assert placed["group"].null_count == 100 and placed["x"].null_count == 0


# Workers


def watched(monkeypatch, step) -> None:
    """Lets workers settle by another function. It must be one that is made within another, so that Spark
    sends it, and does not look for this file on the workers."""
    monkeypatch.setattr(spark, "settle", partial(_spark.settle, step=step))


def log_opening(log: Path):
    """A step that logs each time its process opens a map."""

    def settle(made, batches):
        import os

        from liontsne.distributed import _open

        if not hasattr(_open, "logged"):
            _open.logged, load = True, _open.load

            def load_and_log(path, checksum):
                with open(log, "a") as file:
                    file.write(f"{os.getpid()} {path}\n")
                return load(path, checksum)

            _open.load = load_and_log
        yield from made.settle(batches)

    return settle


def test_a_process_opens_the_map_once(frame, job, tmp_path, monkeypatch):
    watched(monkeypatch, log_opening(tmp_path / "log"))
    df = frame(job.parts(7))
    own = shutil.copy(job.map, tmp_path)
    for _ in range(2):
        placed = spark.place(df, own, id="id")
        job.check(placed.toArrow())
        spark.release(placed)
    opened = Counter((tmp_path / "log").read_text().splitlines())
    assert set(opened.values()) == {1}
    assert len(opened) < 14, "there were 14 tasks, in processes that Spark uses again"


def test_the_map_does_not_travel_with_tasks(job):
    made = distributed.placer(job.map, id="id", columns=job.new.column_names[2:])
    names = (job.new.column_names, made.schema(job.new.schema).names)
    work = partial(_spark.on_worker, made, distributed.Placer.settle, names, False)
    assert len(pickle.dumps(work)) < 2000 < os.path.getsize(job.map)


def die_once(marker: Path, whom: str):
    """A step whose first task leaves a process to be killed in the marker, and waits for that: its own,
    or the executor that it belongs to."""

    def settle(made, batches):
        import os
        import time

        for number, settled in enumerate(made.settle(batches)):
            yield settled
            try:
                file = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                continue
            pid = os.getpid()
            if whom == "executor":
                # Workers are children of a daemon, that is one of the executor.
                with open(f"/proc/{os.getppid()}/stat") as stat:
                    pid = int(stat.read().rpartition(")")[2].split()[1])
            os.write(file, f"{pid}\n".encode())
            os.close(file)
            time.sleep(30)

    return settle


def kill_the_marked(marker: Path) -> threading.Thread:
    """Kills the process of the marker as soon as there is one."""

    def wait_and_kill():
        for _ in range(600):
            if marker.exists() and (pid := marker.read_text()).endswith("\n"):
                return os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread


def test_a_killed_worker_changes_nothing(frame, job, tmp_path, monkeypatch):
    marker = tmp_path / "marker"
    watched(monkeypatch, die_once(marker, "worker"))
    killing = kill_the_marked(marker)
    begun = time.monotonic()
    job.check(spark.place(frame(job.parts(7)), job.map, id="id").toArrow())
    killing.join()
    assert marker.exists() and time.monotonic() - begun < 29
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)
