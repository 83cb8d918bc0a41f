"""The Arrow function that engines run, without any of them."""

import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from liontsne import LionTSNE, distributed
from liontsne.distributed import _open

ROOT = Path(__file__).parents[4]
COLUMNS = [f"f{column}" for column in range(12)]
OURS = ["x", "y", "verdict", "score", "p_distance", "p_neighbours", "off_plane"]
OURS += ["nearest_id", "nearest_distance"]
OURS += ["neighbours", "group", "predicted_label", "label_share"]


@pytest.fixture(scope="module")
def place(job) -> distributed.Placer:
    return distributed.placer(job.map, id="id")


def by_hand(place, parts: list[pa.Table]) -> pa.Table:
    """The three steps, each part for itself, and all that travels between processes pickled."""
    resolved = [sent(place).resolve(part) for part in parts]
    positions = place.positions(part["stranger"] for part in resolved)
    return pa.concat_tables(sent(place).fill(part, sent(positions)) for part in resolved)


def sent(thing):
    return pickle.loads(pickle.dumps(thing))


# The bits


@pytest.mark.parametrize("parts", [1, 2, 7, 300])
def test_parts_change_nothing(place, job, parts):
    placed = by_hand(place, job.parts(parts))
    assert placed.column_names == ["id", "kind", *OURS]
    assert placed.schema.remove_metadata() == place.final_schema(job.new.schema)
    job.check(placed)
    job.check(by_hand(place, job.parts(parts, shuffled=True)))


def test_csv_of_the_program_has_the_same_numbers(place, lion, job, tmp_path):
    columns = ["--id", "id", "--exclude", "kind", "-q", "-o", tmp_path / "placed.csv"]
    lion("place", job.map, job.parquet, *columns)
    types = dict(place.types)
    types["label"] = types["predicted_label"]
    convert = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    read = job.as_engines_name(pa.csv.read_csv(tmp_path / "placed.csv", convert_options=convert))
    ours = place(job.new)
    for name in OURS:
        assert read[name].combine_chunks().equals(ours[name].combine_chunks()), name


def test_one_call_for_whatever_holds_rows(place, job):
    job.check(place(job.new))
    assert isinstance(place(job.new.to_batches()[0]), pa.RecordBatch)
    job.check(pa.Table.from_batches(place(job.new.to_batches(max_chunksize=190))))
    dataset = pa.dataset.dataset(job.parquet)
    job.check(pa.Table.from_batches(place(dataset.to_batches(batch_size=500))))
    reader = place(job.new.to_reader(max_chunksize=777))
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema == place.final_schema(job.new.schema)
    job.check(reader.read_all())
    assert list(place(iter(()))) == []
    assert place(job.new[:0]).schema == place.final_schema(job.new.schema)


@pytest.fixture(scope="module")
def nameless(tmp_path_factory) -> str:
    """A map of 3 columns without names."""
    X = np.random.default_rng(2).normal(size=(150, 3)) * [1, 20, 400]
    path = tmp_path_factory.mktemp("nameless") / "map.lion"
    LionTSNE(perplexity=10, max_iter=60).fit(X).save(path)
    return str(path)


def test_later_batches_are_held_to_the_features_of_the_first(nameless):
    X = np.random.default_rng(3).normal(size=(40, 3)) * [1, 20, 400]
    columns = {"id": [str(row) for row in range(40)], "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    table = pa.table(columns | {"kind": ["k"] * 40})
    place = distributed.placer(nameless, id="id")
    turned = table[20:].select(["kind", "c", "a", "id", "b"])
    parts = [part.combine_chunks().to_batches()[0] for part in (table[:20], turned)]
    assert pa.Table.from_batches(place(parts)).equals(place(table))
    steps = list(place.resolve(parts))
    assert steps[1]["x"].equals(place.resolve(table)["x"].combine_chunks()[20:])
    with pytest.raises(ValueError, match="^there is no column b; the columns there are: kind, c"):
        list(place([parts[0], parts[1].drop_columns(["b"])]))


def test_a_map_that_is_changed_in_place_is_noticed(nameless, tmp_path):
    path = Path(shutil.copy(nameless, tmp_path / "own.lion"))
    table = pa.table({"a": [1.0], "b": [2.0], "c": [3.0]})
    place = distributed.placer(path)
    placed = place(table)
    shutil.copy(path, tmp_path / "new")
    os.replace(tmp_path / "new", path)
    assert place(table).equals(placed)
    path.unlink()
    assert place(table).equals(placed)

    path = Path(shutil.copy(nameless, tmp_path / "other.lion"))
    place = distributed.placer(path)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    with pytest.raises(ValueError, match="other.lion was changed in place while it is open: "):
        place(table)
    assert distributed.placer(path)(table).equals(placed)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"columns": []}, "columns has no name in it"),
        ({"columns": ["a", "b", "a"]}, "columns has a more than once"),
        ({"columns": [1, 2, 3]}, "columns must be text, as names of columns are, not 1"),
        ({"keep": [None]}, "keep must be text"),
        ({"id": 3}, "id must be text"),
        ({"prefix": None}, "prefix must be text"),
    ],
)
def test_names_that_cannot_be_are_refused_at_once(nameless, how, says):
    with pytest.raises(ValueError, match=f"^{says}"):
        distributed.placer(nameless, **how)


