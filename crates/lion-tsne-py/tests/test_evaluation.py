"""The other ways of placing, and what is measured of all of them."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from liontsne import LionTSNE, baselines, evaluate

QUICK = ["idw", "rbf-gaussian", "kernelized", "opentsne-median", "fixed-point", "gd-closest"]


def test_baselines(fitted, blobs):
    X, _ = blobs
    assert {"idw", "kernelized", "parametric"} <= set(baselines.names())
    built = baselines.Baseline(fitted, "idw", power=40.0)
    assert built.transform(X[200:].tolist()).shape == (40, 2) and built.notes == []
    exact = baselines.Baseline(fitted, "rbf-linear").transform(X[:200])
    np.testing.assert_allclose(exact, fitted.embedding_, atol=1e-2)
    with pytest.raises(ValueError, match="there is no method"):
        baselines.Baseline(fitted, "magic")
    with pytest.raises(ValueError, match="no parameter 'width'"):
        baselines.Baseline(fitted, "idw", width=3.0)
    with pytest.raises(ValueError, match="expecting 6 features"):
        built.transform(X[:, :2])


def test_every_method_is_measured(fitted, blobs, strange):
    X, heap = blobs
    methods = ["lion", "lion-idw", *(name for name in QUICK if name in baselines.names())]
    arguments = (X[:200], fitted.embedding_, heap[:200], X[200:], heap[200:])
    table = evaluate(*arguments, X_strange=strange, methods=methods, perplexity=15)
    assert list(table["method"]) == methods and (table["rows"] == 40).all()
    by_name = table.set_index("method")
    assert (
        by_name.loc["lion", "accuracy"] > 0.9 and by_name.loc["lion", "strange_percentile"] == 100
    )
    assert (table["accuracy"] <= 1).all() and np.isfinite(
        table.drop(columns="method").to_numpy(float)
    ).all()
    # The same, plainly.
    lion = LionTSNE.from_embedding(X[:200], fitted.embedding_, perplexity=15)
    far = np.linalg.norm(lion.transform(X[200:])[:, None] - fitted.embedding_, axis=2)
    nearest = far.argsort(axis=1, kind="stable")[:, :10]
    shares = (heap[:200][nearest] == heap[200:, None]).mean(axis=1)
    assert by_name.loc["lion", "accuracy"] == pytest.approx(shares.mean())
    assert by_name.loc["lion", "distance"] == pytest.approx(far.min(axis=1).mean(), rel=1e-5)


def test_without_pandas_it_is_a_dict(fitted, blobs, monkeypatch):
    X, heap = blobs
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = evaluate(
        X[:200], fitted.embedding_, heap[:200], X[200:], heap[200:], methods=["lion"], perplexity=15
    )
    assert isinstance(table, dict) and table["method"][0] == "lion"
    assert "strange_auc" not in table


def test_labels_must_fit(fitted, blobs):
    X, heap = blobs
    with pytest.raises(ValueError, match="there are 40 rows but 3 labels_new"):
        evaluate(X[:200], fitted.embedding_, heap[:200], X[200:], heap[:3])
    assert_array_equal(fitted.embedding_.shape, (200, 2))
