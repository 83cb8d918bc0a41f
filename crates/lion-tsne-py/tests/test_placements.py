"""What is known of placed rows, as tables and as a picture."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

COLUMNS = (
    "id x y verdict score p_distance p_neighbours off_plane "
    "nearest_id nearest_distance neighbours group label label_share"
).split()


@pytest.fixture(scope="module")
def placed(fitted, blobs, strange):
    X, _ = blobs
    return fitted.place(np.vstack([X[195:], strange]))


def test_columns(placed, fitted, blobs, strange):
    rows = np.vstack([blobs[0][195:], strange])
    assert placed.columns == COLUMNS and len(placed) == 48
    assert_array_equal(placed.coordinates, fitted.transform(rows))
    assert_array_equal(placed["score"], fitted.score_samples(rows))
    assert_array_equal(placed.verdict == "outlier", fitted.predict(rows) == -1)
    assert list(placed.verdict[:5]) == ["exact"] * 5 and list(placed.nearest[:5]) == [
        195,
        196,
        197,
        198,
        199,
    ]
    assert list(placed.id) == [str(i) for i in range(48)] and list(placed.nearest_id[:2]) == [
        "195",
        "196",
    ]
    distances = np.linalg.norm(blobs[0][placed.nearest] - rows, axis=1)
    np.testing.assert_allclose(placed.nearest_distance, distances, rtol=1e-5)
    assert placed.group[-3] == placed.group[-2] != placed.group[-1] and placed.group[0] == -1
    assert np.isnan(placed.off_plane).all()
    with pytest.raises(AttributeError, match="no column 'z'"):
        placed.z
    with pytest.raises(KeyError):
        placed["z"]
    assert "48 rows, 5 exact" in repr(placed)


def test_everyone_reads_arrow(placed):
    table = pa.table(placed)
    assert table.column_names == COLUMNS and table.num_rows == 48
    assert_array_equal(table["x"].to_numpy(), placed.x)
    assert (
        table["group"].null_count == (placed.group < 0).sum()
        and table["off_plane"].null_count == 48
    )
    assert pl.DataFrame(placed).equals(pl.from_arrow(table)) and placed.to_polars().equals(
        pl.from_arrow(table)
    )
    assert placed.to_pyarrow().equals(table)
    assert pa.schema(placed) == table.schema
    duckdb = pytest.importorskip("duckdb")
    counted = duckdb.sql(
        "select verdict, count(*) n from placed group by verdict order by verdict"
    ).fetchall()
    assert dict(counted) == {
        word: int((placed.verdict == word).sum()) for word in np.unique(placed.verdict)
    }


def test_pandas(placed):
    frame = placed.to_pandas()
    assert list(frame.columns) == COLUMNS and frame["verdict"].dtype == "category"
    assert (
        frame["group"].dtype == "Int64" and frame["group"].isna().sum() == (placed.group < 0).sum()
    )
    assert_array_equal(frame["y"], placed.y)
    pd.testing.assert_frame_equal(
        frame[["score", "neighbours"]], placed.to_pyarrow().to_pandas()[["score", "neighbours"]]
    )


def test_a_picture(placed, blobs, fitted):
    labels = [*blobs[1][195:], "?", "?", "?"]
    ax = placed.plot(labels=labels)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    strange = int((placed.verdict == "outlier").sum())
    assert words == ["0", "1", "2", "?", f"placed ({48 - strange})", f"outliers ({strange})"]
    assert [len(points.get_offsets()) for points in ax.collections] == [200, 48 - strange, strange]
    _, mine = plt.subplots()
    assert placed.plot(mine) is mine
    with pytest.raises(ValueError, match="there are 48 placed rows but 1 labels"):
        placed.plot(labels=["one"])
    plt.close("all")