def test_what_holds_no_rows_is_refused_at_once(nameless):
    place = distributed.placer(nameless)
    for given, kind in ((None, "None"), ("t.parquet", "a str"), (np.ones((2, 3)), "a ndarray")):
        for step in (place, place.resolve):
            with pytest.raises(TypeError, match=f"^this is {kind}.*, and a placer takes a table"):
                step(given)


def test_numbers_in_dictionaries_and_columns_that_are_left_out(nameless):
    place = distributed.placer(nameless)
    table = pa.table({"a": [1.0, 2.0], "b": [3.0, None], "c": [5, 6]})
    coded = table.set_column(1, "b", table["b"].dictionary_encode())
    asked = distributed.placer(nameless, bad_rows="aside", columns=list("abc"))
    assert asked(coded).equals(asked(table))
    with pytest.raises(ValueError, match=r"2 columns to use.*among them: b, which holds dict"):
        place(coded)
    short = table.set_column(2, "c", pa.array(["5", "6"]))
    with pytest.raises(ValueError, match=r"2 columns to use.*among them: c, which holds string\)$"):
        place(short)


def test_resolved_rows_say_what_they_wait_for(place, job):
    resolved = place.resolve(job.new)
    assert resolved.schema == place.schema(job.new.schema)
    is_outlier = pc.equal(resolved["verdict"], "outlier")
    for name in ("x", "y"):
        assert pc.is_null(resolved[name]).equals(is_outlier)
    assert pc.is_valid(resolved["stranger"]).equals(is_outlier)
    rest = resolved.filter(pc.invert(is_outlier)).select(["id", *OURS])
    assert rest.equals(job.expected.filter(pc.invert(is_outlier)).cast(rest.schema))


def test_positions_depend_on_nothing_but_who_the_strangers_are(place, job):
    pending = place.resolve(job.new)["stranger"]
    once = place.positions([pending])
    singles = [one for one in pending.to_pylist() if one is not None]
    groups = len(set(job.expected["group"].to_pylist()) - {None})
    assert repr(once) == f"Positions({len(set(singles))} outliers in {groups} groups)"
    assert groups < len(once) < len(singles)
    assert once.table.column_names == ["key", "x", "y", "group"]
    keys = once.table["key"].to_pylist()
    assert keys == sorted(set(keys)) and {len(key) for key in keys} == {16}
    for given in (singles[::-1] * 2, [pending.slice(1000), pending, pending.chunk(0)]):
        assert place.positions(given).table.equals(once.table)


def test_a_map_of_three_dimensions_by_the_other_rule(lion, job, tmp_path):
    """And by a column of lists, which has float32 in it."""
    map, placed = tmp_path / "map.lion", tmp_path / "placed.parquet"
    lists = pa.array(list(rows_of(job).astype(np.float32)), pa.list_(pa.float32()))
    table = pa.table({"id": job.new["id"], "v": lists})
    pq.write_table(table, tmp_path / "new.parquet")
    fit = [tmp_path / "new.parquet", "--id", "id", "--dims", 3, "--iterations", 50, "-q"]
    lion("fit", *fit, "-o", map)
    shifted = table.set_column(
        1, "v", [pa.array(list(rows_of(job) + 0.25), pa.list_(pa.float64()))]
    )
    pq.write_table(shifted, tmp_path / "new.parquet")
    how = ["--local", "idw", "--radius", "90%", "--outliers", "random", "--seed", 5]
    lion("place", map, tmp_path / "new.parquet", "--id", "id", *how, "-q", "-o", placed)
    how = {"local": "idw", "radius": "90%", "outliers": "random", "random_state": 5}
    expected = job.as_engines_name(pq.read_table(placed))
    place = distributed.placer(map, id="id", **how)
    parts = [shifted[1000:], shifted[:1000]]
    ours = by_hand(place, parts).take([*range(2000, 3000), *range(2000)])
    assert ours.equals(expected.cast(ours.schema))
    assert place.features(table.schema) == ["v"] and "z" in ours.column_names


