"""Dask on a cluster of processes, which are real."""

import os
import re
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

from liontsne.distributed import dask


@pytest.fixture(scope="module")
def client():
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**workers, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def frame_of(parts: list[pa.Table]) -> dd.DataFrame:
    """A frame with these partitions."""
    frames = [part.to_pandas() for part in parts]
    return dd.from_map(lambda part: frames[part], list(range(len(frames))), meta=frames[0][:0])


def table_of(frame: dd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame.compute(), preserve_index=False)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_same_bits_as_on_one_machine(client, job, parts):
    placed = dask.place(frame_of(job.parts(parts)), job.map, id="id")
    assert placed.npartitions == parts
    answer = placed.compute()
    assert list(answer.columns) == list(placed.columns) and "f0" not in answer
    assert (answer.dtypes == placed.dtypes).all()
    assert answer.x.dtype == np.float32 and answer.group.dtype == pd.UInt64Dtype()
    job.check(pa.Table.from_pandas(answer, preserve_index=False))


def test_shuffled_partitions(client, job):
    job.check(table_of(dask.place(frame_of(job.parts(5, shuffled=True)), job.map)))


def test_from_file_to_file(client, job, tmp_path):
    """Parquet in and out, an index that means something, a column of ours that was there before."""
    frame = dd.read_parquet(job.parquet, split_row_groups=True).set_index("id", sorted=False)
    frame["x"] = 1.5
    placed = dask.place(frame, job.map, prefix="lion_", columns=[f"f{at}" for at in range(12)])
    assert placed.divisions == frame.divisions
    placed.to_parquet(tmp_path / "placed", write_index=True)
    table = pq.read_table(tmp_path / "placed")
    assert set(table["x"].to_pylist()) == {1.5}
    names = [name.removeprefix("lion_") for name in table.drop("x").column_names]
    job.check(table.drop("x").rename_columns(names))


def test_readme_lines_run_as_printed(client, job, tmp_path, monkeypatch):
    readme = (Path(__file__).parents[4] / "README.md").read_text()
    lines = next(block for block in re.findall(r"```py\n(.*?)```", readme, re.S) if "dask" in block)
    (tmp_path / "data").mkdir()
    shutil.copy(job.parquet, tmp_path / "data")
    shutil.copy(job.map, tmp_path / "map.lion")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "readme"}
    exec(lines, names)
    job.check(table_of(names["placed"]))
    job.check(pq.read_table("placed"))


def lists_of(job) -> pd.DataFrame:
    """The new rows with a column of lists."""
    x = np.stack([job.new[name] for name in job.new.column_names[2:]], axis=1)
    frame = job.new.select(["id", "kind"]).to_pandas()
    return frame.assign(v=pd.Series(list(x), dtype=object))


def test_partitions_without_a_list(job):
    import dask as engine

    whole = lists_of(job)
    none = whole[:3].assign(id=["a", 1, 2.5], v=None)
    frames = [whole[:1000], whole[:0], none, whole[1000:]]
    with engine.config.set({"scheduler": "threads", "dataframe.convert-string": False}):
        frame = dd.from_map(lambda part: frames[part], [0, 1, 2, 3], meta=whole[:0])
        how = {"id": "id", "columns": ["v"], "bad_rows": "aside"}
        placed, rejected = dask.place(frame, job.map, **how)
        job.check(table_of(placed))
        problems = rejected.compute().problem.tolist()
        assert problems[1].startswith("id 1, column v is empty") and len(problems) == 3
        frames[2] = none.assign(v="text")
        with pytest.raises(ValueError, match="^column v must hold a list of numbers in every row"):
            dask.place(frame, job.map, **how)[0].compute()


def test_names_that_are_no_texts_are_refused(job):
    frame = dd.from_pandas(pd.DataFrame(np.ones((4, 12))), npartitions=2)
    with pytest.raises(ValueError, match=r"^column 0 has a name that is no text: frame\.rename"):
        dask.place(frame, job.map)


def test_frames_of_others_are_refused(job):
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and dask.place takes"):
        dask.place(job.new[:9].to_pandas(), job.map, id="id")


def test_without_a_cluster(job):
    import dask as engine

    with engine.config.set(scheduler="threads"):
        job.check(table_of(dask.place(frame_of(job.parts(3)), job.map)))


