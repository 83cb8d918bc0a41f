"""Files: the map's own bytes, and those of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from liontsne import _native

from .support import SEED, fit, run


def test_a_file_is_the_map(fitted: _native.Map, new: np.ndarray, tmp_path: Path) -> None:
    file = tmp_path / "m.lion"
    assert fitted.save(file) == fitted.checksum
    for again in (
        _native.Map.load(file),
        _native.Map.load(str(file)),
        _native.Map.from_bytes(fitted.to_bytes()),
    ):
        assert again.checksum == fitted.checksum
        assert (again.labels, again.ids, again.columns) == (
            fitted.labels,
            fitted.ids,
            fitted.columns,
        )
        assert np.array_equal(again.embedding, fitted.embedding)
        expected = _native.Placer(fitted).coordinates(new)
        assert np.array_equal(_native.Placer(again).coordinates(new), expected)
    assert file.read_bytes() == fitted.to_bytes()


def test_the_command_line_makes_the_same_map(lion: Path, data: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", data)
    words = ["--perplexity", 15, "--iterations", 250, "--seed", SEED, "-o", tmp_path / "m.lion"]
    run(lion, "fit", tmp_path / "x.npy", *words)
    assert (tmp_path / "m.lion").read_bytes() == fit(data).to_bytes()


@pytest.mark.parametrize("local", ["energy", "attraction", "idw"])
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
