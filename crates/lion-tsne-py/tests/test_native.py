"""The compiled half: the same bits as the command line, every refusal a sentence, nothing that leaks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from liontsne import _native

SEED = 7
ROOT = Path(__file__).parents[3]


def blobs(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Three clouds far from each other."""
    random = np.random.default_rng(seed)
    centres = 12 * random.normal(size=(3, columns))
    values = centres[np.arange(rows) % 3] + random.normal(size=(rows, columns))
    return values.astype(np.float32)


def fit(x: np.ndarray, **params: object) -> _native.Map:
    return _native.Map.fit(x, params={"perplexity": 15, "iterations": 250, "seed": SEED} | params)


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return blobs(300, 12)


@pytest.fixture(scope="module")
def new(data: np.ndarray) -> np.ndarray:
    """Rows of the map, rows beside them, and strangers of two kinds."""
    near = data[:40] + np.float32(0.1)
    strange = np.concatenate([np.full((3, 12), 99), np.full((2, 12), -80)])
    strange[:, 0] += np.arange(5)
    return np.concatenate([data[100:110], near, strange]).astype(np.float32)


@pytest.fixture(scope="module")
def fitted(data: np.ndarray) -> _native.Map:
    return _native.Map.fit(
        data,
        labels=["abc"[row % 3] for row in range(len(data))],
        ids=[f"row {row}" for row in range(len(data))],
        columns=[f"f{column}" for column in range(data.shape[1])],
        params={"perplexity": 15, "iterations": 250, "seed": SEED},
    )


@pytest.fixture(scope="module")
def lion() -> Path:
    """The command line, which `cargo xtask test` has built."""
    if named := os.environ.get("LION_BINARY"):
        assert Path(named).is_file(), f"there is no {named}"
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = target / "release" / "lion"
    if not found.is_file():
        pytest.skip(f"there is no {found}: cargo build --release makes it")
    return found


def run(lion: Path, *words: object) -> None:
    subprocess.run([lion, *map(str, words)], check=True, capture_output=True)


# --- a map


def test_a_map_says_what_it_is(fitted: _native.Map, data: np.ndarray) -> None:
    assert (fitted.rows, fitted.dims, fitted.input_dims) == (300, 2, 12)
    assert fitted.embedding.shape == (300, 2) and fitted.embedding.dtype == np.float32
    assert np.isfinite(fitted.embedding).all()
    assert fitted.kl is not None and 0 < fitted.kl < 2
    assert (fitted.n_iter, fitted.perplexity, fitted.seed) == (250, 15, SEED)
    assert (fitted.metric, fitted.pca_components, fitted.adopted) == ("euclidean", None, False)
    assert fitted.asked_radius == "99%" and fitted.radius is not None and fitted.radius > 0
    assert fitted.power is not None and fitted.power in fitted.power_curve[:, 0]
    assert fitted.power_curve[:, 1].min() == fitted.power_curve[fitted.power_curve[:, 0] == fitted.power, 1]
    assert fitted.labels is not None and fitted.labels[:3] == ["a", "b", "c"]
    assert fitted.ids is not None and fitted.ids[299] == "row 299"
    assert fitted.columns is not None and fitted.columns[11] == "f11"
    assert fitted.kl_history[-1].tolist() == [250, fitted.kl]
    assert repr(fitted) == "Map(300 x 12 in 2 dimensions)"
    bare = fit(data)
    assert bare.labels is None and bare.ids is None and bare.columns is None


def test_equal_rows_share_a_place(data: np.ndarray) -> None:
    twice = np.concatenate([data, data[:5]])
    places = fit(twice).embedding
    assert places.shape == (305, 2)
    assert np.array_equal(places[:5], places[300:])


