"""LionTSNE as scikit-learn users know estimators."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liontsne
from liontsne import TSNE, LionTSNE


def test_rows_of_the_map_are_where_they_are(fitted, blobs):
    X, _ = blobs
    assert_array_equal(fitted.transform(X[:200]), fitted.embedding_)
    assert fitted.embedding_.shape == (200, 2) and fitted.embedding_.dtype == np.float32


def test_the_accelerated_descent_has_fewer_iterations(blobs):
    X, _ = blobs
    many = np.random.default_rng(0).normal(size=(5000, 4))
    assert LionTSNE(descent="accelerated").fit(many).n_iter_ < 750
    assert LionTSNE(descent="accelerated", max_iter=60).fit(many).n_iter_ == 60
    assert LionTSNE(perplexity=15, descent="accelerated").fit(X).n_iter_ == 750  # few rows descend as always
    assert LionTSNE(perplexity=15, descent="accelerated", max_iter=40).fit(X).n_iter_ == 40
    for params, said in [({"descent": "quick"}, "one of classic, accelerated"), ({"max_iter": "many"}, "auto")]:
        with pytest.raises(ValueError, match=said):
            LionTSNE(perplexity=15, **params).fit(X)


def test_what_was_fitted_can_be_asked(fitted):
    assert fitted.n_iter_ == 750 and 0 < fitted.kl_divergence_ < 2
    assert fitted.radius_ > 0 and fitted.power_ > 0 and fitted.power_curve_.shape[1] == 2
    best = fitted.power_curve_[fitted.power_curve_[:, 1].argmin(), 0]
    assert best == pytest.approx(fitted.power_, rel=0.2)
    assert fitted.n_features_in_ == 6 and not hasattr(fitted, "feature_names_in_")
    words = repr(fitted)
    assert words.startswith("LionTSNE(perplexity=15, random_state=1)")
    assert "200 rows of 6 columns" in words and f"{fitted.kl_divergence_:.3f}" in words
    assert repr(clone(fitted)) == "LionTSNE(perplexity=15, random_state=1)"


def test_new_rows_go_among_their_own(fitted, blobs):
    X, heap = blobs
    nearest = KNeighborsClassifier(5).fit(fitted.embedding_, heap[:200])
    assert nearest.score(fitted.transform(X[200:]), heap[200:]) > 0.95


def test_a_row_alone_has_the_bits_it_has_among_others(fitted, blobs):
    X, _ = blobs
    together = fitted.transform(X[200:])
    kept = fitted.predict(X[200:]) == 1
    alone = np.vstack([fitted.transform(X[i : i + 1]) for i in range(200, 240)])
    assert_array_equal(alone[kept], together[kept])
    assert kept.sum() > 30


def test_strangers_are_told_apart(fitted, blobs, strange):
    X, _ = blobs
    assert_array_equal(fitted.predict(strange), [-1, -1, -1])
    # The least p-value that there is.
    assert_array_equal(fitted.score_samples(strange), [1 / (len(fitted.embedding_) + 1)] * 3)
    rows = np.vstack([X, strange])
    verdict, score, decision = (
        getattr(fitted, name)(rows) for name in ("predict", "score_samples", "decision_function")
    )
    assert_array_equal(verdict, np.where(decision >= 0, 1, -1))
    assert_array_equal(decision[verdict == 1], score[verdict == 1])
    assert (decision[verdict == -1] < 0).all() and ((0 <= score) & (score <= 1)).all()
    assert verdict.dtype.kind == "i" and score.dtype == np.float64
    assert (verdict[:200] == 1).all() and (verdict[200:240] == 1).mean() > 0.8


def test_seeds_and_threads(blobs):
    X, _ = blobs
    fit = (
        lambda **params: LionTSNE(perplexity=15, max_iter=100, init="random", **params)
        .fit(X)
        .embedding_
    )
    assert_array_equal(fit(random_state=1, n_jobs=1), fit(random_state=1, n_jobs=2))
    assert_array_equal(fit(), fit(random_state=0, n_jobs=-1))
    assert (fit(random_state=2) != fit(random_state=1)).any()
    state = np.random.RandomState(5)
    assert (fit(random_state=state) != fit(random_state=state)).any()
    assert_array_equal(
        fit(random_state=np.random.RandomState(5)), fit(random_state=np.random.RandomState(5))
    )


def test_lists_and_doubles_are_rows_too(fitted, blobs, strange):
    X, _ = blobs
    expected = fitted.transform(X[200:])
    for other in (
        X[200:].tolist(),
        X[200:].astype(float),
        np.asfortranarray(X[200:]),
        X[200:].astype(float)[:, :],
    ):
        assert_array_equal(fitted.transform(other), expected)
    assert_array_equal(fitted.transform(np.repeat(X[200:], 2, axis=1)[:, ::2]), expected)


def test_cosine_knows_no_length(blobs):
    X, _ = blobs
    lion = LionTSNE(perplexity=15, metric="cosine", max_iter=100).fit(X[:200])
    assert_allclose(lion.transform(X[200:] * 8), lion.transform(X[200:]), atol=1e-3)


def test_maps_in_space(blobs):
    X, _ = blobs
    lion = LionTSNE(3, 15, max_iter=100, method="barnes_hut").fit(X)
    assert lion.transform(X[:5]).shape == (5, 3)
    assert list(lion.get_feature_names_out()) == ["liontsne0", "liontsne1", "liontsne2"]
    assert lion.place(X[:2]).z.shape == (2,)


def test_a_given_first_layout(blobs):
    X, _ = blobs
    start = 1e-3 * X[:, :2]
    lion = LionTSNE(perplexity=15, max_iter=1, init=start).fit(X)
    assert_allclose(lion.embedding_ - lion.embedding_.mean(0), start - start.mean(0), atol=1e-2)
    with pytest.raises(
        ValueError, match="init has 5 places of 2 dimensions, and 240 of 2 are needed"
    ):
        LionTSNE(perplexity=15, init=start[:5]).fit(X)


def test_a_callback_hears_and_stops(blobs):
    X, _ = blobs
    heard = []

    def callback(stage, done, total, kl):
        heard.append((stage, done, total, kl))
        return not (kl is not None and done > 20)

    lion = LionTSNE(perplexity=15, max_iter=100_000, callback=callback).fit(X)
    assert lion.n_iter_ < 100_000 and len(heard) > 1
    assert all(0 <= done <= total for _, done, total, _ in heard)

    def fails(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        LionTSNE(perplexity=15, max_iter=100_000, callback=fails).fit(X)


def test_verbose_tells_the_stages(blobs, capsys):
    LionTSNE(perplexity=15, verbose=1).fit(
        np.vstack([blobs[0]] * 3) + np.linspace(0, 1, 720, dtype="f")[:, None]
    )
    told = capsys.readouterr()
    assert told.out == "" and told.err.strip() and "\r" not in told.err


# Around it


def test_pipeline_and_search(blobs):
    X, heap = blobs
    pipeline = make_pipeline(
        StandardScaler(), LionTSNE(perplexity=10, max_iter=100), KNeighborsClassifier(5)
    )
    search = GridSearchCV(
        pipeline, {"liontsne__perplexity": [5, 20], "liontsne__local": ["energy", "idw"]}, cv=2
    )
    search.fit(X[:200], heap[:200])
    assert search.best_score_ > 0.9 and search.score(X[200:], heap[200:]) > 0.9


def test_clone_and_params():
    lion = LionTSNE(perplexity=12, radius="95%", callback=print)
    again = clone(lion)
    assert again.get_params() == lion.get_params() and again is not lion
    assert again.set_params(perplexity=3).perplexity == 3


def test_frames(blobs):
    X, heap = blobs
    names = [f"gene {c}" for c in "abcdef"]
    index = [f"cell {i}" for i in range(len(X))]
    frame = pd.DataFrame(X, columns=names, index=index)
    lion = (
        LionTSNE(perplexity=15, max_iter=100)
        .set_output(transform="pandas")
        .fit(frame[:200], pd.Series(heap[:200]))
    )
    assert list(lion.feature_names_in_) == names
    placed = lion.transform(frame[200:])
    assert list(placed.columns) == ["liontsne0", "liontsne1"] and list(placed.index) == index[200:]
    table = lion.place(frame[200:])
    assert list(table.id) == index[200:] and set(table.nearest_id) <= set(index[:200])
    more = frame.assign(other="text")[["other", *names[::-1]]]
    for known in (more, pl.from_pandas(more), pa.Table.from_pandas(more)):
        assert_array_equal(lion.transform(known), lion.transform(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        lion.transform(frame.rename(columns={names[0]: "gene z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_array_equal(lion.transform(X[200:]), placed)
    rows = pl.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    polars = LionTSNE(perplexity=15, max_iter=100).set_output(transform="polars").fit(rows[:200])
    assert_array_equal(polars.transform(rows[200:]).to_numpy(), placed.to_numpy())
    assert isinstance(polars.transform(rows[200:]), pl.DataFrame)


def test_labels_are_carried_along(blobs):
    X, heap = blobs
    fit = lambda y: LionTSNE(perplexity=15, max_iter=50).fit(X, y)._map.labels
    words = [str(h) for h in heap]
    assert fit(heap) == words and fit(heap.tolist()) == words
    assert fit(pd.Categorical(words)) == words and fit(pl.Series(words)) == words
    assert fit(None) is None and fit(heap / 7) is None
    with pytest.raises(ValueError, match="X has 240 rows but y has 3"):
        fit(heap[:3])


def test_sparse_rows_go_through_a_pca(tmp_path):
    rows = random_array(
        (300, 2500), density=0.01, rng=np.random.default_rng(0), format="csr", dtype=np.float32
    )
    lion = LionTSNE(perplexity=15, max_iter=100, pca=20).fit(csr_matrix(rows))
    assert lion.n_features_in_ == 2500 and lion._map.input_dims == 20
    assert_array_equal(lion.transform(csr_array(rows)), lion.embedding_)
    assert_array_equal(lion.transform(rows.toarray()), lion.embedding_)
    again = pickle.loads(pickle.dumps(lion))
    assert_array_equal(again.transform(rows[:9]), lion.embedding_[:9])
    lion.save(tmp_path / "sparse.lion")
    read = liontsne.load(tmp_path / "sparse.lion")
    assert read.n_features_in_ == 2500
    assert_array_equal(read.transform(rows), lion.embedding_)
    assert_array_equal(read.transform(rows.toarray()), lion.embedding_)
    read.save(tmp_path / "again.lion")
    assert (tmp_path / "again.lion").read_bytes() == (tmp_path / "sparse.lion").read_bytes()
    with pytest.raises(ValueError, match="sparse rows need a PCA"):
        LionTSNE(pca=None).fit(rows)


def test_sparse_and_dense_see_the_same_distances():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((200, 30)) < 0.2, rng.normal(size=(200, 30)), 0).astype(np.float32)
    for metric in ("euclidean", "cosine"):
        make = lambda: LionTSNE(perplexity=15, metric=metric, pca=10, max_iter=1)
        one, other = make().fit(dense), make().fit(csr_matrix(dense))
        assert one.radius_ / other.radius_ == pytest.approx(1, abs=0.2)
        assert_allclose(one.place(dense[:50] + 0).nearest_distance, 0, atol=1e-6)
        a, b = (lion._map.power_curve[:, 1] for lion in (one, other))
        assert a.shape == b.shape


# Keeping


def test_pickle_and_joblib(fitted, blobs, tmp_path):
    X, _ = blobs
    joblib.dump(fitted, tmp_path / "lion.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "lion.joblib")):
        assert_array_equal(again.transform(X), fitted.transform(X))
        assert again.get_params() == fitted.get_params() and repr(again) == repr(fitted)
    assert repr(pickle.loads(pickle.dumps(LionTSNE(perplexity=3)))) == "LionTSNE(perplexity=3)"


def test_save_and_load(fitted, blobs, tmp_path, strange):
    X, _ = blobs
    path = tmp_path / "map.lion"
    fitted.save(path)
    again = liontsne.load(path)
    rows = np.vstack([X, strange])
    assert_array_equal(again.transform(rows), fitted.transform(rows))
    assert again.n_features_in_ == 6 and again.perplexity == 15 and again.radius == "99%"
    wide = liontsne.load(str(path), radius="100%", local="idw", n_jobs=1)
    assert wide.radius_ > again.radius_
    assert_array_equal(pickle.loads(pickle.dumps(wide)).transform(rows), wide.transform(rows))


def test_adopted_maps(blobs, strange):
    X, heap = blobs
    lion = LionTSNE.from_embedding(X[:200], X[:200, :3], heap[:200], perplexity=15)
    assert lion.n_components == 3 and np.isnan(lion.kl_divergence_) and "adopted" in repr(lion)
    assert_array_equal(lion.transform(X[:200]), X[:200, :3])
    assert_array_equal(lion.predict(strange), [-1] * 3)
    with pytest.raises(ValueError, match="there are 200 rows but 3 places"):
        LionTSNE.from_embedding(X[:200], X[:3, :2])
    with pytest.raises(ValueError, match="Y must be a table"):
        LionTSNE.from_embedding(X, X[:, 0])


# Refusals


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"perplexity": 100}, "perplexity 100 is too large for 240 rows: use at most 79.6"),
        ({"perplexity": "30"}, "perplexity must be \"auto\" or a number, not '30'"),
        ({"n_components": 0}, "n_components must be 1, 2 or 3, not 0"),
        ({"n_components": 4}, "n_components must be 1, 2 or 3, not 4"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 on, not 0"),
        ({"metric": "manhattan"}, "metric must be one of euclidean, cosine, not 'manhattan'"),
        ({"method": "quick"}, "method must be one of auto, exact, barnes_hut, fft, not 'quick'"),
        ({"init": "zeros"}, "init must be one of pca, random, spectral, not 'zeros'"),
        ({"radius": "lots"}, "radius must be a percentile such as"),
        ({"power": "high"}, "power must be \"auto\" or a number, not 'high'"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, not 0"),
        ({"random_state": -1}, "random_state must be 0 or more, not -1"),
        ({"pca": 0}, "pca must be a whole number from 1 on, not 0"),
        ({"local": "linear"}, "local must be one of energy, attraction, idw, not 'linear'"),
        ({"verdict": "paper", "off_plane": "far"}, "off_plane must be"),
        ({"pca_residual": "99%"}, "pca_residual is for verdict"),
        ({"off_plane": "99%"}, "off_plane is for verdict"),
        ({"verdict": "mine"}, "verdict must be"),
        ({"alpha": 2.0}, "alpha must be"),
        ({"fdr": -1}, "fdr must be"),
    ],
)
def test_wrong_parameters(blobs, params, sentence):
    with pytest.raises(ValueError) as caught:
        LionTSNE(**{"perplexity": 15, "max_iter": 20} | params).fit(blobs[0])
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_the_default_perplexity_is_what_few_rows_allow(blobs):
    few = blobs[0][:38]
    for make in (LionTSNE, TSNE):
        with pytest.warns(UserWarning, match="^perplexity 12.3 was used instead of 30, as much as 38 rows"):
            default = make(max_iter=20).fit(few)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            auto = make(perplexity="auto", max_iter=20).fit(few)
        assert (default.embedding_ == auto.embedding_).all()
        with pytest.raises(ValueError, match="perplexity 31 is too large for 38 rows: use at most 12.3"):
            make(perplexity=31).fit(few)
    lion = LionTSNE(max_iter=20).fit(blobs[0])
    assert lion.perplexity_ == lion.perplexity == 30


def test_a_map_on_a_line(blobs, tmp_path):
    X, heap = blobs
    lion = LionTSNE(n_components=1, perplexity=15, max_iter=250).fit(X[:200], heap[:200])
    assert lion.embedding_.shape == (200, 1) and lion.get_feature_names_out().tolist() == ["liontsne0"]
    assert_array_equal(lion.transform(X[:200]), lion.embedding_)
    placed = lion.place(X[200:])
    assert placed.coordinates.shape == (len(X) - 200, 1)
    assert placed.to_pandas().columns[:3].tolist() == ["id", "x", "verdict"]
    placed.plot()
    lion.save(tmp_path / "line.lion")
    assert_array_equal(liontsne.load(tmp_path / "line.lion").transform(X), lion.transform(X))
    flat = LionTSNE.from_embedding(X[:200], lion.embedding_)
    assert flat.n_components == 1 and flat.transform(X[200:]).shape == (len(X) - 200, 1)


def with_value(X, value):
    X = X.astype(float)
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    ("rows", "kind", "sentence"),
    [
        (
            lambda X: with_value(X, np.nan),
            ValueError,
            "row 3, column 2 is NaN: every value must be a finite number",
        ),
        (
            lambda X: with_value(X, -np.inf),
            ValueError,
            "row 3, column 2 is -inf: every value must be a finite",
        ),
        (
            lambda X: with_value(X, 1e300),
            ValueError,
            "row 3, column 2 is inf: every value must be a finite number",
        ),
        (
            lambda X: np.full((9, 6), "a"),
            ValueError,
            "row 0, column 0 holds 'a', which is not a number",
        ),
        (
            lambda X: [["1", "b"], ["2", "c"]],
            ValueError,
            "row 0, column 1 holds 'b', which is not a number",
        ),
        (
            lambda X: np.array([[{}, 1], [2, 3]], dtype=object),
            TypeError,
            "argument must be a string or a",
        ),
        (lambda X: [[1, 2], [3]], ValueError, "row 1 has length 1 instead of 2"),
        (lambda X: X[:0], ValueError, "Found array with 0 sample(s)"),
        (lambda X: X[:, :0], ValueError, "Found array with 0 feature(s)"),
        (lambda X: X[:1], ValueError, "Found array with 1 sample(s)"),
        (lambda X: X[0], ValueError, "Expected 2D array, got 1D array"),
        (lambda X: X[None], ValueError, "Found array with dim 3"),
        (lambda X: X + 1j, ValueError, "Complex data not supported"),
        (lambda X: np.ones((90, 3)), ValueError, "differ"),
    ],
)
def test_wrong_rows_to_fit(blobs, rows, kind, sentence):
    with pytest.raises(kind) as caught:
        LionTSNE(perplexity=15, max_iter=20).fit(rows(blobs[0]))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "method", ["transform", "predict", "score_samples", "decision_function", "place"]
)
def test_wrong_rows_to_place(fitted, blobs, method):
    X, _ = blobs
    call = getattr(fitted, method)
    for rows, sentence in [
        (with_value(X, np.nan), "row 3, column 2 is NaN"),
        (with_value(X, np.inf).astype(np.float32), "row 3, column 2 is inf"),
        (X[:, :5], "X has 5 features, but LionTSNE is expecting 6 features as input"),
        (X[:0], "Found array with 0 sample(s)"),
        (X[0], "Expected 2D array, got 1D array"),
        (np.full((2, 6), "x"), "row 0, column 0 holds 'x', which is not a number"),
    ]:
        with pytest.raises(ValueError) as caught:
            call(rows)
        assert sentence in str(caught.value)
    with pytest.raises(NotFittedError, match="This LionTSNE instance is not fitted yet"):
        getattr(LionTSNE(), method)(X)


def test_ids_must_fit(fitted, blobs):
    with pytest.raises(ValueError, match="there are 240 rows but 1 ids"):
        fitted.place(blobs[0], ids=["one"])
    with pytest.raises(ValueError, match="there are 240 rows but 2 ids"):
        LionTSNE(perplexity=15).fit(blobs[0], ids=[1, 2])


def test_wrong_files(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.lion"):
        liontsne.load(tmp_path / "nowhere.lion")
    path = tmp_path / "map.lion"
    fitted.save(path)
    bytes = path.read_bytes()
    path.write_bytes(bytes[:-100])
    with pytest.raises(ValueError, match="cut short, 100 bytes are missing"):
        liontsne.load(path)
    path.write_bytes(b"hello")
    with pytest.raises(ValueError, match="map.lion: "):
        liontsne.load(path)
    with pytest.raises(OSError):
        fitted.save(tmp_path / "no such folder" / "map.lion")
    with pytest.raises(NotFittedError):
        LionTSNE().save(path)
