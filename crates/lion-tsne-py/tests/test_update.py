"""Maps that take in new rows."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import liontsne
from liontsne import LionTSNE

WORDS = [
    "version",
    "parent",
    "added",
    "removed",
    "kl",
    "moved_median",
    "moved_p90",
    "stability",
    "new_clusters",
    "emptied",
    "widened",
]


def after_similarity(before, after):
    """How far each row is from where it was, in radii of the map, after the rotation or reflection,
    scale and shift that bring the two nearest."""
    a, b = before - before.mean(0), after - after.mean(0)
    u, s, v = np.linalg.svd(a.T @ b)
    scale = s.sum() / (a**2).sum()
    radius = np.sqrt((b**2).sum(1).mean())
    return np.linalg.norm(scale * a @ u @ v - b, axis=1) / radius


@pytest.fixture(scope="module")
def newer(fitted, blobs):
    """The map of the first 200 rows with all others in it; tests must not change it."""
    X, heap = blobs
    return fitted.update(X[200:], heap[200:])


def test_old_rows_stay_and_new_ones_come(fitted, newer, blobs):
    X, heap = blobs
    before = fitted.embedding_.copy()
    assert newer is not fitted and newer.embedding_.shape == (240, 2)
    assert np.median(after_similarity(fitted.embedding_, newer.embedding_[:200])) < 0.1
    assert_array_equal(newer.transform(X), newer.embedding_)
    assert newer._map.labels == [str(h) for h in heap] and newer._map.ids is None
    told = newer.update_
    assert list(told) == WORDS
    assert (told["version"], told["added"], told["removed"]) == (2, 40, 0)
    assert told["parent"] == fitted._map.checksum and told["kl"] == newer.kl_divergence_
    assert told["stability"] == 0.5 and told["new_clusters"] == told["emptied"] == []
    # The old one is as it was.
    assert not hasattr(fitted, "update_")
    assert_array_equal(fitted.embedding_, before)
    assert_array_equal(fitted.transform(X[:200]), before)


def test_a_new_kind_becomes_a_cluster(fitted, blobs):
    kind = 40 + np.random.default_rng(1).normal(size=(30, 6))
    newer = fitted.update(np.vstack([blobs[0][200:], kind]))
    assert newer.update_["new_clusters"] == [30]
    apart = newer.embedding_[240:]
    within = np.linalg.norm(apart - apart.mean(0), axis=1).max()
    others = np.linalg.norm(newer.embedding_[:240] - apart.mean(0), axis=1).min()
    assert within < others
    assert newer.update(None, forget=range(240)).update_["removed"] == 240


def test_nothing_of_the_estimator_is_lost(blobs):
    X, _ = blobs
    told = {"alpha": 0.05, "radius": "95%", "power": 3.0, "r_y": "90%", "local": "idw", "fdr": 0.1}
    lion = LionTSNE(perplexity=15, max_iter=100, **told).fit(X[:200])
    newer = lion.update(X[200:])
    assert newer.get_params() == lion.get_params()
    assert (newer.alpha_, newer.power_, newer.perplexity_) == (0.05, 3.0, 15)
    assert newer._map.asked_radius == "95%"
    assert newer._placer.r_y < LionTSNE.update(lion.set_params(r_y=None), X[200:])._placer.r_y
    paper = LionTSNE(perplexity=15, max_iter=100, verdict="paper").fit(X[:200]).update(X[200:])
    assert paper.alpha_ is None and paper._placer.verdict_rule == "paper"


def test_partial_fit_is_fit_and_then_update(fitted, newer, blobs):
    X, heap = blobs
    lion = clone(fitted)
    assert lion.partial_fit(X[:200], heap[:200], keep=250) is lion
    assert_array_equal(lion.embedding_, fitted.embedding_)
    assert not hasattr(lion, "update_")
    assert lion.partial_fit(X[200:], heap[200:], keep=250) is lion
    assert_array_equal(lion.embedding_, newer.embedding_)
    assert lion.update_ == newer.update_
    lion.partial_fit(X[:30] + 0.5, keep=250, stability=1)
    assert lion.update_["version"] == 3 and lion.embedding_.shape == (250, 2)
    assert lion.update_["removed"] == 20 and lion.update_["moved_p90"] < 1e-3
    lion.fit(X, heap)
    assert not hasattr(lion, "update_")


def test_rows_without_ids_come_and_go(blobs):
    X, _ = blobs
    lion = LionTSNE(perplexity=10, max_iter=50)
    for start in range(0, 240, 60):
        lion.partial_fit(X[start : start + 60], keep=100)
        lion = pickle.loads(pickle.dumps(lion))
    rows = np.array(lion._map.ids, dtype=int)
    assert len(rows) == 100 and (np.diff(rows) > 0).all() and rows[-60:].tolist() == [*range(180, 240)]
    assert_array_equal(lion.transform(X[rows]), lion.embedding_)
    without = lion.update(X[:1], forget=[239])
    assert without._map.ids[-2:] == ["238", "240"]
    # Ids that were given are asked for again.
    named = lion.update(X[:2] + 0.5, ids=["a", "b"])
    with pytest.raises(ValueError, match="ids are missing"):
        named.update(X[:2] + 0.7)


def test_threads_do_not_matter(fitted, newer, blobs):
    X, heap = blobs
    for threads in (1, 2):
        lion = pickle.loads(pickle.dumps(fitted)).set_params(n_jobs=threads)
        again = lion.update(X[200:], heap[200:])
        assert_array_equal(again.embedding_, newer.embedding_)
        assert again._map.checksum == newer._map.checksum


def test_files_and_pickles(fitted, newer, blobs, strange, tmp_path):
    X, heap = blobs
    rows = np.vstack([X, strange])
    newer.save(tmp_path / "newer.lion")
    again = liontsne.load(tmp_path / "newer.lion")
    assert_array_equal(again.embedding_, newer.embedding_)
    assert_array_equal(again.transform(rows), newer.transform(rows))
    unpickled = pickle.loads(pickle.dumps(newer))
    assert unpickled.update_ == newer.update_
    assert_array_equal(unpickled.transform(rows), newer.transform(rows))
    fitted.save(tmp_path / "old.lion")
    opened = liontsne.load(tmp_path / "old.lion", alpha=0.05)
    updated = opened.update(X[200:], heap[200:])
    assert_array_equal(updated.embedding_, newer.embedding_)
    assert updated.alpha_ == 0.05
    third = again.update(X[:20] + 0.5)
    assert third.update_["version"] == 3 and third.update_["parent"] == newer._map.checksum


def test_labels_may_be_missing(fitted, blobs):
    X, heap = blobs
    words = [str(h) for h in heap]
    assert fitted.update(X[200:])._map.labels == words[:200] + [""] * 40
    plain = LionTSNE(perplexity=15, max_iter=50).fit(X[:200])
    assert plain.update(X[200:], heap[200:])._map.labels == [""] * 200 + words[200:]
    assert plain.update(X[200:])._map.labels is None


def test_frames_and_ids(blobs):
    X, heap = blobs
    names, index = list("abcdef"), [f"cell {i}" for i in range(240)]
    frame = pd.DataFrame(X, columns=names, index=index)
    lion = LionTSNE(perplexity=15, max_iter=100).fit(frame[:200], heap[:200])
    newer = lion.update(frame[190:], heap[190:])
    assert (newer.update_["added"], newer.update_["removed"]) == (50, 10)
    assert newer._map.ids == index and newer._map.columns == names
    assert list(newer.feature_names_in_) == names
    assert_array_equal(newer.transform(frame), newer.embedding_)
    fewer = lion.update(frame[200:], forget=pd.Index(index[:3]), stability=0.8)
    assert fewer._map.ids == index[3:] and fewer.update_["stability"] == 0.8
    assert lion.update(None, forget=index[:3])._map.ids == index[3:200]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named = lion.update(X[200:], ids=index[200:])
    assert_array_equal(named.embedding_, lion.update(frame[200:]).embedding_)
    reordered = lion.update(frame[200:][names[::-1]])
    assert_array_equal(reordered.embedding_, named.embedding_)
    with pytest.raises(ValueError, match="feature names should match"):
        lion.update(frame.rename(columns={"a": "z"}))
    # Numbers of an index are no ids where the map has none.
    plain = LionTSNE(perplexity=15, max_iter=100).fit(frame[:200].reset_index(drop=True))
    shuffled = frame[200:].set_axis(np.arange(40)[::-1])
    assert plain.update(shuffled)._map.ids is None
    assert plain.update(shuffled, ids=index[200:])._map.ids[199:201] == ["199", "cell 200"]


def test_sparse_rows():
    rows = random_array(
        (240, 400), density=0.05, rng=np.random.default_rng(0), format="csr", dtype=np.float32
    )
    lion = LionTSNE(perplexity=15, max_iter=100, pca=20).fit(csr_matrix(rows[:200]))
    newer = lion.update(csr_matrix(rows[200:]))
    assert_array_equal(newer.transform(rows), newer.embedding_)
    assert_array_equal(lion.update(rows[200:].toarray()).embedding_, newer.embedding_)
    with pytest.raises(ValueError, match="a map fitted to sparse rows keeps its PCA"):
        lion.update(rows[200:], rows=rows[:200])
    # Rows that are sparse for a map of dense ones.
    dense = LionTSNE(perplexity=15, max_iter=100).fit(rows[:200].toarray()[:, :9])
    assert dense.update(csr_matrix(rows[200:, :9])).embedding_.shape == (240, 2)


def test_the_pca_made_anew(blobs):
    X, _ = blobs
    lion = LionTSNE(perplexity=15, max_iter=100, pca=3).fit(X[:200])
    newer = lion.update(X[200:], rows=X[:200])
    assert newer._map.pca_components == 3 and newer.update_["widened"] == 0
    assert_array_equal(newer.transform(X), newer.embedding_)
    with pytest.raises(ValueError, match="the table has 199 rows, and the map was made of 200"):
        lion.update(X[200:], rows=X[:199])


def test_positions_made_elsewhere_stay(blobs):
    X, _ = blobs
    lion = LionTSNE.from_embedding(X[:200], X[:200, :2], perplexity=15)
    newer = lion.update(X[200:])
    assert newer.update_["stability"] == 1 and newer.update_["kl"] is None
    assert np.isnan(newer.kl_divergence_)
    assert after_similarity(X[:200, :2], newer.embedding_[:200]).max() < 1e-3


def test_a_callback_hears_and_stops(fitted, blobs, capsys):
    X, _ = blobs
    heard = []
    lion = pickle.loads(pickle.dumps(fitted))
    lion.set_params(verbose=1, callback=lambda *progress: heard.append(progress))
    lion.update(X[200:])
    assert heard and all(0 <= done <= total for _, done, total, _ in heard)
    assert capsys.readouterr().err.strip()

    def fails(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        lion.set_params(verbose=0, callback=fails).partial_fit(X[200:])
    assert_array_equal(lion.embedding_, fitted.embedding_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"stability": 2}, "stability must be from 0 to 1, not 2"),
        ({"stability": "firm"}, "stability must be a number, not 'firm'"),
        ({"keep": 0}, "keep must be a whole number from 1 on, not 0"),
        ({"keep": 30}, "keep 30 leaves no room for old rows beside 40 new ones"),
        ({"forget": "17"}, "forget must be a list of ids, not '17'"),
        ({"forget": 17}, "forget must be a list of ids, not 17"),
        ({"forget": [17, 200]}, "forget has the id '200', and no row of the map has it"),
        ({"ids": ["a"]}, "there are 40 rows but 1 ids"),
        ({"ids": range(40)}, "give new rows other ids"),
        ({"y": [1, 2]}, "X has 40 rows but y has 2"),
        ({"rows": np.ones((200, 5))}, "X has 5 features, but LionTSNE is expecting 6"),
    ],
)
@pytest.mark.parametrize("method", ["update", "partial_fit"])
def test_wrong_options(fitted, blobs, method, options, sentence):
    with pytest.raises(ValueError) as caught:
        getattr(fitted, method)(blobs[0][200:], **options)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)
    assert fitted.embedding_.shape == (200, 2) and not hasattr(fitted, "update_")


def test_wrong_rows(fitted, blobs):
    X = blobs[0][200:].astype(float)
    nan, infinite = X.copy(), X.copy()
    nan[3, 2], infinite[3, 2] = np.nan, np.inf
    for rows, sentence in [
        (nan, "row 3, column 2 is NaN: every value must be a finite number"),
        (infinite, "row 3, column 2 is inf: every value must be a finite number"),
        (X[:, :5], "X has 5 features, but LionTSNE is expecting 6 features as input"),
        (X[:0], "Found array with 0 sample(s)"),
        (np.full((2, 6), "x"), "row 0, column 0 holds 'x', which is not a number"),
        (None, "there is no new row, and none that goes: nothing would change"),
    ]:
        for method in (fitted.update, fitted.partial_fit):
            with pytest.raises(ValueError) as caught:
                method(rows)
            assert sentence in str(caught.value)
    named = LionTSNE(perplexity=15, max_iter=50).fit(blobs[0], ids=range(240))
    with pytest.raises(ValueError, match=r"^ids are missing: .* need them too \(.*ids=.*\)$"):
        named.update(X)
    with pytest.raises(NotFittedError, match="This LionTSNE instance is not fitted yet"):
        LionTSNE().update(X)


def test_the_example_of_the_guide_runs_as_printed():
    guide = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    block = re.search(r"## New rows in the map\n.*?```python\n(.*?)```", guide, flags=re.S)[1]
    names = {}
    exec(block, names)
    assert names["lion"].embedding_.shape == (400, 2) and names["newer"].update_["version"] == 5
    assert len(names["newer"].embedding_) == 450
    assert names["lion"].update(names["X_new"]).update_["new_clusters"] == [40]
