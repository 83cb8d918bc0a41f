"""Neighbours that are known before the fit, as other programs give them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from liontsne import TSNE, LionTSNE

NEEDED = 30  # three times the perplexity


@pytest.fixture(scope="module")
def X():
    """Whole numbers: their distances squared are exact, whoever computes them. No two rows are as
    far from a third where its list ends."""
    rng = np.random.default_rng(5)
    heap = rng.integers(0, 3, size=(240, 1))
    X = 300.0 * heap + rng.integers(0, 1000, size=(240, 5))
    squares = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    assert (squares[:, NEEDED] < squares[:, NEEDED + 1]).all() and squares.max() < 2**24
    return X


def known(X, k=NEEDED, itself=False, **params):
    """By scikit-learn; with the row itself in the first column, as umap-learn has them, or without
    it, as openTSNE has them."""
    search = NearestNeighbors(n_neighbors=k, algorithm="brute", **params).fit(X)
    distances, indices = search.kneighbors(X) if itself else search.kneighbors()
    return indices, distances


@pytest.fixture(params=[LionTSNE, TSNE])
def estimator(request):
    return request.param(perplexity=NEEDED / 3, max_iter=300)


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("more", [0, 20])
def test_exact_neighbours_make_the_same_map_to_the_bit(X, estimator, itself, more):
    neighbors = known(X, NEEDED + more + itself, itself)
    if itself:
        assert_array_equal(neighbors[0][:, 0], np.arange(len(X)))
    found = clone(estimator).fit_transform(X)
    assert_array_equal(estimator.fit_transform(X, neighbors=neighbors), found)


def test_new_rows_are_placed_as_ever(X):
    lion = LionTSNE(perplexity=NEEDED / 3, max_iter=300)
    searched, given = clone(lion).fit(X), lion.fit(X, neighbors=known(X))
    new = np.concatenate([X[:10] + 3, X[:2] + 5000])
    assert_array_equal(given.transform(X), given.embedding_)
    assert_array_equal(given.transform(new), searched.transform(new))
    assert (given.radius_, given.power_) == (searched.radius_, searched.power_)
    assert list(given.predict(new[-2:])) == [-1, -1]


def test_any_metric_may_have_found_them(X):
    """It changes the map, and not what is near to a new row."""
    lion = LionTSNE(perplexity=NEEDED / 3, max_iter=300)
    searched, given = clone(lion).fit(X), lion.fit(X, neighbors=known(X, metric="manhattan"))
    assert (given.embedding_ != searched.embedding_).any()
    assert given.radius_ == searched.radius_
    assert given.kl_divergence_ < 1.1 * searched.kl_divergence_


@pytest.mark.parametrize("integers", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_integers_in_any_order_will_do(X, integers, order):
    lion = LionTSNE(perplexity=NEEDED / 3, max_iter=50)
    indices, distances = known(X)
    found = clone(lion).fit_transform(X)
    neighbors = indices.astype(integers, order=order), np.asarray(distances, order=order)
    assert_array_equal(lion.fit_transform(X, neighbors=neighbors), found)
    lists = [part.tolist() for part in neighbors]
    assert_array_equal(lion.fit_transform(X, neighbors=lists), found)


def test_rows_that_equal_others(X):
    twice = np.concatenate([X, X[:40]])
    lion = LionTSNE(perplexity=NEEDED / 3, max_iter=300)
    found = clone(lion).fit_transform(twice)
    given = lion.fit_transform(twice, neighbors=known(twice, 2 * NEEDED, itself=True))
    assert_array_equal(given, found)
    with pytest.raises(ValueError, match="without itself and equal rows: 30 are needed, so bring"):
        lion.fit(twice, neighbors=known(twice))


def test_in_a_pipeline_and_with_sparse_rows(X):
    lion = LionTSNE(perplexity=NEEDED / 3, max_iter=50, pca=3)
    pipeline = make_pipeline(FunctionTransformer(), lion)
    Y = pipeline.fit_transform(X, liontsne__neighbors=known(X))
    assert Y.shape == (240, 2)
    sparse = clone(lion).fit(csr_matrix(X), neighbors=known(X))
    assert_array_equal(sparse.transform(csr_matrix(X)), sparse.embedding_)


def changed(neighbors, part, value):
    """The same with one value of row 7 changed."""
    parts = [np.array(table) for table in neighbors]
    parts[part][7, 3] = value
    return tuple(parts)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n: n[::-1], r"must be \(indices, distances\), in this order: scikit-learn's"),
        (lambda n: n[0], "neighbors must be two tables"),
        (lambda n: (*n, None), "neighbors must be two tables"),
        (lambda n: "exact", "neighbors must be two tables"),
        (lambda n: 7, "neighbors must be two tables"),
        (lambda n: (n[0] * 1.0, n[1]), "indices of neighbors must be whole numbers, not float64"),
        (lambda n: (n[0], n[1][:, :9]), r"the same shape, .* not of shapes \(240, 30\) and"),
        (lambda n: (n[0][0], n[1][0]), r"one line for each row, not of shapes \(30,\)"),
        (lambda n: (n[0][:99], n[1][:99]), "are 99 lists of 30, and there are 240 rows"),
        (lambda n: changed(n, 0, -1), "of row 7 name row -1, and rows are numbered from 0 to 239"),
        (lambda n: changed(n, 0, 240), "of row 7 name row 240, and rows are numbered"),
        (lambda n: changed(n, 0, n[0][7, 2]), r"of row 7 name row \d+ twice"),
        (lambda n: changed(n, 1, np.nan), "of row 7 have a distance of NaN: each must be"),
        (lambda n: changed(n, 1, -1), "of row 7 have a distance of -1: each must be"),
        (lambda n: changed(n, 1, 0), "of row 7 are not in order, 0 comes after"),
        (lambda n: (n[0][:, :29], n[1][:, :29]), "perplexity 10 is too large .* use at most 9.6"),
        (lambda n: (n[0][:, :0], n[1][:, :0]), "lists of 0"),
    ],
)
def test_what_cannot_be_is_a_sentence(X, estimator, make, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X, neighbors=make(known(X)))
