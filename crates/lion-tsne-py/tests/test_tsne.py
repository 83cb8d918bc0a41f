"""TSNE in place of scikit-learn's."""

import inspect

import numpy as np
import pytest
import sklearn.manifold
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.manifold import trustworthiness
from threadpoolctl import threadpool_limits

from liontsne import TSNE


def test_names_and_defaults_are_scikit_learns():
    ours, theirs = (
        inspect.signature(kind.__init__).parameters for kind in (TSNE, sklearn.manifold.TSNE)
    )
    defaults = {name: parameter.default for name, parameter in theirs.items()}
    # scikit-learn's None stands for what the documents call the default.
    assert {name: ours[name].default for name in defaults if name != "max_iter"} == {
        name: default for name, default in defaults.items() if name != "max_iter"
    }
    assert list(ours) == list(theirs) and ours["max_iter"].default == 1000


@pytest.fixture(scope="module")
def theirs(blobs):
    tsne = sklearn.manifold.TSNE(perplexity=20, max_iter=500, random_state=0)
    # Its threads wait busily for each other.
    with threadpool_limits(1):
        return tsne.fit(blobs[0])


@pytest.mark.parametrize("method", ["barnes_hut", "exact", "fft", "auto"])
def test_every_method_makes_a_good_map(blobs, theirs, method):
    X, _ = blobs
    tsne = TSNE(perplexity=20, method=method, max_iter=500, random_state=0)
    Y = tsne.fit_transform(X)
    assert Y is tsne.embedding_ and Y.shape == (240, 2) and Y.dtype == np.float32
    assert tsne.n_iter_ == 500 and tsne.n_features_in_ == 6
    assert trustworthiness(X, Y) > trustworthiness(X, theirs.embedding_) - 0.01
    # Of so few rows there are many local minima, and rounding, which differs between processors,
    # decides between them.
    assert tsne.kl_divergence_ < 1.1 * theirs.kl_divergence_


def test_learning_rates_are_scikit_learns(blobs):
    X, _ = blobs
    given = TSNE(learning_rate=100.0, max_iter=50).fit(X)
    assert given.learning_rate_ == 100.0
    assert TSNE(max_iter=50).fit(X).learning_rate_ == 12.5
    assert not hasattr(given, "transform")


def test_what_cannot_be_done_is_said(blobs):
    X, _ = blobs
    with pytest.warns(
        UserWarning, match="n_iter_without_progress and min_grad_norm have no effect"
    ):
        TSNE(min_grad_norm=1e-3, max_iter=50).fit(X)
    with pytest.warns(UserWarning, match="angle 0.8 is taken as 0.5"):
        loose = TSNE(angle=0.8, max_iter=50).fit(X)
    assert_array_equal(loose.embedding_, TSNE(max_iter=50).fit(X).embedding_)
    for params, sentence in [
        ({"metric": "precomputed"}, "metric must be one of euclidean, cosine, not 'precomputed'"),
        ({"metric_params": {"p": 3}}, "metric_params must be None"),
        ({"n_components": 4}, "n_components must be 1, 2 or 3, not 4"),
        ({"method": "fft", "n_components": 3}, "fft is for maps of 2 dimensions"),
        ({"perplexity": 300}, "perplexity 300 is too large for 240 rows"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            TSNE(**params).fit(X)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        TSNE().fit(csr_matrix(X))
