"""Spark: data frames on two local workers, and on a cluster of two executors."""

import json
import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from liontsne import LionTSNE, distributed
from liontsne.distributed import _spark, spark
from liontsne.distributed._service import Service, parts_of


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
    session = start("local[2,2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def in_parts(session, parts, folder: Path):
    """A data frame with a partition for each part, from a file each."""
    folder = folder / f"{len(parts)} parts"
    folder.mkdir()
    for number, part in enumerate(parts):
        pq.write_table(part, folder / f"{number}.parquet")
    whole = session.read.parquet(str(folder))
    assert whole.rdd.getNumPartitions() == len(parts)
    return whole


@pytest.fixture
def frame(session, tmp_path):
    """A function that makes such a data frame."""
    return lambda parts: in_parts(session, parts, tmp_path)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_partitions_give_the_bits_of_lion_place(frame, job, count):
    placed = spark.place(frame(job.parts(count, shuffled=count > 1)), job.map, id="id")
    assert placed.columns[:4] == ["id", "kind", "x", "y"]
    assert dict(placed.dtypes)["neighbours"] == dict(placed.dtypes)["group"] == "bigint"
    job.check(placed.toArrow())
    spark.release(placed)


def test_rows_are_resolved_once_and_stay_in_order(frame, job, tmp_path):
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
        with pytest.raises(ValueError, match="^column v holds vectors .*vector_to_array"):
            spark.place(vectors, job.map, id="id", columns=columns)


def test_names_that_clash_need_a_prefix(frame, job):
    df = frame(job.parts(1)).withColumn("x", F.lit("mine"))
    with pytest.raises(ValueError, match="column x passes through"):
        spark.place(df, job.map, id="id")
    # Upper and lower case are one to Spark, unless it is told otherwise.
    upper = df.withColumnRenamed("x", "X")
    with pytest.raises(ValueError, match="column X passes through, .* has x, the same name"):
        spark.place(upper, job.map, id="id")
    df.sparkSession.conf.set("spark.sql.caseSensitive", "true")
    try:
        placed = spark.place(upper, job.map, id="id").toArrow()
    finally:
        df.sparkSession.conf.unset("spark.sql.caseSensitive")
    assert set(placed["X"].to_pylist()) == {"mine"} and placed["x"].null_count == 0
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
    one = session.read.parquet(str(files / "part-0.parquet")).where("id < 'n2'").coalesce(1)
    with pytest.raises(ValueError) as caught:
        spark.place(one, job.map, id="id")
    said = str(caught.value)
    assert said.startswith(f"file:{files}/part-0.parquet, row 17, id n17, column f3 is NaN")
    assert "\n" not in said
    with pytest.raises(ValueError, match="^id n17, column f3 is NaN"):
        spark.place(one.cache(), job.map, id="id")
    one.unpersist()

    texts = str(files / "as.csv")
    one.write.csv(texts)
    with pytest.raises(ValueError, match=r"^file:.*/as.csv/part-.*\.csv, column f3 is NaN"):
        spark.place(session.read.schema(one.schema).csv(texts), job.map)


def test_looking_for_files_logs_nothing(session, job, files):
    from pyspark.logger import PySparkLogger

    logger, logged = PySparkLogger.getLogger("DataFrameQueryContextLogger"), []
    handler = logging.Handler()
    handler.emit = logged.append
    logger.addHandler(handler)
    try:
        made, names = distributed.placer(job.map, id="id"), job.new.column_names
        _, known = _spark.with_source(session.createDataFrame(job.new[:9]), made, names)
        assert known == made and not logged
        texts = session.read.text(str(files / "part-0.parquet"))
        _, known = _spark.with_source(texts, made, ["value"])
        assert (known.file, known.row) == (_spark.FILE, None) and not logged
        with pytest.raises(PySparkException):
            texts.select("nothing").columns
        assert logged and not logger.filters
    finally:
        logger.removeHandler(handler)


def test_frames_of_others_are_refused(job):
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and spark.place takes"):
        spark.place(job.new[:9].to_pandas(), job.map, id="id")


def test_bad_rows_go_aside(session, job, files, bad):
    df = session.read.parquet(str(files))
    placed, rejected = spark.place(df, job.map, id="id", bad_rows="aside")
    assert rejected.columns == ["id", "kind", "problem"]
    problems = {row.id: row.problem for row in rejected.collect()}
    assert set(problems) == {"n17", "n1234"}
    assert "part-0.parquet, row 17, id n17, column f3 is NaN" in problems["n17"]
    assert "part-1.parquet, row 234, id n1234, column f0 is empty" in problems["n1234"]

    good = [row for row in range(job.new.num_rows) if row not in (17, 1234)]
    alone = distributed.placer(job.map, id="id", signed=True)(job.new.take(good))
    ours = placed.toArrow().sort_by("id")
    assert ours.cast(alone.schema).equals(alone.sort_by("id"))


def test_no_rows_and_no_outliers(session, frame, job):
    df = frame(job.parts(2))
    assert spark.place(df.where("id = 'nobody'"), job.map, id="id").count() == 0
    known = [v == "interpolated" for v in job.expected["verdict"].to_pylist()]
    few = session.createDataFrame(job.new.filter(known)[:100])
    placed = spark.place(few, job.map, id="id").toArrow()
    assert placed["group"].null_count == 100 and placed["x"].null_count == 0
    with pytest.raises(ValueError, match="none that place has returned"):
        spark.release(few)


def test_rows_that_change_are_not_left_without_a_place(frame, job):
    def shake(batches):
        import os

        import numpy as np

        for batch in batches:
            far = 1e5 * (1 + np.frombuffer(os.urandom(batch.num_rows), np.uint8))
            yield batch.set_column(2, "f0", pa.array(far))

    df = frame(job.parts(1)).where("id < 'n11'")
    placed = spark.place(df.mapInArrow(shake, df.schema), job.map, id="id")
    assert placed.toArrow()["x"].null_count == 0
    spark.release(placed)
    with pytest.raises(PySparkException, match="an outlier among these rows has no position"):
        placed.toArrow()


# Workers


def watched(monkeypatch, step) -> None:
    """Lets workers resolve by another step. It must be a function that is made within another, so
    that Spark sends it, and does not look for this file on the workers."""
    original = spark.resolve
    monkeypatch.setattr(
        spark, "resolve", lambda df, made, _, *, ship: original(df, made, step, ship=ship)
    )


def log_opening(log: Path):
    """A step that logs each time its process opens a map."""

    def resolve(made, batch):
        import os

        from liontsne.distributed import _open, _spark

        if not hasattr(_open, "logged"):
            _open.logged, load = True, _open.load

            def load_and_log(path, checksum):
                with open(log, "a") as file:
                    file.write(f"{os.getpid()} {path}\n")
                return load(path, checksum)

            _open.load = load_and_log
        return _spark.with_pending(made, batch)

    return resolve


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
    work = partial(_spark.pack, made, _spark.with_pending, job.new.column_names, False)
    assert len(pickle.dumps(work)) < 2000 < os.path.getsize(job.map)


def die_once(marker: Path, whom: str):
    """A step whose first task leaves a process to be killed in the marker, and waits for that: its
    own, or the executor that it belongs to."""

    def resolve(made, batch):
        import os
        import time

        from liontsne.distributed import _spark

        resolved = _spark.with_pending(made, batch)
        try:
            file = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return resolved
        pid = os.getpid()
        if whom == "executor":
            # Workers are children of a daemon, that is one of the executor.
            with open(f"/proc/{os.getppid()}/stat") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])
        os.write(file, f"{pid} {made.path}\n".encode())
        os.close(file)
        time.sleep(120)

    return resolve