def test_every_parameter_is_heard(data: np.ndarray) -> None:
    space = fit(data, dims=3, pca=5, metric="cosine", method="barnes-hut", init="random")
    assert (space.dims, space.pca_components, space.metric) == (3, 5, "cosine")
    assert space.method == "barnes-hut"
    given = fit(data, radius=4.5, power=7, r_y=3.0, r_close="20%")
    assert (given.radius, given.power, given.r_y) == (4.5, 7, 3.0)
    assert len(given.power_curve) == 0
    start = data[:, :2].copy()
    one = fit(data, init=start, iterations=1, exaggeration=1, learning_rate=1e-3)
    assert np.allclose(one.embedding, start - start.mean(axis=0), atol=1e-3)
    auto = {"pca": "auto", "power": "auto", "learning_rate": "auto", "init": "pca", "radius": None}
    assert fit(data, **auto).checksum == fit(data).checksum
    assert fit(data, seed=SEED + 1, init="random").checksum != fit(data, init="random").checksum


def test_any_layout_of_memory_gives_the_same_map(data: np.ndarray, new: np.ndarray) -> None:
    wide = np.zeros((600, 24), np.float32)
    wide[::2, ::2] = data
    raw = bytearray(b"!" + data.tobytes())
    unaligned = np.ndarray(data.shape, np.float32, buffer=raw, offset=1)
    readonly = data.copy()
    readonly.flags.writeable = False
    expected = fit(data).checksum
    for same in (np.asfortranarray(data), wide[::2, ::2], unaligned, readonly):
        assert fit(same).checksum == expected
    placer = _native.Placer(fit(data))
    reversed_rows = placer.coordinates(new[::-1])
    assert np.array_equal(reversed_rows[::-1], placer.coordinates(new))


def test_threads_do_not_matter(data: np.ndarray, new: np.ndarray) -> None:
    maps = [fit(data, threads=threads) for threads in (1, 2, 3)]
    assert len({map.checksum for map in maps}) == 1
    placers = [_native.Placer(maps[0], {"threads": threads}) for threads in (1, 2, 3)]
    first, *others = [placer.coordinates(new) for placer in placers]
    assert all(np.array_equal(first, other) for other in others)


def test_places_made_elsewhere(data: np.ndarray) -> None:
    places = data[:, :2].copy()
    adopted = _native.Map.adopt(data, places, labels=["x"] * 300, params={"radius": "95%"})
    assert adopted.adopted and adopted.kl is None and adopted.asked_radius == "95%"
    assert np.array_equal(adopted.embedding, places)
    with pytest.raises(ValueError, match="there are 300 rows but 299 places"):
        _native.Map.adopt(data, places[:299])


# --- files


def test_a_file_is_the_map(fitted: _native.Map, new: np.ndarray, tmp_path: Path) -> None:
    file = tmp_path / "m.lion"
    assert fitted.save(file) == fitted.checksum
    for again in (_native.Map.load(file), _native.Map.load(str(file)), _native.Map.from_bytes(fitted.to_bytes())):
        assert again.checksum == fitted.checksum
        assert (again.labels, again.ids, again.columns) == (fitted.labels, fitted.ids, fitted.columns)
        assert np.array_equal(again.embedding, fitted.embedding)
        expected = _native.Placer(fitted).coordinates(new)
        assert np.array_equal(_native.Placer(again).coordinates(new), expected)
    assert file.read_bytes() == fitted.to_bytes()