def rows_of(job) -> np.ndarray:
    return np.column_stack([job.new[name].to_numpy() for name in COLUMNS])


# Numbers of every kind


TYPES = [pa.int64(), pa.uint64(), pa.int32(), pa.uint8(), pa.bool_(), pa.float16(), pa.float32()]
TYPES += [pa.float64(), pa.decimal128(18, 3), pa.decimal128(38, 21), pa.decimal128(38, 30)]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_numbers_are_rounded_as_the_program_rounds_them(place, lion, job, tmp_path, type):
    """Whole numbers of more than 24 bits, where a second rounding would show."""
    rng = np.random.default_rng(3)
    wide = rng.integers(-(2**62), 2**62, size=(300, 12)) >> rng.integers(20, 60, size=(300, 1))
    columns = {f"f{at}": typed(wide[:, at], type) for at in range(12)}
    table = pa.table({"id": [str(row) for row in range(300)]} | columns)
    pq.write_table(table, tmp_path / "new.parquet")
    columns = ["--id", "id", "-q", "-o", tmp_path / "out.parquet"]
    lion("place", job.map, tmp_path / "new.parquet", *columns)
    placed = place(table)
    expected = job.as_engines_name(pq.read_table(tmp_path / "out.parquet"))
    assert placed.equals(expected.cast(placed.schema))
    assert len(set(placed["nearest_distance"].to_pylist())) > 100


def typed(values: np.ndarray, type: pa.DataType) -> pa.Array:
    """Numbers of a type that makes as much as it can of these."""
    if pa.types.is_decimal(type):
        # More digits than 64 bits hold where the type has room for them.
        factor = 10**17 + 1 if type.precision > 20 else 1
        with localcontext(prec=60):
            return pa.array([(Decimal(int(v)) * factor).scaleb(-type.scale) for v in values], type)
    if type == pa.bool_():
        return pa.array(values > 0)
    if pa.types.is_floating(type):
        values = values % 60000 if type == pa.float16() else values
        return pa.array((values / 3).astype(type.to_pandas_dtype()), type)
    most = np.iinfo(type.to_pandas_dtype()).max
    return pa.array((np.abs(values) % min(most, 2**62)).astype(type.to_pandas_dtype()), type)


def test_lists_of_every_kind(job, place):
    fixed = rows_of(job)
    flat = pa.array(fixed.ravel())
    kinds = {
        "fixed": pa.FixedSizeListArray.from_arrays(flat, 12),
        "large": pa.array(list(fixed), pa.large_list(pa.float64())),
        "plain": pa.array(list(fixed), pa.list_(pa.float64())),
    }
    for name, lists in kinds.items():
        table = pa.table({"id": job.new["id"], "kind": job.new["kind"], "v": lists})
        chosen = distributed.placer(job.map, id="id", columns=["v"])
        job.check(pa.concat_tables(map(chosen, [table])))
        # A part of a column starts somewhere in the middle of its values.
        part = chosen.resolve(table.to_batches()[0].slice(100, 50))
        assert part.equals(place.resolve(job.new.to_batches()[0].slice(100, 50))), name


# Bad rows


def test_a_bad_row_is_named(job, bad):
    place = distributed.placer(job.map, file="file", row="row", id="id")
    with pytest.raises(
        ValueError, match="^part-0.parquet, row 17, id n17, column f3 is NaN; every value"
    ):
        place.resolve(bad)
    with pytest.raises(
        ValueError, match="^part-1.parquet, row 234, id n1234, column f0 is empty; every"
    ):
        list(place(bad[1000:].to_batches()))
    with pytest.raises(ValueError, match="^part-1.parquet, row 234, id n1234, column f0 is empty"):
        place(bad[1000:].to_reader()).read_all()
    with pytest.raises(ValueError, match="^row 17 of a batch of 3000 rows, column f3 is NaN"):
        distributed.placer(job.map).resolve(bad)


