"""Maps of some rows of a table that passes by."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from pyarrow import dataset

import liontsne
from liontsne import LionTSNE

ROWS = 900


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Three heaps of 4 columns with ids and labels, one row in 90 of a rare kind."""
    rng = np.random.default_rng(5)
    heap = np.arange(ROWS) % 3
    X = (12 * rng.normal(size=(3, 4))[heap] + rng.normal(size=(ROWS, 4))).astype("float32")
    kind = np.where(np.arange(ROWS) % 90 == 0, "rare", heap.astype(str))
    columns = {name: X[:, at] for at, name in enumerate("abcd")}
    return pa.table({"key": [f"r{i}" for i in range(ROWS)], **columns, "kind": kind})


def lion(**params) -> LionTSNE:
    return LionTSNE(perplexity=10, max_iter=100, **params)


def named(table, **more) -> LionTSNE:
    return lion().fit_landmarks(table, 120, id="key", label="kind", **more)


@pytest.fixture
def files(table, tmp_path):
    """The table as three files of each format."""
    for at, part in enumerate((table[:200], table[200:650], table[650:])):
        pq.write_table(part, tmp_path / f"p{at}.parquet", row_group_size=100)
        pyarrow.csv.write_csv(part, tmp_path / f"p{at}.csv")
        pyarrow.feather.write_feather(part, tmp_path / f"p{at}.arrow")
    return tmp_path


def test_the_same_map_from_every_source(table, files):
    first = named(table)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=70))
    sources = [
        table.to_batches(max_chunksize=130),
        iter(table.to_batches(max_chunksize=64)),
        reader,
        dataset.dataset(table),
        table.take(np.random.default_rng(0).permutation(ROWS)),
        table.to_pandas(),
        str(files / "*.parquet"),
        [files / f"p{at}.parquet" for at in (2, 0, 1)],
        files / "p?.arrow",
    ]
    for source in sources:
        again = named(source)
        assert_array_equal(again.embedding_, first.embedding_)
        assert again._map.checksum == first._map.checksum
    # Numbers in text are rounded once more on their way to float32.
    assert named(files / "p*.csv").sampled_from_ == first.sampled_from_


def test_what_it_stands_for_is_kept(table, files, tmp_path):
    lion = named(str(files / "*.parquet"), stratify=True, cover=True)
    from_ = lion.sampled_from_
    assert from_["rows"] == ROWS and from_["judged"] == ROWS - 120 and from_["beyond_error"] == 0
    assert from_["stratified"] and lion._map.labels.count("rare") == 10
    lion.save(tmp_path / "m.lion")
    again = liontsne.load(tmp_path / "m.lion")
    assert again.sampled_from_ == from_ and list(again.feature_names_in_) == list("abcd")
    placed = again.place(table.select(list("abcd")).to_pandas())
    assert (placed.verdict == "exact").sum() == 120


def test_ids_and_labels_of_csv_are_as_written(tmp_path):
    rng = np.random.default_rng(1)
    rows = [f"{row:05},{rng.integers(9)},{rng.normal()},0{row % 2}" for row in range(60)]
    rows[50] = "00050,1.5,2,01"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["key,a,b,kind", *rows]))
    made = lion().fit_landmarks(path, 60, id="key", label="kind")
    assert sorted(made._map.ids) == [f"{row:05}" for row in range(60)]
    assert set(made._map.labels) == {"00", "01"}
    path.write_text("\n".join(["key,a,b,kind", *rows, ",1,2,00"]))
    with pytest.raises(ValueError, match=r"t\.csv, row 60, column key is empty"):
        lion().fit_landmarks(path, 60, id="key", label="kind")
    path.write_text("key,a,b\n" + "k,1,2\n" * 200_000 + "k,1,?\n")
    with pytest.raises(ValueError, match=r"t\.csv: .*invalid value '\?'"):
        lion().fit_landmarks(path, 60, id="key")
    path.write_text("1.5,2\n3,4\n")
    with pytest.raises(ValueError, match=r"t\.csv: its first line has nothing but numbers"):
        lion().fit_landmarks(path, 60)


def test_ids_of_other_types_are_those_of_the_command_line(tmp_path):
    X = np.random.default_rng(1).normal(size=(60, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "key": np.arange(60) / 2, "t": X[:, 0] > 0})
    pq.write_table(table, tmp_path / "t.parquet")
    made = lion().fit_landmarks(tmp_path / "t.parquet", 60, id="key", label="t")
    assert set(made._map.ids) == {f"{row / 2:g}" for row in range(60)}
    assert set(made._map.labels) == {"true", "false"}


def test_arrays_go_by_their_numbers(table):
    X = np.column_stack([table[name] for name in "abcd"])
    whole, parts = lion().fit_landmarks(X, 120), lion().fit_landmarks(np.array_split(X, 7), 120)
    assert_array_equal(whole.embedding_, parts.embedding_)
    assert whole.n_features_in_ == 4 and not hasattr(whole, "feature_names_in_")
    numbers = np.array([int(name) for name in whole._map.ids])
    assert_array_equal(whole.transform(X[numbers]), whole.embedding_)
    few = lion().fit_landmarks(X[:60], 100)
    assert len(few.embedding_) == 60 and few.sampled_from_["beyond"] == 0
    assert not hasattr(lion().fit(X[:60]), "sampled_from_")


