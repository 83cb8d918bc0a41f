"""One job for every engine: a map, new rows with outliers among them, and what `lion place` makes
of them, which whatever engine must reach bit by bit."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[4]
COLUMNS = [f"f{column}" for column in range(12)]
OURS = ["x", "y", "verdict", "score", "p_distance", "p_neighbours", "off_plane"]
OURS += ["nearest_id", "nearest_distance"]
OURS += ["neighbours", "group", "predicted_label", "label_share"]

# An engine that is not installed has no tests; where LION_ENGINES says that all must be, they are.
ENGINES = {"dask": "distributed", "spark": "pyspark", "ray": "ray"}
collect_ignore = [
    f"test_{name}.py"
    for name, package in ENGINES.items()
    if find_spec(package) is None and "LION_ENGINES" not in os.environ
]


@dataclass(frozen=True)
class Job:
    """What an engine is given, and what must come out."""

    map: str
    """The map file, of 2000 rows named m0, m1, ... with the columns f0 to f11."""
    new: pa.Table
    """3000 rows: `id` (n0, n1, ...), `kind` (text), f0 to f11 (float64)."""
    parquet: str
    """The same as a file."""
    expected: pa.Table
    """`id` and OURS for each of them, in their order."""

    @staticmethod
    def as_engines_name(placed: pa.Table) -> pa.Table:
        """What `lion place` wrote, with the names of an engine's columns: rows that keep columns of
        their own may have a label among them."""
        names = {"label": "predicted_label"}
        return placed.rename_columns([names.get(name, name) for name in placed.column_names])

    def parts(self, count: int, shuffled: bool = False) -> list[pa.Table]:
        """The new rows in so many parts of different lengths; shuffled, in another order too."""
        rows = self.new.num_rows
        table = self.new
        if shuffled:
            table = table.take(np.random.default_rng(count).permutation(rows))
        ends = [round(rows * ((part + 1) / count) ** 1.5) for part in range(count)]
        return [table[start:end] for start, end in zip([0, *ends], ends)]

    def check(self, placed: pa.Table) -> None:
        """Refuses placed rows, in any order, that are not the expected ones to the last bit. Types
        that an engine does not know (unsigned, 32 bits) may be wider."""
        assert placed.num_rows == self.new.num_rows
        order = {name: row for row, name in enumerate(placed["id"].to_pylist())}
        placed = placed.take([order[name] for name in self.new["id"].to_pylist()])
        assert placed["kind"].to_pylist() == self.new["kind"].to_pylist()
        for name in OURS:
            ours, theirs = placed[name].combine_chunks(), self.expected[name].combine_chunks()
            ours = ours.cast(theirs.type)
            assert ours.equals(theirs) and bits(ours) == bits(theirs), f"column {name} differs"


@dataclass(frozen=True)
class LandmarkJob:
    """A table, and the map files that `lion fit --landmarks` makes of it."""

    table: pa.Table
    """4000 rows: `id` (r0, r1, ...), `kind` (text, few of one), f0 to f11 (float64)."""
    parquet: str
    maps: dict[str, bytes]
    """By the name of the case."""

    LANDMARKS = 300
    #: What an engine is asked for, and the same for the command line.
    CASES = {
        "plain": ({}, []),
        "by label": ({"stratify": True, "cover": True}, ["--stratify", "--cover"]),
        "pca": (
            {"pca": 5, "metric": "cosine", "random_state": 3},
            ["--pca", 5, "--metric", "cosine", "--seed", 3],
        ),
    }

    def parts(self, count: int) -> list[pa.Table]:
        """The rows in so many parts of different lengths, in another order for each number of
        parts. With more than one, one has no rows."""
        rows = self.table.num_rows
        table = self.table.take(np.random.default_rng(count).permutation(rows))
        ends = [round(rows * ((part + 1) / count) ** 1.5) for part in range(count)]
        parts = [table[start:end] for start, end in zip([0, *ends], ends)]
        return parts if count == 1 else [*parts[:1], table[:0], *parts[1:]]

    def check(self, case: str, folder: Path, fit: Callable[..., Any]) -> None:
        """Refuses a map that is not the one of `lion fit --landmarks`, byte by byte."""
        path = folder / "map.lion"
        options = {"id": "id", "label": "kind", "perplexity": 10, "max_iter": 60, "save": path}
        lion = fit(self.LANDMARKS, **options, **self.CASES[case][0])
        assert lion.sampled_from_["rows"] == self.table.num_rows
        assert path.read_bytes() == self.maps[case]


def bits(column: pa.Array) -> bytes:
    """Those of real numbers: 0 equals -0, and should not."""
    return column.fill_null(0).to_numpy().tobytes() if pa.types.is_floating(column.type) else b""


@pytest.fixture(scope="session")
def program() -> Path:
    """The program `lion`, which `cargo xtask test` has built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = Path(os.environ.get("LION_BINARY", target / "release" / "lion"))
    if not program.is_file():
        assert "LION_BINARY" not in os.environ, f"there is no {program}"
        pytest.skip(f"there is no {program}: cargo build --release makes it")
    return program


