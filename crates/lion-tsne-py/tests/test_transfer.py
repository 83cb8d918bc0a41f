"""Labels for new rows, and how well a map shows them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV

from liontsne import LionTSNE


def test_new_rows_get_the_label_of_their_neighbours(fitted, blobs, strange):
    X, heap = blobs
    labels, shares = fitted.predict_label(np.vstack([X[200:], strange]), return_share=True)
    known = fitted.predict(X[200:]) == 1
    assert (labels[:40][known] == heap[200:].astype(str)[known]).all()
    assert (shares[:40][known] > 0.9).all() and known.mean() > 0.8
    assert labels[40:].tolist() == [None] * 3 and np.isnan(shares[40:]).all()
    # Alone as among others.
    assert fitted.predict_label(X[200:201])[0] == labels[0]
    assert_array_equal(fitted.predict_label(X[:200]), heap[:200].astype(str))
    placed = fitted.place(X[200:])
    assert_array_equal(placed.label, labels[:40])
    assert placed.to_pandas()["label_share"].equals(placed.to_polars()["label_share"].to_pandas())


def test_a_map_without_labels_has_none_to_give(blobs):
    X, _ = blobs
    lion = LionTSNE(perplexity=10, max_iter=50, exaggeration_iter=20).fit(X)
    with pytest.raises(ValueError, match="no labels"):
        lion.predict_label(X[:2])
    assert lion.place(X[:2]).label.tolist() == [None, None]


def test_a_search_over_parameters(blobs):
    X, _ = blobs
    kept = LionTSNE(perplexity=10).fit(X[:160]).score(X[160:])
    assert 0.2 < kept < 1
    search = GridSearchCV(LionTSNE(max_iter=250), {"perplexity": [2.0, 15.0]}, cv=3)
    search.fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert ((0 < scores) & (scores < 1)).all() and scores[0] != scores[1]
    assert search.best_params_["perplexity"] == [2.0, 15.0][int(np.argmax(scores))]
    assert search.predict(X).shape == (len(X),)


def test_score_by_hand(blobs):
    X, _ = blobs
    old, new = X[:180], X[180:]
    lion = LionTSNE.from_embedding(old, old[:, :2], perplexity=10)
    places = lion.transform(new)

    def nearest(rows, row):
        return set(np.argsort(((rows - row) ** 2).sum(axis=1))[:10])

    pairs = zip(new, places)
    kept = [len(nearest(old, x) & nearest(old[:, :2], y)) / 10 for x, y in pairs]
    assert lion.score(new) == pytest.approx(np.mean(kept))
