"""Tables as people have them: lists in a column, and values that are no numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import liontsne
from liontsne import LionTSNE


def in_one_column(X):
    """The rows as a column of lists, of every kind."""
    lists = [row.tolist() for row in X]
    return {
        "pandas column": pd.Series(lists, name="embedding"),
        "polars column": pl.Series("embedding", lists),
        "pyarrow column": pa.chunked_array([lists]),
    }


@pytest.fixture(scope="module")
def plain(blobs) -> LionTSNE:
    return LionTSNE(perplexity=15, max_iter=250).fit(blobs[0])


@pytest.mark.parametrize("kind", ["pandas column", "polars column", "pyarrow column"])
def test_a_column_of_lists_is_the_matrix(blobs, plain, kind):
    X, _ = blobs
    table = in_one_column(X)[kind]
    lion = LionTSNE(perplexity=15, max_iter=250).fit(table)
    assert_array_equal(lion.embedding_, plain.embedding_)
    assert lion.n_features_in_ == 6
    assert_array_equal(lion.transform(table), lion.embedding_)
    assert_array_equal(plain.transform(table), plain.embedding_)
    assert_array_equal(lion.place(table).verdict, "exact")


def test_ids_and_labels_of_a_map_that_was_read(blobs, tmp_path):
    X, heap = blobs
    names = [f"n{row}" for row in range(240)]
    LionTSNE(perplexity=15, max_iter=250).fit(X, heap, ids=names).save(tmp_path / "named.lion")
    again = liontsne.load(tmp_path / "named.lion")
    assert again.ids_.tolist() == names
    assert again.labels_.tolist() == [str(one) for one in heap]
    plain = LionTSNE(perplexity=15, max_iter=250).fit(X)
    assert plain.labels_ is None and plain.ids_[239] == "239"


def test_rows_that_are_nearly_all_outliers_lead_to_a_warning(fitted, blobs):
    X, _ = blobs
    for call in (fitted.predict, fitted.place):
        with pytest.warns(UserWarning, match="240 of 240 rows are outliers: most likely .* scaled"):
            call(1000 * X)


def test_a_map_of_lists_takes_arrays_too(blobs):
    X, _ = blobs
    lion = LionTSNE(perplexity=10, max_iter=50).fit(pd.DataFrame({"embedding": list(X)}))
    assert (lion.transform(X) == lion.embedding_).all()