def slow_frame_of(parts: list[pa.Table], folder) -> dd.DataFrame:
    """The same, each partition after a while; who works on it leaves a file in the folder."""

    def slowly(frame: pd.DataFrame) -> pd.DataFrame:
        (folder / f"{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(0.4)
        return frame

    frame = frame_of(parts)
    return frame.map_partitions(slowly, meta=frame._meta)


def test_a_killed_worker_changes_nothing(client, job, tmp_path):
    before = set(client.run(os.getpid).values())
    frame = slow_frame_of(job.parts(7), tmp_path)
    placed = dask.place(frame, job.map).persist()
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    killed = int(next(tmp_path.iterdir()).name.partition("-")[0])
    assert killed in before
    os.kill(killed, signal.SIGKILL)
    job.check(table_of(placed))
    assert killed not in client.run(os.getpid).values()
    assert len(list(tmp_path.iterdir())) > 7


def test_rows_are_resolved_once(client, job, tmp_path):
    frame = slow_frame_of(job.parts(4), tmp_path)
    placed = dask.place(frame, job.map)
    job.check(table_of(placed))
    assert len(placed) == job.new.num_rows
    assert len(list(tmp_path.iterdir())) == 4


def test_a_bad_row_stops_the_job(client, bad, job):
    frame = frame_of([bad[:700], bad[700:]])
    placed = dask.place(frame, job.map, id="id", file="file", row="row")
    # Whichever partition comes first.
    where = "part-0.parquet, row 17, id n17, column f3|part-1.parquet, row 234, id n1234, column f0"
    with pytest.raises(ValueError, match=f"^({where}) is empty; .*: fill it or remove the row"):
        placed.compute()


def test_bad_rows_go_aside(client, bad, job):
    # As read_csv has it with include_path_column.
    frame = frame_of([bad[:700], bad[700:2000], bad[2000:]]).astype({"file": "category"})
    options = {"id": "id", "keep": ["kind"], "file": "file", "row": "row"}
    placed, rejected = dask.place(frame, job.map, bad_rows="aside", **options)
    aside = rejected.compute()
    assert aside.id.tolist() == ["n17", "n1234"]
    assert aside.problem.iloc[1].startswith("part-1.parquet, row 234, id n1234, column f0 is empty")
    assert list(rejected.columns) == ["id", "file", "row", "kind", "problem"]
    answer = placed.compute()
    assert len(answer) == len(job.new) - 2 and "problem" not in answer
    assert not answer[["x", "y", "verdict"]].isna().any(axis=None)


def test_what_is_wrong_is_said_before_the_job(job):
    frame = frame_of(job.parts(2))
    with pytest.raises(ValueError, match="the table has no column f0, which the map was fitted to"):
        dask.place(frame.drop(columns="f0"), job.map)
    with pytest.raises(ValueError, match='column x passes through.*give prefix="liontsne_"'):
        dask.place(frame.assign(x=1), job.map)
    with pytest.raises(FileNotFoundError):
        dask.place(frame, "nowhere.lion")


# Landmarks


@pytest.mark.parametrize("parts", [1, 2, 11])
def test_landmarks_are_those_of_the_command_line(client, landmarks, tmp_path, parts, case):
    frame = frame_of(landmarks.parts(parts))
    landmarks.check(case, tmp_path, partial(dask.fit_landmarks, frame))


def test_landmarks_of_a_file_and_of_lists(client, landmarks, tmp_path):
    import dask as engine

    frame = dd.read_parquet(landmarks.parquet, split_row_groups=True)
    landmarks.check("by label", tmp_path, partial(dask.fit_landmarks, frame))
    values = pd.Series([[row % 7, row % 11, row] for row in range(400)], dtype=object)
    lists = pd.DataFrame({"id": range(400), "v": values})
    frames = [lists[:150], lists[150:], lists[:0]]
    with engine.config.set({"dataframe.convert-string": False}):
        frame = dd.from_map(lambda part: frames[part], [0, 1, 2], meta=lists[:0])
        made = dask.fit_landmarks(frame, 100, id="id", columns=["v"], perplexity=5, max_iter=50)
    assert list(made.feature_names_in_) == ["v[1]", "v[2]", "v[3]"]
    assert len(made._map.ids) == 100 and set(made._map.ids) < set(map(str, range(400)))


def test_bad_rows_and_columns_of_landmarks_are_named(client, landmarks):
    pandas = landmarks.table.to_pandas()
    frame = dd.from_pandas(pandas.assign(f5=pandas.f5.where(pandas.id != "r77")), npartitions=3)
    with pytest.raises(ValueError, match="^id r77, column f5 is NaN: every value must be"):
        dask.fit_landmarks(frame, 100, id="id", label="kind")
    with pytest.raises(ValueError, match="no column 'name'; the columns there are: id, kind"):
        dask.fit_landmarks(frame, 100, id="name")
    with pytest.raises(TypeError, match="^this is a DataFrame of pandas, and dask.fit_landmarks"):
        dask.fit_landmarks(pandas, 100, id="id")
