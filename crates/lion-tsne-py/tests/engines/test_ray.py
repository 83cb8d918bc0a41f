"""Ray: datasets on a node with two workers."""

import os
import pickle
import shutil
import signal
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# The node talks to this machine alone and to nobody about itself.
os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}

import ray

from liontsne import LionTSNE, distributed
from liontsne.distributed import ray as on_ray


@pytest.fixture(scope="module", autouse=True)
def node():
    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=200 << 20,
        include_dashboard=False,
        configure_logging=False,
        log_to_driver=False,
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield
    ray.shutdown()


def all_of(dataset) -> pa.Table:
    return pa.concat_tables(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_blocks_give_the_bits_of_lion_place(job, count):
    dataset = ray.data.from_arrow(job.parts(count, shuffled=count > 1))
    placed = all_of(on_ray.place(dataset, job.map, id="id"))
    assert placed.column_names[:4] == ["id", "kind", "x", "y"]
    assert placed.schema.field("group").type == pa.uint64()
    job.check(placed)


def test_rows_are_resolved_once(job, tmp_path):
    seen = tmp_path / "seen"

    def count(block: pa.Table) -> pa.Table:
        with open(seen, "a") as file:
            file.write(f"{block.num_rows}\n")
        return block

    dataset = ray.data.from_arrow(job.parts(3))
    dataset = dataset.map_batches(count, batch_format="pyarrow", batch_size=None)
    placed = on_ray.place(dataset, job.map, id="id")
    for _ in range(2):
        assert placed.count() == job.new.num_rows
    assert sum(map(int, seen.read_text().split())) == job.new.num_rows


def test_tensors_and_lists_are_features(job):
    x = np.stack([job.new[name] for name in job.new.column_names[2:]], axis=1)
    ids, kinds = job.new["id"].to_pylist(), job.new["kind"].to_pylist()
    tensors = ray.data.from_items(
        [{"id": i, "kind": k, "v": row} for i, k, row in zip(ids, kinds, x)], override_num_blocks=2
    )
    lists = ray.data.from_arrow(pa.table({"id": ids, "kind": kinds, "v": list(x)}))
    for dataset in (tensors, lists):
        job.check(all_of(on_ray.place(dataset, job.map, id="id", columns=["v"])))


def test_blocks_with_columns_in_another_order(tmp_path):
    X = np.random.default_rng(2).normal(size=(150, 3)) * [1, 20, 400]
    LionTSNE(perplexity=10, max_iter=60).fit(X).save(tmp_path / "map.lion")
    ids = [f"n{row:03}" for row in range(150)]
    table = pa.table({"id": ids, "a": X[:, 0] + 0.01, "b": X[:, 1], "c": X[:, 2]})
    alone = distributed.placer(tmp_path / "map.lion", id="id")(table)
    turned = [table[:80], table[80:].select(["c", "b", "id", "a"])]
    frames = ray.data.from_pandas([part.to_pandas() for part in turned])
    for dataset in (ray.data.from_arrow(turned), frames):
        placed = all_of(on_ray.place(dataset, tmp_path / "map.lion", id="id")).sort_by("id")
        assert placed.select(alone.column_names).to_pydict() == alone.to_pydict()


def test_tensors_that_pass_through_stay_tensors(job):
    x = np.stack([job.new[name][:50] for name in job.new.column_names[2:]], axis=1)
    rows = [{"id": str(at), "v": row, "p": np.eye(2)} for at, row in enumerate(x)]
    dataset = ray.data.from_items(rows)
    placed = on_ray.place(dataset, job.map, id="id", columns=["v"])
    assert placed.schema().types[1] == dataset.schema().types[2]
    assert (placed.take(1)[0]["p"] == np.eye(2)).all()


def test_what_is_wrong_is_said_before_the_job_begins(job, monkeypatch):
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and ray.place takes"):
        on_ray.place(job.new[:9].to_pandas(), job.map, id="id")
    monkeypatch.setattr(on_ray, "by_block", None)
    frame = ray.data.from_pandas(job.new.to_pandas())
    for dataset in (ray.data.read_parquet(job.parquet), ray.data.from_arrow(job.new), frame):
        with pytest.raises(ValueError, match="^there is no column name; the columns there are: id"):
            on_ray.place(dataset, job.map, id="name")


# Bad rows


def test_a_bad_row_stops_the_job_by_its_name(job, bad, tmp_path):
    for part in range(3):
        table = bad.drop_columns(["file", "row"])[1000 * part : 1000 * part + 1000]
        pq.write_table(table, tmp_path / f"part-{part}.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "part-0.parquet"), include_paths=True)
    with pytest.raises(ValueError) as caught:
        on_ray.place(dataset, job.map, id="id", file="path")
    said = str(caught.value)
    assert (
        said.startswith(f"{tmp_path}/part-0.parquet, id n17, column f3 is NaN") and "\n" not in said
    )


def test_bad_rows_go_aside(job, bad):
    dataset = ray.data.from_arrow([bad[:1000], bad[1000:1100], bad[1100:]])
    options = {"id": "id", "file": "file", "row": "row", "keep": ["kind"]}
    placed, rejected = on_ray.place(dataset, job.map, bad_rows="aside", **options)
    problems = {row["id"]: row["problem"] for row in rejected.take_all()}
    assert set(problems) == {"n17", "n1234"}
    assert problems["n17"].startswith("part-0.parquet, row 17, id n17, column f3 is NaN")
    assert problems["n1234"].startswith("part-1.parquet, row 234, id n1234, column f0 is empty")
    assert rejected.columns() == ["id", "file", "row", "kind", "problem"]

    good = [row for row in range(job.new.num_rows) if row not in (17, 1234)]
    alone = distributed.placer(job.map, **options)(bad.take(good))
    assert all_of(placed).sort_by("id").equals(alone.sort_by("id"))


def test_no_rows_and_no_outliers(job):
    dataset = ray.data.from_arrow(job.parts(2))
    nobody = dataset.filter(lambda row: row["id"] == "nobody")
    assert on_ray.place(nobody, job.map, id="id").count() == 0
    known = [verdict == "interpolated" for verdict in job.expected["verdict"].to_pylist()]
    placed = on_ray.place(ray.data.from_arrow(job.new.filter(known)[:100]), job.map, id="id")
    placed = all_of(placed)
    assert placed["group"].null_count == 100 and placed["x"].null_count == 0


# Workers


def test_a_process_opens_the_map_once(job, tmp_path, monkeypatch):
    own, log = shutil.copy(job.map, tmp_path), tmp_path / "log"

    # Functions within others are sent to the workers, which do not look for this file then.
    def resolve(made, block):
        from liontsne.distributed import _open

        if not hasattr(_open, "logged"):
            _open.logged, load = True, _open.load

            def load_and_log(path, checksum):
                with open(log, "a") as file:
                    file.write(f"{os.getpid()}\n")
                return load(path, checksum)

            _open.load = load_and_log
        return made.resolve(block)

    monkeypatch.setattr(on_ray, "resolve", resolve)
    for _ in range(2):
        dataset = ray.data.from_arrow(job.parts(7))
        job.check(all_of(on_ray.place(dataset, own, id="id")))
    opened = Counter(log.read_text().split())
    assert set(opened.values()) == {1}
    assert len(opened) < 14, "there were 14 tasks, in processes that Ray uses again"


def test_the_map_does_not_travel_with_tasks(job):
    made = distributed.placer(job.map, id="id")
    assert len(pickle.dumps(partial(on_ray.resolve, made))) < 2000 < os.path.getsize(job.map)


def test_a_killed_worker_changes_nothing(job, tmp_path, monkeypatch):
    marker, stopped, killed = tmp_path / "marker", threading.Event(), []

    def resolve(made, block):
        import time

        resolved = made.resolve(block)
        try:
            file = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return resolved
        os.write(file, f"{os.getpid()}\n".encode())
        os.close(file)
        time.sleep(120)

    def kill_the_marked():
        while not stopped.wait(0.05):
            if marker.exists() and (text := marker.read_text()).endswith("\n"):
                killed.append(os.kill(int(text), signal.SIGKILL))
                return

    monkeypatch.setattr(on_ray, "resolve", resolve)
    thread = threading.Thread(target=kill_the_marked)
    thread.start()
    try:
        job.check(all_of(on_ray.place(ray.data.from_arrow(job.parts(7)), job.map, id="id")))
    finally:
        stopped.set()
        thread.join()
    assert killed


# Landmarks


@pytest.mark.parametrize("parts", [1, 2, 11])
def test_landmarks_are_those_of_the_command_line(landmarks, tmp_path, parts, case):
    dataset = ray.data.from_arrow(landmarks.parts(parts))
    landmarks.check(case, tmp_path, partial(on_ray.fit_landmarks, dataset))


def test_landmarks_of_files_pandas_and_tensors(landmarks, tmp_path):
    frame = landmarks.table.to_pandas()
    frames = ray.data.from_pandas([frame[2500:], frame[:2500]])
    for dataset in (ray.data.read_parquet(landmarks.parquet), frames):
        landmarks.check("by label", tmp_path, partial(on_ray.fit_landmarks, dataset))
    rows = [{"id": row, "v": np.array([row % 7, row % 11, row], np.float32)} for row in range(400)]
    tensors = ray.data.from_items(rows)
    made = on_ray.fit_landmarks(tensors, 100, id="id", perplexity=5, max_iter=50)
    assert list(made.feature_names_in_) == ["v[1]", "v[2]", "v[3]"]


def test_bad_rows_and_columns_of_landmarks_are_named(landmarks):
    table = landmarks.table
    values = [1e20 if row == 77 else value for row, value in enumerate(table["f5"].to_pylist())]
    bad = table.set_column(table.column_names.index("f5"), "f5", [values])
    with pytest.raises(ValueError) as caught:
        on_ray.fit_landmarks(ray.data.from_arrow(bad), 100, id="id", label="kind")
    said = str(caught.value)
    assert said.startswith("id r77, column f5 is 1e+20: values beyond") and "\n" not in said
    dataset = ray.data.from_arrow(table)
    with pytest.raises(ValueError, match="no column 'name'; the columns there are: id, kind"):
        on_ray.fit_landmarks(dataset, 100, id="name")
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and ray.fit_landmarks"):
        on_ray.fit_landmarks(table.to_pandas(), 100, id="id")
