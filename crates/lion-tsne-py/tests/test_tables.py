"""Frames whose columns are no plain numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import liontsne
from liontsne import LionTSNE


@pytest.fixture(scope="module")
def customers() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    plan = rng.integers(0, 3, 150)
    frame = pd.DataFrame(
        {
            "age": 25 + 15.0 * plan + rng.normal(size=150),
            "income": 20_000 + 20_000 * plan + rng.normal(size=150) * 900,
            "plan": np.array(["free", "plus", "pro"])[plan],
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(30 * plan, "D"),
            "active": rng.random(150) < 0.5,
            "comment": [f"said {row}" for row in range(150)],
        }
    )
    frame.loc[::17, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fitted(customers: pd.DataFrame) -> LionTSNE:
    return LionTSNE(perplexity=10, max_iter=100).fit(customers)


def test_mixed_columns_become_rows(fitted, customers):
    assert fitted.feature_names_in_.tolist() == ["age", "income", "plan", "since", "active"]
    kinds = {name: kind for name, kind, _ in fitted.table_}
    assert kinds == {
        "age": "number",
        "income": "number",
        "plan": "category",
        "since": "date",
        "active": "boolean",
        "comment": "text",
    }
    assert_array_equal(fitted.transform(customers), fitted.embedding_)
    assert list(fitted.place(customers[:5]).verdict) == ["exact"] * 5


def test_columns_are_found_by_name_in_any_frame(fitted, customers):
    shuffled = customers[["active", "plan", "income", "since", "age"]]
    for frame in (shuffled, pl.from_pandas(shuffled), pa.Table.from_pandas(shuffled)):
        assert_array_equal(fitted.transform(frame), fitted.embedding_)


def test_the_recipe_travels_with_the_map(fitted, customers, tmp_path):
    fitted.save(tmp_path / "m.lion")
    again = liontsne.load(tmp_path / "m.lion")
    assert again.feature_names_in_.tolist() == fitted.feature_names_in_.tolist()
    assert_array_equal(again.transform(customers), fitted.embedding_)


def test_another_unit_is_told(fitted, customers):
    cents = customers.assign(income=1000 * customers["income"])
    with pytest.warns(UserWarning, match="income is 1000 times larger than in the map"):
        fitted.predict(cents)


def test_gaps_are_treated_as_asked(customers):
    kept = LionTSNE(perplexity=10, max_iter=50, missing="drop").fit(customers, customers["plan"])
    assert len(kept.embedding_) == 150 - 9
    places = np.arange(300.0).reshape(150, 2)
    adopted = LionTSNE.from_embedding(customers, places, customers["plan"], missing="drop")
    left = np.flatnonzero(customers["age"].notna())
    assert_array_equal(adopted.embedding_, places[left])
    assert list(adopted.labels_) == list(customers["plan"].iloc[left])
    with pytest.raises(ValueError, match="X has 150 rows but Y has 141 places"):
        LionTSNE.from_embedding(customers, places[left], missing="drop")
    with pytest.raises(ValueError, match="column age .number.: 9 of 150 cells are empty"):
        LionTSNE(missing="refuse", scale="standard").fit(customers)
    with pytest.raises(ValueError, match="scale must be one of auto"):
        LionTSNE(scale="much").fit(customers)


def test_frames_of_numbers_are_used_as_they_are(customers):
    numbers = customers[["income"]].assign(other=np.arange(150.0))
    plain = LionTSNE(perplexity=10, max_iter=50).fit(numbers)
    array = LionTSNE(perplexity=10, max_iter=50).fit(numbers.to_numpy())
    assert_array_equal(plain.embedding_, array.embedding_)
    scaled = LionTSNE(perplexity=10, max_iter=50, scale="standard").fit(numbers)
    assert not np.array_equal(scaled.embedding_, plain.embedding_)
    assert_array_equal(scaled.transform(numbers), scaled.embedding_)


def test_lists_beside_numbers_say_what_is_left_out_and_errors_name_the_argument():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"embedding": list(rng.normal(size=(60, 4))), "year": np.arange(60)})
    frame["title"] = [f"title {row}" for row in range(60)]
    lion = LionTSNE(perplexity=5, max_iter=50)
    with pytest.warns(UserWarning, match="embedding is a list of numbers, which are the features: year left out"):
        lion.fit(frame)
    assert_array_equal(lion.transform(frame), lion.embedding_)
    frame.at[7, "embedding"] = np.zeros(3)
    with pytest.raises(ValueError, match="^X, row 7") as refused:
        lion.fit(frame)
    assert "bytes" not in str(refused.value)


def test_errors_speak_of_rows_and_parameters_and_not_of_files_and_flags(fitted, customers):
    several = customers.astype({"plan": object})
    several.loc[several["plan"] == "plus", "plan"] = 3  # of two types, which Arrow does not have
    rows = np.c_[np.arange(60.0), np.arange(60.0) ** 2]
    rows[7, 1] = np.nan
    odd = customers.assign(income=customers["income"].astype(object))
    odd.loc[4, "income"] = "much"
    lion = LionTSNE(perplexity=5, max_iter=50)
    with pytest.raises(ValueError) as gaps:
        lion.set_params(missing="refuse", scale="standard").fit(several)
    with pytest.raises(ValueError) as array:
        lion.fit(rows)
    with pytest.raises(ValueError) as text:
        fitted.transform(odd)
    assert str(gaps.value) == (
        "X: column age (number): 9 of 150 cells are empty, the first in row 0; "
        "correct the cells, or drop the column"
    )
    assert "1 of 60 cells are empty, the first in row 7;" in str(array.value)
    assert str(text.value) == (
        "X, row 4, column income holds 'much', which is not a number; correct it or drop the column"
    ).replace("'", '"')
    far = pd.DataFrame({"a": np.r_[np.arange(199.0), 1e6], "name": ["x", "y"] * 100})
    with pytest.warns(UserWarning, match='or use scale="robust"'):
        lion.set_params(missing=None, scale="standard").fit(far)