def test_a_column_of_lists(table):
    X = np.column_stack([table[name] for name in "abcd"])
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 4)
    listed = lion().fit_landmarks(pa.table({"key": table["key"], "v": lists}), 120, id="key")
    assert_array_equal(listed.embedding_, named(table).embedding_)
    assert list(listed.feature_names_in_) == ["v[1]", "v[2]", "v[3]", "v[4]"]


def test_lists_of_different_lengths_are_never_cut_anew(tmp_path):
    even = [[float(at + row) for at in range(4)] for row in range(40)]
    uneven = [list(range(3 + 2 * (row % 2))) for row in range(40)]
    with pytest.raises(ValueError, match="^row 1, column v has a list of length 5, .* have 3: "):
        lion().fit_landmarks(pa.table({"v": uneven}), 20)
    pq.write_table(pa.table({"v": even}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"v": even[:7] + [[1.0] * 3]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet, row 7, column v has a list of length 3, "):
        lion().fit_landmarks(tmp_path / "*.parquet", 20)
    batches = [pa.table({"v": even}), pa.table({"v": [[1.0] * 8] * 20})]
    with pytest.raises(ValueError, match="^row 40, column v has a list of length 8, "):
        lion().fit_landmarks(batches, 20)
    large = pa.table({"v": pa.array(even, pa.large_list(pa.float64()))})
    assert lion().fit_landmarks(large[5:], 34).n_features_in_ == 4


def test_some_columns(table):
    some = lion().fit_landmarks(table, 100, columns=["b", "d"])
    assert list(some.feature_names_in_) == ["b", "d"]
    frame = pd.DataFrame({"d": [0.0], "b": [1.0]})[["b", "d"]]
    assert some.transform(frame).shape == (1, 2)


def test_a_bad_row_is_named_by_its_file_and_number(table, files):
    bad = table[650:].to_pandas()
    bad.loc[3, "c"] = np.nan
    bad.to_parquet(files / "p2.parquet", index=False)
    with pytest.raises(ValueError, match=r"p2\.parquet, row 3, column c is NaN: every value"):
        named(files / "p*.parquet")
    bad.loc[3, "c"] = 3e20
    bad.to_parquet(files / "p2.parquet", index=False)
    with pytest.raises(ValueError, match=r"p2\.parquet, row 3, column c is 3e\+20: values beyond"):
        named(files / "p*.parquet")
    broken = np.ones((30, 2), dtype="float32")
    broken[7, 1] = np.inf
    with pytest.raises(ValueError, match=r"^row 37, column 1 is inf"):
        lion().fit_landmarks([np.zeros((30, 2), dtype="float32"), broken], 20)


@pytest.mark.parametrize(
    ("source", "how", "says"),
    [
        ("none-*.parquet", {}, "no file has a name like this"),
        ("none.parquet", {}, "there is no such file"),
        ("none.txt", {}, "its name must end in"),
        ("none.npy", {}, r'give the array, np.load\("none.npy", mmap_mode="r"\)'),
        (os.curdir, {}, r'is a folder: name the files in it, such as "\./\*\.parquet"'),
        (np.ones((20, 3)), {"id": "key"}, "arrays have no names of columns"),
        ([], {}, "the source has no rows"),
        (np.ones(20), {}, "2 dimensions"),
        (pa.table({"a": ["x"]}), {}, "holds string, not numbers.* lion fit --landmarks"),
        (pa.table({"a": [1.0]}), {"id": "b"}, "no column 'b'; the columns there are: a"),
        (pa.table({"a": [1.0], "k": [None]}), {"id": "k"}, "row 0, column k is empty"),
        (pa.table({"v": [[1.0, 2.0], [3.0]]}), {}, "^row 1, column v has a list of length 1"),
        (pa.table({"v": [[1.0], None]}), {}, "^row 1, column v has no list, and those before"),
        (pa.table({"v": [None, [1.0]]}), {}, "^row 0, column v has no list: every row"),
        (pa.table({"a": [1.0]}), {"stratify": True}, "say which column"),
    ],
)
def test_what_cannot_be_is_refused(source, how, says):
    with pytest.raises((ValueError, FileNotFoundError), match=says):
        lion().fit_landmarks(source, 20, **how)


def test_what_is_no_number_of_landmarks(table):
    for count in (3, -1, 2.5, "many"):
        with pytest.raises((ValueError, TypeError), match="n_landmarks"):
            named_count(table, count)
    with pytest.raises(TypeError, match="the source must be files"):
        lion().fit_landmarks(5, 20)
    with pytest.raises(ValueError, match="init must be"):
        lion(init=np.zeros((20, 2))).fit_landmarks(table, 20)
    with pytest.raises(ValueError, match="more than once"):
        lion().fit_landmarks(pa.concat_tables([table, table]), 1800, id="key", label="kind")


def named_count(table, count):
    return lion().fit_landmarks(table, count, id="key", label="kind")


@pytest.mark.parametrize("params", [{"scale": "standard"}, {"missing": "median"}])
def test_what_prepares_columns_is_refused_and_not_ignored(table, params):
    with pytest.raises(ValueError, match="takes numbers as they are.* use lion fit --landmarks"):
        lion(**params).fit_landmarks(table, 120, id="key", label="kind")
