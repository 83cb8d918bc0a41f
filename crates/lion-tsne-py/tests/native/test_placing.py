"""New rows: places, verdicts, and the columns that others read."""

from __future__ import annotations

import numpy as np
import pytest

from liontsne import _native

from .support import fit, resident


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
    assert np.isnan(placed.off_plane).all() and placer.verdict_rule == "calibrated"
    assert ((placed.score > 0) & (placed.score <= 1)).all()
    assert ((placed.score <= placer.alpha)[10:] == (placed.verdict_codes >= 2)[10:]).all()


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
    with pytest.raises(ValueError, match="row 20001, column 4 is NaN"):
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
    above = flat[:1].copy()
    above[0, 11] += 50
    placed = placer.place(np.concatenate([flat[:1], above]))
    assert placed.verdict == ["exact", "outlier"] and placed.off_plane[1] == 0
    paper = {"verdict": "paper"}
    assert _native.Placer(fit(flat, pca=4), paper).place(above).verdict == ["interpolated"]
    far = _native.Placer(fit(flat, pca=4), paper | {"pca_residual": "99%"})
    assert far.place(above).verdict == ["outlier"] and far.alpha is None


def test_options_are_heard(fitted: _native.Map, new: np.ndarray) -> None:
    usual = _native.Placer(fitted)
    wide = _native.Placer(fitted, {"radius": 1e6, "verdict": "paper"})
    assert wide.r_x == 1e6 and not (wide.judge(new)[0] == 3).any()
    weighted = _native.Placer(fitted, {"local": "idw", "power": 3.0, "taper": "triangle"})
    assert weighted.power == 3.0
    assert not np.array_equal(weighted.coordinates(new), usual.coordinates(new))
    apart = _native.Placer(fitted, {"r_y": 40.0, "r_close": 1.0, "positions": "random", "seed": 5})
    assert (apart.r_y, apart.r_close) == (40.0, 1.0)


def test_arrow_is_read_by_others(fitted: _native.Map, new: np.ndarray) -> None:
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    placed = _native.Placer(fitted).place(new)
    table, frame = pa.table(placed), pl.DataFrame(placed)
    columns = [
        *"id x y verdict score p_distance p_neighbours off_plane".split(),
        *"nearest_id nearest_distance neighbours group label label_share".split(),
    ]
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

    def export(times: int) -> None:
        for _ in range(times):
            placed.__arrow_c_stream__()
            placed.__arrow_c_schema__()

    def grown_by(times: int) -> float:
        before = resident()
        export(times)
        return resident() - before

    # What the allocator takes now and then is no leak: that grows each time.
    assert min(grown_by(10_000) for _ in range(5)) < 1e6