@pytest.fixture(scope="session")
def lion(program) -> Callable[..., str]:
    """A function that runs it."""

    def run(*words: object) -> str:
        command = [program, *map(str, words)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


def clouds(rng: np.random.Generator, centres: np.ndarray, rows: int) -> np.ndarray:
    return centres[rng.integers(len(centres), size=rows)] + rng.normal(size=(rows, 12))


def new_rows(old: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Rows like those of the map, some of them the map's own, and outliers: alone, in groups that
    are apart, twice the same."""
    rng = np.random.default_rng(12)
    alone = 300 * rng.normal(size=(40, 12))
    groups = 200 * rng.normal(size=(6, 1, 12)) + 0.2 * rng.normal(size=(6, 20, 12))
    groups = groups.reshape(-1, 12)
    rows = [clouds(rng, centres, 2770), old[:50], alone, groups, alone[:15], groups[::24]]
    return rng.permutation(np.concatenate(rows))


@pytest.fixture(scope="session")
def job(lion, tmp_path_factory) -> Job:
    folder = tmp_path_factory.mktemp("job")
    rng = np.random.default_rng(11)
    centres = 8 * rng.normal(size=(7, 12))
    # Values that 32 bits cannot hold, so that rounding is looked at too.
    old = clouds(rng, centres, 2000)
    new = new_rows(old, centres)
    paths = {name: str(folder / name) for name in ("old.parquet", "new.parquet", "placed.parquet")}
    named = {name: old[:, column] for column, name in enumerate(COLUMNS)}
    names = [f"m{row}" for row in range(len(old))]
    cloud = ((old[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    labels = [f"cloud {number}" for number in cloud]
    pq.write_table(pa.table({"id": names, "cloud": labels} | named), paths["old.parquet"])
    named = {name: new[:, column] for column, name in enumerate(COLUMNS)}
    kinds = [f"k{row % 5}" for row in range(len(new))]
    table = pa.table({"id": [f"n{row}" for row in range(len(new))], "kind": kinds} | named)
    pq.write_table(table, paths["new.parquet"])

    map = str(folder / "map.lion")
    known = ["--id", "id", "--label", "cloud"]
    lion("fit", paths["old.parquet"], *known, "--iterations", 250, "-q", "-o", map)
    columns = ["--id", "id", "--exclude", "kind"]
    lion("place", map, paths["new.parquet"], *columns, "-q", "-o", paths["placed.parquet"])
    expected = Job.as_engines_name(pq.read_table(paths["placed.parquet"]))
    assert 150 < expected["verdict"].to_pylist().count("outlier") < 300
    assert expected["group"].null_count < expected.num_rows - 150
    return Job(map, table, paths["new.parquet"], expected)


@pytest.fixture(scope="session")
def landmarks(lion, tmp_path_factory) -> LandmarkJob:
    folder = tmp_path_factory.mktemp("landmarks")
    rng = np.random.default_rng(21)
    x = clouds(rng, 8 * rng.normal(size=(7, 12)), 4000)
    # Some rows lie apart, and one column is far from 0.
    x[::200] *= 9
    x[:, 3] += 1000
    named = {name: x[:, column] for column, name in enumerate(COLUMNS)}
    kinds = ["rare" if row % 90 == 0 else f"k{row % 3}" for row in range(len(x))]
    table = pa.table({"id": [f"r{row}" for row in range(len(x))], "kind": kinds} | named)
    parquet, map = str(folder / "rows.parquet"), folder / "map.lion"
    pq.write_table(table, parquet)
    maps = {}
    for case, (_, words) in LandmarkJob.CASES.items():
        known = ["--id", "id", "--label", "kind", "--perplexity", 10, "--iterations", 60]
        lion("fit", parquet, *known, "--landmarks", LandmarkJob.LANDMARKS, *words, "-q", "-o", map)
        maps[case] = map.read_bytes()
    return LandmarkJob(table, parquet, maps)


@pytest.fixture(params=list(LandmarkJob.CASES))
def case(request) -> str:
    """Each way to choose landmarks."""
    return request.param


@pytest.fixture(scope="session")
def bad(job) -> pa.Table:
    """The new rows, with a NaN in row n17 (column f3) and nothing in row n1234 (column f0); `file`
    and `row` say where each came from."""
    table = job.new
    f3, f0 = table["f3"].to_pylist(), table["f0"].to_pylist()
    f3[17], f0[1234] = float("nan"), None
    table = table.set_column(table.column_names.index("f3"), "f3", [f3])
    table = table.set_column(table.column_names.index("f0"), "f0", [f0])
    files = [f"part-{row // 1000}.parquet" for row in range(table.num_rows)]
    numbers = pa.array([row % 1000 for row in range(table.num_rows)], pa.int64())
    return table.append_column("file", [files]).append_column("row", numbers)