def test_the_command_line_makes_the_same_map(lion: Path, data: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", data)
    words = ["--perplexity", 15, "--iterations", 250, "--seed", SEED, "-o", tmp_path / "m.lion"]
    run(lion, "fit", tmp_path / "x.npy", *words)
    assert (tmp_path / "m.lion").read_bytes() == fit(data).to_bytes()


@pytest.mark.parametrize("local", ["energy", "idw"])
def test_the_command_line_gives_the_same_places(
    lion: Path, fitted: _native.Map, new: np.ndarray, tmp_path: Path, local: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    fitted.save(tmp_path / "m.lion")
    np.save(tmp_path / "new.npy", new)
    for out in ("places.npy", "places.parquet"):
        words = ["--local", local, "-o", tmp_path / out]
        run(lion, "place", tmp_path / "m.lion", tmp_path / "new.npy", *words)
    placer = _native.Placer(_native.Map.load(tmp_path / "m.lion"), {"local": local})
    expected = np.load(tmp_path / "places.npy").astype(np.float32)
    assert np.array_equal(placer.coordinates(new).view(np.uint32), expected.view(np.uint32))
    written = parquet.read_table(tmp_path / "places.parquet")
    table = pa.table(placer.place(new))
    assert table.column_names == written.column_names
    assert table.to_pylist() == written.to_pylist()


# --- placing


def test_verdicts_and_places(fitted: _native.Map, data: np.ndarray, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    placed = placer.place(new, [f"new {row}" for row in range(len(new))])
    assert len(placed) == len(new) and repr(placed) == "Placements(55 rows in 2 dimensions)"
    assert placed.verdict[:10] == ["exact"] * 10 and placed.verdict[-5:] == ["outlier"] * 5
    assert set(placed.verdict[10:50]) <= {"interpolated", "beside-outlier", "outlier"}
    assert np.array_equal(placed.coordinates[:10], fitted.embedding[100:110])
    assert np.array_equal(placed.coordinates, placer.coordinates(new))
    codes, scores = placer.judge(new)
    assert codes.dtype == np.int8 and np.array_equal(codes, placed.verdict_codes)
    assert np.array_equal(scores, placed.score) and np.array_equal(scores, placer.score(new))
    assert placed.group[-5:].tolist() in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0])
    assert (placed.group[:10] == -1).all()
    assert placed.nearest[:10].tolist() == list(range(100, 110))
    assert placed.nearest_id[0] == "row 100" and placed.id[-1] == "new 54"
    gaps = np.linalg.norm(data[None] - new[:, None], axis=2)
    assert np.allclose(placed.nearest_distance, gaps.min(axis=1), rtol=1e-5, atol=1e-5)
    assert np.array_equal(placed.neighbours, (gaps <= placer.r_x).sum(axis=1))
    assert np.isnan(placed.off_plane).all() and not placer.minds_the_plane


def test_a_row_alone_has_the_same_bits(fitted: _native.Map, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    settled = new[:50]
    alone = np.concatenate([placer.coordinates(row[None]) for row in settled])
    assert np.array_equal(alone, placer.coordinates(settled))


def test_many_rows_go_in_parts(fitted: _native.Map, new: np.ndarray) -> None:
    """More rows than are placed between two looks at Ctrl-C, outliers in every part."""
    many = np.tile(new, (400, 1))
    placer = _native.Placer(fitted)
    assert np.array_equal(placer.coordinates(many), np.tile(placer.coordinates(new), (400, 1)))
    many[20_001, 4] = np.nan
    with pytest.raises(ValueError, match="row 20002, column 5 is NaN"):
        placer.coordinates(many)


def test_no_rows_are_no_places(fitted: _native.Map) -> None:
    placer = _native.Placer(fitted)
    nothing = np.zeros((0, 12), np.float32)
    assert placer.coordinates(nothing).shape == (0, 2)
    assert len(placer.place(nothing)) == 0 and placer.score(nothing).shape == (0,)
    with pytest.raises(ValueError, match="columns"):
        placer.coordinates(np.zeros((0, 11), np.float32))


def test_off_the_plane(data: np.ndarray) -> None:
    flat = np.concatenate([data[:, :4], np.float32(0.1) * data[:, 4:]], axis=1)
    placer = _native.Placer(fit(flat, pca=4))
    assert placer.minds_the_plane
    above = flat[:1].copy()
    above[0, 11] += 50
    placed = placer.place(np.concatenate([flat[:1], above]))
    assert placed.verdict == ["exact", "outlier"] and placed.off_plane[1] == 0
    assert _native.Placer(fit(flat, pca=4), {"off_plane": "none"}).minds_the_plane is False


def test_options_are_heard(fitted: _native.Map, new: np.ndarray) -> None:
    usual = _native.Placer(fitted)
    wide = _native.Placer(fitted, {"radius": 1e6})
    assert wide.r_x == 1e6 and not (wide.judge(new)[0] == 3).any()
    weighted = _native.Placer(fitted, {"local": "idw", "power": 3.0, "taper": "triangle"})
    assert weighted.power == 3.0
    assert not np.array_equal(weighted.coordinates(new), usual.coordinates(new))
    apart = _native.Placer(fitted, {"r_y": 40.0, "r_close": 1.0, "positions": "random", "seed": 5})
    assert (apart.r_y, apart.r_close) == (40.0, 1.0)


# --- Arrow


def test_arrow_is_read_by_others(fitted: _native.Map, new: np.ndarray) -> None:
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    placed = _native.Placer(fitted).place(new)
    table, frame = pa.table(placed), pl.DataFrame(placed)
    columns = "id x y verdict score off_plane nearest_id nearest_distance neighbours group".split()
    assert table.column_names == frame.columns == placed.columns == columns
    assert pa.schema(placed) == table.schema
    assert table.to_pylist() == frame.to_dicts()
    assert table["group"].to_pylist()[0] is None and table["id"].to_pylist()[54] == "54"
    assert np.array_equal(table["x"].to_numpy(), placed.coordinates[:, 0])
    # Read as often as one likes, and after its maker is gone.
    again = pa.table(placed)
    del placed
    assert again.equals(table)


def test_arrow_in_space(data: np.ndarray) -> None:
    pa = pytest.importorskip("pyarrow")
    placer = _native.Placer(fit(data, dims=3))
    assert pa.table(placer.place(data[:3])).column_names[1:4] == ["x", "y", "z"]
    assert pa.table(placer.place(data[:0])).num_rows == 0


def test_an_unread_capsule_is_no_leak(fitted: _native.Map, new: np.ndarray) -> None:
    placed = _native.Placer(fitted).place(new)
    before = resident()
    for _ in range(20_000):
        placed.__arrow_c_stream__()
        placed.__arrow_c_schema__()
    assert resident() - before < 4e6


# --- refusals


def broken_row(value: float) -> np.ndarray:
    x = blobs(60, 4)
    x[3, 1] = value
    return x


@pytest.mark.parametrize(
    ("x", "params", "sentence"),
    [
        (broken_row(np.nan), {}, "row 4, column 2 is NaN; every value must be a finite number"),
        (broken_row(np.inf), {}, "row 4, column 2 is inf; every value must be a finite number"),
        (broken_row(1e20), {}, "values beyond 1e15 cannot be squared safely"),
        (np.zeros((0, 3), np.float32), {}, "the table is empty: 0 rows, 3 columns"),
        (np.ones((1, 3), np.float32), {}, "perplexity 15 is too large for 1 rows"),
        (blobs(60, 4), {"perplexity": 30}, "perplexity 30 is too large for 60 rows: use at most 19.6"),
        (blobs(60, 4), {"perplexity": "many"}, "perplexity must be a number, not 'many'"),
        (blobs(60, 4), {"iterations": -1}, "iterations must be a whole number from 0 on, not -1"),
        (blobs(60, 4), {"seed": -1}, "seed must be a whole number"),
        (blobs(60, 4), {"metric": "taxi"}, "metric must be one of euclidean, cosine, not 'taxi'"),
        (blobs(60, 4), {"radius": "99"}, None),
        (blobs(60, 4), {"radius": "wide"}, 'radius must be a percentile such as "99%"'),
        (blobs(60, 4), {"radius": -1.0}, "radius must be a distance from 0 on, not -1"),
        (blobs(60, 4), {"pca": 0}, "pca must be auto, none or a number from 1 on, not 0"),
        (blobs(60, 4), {"init": np.zeros((2, 2), np.float32)}, "init has 2 places"),
        (blobs(60, 4), {"perplexities": 3}, "there is no parameter 'perplexities'"),
    ],
)
def test_bad_input_is_a_sentence(x: np.ndarray, params: dict, sentence: str | None) -> None:
    if sentence is None:
        assert fit(x, **params).radius == 99
        return
    with pytest.raises(ValueError) as caught:
        fit(x, **params)
    assert sentence in str(caught.value)


def test_what_is_no_array_of_float32_is_a_type_error(fitted: _native.Map, data: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    for wrong in (data.astype(float), data[0], data.tolist(), "text", None, data.astype(">f4")):
        with pytest.raises(TypeError, match="x must be a 2-D array of float32"):
            placer.coordinates(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="x must be a 2-D array of float32"):
            _native.Map.fit(wrong)  # type: ignore[arg-type]


def test_names_must_fit(data: np.ndarray, fitted: _native.Map) -> None:
    for names in ({"ids": ["a"]}, {"labels": ["a"]}, {"columns": ["a"]}, {"ids": ["a"] * 300}):
        with pytest.raises(ValueError):
            _native.Map.fit(data, params={"iterations": 1}, **names)
    with pytest.raises(ValueError, match="there are 3 rows but 1 ids"):
        _native.Placer(fitted).place(data[:3], ["a"])
    with pytest.raises(ValueError, match="12"):
        _native.Placer(fitted).coordinates(data[:, :5].copy())


def test_files_that_cannot_be_read(fitted: _native.Map, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file: check the path"):
        _native.Map.load(tmp_path / "none.lion")
    with pytest.raises(OSError):
        fitted.save(tmp_path / "no such folder" / "m.lion")
    whole = fitted.to_bytes()
    altered = bytearray(whole)
    altered[-100] ^= 1
    for bad in (b"", whole[:-1], whole[: len(whole) // 2], bytes(altered), b"id,x\n1,2\n"):
        (tmp_path / "bad.lion").write_bytes(bad)
        with pytest.raises(ValueError, match="bad.lion"):
            _native.Map.load(tmp_path / "bad.lion")
        with pytest.raises(ValueError):
            _native.Map.from_bytes(bad)


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    """A system of so many rows takes 320 GB; that most are equal makes the map quick to adopt."""
    x = np.tile(blobs(500, 2), (400, 1))
    large = _native.Map.adopt(x, x, params={"power": 2.0})
    with pytest.raises(MemoryError, match="needs .* of memory, and .* can be had"):
        _native.Built(large, "rbf-linear")


# --- progress and stopping


def test_progress_is_told_and_may_stop(data: np.ndarray) -> None:
    told: list[tuple] = []
    _native.Map.fit(data, params={"perplexity": 15}, progress=lambda *step: told.append(step))
    assert told[-1] == ("parameters", 300, 300, None)
    assert all(done <= total for _, done, total, _ in told)

    def stop_in_the_descent(stage: str, done: int, total: int, kl: float | None) -> bool:
        return stage != "optimise"

    endless = {"perplexity": 15, "iterations": 10_000_000}
    stopped = _native.Map.fit(data, params=endless, progress=stop_in_the_descent)
    assert stopped.stopped_early and 0 < stopped.n_iter < 10_000_000
    assert stopped.kl is not None and stopped.embedding.shape == (300, 2)


def test_an_exception_in_progress_comes_out(data: np.ndarray) -> None:
    def fail(*_: object) -> None:
        raise KeyError("mine")

    began = time.monotonic()
    with pytest.raises(KeyError, match="mine"):
        _native.Map.fit(data, params={"perplexity": 15, "iterations": 10_000_000}, progress=fail)
    assert time.monotonic() - began < 10


def interrupted(work: str) -> tuple[str, float]:
    """What a script says that gets Ctrl-C once it has said that it is at work, and how long it takes to."""
    script = textwrap.dedent("""
        import signal, threading, time, numpy as np
        from liontsne import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random = np.random.default_rng(0)
        x = random.normal(size=(3000, 20)).astype(np.float32)
        def at_work():
            time.sleep(0.4)
            print("at work", flush=True)
        threading.Thread(target=at_work).start()
        try:
            WORK
            print("not stopped")
        except KeyboardInterrupt:
            print("stopped")
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", script.replace("WORK", work)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    said, _ = process.communicate(timeout=60)
    return said.strip(), time.monotonic() - began


@pytest.mark.parametrize(
    "work",
    [
        '_native.Map.fit(x, params={"iterations": 10_000_000})',
        '_native.Built(_native.Map.adopt(x, x[:, :2].copy()), "nn-2x500", {"epochs": 1_000_000})',
        "p = _native.Placer(_native.Map.adopt(x, x[:, :2].copy()))\n"
        "    while True: p.coordinates(np.tile(x, (20, 1)) + np.float32(0.1))",
    ],
    ids=["fit", "build", "place"],
)
def test_control_c_stops(work: str) -> None:
    said, seconds = interrupted(work)
    assert said == "stopped"
    assert seconds < 5


def test_other_threads_go_on_during_a_fit(data: np.ndarray) -> None:
    """The interpreter's lock is free: what progress counts is counted by another thread."""
    import threading

    count, done = [0], threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            count[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    fit(np.tile(data, (5, 1)) + blobs(1500, 12, seed=1), iterations=300)
    done.set()
    thread.join()
    assert count[0] > 10


# --- staying alive


def resident() -> float:
    """Bytes of memory in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_memory_is_flat(fitted: _native.Map, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    rows = [row[None].copy() for row in new]
    for row in rows:
        placer.coordinates(row), placer.place(row), placer.judge(row)
    before = resident()
    for call in range(20_000):
        row = rows[call % len(rows)]
        placer.coordinates(row)
        if call % 10 == 0:
            placer.place(row), placer.judge(row)
    assert resident() - before < 4e6


def places_in_child(placer: _native.Placer, rows: np.ndarray, answers: object) -> None:
    answers.put(placer.coordinates(rows))  # type: ignore[attr-defined]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_place(fitted: _native.Map, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    expected = placer.coordinates(new)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=places_in_child, args=(placer, new, answers))
    child.start()
    child.join(timeout=30)
    alive = child.is_alive()
    child.kill()
    assert not alive, "the child waits for threads that it does not have"
    assert np.array_equal(answers.get(), expected)


# --- others, and judging


def test_other_methods(lion: Path, fitted: _native.Map, new: np.ndarray) -> None:
    names = _native.baseline_names()
    assert names[0] == "idw" and len(names) == len(set(names))
    refused = subprocess.run([lion, "place", "--method", "?"], capture_output=True, text=True)
    assert all(name in refused.stderr for name in names)
    assert f"lion, {', '.join(names)}" in " ".join(refused.stderr.split())
    for name in ("idw", "rbf-linear", "kernelized", "fixed-point", "opentsne-median"):
        places = _native.Built(fitted, name).coordinates(new[:20])
        assert places.shape == (20, 2) and np.isfinite(places).all()
    steep = _native.Built(fitted, "idw", {"power": 60.0})
    assert steep.name == "idw p=60" and repr(steep) == "Built(idw p=60)"
    assert np.allclose(steep.coordinates(new[:10]), fitted.embedding[100:110], atol=1e-3)
    told: list[tuple] = []
    network = _native.Built(fitted, "nn-2x250", {"epochs": 3, "seed": 1}, lambda *step: told.append(step))
    assert network.coordinates(new).shape == (55, 2) and told[-1][0] == "build"
    with pytest.raises(ValueError, match='there is no method "best"'):
        _native.Built(fitted, "best")
    with pytest.raises(ValueError, match="there is no parameter 'power'"):
        _native.Built(fitted, "fixed-point", {"power": 2.0})


def test_judging(fitted: _native.Map, data: np.ndarray) -> None:
    places = fitted.embedding[:30]
    labels = ["abc"[row % 3] for row in range(30)]
    assert _native.shares(fitted, places, labels).mean() > 0.9
    assert (_native.distances(fitted, places) == 0).all()
    assert (_native.percentiles(fitted, places) == 0).all()
    far = places + np.float32(1e4)
    assert (_native.percentiles(fitted, far) == 100).all()
    at_home, own = _native.joined_kl(fitted, data[:5] + np.float32(0.1), fitted.embedding[:5])
    away, _ = _native.joined_kl(fitted, data[:5] + np.float32(0.1), far[:5])
    assert (at_home < away).all() and np.isfinite(own)
    assert _native.auc(np.array([2.0, 5.0]), np.array([1.0, 2.0, 3.0])) == 4.5 / 6
    with pytest.raises(ValueError, match="places"):
        _native.joined_kl(fitted, data[:5], far[:4])
    with pytest.raises(ValueError):
        _native.shares(fitted, places, ["a"])
