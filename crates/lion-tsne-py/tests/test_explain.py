"""What sets clusters apart, from Python."""

import numpy as np
import pandas as pd
import pytest

from liontsne import LionTSNE


@pytest.fixture(scope="module")
def customers():
    rng = np.random.default_rng(0)
    kind = np.arange(240) % 3
    frame = pd.DataFrame(
        {
            "age": 20 + 20 * kind + rng.random(240),
            "income": 30 * (kind == 1) + rng.random(240),
            "plan": np.array(["basic", "premium", "basic"])[kind],
            "churned": kind == 2,
            "review": np.array(["quick friendly staff", "late parcel, broken box", "asked for a refund"])[kind],
        }
    )
    frame.loc[::17, "age"] = np.nan
    X = frame[["age", "income"]].fillna(40)
    return LionTSNE(perplexity=10, max_iter=300, random_state=0).fit(X), frame, kind


def test_clusters_have_names_columns_and_words(customers):
    lion, frame, kind = customers
    found = lion.explain(frame, text="review")
    names = [cluster["name"] for cluster in found.clusters]
    assert len(set(names)) == len(names) == len(found)
    of_row = found.names()
    # Rows without an age were put at another one, so they lie elsewhere.
    assert all("refund" in name for name in of_row[(kind == 2) & frame.age.notna()])
    premium = next(cluster for cluster in found.clusters if "parcel" in cluster["keywords"])
    plan = next(column for column in premium["columns"] if column["column"] == "plan")
    assert (plan["value"], plan["inside"]) == ("premium", 1.0)
    assert plan["outside"] < 0.3
    table = found.to_pandas()
    assert {"name", "column", "effect", "error"} <= set(table.columns)
    assert "refund" in repr(found)


def test_lists_in_rows_are_passed_over_and_dates_are_printed_as_dates(customers):
    lion, frame, kind = customers
    lists = frame.assign(embedding=list(np.zeros((240, 3))))
    assert lion.explain(lists, text="review").clusters == lion.explain(frame, text="review").clusters
    dates = pd.to_datetime("2020-01-01") + pd.to_timedelta(1000 * kind + np.arange(240) % 7, "D")
    dated = LionTSNE(perplexity=10, max_iter=300, random_state=0).fit(frame[["age"]].assign(since=dates))
    assert "since: 2025-06-" in repr(dated.explain())


def test_many_clusters_are_cut_when_they_are_printed(customers):
    lion, frame, _ = customers
    found = lion.explain(frame)
    found.clusters *= 30
    lines = repr(found).splitlines()
    assert len(lines) < 30
    assert lines[-1].startswith("and ") and "more, all of them in .clusters" in lines[-1]


def test_a_selection_by_mask_equals_one_by_numbers(customers):
    lion, frame, kind = customers
    by_mask = lion.explain(frame, select=kind == 0)
    by_number = lion.explain(frame, select=np.flatnonzero(kind == 0))
    assert by_mask.clusters == by_number.clusters
    age = next(column for column in by_mask.clusters[0]["columns"] if column["column"] == "age")
    inside, outside = frame.age[kind == 0].dropna(), frame.age[kind != 0].dropna()
    assert age["effect"] == pytest.approx((inside.mean() - outside.mean()) / frame.age.std())
    error = np.sqrt(inside.var() / len(inside) + outside.var() / len(outside)) / frame.age.std()
    assert age["error"] == pytest.approx(error)
    assert (age["inside"], age["outside"]) == (pytest.approx(inside.median()), pytest.approx(outside.median()))


def test_what_cannot_be_explained_is_said(customers):
    lion, frame, _ = customers
    with pytest.raises(ValueError, match="no column words"):
        lion.explain(frame, text="words")
    with pytest.raises(ValueError, match="one for each row"):
        lion.explain(frame[:5])
    with pytest.raises(ValueError, match="no labels"):
        lion.explain(frame, by="labels")
    with pytest.raises(ValueError, match="row numbers"):
        lion.explain(frame, select=["a"])
    with pytest.raises(ValueError, match="levels 1 to"):
        lion.explain(frame).labels(9)