@contextmanager
def killing(marker: Path):
    """Kills the process of the marker as soon as there is one, and must have done so at the end."""
    killed = []

    def wait_and_kill():
        while not stopped.wait(0.05):
            if marker.exists() and (text := marker.read_text()).endswith("\n"):
                os.kill(int(text.split()[0]), signal.SIGKILL)
                killed.append(text)
                return

    stopped = threading.Event()
    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
    assert killed


def test_a_killed_worker_changes_nothing(frame, job, tmp_path, monkeypatch):
    marker = tmp_path / "marker"
    watched(monkeypatch, die_once(marker, "worker"))
    with killing(marker):
        job.check(spark.place(frame(job.parts(7)), job.map, id="id").toArrow())


# Streams


class Serving:
    """A running `lion serve`, which keeps its port when it is started again."""

    def __init__(self, program, map, folder):
        (folder / "token").write_text(TOKEN)
        self.command = [program, "serve", map, "--store", folder / "points.db", "--json", "-q"]
        self.command += ["--token-file", folder / "token"]
        self.port = 0
        self.start()

    def start(self):
        command = [*map(str, self.command), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        told = json.loads(self.process.stdout.readline())
        self.port, self.address = told["port"], told["url"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


TOKEN = "a-token-of-the-tests"


@pytest.fixture
def serving(program, job, tmp_path):
    serving = Serving(program, job.map, tmp_path)
    yield serving
    serving.kill()


def run(session, folder, schema, work):
    """A query over the files of a folder, one a batch, to its end."""
    source = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    query = source.parquet(str(folder / "in")).writeStream.foreachBatch(work)
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


def test_a_stream_keeps_its_outliers_while_the_service_is_killed(session, job, serving, tmp_path):
    (tmp_path / "in").mkdir()
    for number, part in enumerate(job.parts(2)):
        pq.write_table(part, tmp_path / "in" / f"{number}.parquet")
        os.utime(tmp_path / "in" / f"{number}.parquet", (10**9 + number,) * 2)
    came: dict[int, list[pa.Table]] = {0: [], 1: []}

    def sink(placed, epoch):
        came[epoch].append(placed.toArrow())
        if epoch == 0:
            # It is away when the next batch asks for it, and then there again.
            serving.kill()
            threading.Timer(1.0, serving.start).start()
        elif len(came[1]) == 1:
            raise RuntimeError("the sink fails, so that Spark runs the batch again")

    work = spark.stream(job.map, sink, id="id", service=serving.address, token=TOKEN)
    schema = session.createDataFrame(job.new[:1]).schema
    with pytest.raises(StreamingQueryException, match="the sink fails"):
        run(session, tmp_path, schema, work)
    run(session, tmp_path, schema, work)

    [first], [second, again] = came[0], came[1]
    assert again.equals(second), "a batch that is run again has the same answer"
    check_stream(job, pa.concat_tables([first, second]))
    in_both = {*first["group"].to_pylist()} & {*second["group"].to_pylist()} - {None}
    assert len(in_both) >= 6, "outliers of the second batch join groups of the first"


def check_stream(job, placed) -> None:
    """Rows are as `lion place` has them, but for outliers, which only have the same groups."""
    order = {name: row for row, name in enumerate(placed["id"].to_pylist())}
    placed = placed.take([order[name] for name in job.new["id"].to_pylist()])
    is_outlier = pc.equal(job.expected["verdict"], "outlier")
    for name in job.expected.column_names:
        ours = placed[name].cast(job.expected[name].type)
        theirs = job.expected[name]
        if name in ("x", "y", "group"):
            assert ours.null_count == theirs.null_count
            ours, theirs = ours.filter(pc.invert(is_outlier)), theirs.filter(pc.invert(is_outlier))
        assert ours.combine_chunks().equals(theirs.combine_chunks()), name
    groups = {*zip(placed["group"].to_pylist(), job.expected["group"].to_pylist())}
    assert len(groups) == len({ours for ours, _ in groups}) == len({theirs for _, theirs in groups})


def test_bad_rows_of_a_stream_go_aside(session, job, files, serving):
    came = {}
    work = spark.stream(
        job.map,
        lambda df, epoch: came.update(placed=df.count()),
        rejected=lambda df, epoch: came.update(rejected=df.columns, problems=df.count()),
        id="id",
        service=serving.address,
        token=TOKEN,
    )
    work(session.read.parquet(str(files)).where("f0 < 100 or f0 is null"), 0)
    few = {"rejected": ["id", "kind", "problem"], "problems": 2}
    assert came.pop("placed") > 2700 and came == few


def test_what_a_service_refuses_is_said(job, serving, tmp_path):
    with pytest.raises(ValueError, match="refuses: 401, the token is missing or wrong"):
        Service(serving.address, "not-the-token-of-the-tests").checksum()
    with pytest.raises(ValueError, match="is no address of a service"):
        Service("127.0.0.1:7878")
    service = Service(serving.address, TOKEN, patience=0.2)
    points = pa.table({"id": ["a"], "x": [[1.0, 2.0]]})
    with pytest.raises(ValueError, match="422, .* has 2 values; the rows of this map have 12"):
        service.place(points)
    serving.kill()
    with pytest.raises(ConnectionError, match="has not answered for 0.2 seconds .*Refused"):
        service.checksum()


def test_points_are_sent_once_each_in_the_order_of_their_ids():
    points = pa.table({"id": ["b", "a", "b"], "x": [[2.0], [1.0], [2.0]]})
    assert spark.each_once(points, "id").to_pydict() == {"id": ["a", "b"], "x": [[1.0], [2.0]]}
    for ids, said in (
        (["b", "a", "a"], "id a is twice"),
        (["b", None, "c"], "column key is empty"),
    ):
        with pytest.raises(ValueError, match=said):
            spark.each_once(points.set_column(0, "id", [ids]), "key")
    table = pa.table({"id": ["a"] * 12_000, "x": [[1.0]] * 12_000})
    assert [len(part) for part in parts_of(table)] == [5000, 5000, 2000]
    table = pa.table({"id": ["a"] * 50, "x": [[1.0] * 50_000] * 50})
    assert all(part.nbytes <= 4 << 20 for part in parts_of(table))


# Landmarks


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_landmarks_are_those_of_the_command_line(landmarks, frame, tmp_path, parts, case):
    df = frame([part for part in landmarks.parts(parts) if part.num_rows])
    landmarks.check(case, tmp_path, partial(spark.fit_landmarks, df))


def test_landmarks_of_rows_in_other_forms(session, landmarks, tmp_path):
    """Partitions without rows, and columns of different types with names that Spark has to quote."""
    df = session.createDataFrame(landmarks.table.to_pandas()).repartition(3, "kind")
    landmarks.check("plain", tmp_path, partial(spark.fit_landmarks, df))
    odd = df.withColumn("a.b`c", F.col("f1").cast("decimal(20, 3)")).withColumn("i", F.hash("id") % 9)
    names = ["a.b`c", "i", "f2"]
    made = spark.fit_landmarks(odd, 100, id="id", columns=names, perplexity=5, max_iter=50)
    alone = LionTSNE(perplexity=5, max_iter=50)
    alone.fit_landmarks(odd.toArrow(), 100, id="id", columns=names)
    assert made._map.checksum == alone._map.checksum
    lists = df.select("id", F.array("f1", "f2", "f3").alias("v"))
    made = spark.fit_landmarks(lists, 100, id="id", perplexity=5, max_iter=50)
    assert list(made.feature_names_in_) == ["v[1]", "v[2]", "v[3]"]


def test_bad_rows_and_columns_of_landmarks_are_named(session, landmarks):
    df = session.createDataFrame(landmarks.table.to_pandas())
    bad = df.withColumn("f5", F.when(F.col("id") == "r77", F.lit(1e20)).otherwise(F.col("f5")))
    with pytest.raises(ValueError) as caught:
        spark.fit_landmarks(bad, 100, id="id", label="kind")
    said = str(caught.value)
    assert said.startswith("id r77, column f5 is 1e+20: values beyond") and "\n" not in said
    with pytest.raises(ValueError, match="no column 'name'; the columns there are: id, kind"):
        spark.fit_landmarks(df, 100, id="name")
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and spark.fit_landmarks"):
        spark.fit_landmarks(landmarks.table.to_pandas(), 100, id="id")


# A cluster, whose executors are processes of their own. It comes last: a program has one session.


@pytest.fixture
def cluster(session, tmp_path):
    session.stop()
    cluster = start("local-cluster[2,1,1024]", tmp_path)
    yield cluster
    cluster.stop()


def test_executors_get_the_map_and_may_be_killed(cluster, job, tmp_path, monkeypatch):
    marker = tmp_path / "marker"
    watched(monkeypatch, die_once(marker, "executor"))
    with killing(marker):
        df = in_parts(cluster, job.parts(7), tmp_path)
        job.check(spark.place(df, job.map, id="id", ship=True).toArrow())
    path = marker.read_text().split()[1]
    assert path != job.map and Path(path).name == Path(job.map).name