def test_bad_rows_go_aside(job, bad):
    place = distributed.placer(job.map, file="file", row="row", id="id", bad_rows="aside")
    placed = place(bad)
    assert placed.schema == place.final_schema(bad.schema)
    aside = placed.filter(pc.is_valid(placed["problem"]))
    assert aside["id"].to_pylist() == ["n17", "n1234"]
    assert all(aside[name].null_count == 2 for name in OURS)
    good = placed.filter(pc.is_null(placed["problem"]))
    others = pc.invert(pc.is_in(job.expected["id"], pa.array(["n17", "n1234"])))
    expected = job.expected.filter(others)
    assert expected["verdict"].to_pylist() == good["verdict"].to_pylist()
    assert (
        expected["x"]
        .filter(pc.is_null(expected["group"]))
        .equals(good["x"].filter(pc.is_null(good["group"])))
    )


BAD_VALUES = [
    (float("inf"), "column f2 is inf; every value must be a finite number"),
    (1e300, "column f2 is 1e\\+300, too large for a 32-bit float: scale the column down"),
    (
        -2e15,
        "column f2 is -2e15; values beyond 1e15 cannot be squared safely: scale the column down",
    ),
]


@pytest.mark.parametrize("value, words", BAD_VALUES)
def test_values_that_no_map_can_use(job, value, words):
    values = job.new["f2"][:10].to_numpy().copy()
    values[[3, 7]] = value, np.nan
    table = job.new[:10].set_column(job.new.column_names.index("f2"), "f2", [values])
    place = distributed.placer(job.map, id="id", bad_rows="aside")
    problems = place(table)["problem"].to_pylist()
    assert [row for row, problem in enumerate(problems) if problem] == [3, 7]
    with pytest.raises(ValueError, match=f"^id n3, {words}"):
        distributed.placer(job.map, id="id")(table[:7])


def test_bad_lists(job):
    lists = list(rows_of(job)[:6])
    lists[1], lists[3], lists[4] = None, lists[3][:5], [*lists[4][:4], None, *lists[4][5:]]
    table = pa.table({"v": pa.array(lists, pa.list_(pa.float64()))})
    place = distributed.placer(job.map, columns=["v"], bad_rows="aside", keep=[])
    placed = place(table)
    assert [problem and problem.partition(", column ")[2].split(";")[0] for problem in
            placed["problem"].to_pylist()] == [
        None, "v is empty", None, "v has length 5 instead of 12: correct it", "v[5] is empty", None
    ]  # fmt: skip
    assert placed["x"].to_pylist()[5] == job.expected["x"].to_pylist()[5]


def test_rows_without_a_direction(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    LionTSNE(perplexity=5, max_iter=20, metric="cosine").fit(X).save(tmp_path / "map.lion")
    table = pa.table({"a": [1.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 0.0]})
    with pytest.raises(
        ValueError, match="^row 1 of a batch of 2 rows is all zeros, which has no dir"
    ):
        distributed.placer(tmp_path / "map.lion")(table)


# Columns


def test_columns_are_found_by_name(place, job):
    moved = job.new.select(["f11", "kind", *COLUMNS[3:11], *COLUMNS[:3], "id"])
    assert place.features(moved.schema) == COLUMNS and place.kept(moved.schema) == ["kind", "id"]
    job.check(place(moved).select(["id", "kind", *OURS]))
    others = job.new.rename_columns(["id", "kind", *(f"g{at}" for at in range(12))])
    with pytest.raises(ValueError, match="no column f0, which the map was fitted to: rename one"):
        place(others)
    named = distributed.placer(job.map, columns=[f"g{at}" for at in range(12)])
    job.check(named(others))
    numbered = job.new.rename_columns(["id", "kind", *(f"c{at}" for at in range(1, 13))])
    job.check(place(numbered))


def test_what_passes_through(job):
    table = job.new.append_column("n", pa.array(range(3000), pa.uint16()))
    keep = distributed.placer(job.map, id="id", keep=["n", "f3"])
    assert keep(table[:9]).column_names == ["id", "n", "f3", *OURS]
    clash = table.rename_columns(["id", "score", *table.column_names[2:]])
    with pytest.raises(ValueError, match='column score passes through.*give prefix="liontsne_"'):
        distributed.placer(job.map)(clash)
    prefixed = distributed.placer(job.map, prefix="my ", bad_rows="aside")
    names = [*(f"my {name}" for name in OURS), "my problem"]
    assert prefixed(clash[:9]).column_names == ["id", "score", "n", *names]
    categories = table.set_column(1, "kind", table["kind"].dictionary_encode())
    parts = categories.to_batches(max_chunksize=900)
    out = pa.Table.from_batches(distributed.placer(job.map)(parts))
    assert out["kind"].type == categories["kind"].type
    job.check(out)


def test_signed_numbers_for_those_who_have_no_others(job):
    place = distributed.placer(job.map, signed=True)
    placed = by_hand(place, job.parts(2))
    assert placed.schema.field("group").type == placed.schema.field("neighbours").type == pa.int64()
    assert placed.schema == place.final_schema(job.new.schema)
    job.check(placed)


REFUSED = [
    ({"columns": ["f0", "kind"]}, "column kind holds string, not numbers"),
    ({"columns": ["f0", "nope"]}, "there is no column nope; the columns there are: id, kind, f0"),
    ({"columns": ["f0", "f1"]}, "the table has 2 columns to use, and the map wants 12"),
    ({"columns": "f0"}, "columns must be a list of names, not one text"),
    ({"bad_rows": "skip"}, "bad_rows must be one of stop, aside"),
    ({"radius": "high"}, "radius must be a percentile"),
    ({"local": "far"}, "local must be one of energy, attraction, idw"),
    ({"threads": -1}, "threads must be a whole number"),
]


@pytest.mark.parametrize("options, words", REFUSED)
def test_refusals(job, options, words):
    with pytest.raises(ValueError, match=words):
        distributed.placer(job.map, **options)(job.new)


def test_refusals_of_other_kinds(job, place):
    with pytest.raises(TypeError, match="placer\\(\\) has no parameter 'perplexity'"):
        distributed.placer(job.map, perplexity=3)
    with pytest.raises(ValueError, match="there is no column stranger: resolve the rows first"):
        place.fill(job.new, place.positions([]))
    with pytest.raises(ValueError, match="give positions the outliers of all parts"):
        place.fill(place.resolve(job.new), place.positions([]))
    with pytest.raises(ValueError, match="bytes are of version 9, and 1 can be read"):
        place.positions([b"\x09abc"])
    with pytest.raises(ValueError, match="all batches must have the same columns"):
        list(place([job.new.to_batches()[0], job.new.drop("kind").to_batches()[0]]))


# Processes


def test_a_placer_is_a_few_hundred_bytes_and_opens_its_map_once(place, job):
    assert len(pickle.dumps(place)) < 1000
    _open._maps.clear()
    copies = [sent(place) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda copy: copy(job.new[:50]), copies))
    assert all(table.equals(placed[0]) for table in placed) and len(_open._maps) == 1
    for threads in range(2, 8):
        distributed.placer(job.map, threads=threads)
    assert len(_open._maps) == _open.MOST


def test_a_worker_refuses_another_map(job, tmp_path):
    shutil.copy(job.map, tmp_path / "map.lion")
    place = distributed.placer(tmp_path / "map.lion")
    LionTSNE(perplexity=5, max_iter=20).fit(rows_of(job)[:60]).save(tmp_path / "map.lion")
    job.check(place(job.new))  # This process has the map open, whatever became of the file.
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).map)"
    run = [sys.executable, "-c", code]
    worker = subprocess.run(run, input=pickle.dumps(place), capture_output=True, env=os.environ)
    assert b"is another map here than where the job was made (checksum" in worker.stderr
    os.remove(tmp_path / "map.lion")
    worker = subprocess.run(run, input=pickle.dumps(place), capture_output=True, env=os.environ)
    assert b"every worker needs the map at the same path" in worker.stderr


def test_workers_load_nothing_heavy(place):
    code = "import pickle, sys; pickle.load(sys.stdin.buffer).map; print(*sys.modules)"
    run = [sys.executable, "-c", code]
    loaded = subprocess.run(run, input=pickle.dumps(place), capture_output=True, check=True).stdout
    modules = set(loaded.decode().split())
    assert "liontsne._native" in modules
    assert not modules & {"sklearn", "scipy", "pandas", "dask", "ray", "pyspark"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_places_too(place, job):
    place(job.new[:10])
    child = os.fork()
    if child == 0:
        os._exit(0 if place(job.new[:10]).equals(place(job.new[:10])) else 1)
    assert os.waitpid(child, 0)[1] == 0


# Others


@pytest.mark.parametrize(
    "script", sorted((ROOT / "examples" / "arrow").glob("*.py")), ids=lambda p: p.stem
)
def test_examples(script, tmp_path):
    if script.stem.startswith("dask"):
        pytest.importorskip("dask.dataframe")  # it is there where the engines are tested
    run = [sys.executable, script]
    said = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "outlier" in said
