"""Landmarks of parts, without an engine: the steps that every engine runs."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from liontsne import LionTSNE
from liontsne.distributed import _landmarks


def by_hand(parts: list[pa.Table], spoiled: bool = False):
    """A function that fits a map to parts, each sampled by itself."""

    def fit(n, *, id, label=None, columns=None, stratify=False, cover=False, save=None, **params):
        lion, choose = _landmarks.sampler(n, id, label, columns, stratify, cover, params)
        choose = choose.held_to(parts[0].schema)

        def count():
            if spoiled:
                return {"": 50_000_000}
            if not stratify:
                return {"": sum(part.num_rows for part in parts)}
            return _landmarks.total(_landmarks.packed(choose.count(p.to_batches())) for p in parts)

        def states(choose):
            choose = pickle.loads(pickle.dumps(choose))
            states = [choose.sample(part.to_batches(max_chunksize=97)) for part in parts]
            return [choose.merge(states[at : at + 3]) for at in range(0, len(states), 3)]

        return _landmarks.fit(lion, choose, count, states, save)

    return fit


def test_the_map_of_the_command_line(landmarks, tmp_path, case):
    for count in (1, 4, 11):
        landmarks.check(case, tmp_path, by_hand(landmarks.parts(count)))


def test_the_map_of_one_process(landmarks, tmp_path, case):
    def fit(n, *, id, label, save, stratify=False, cover=False, **params):
        lion = LionTSNE(**params)
        lion.fit_landmarks(landmarks.parquet, n, id=id, label=label, stratify=stratify, cover=cover)
        lion.save(save)
        return lion

    landmarks.check(case, tmp_path, fit)


def test_names_that_only_count_columns_are_not_kept(lion, tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table({"id": np.arange(500), "c1": rng.normal(size=500), "c2": rng.normal(size=500)})
    pq.write_table(table, tmp_path / "rows.parquet")
    known = ["--id", "id", "--landmarks", 100, "--perplexity", 5, "--iterations", 50, "-q"]
    lion("fit", tmp_path / "rows.parquet", *known, "-o", tmp_path / "one.lion")
    options = {"id": "id", "perplexity": 5, "max_iter": 50, "save": tmp_path / "two.lion"}
    made = by_hand([table[:80], table[80:]])(100, **options)
    assert (tmp_path / "one.lion").read_bytes() == (tmp_path / "two.lion").read_bytes()
    assert list(made.feature_names_in_) == ["c1", "c2"]


def test_wrong_counts_change_nothing(landmarks, tmp_path):
    landmarks.check("plain", tmp_path, by_hand(landmarks.parts(4), spoiled=True))


def test_few_rows_travel():
    """Of a table of many rows, a part sends what may be landmarks or judge them."""
    rng = np.random.default_rng(0)
    rows = 400_000
    table = pa.table({"id": np.arange(rows), "a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    _, choose = _landmarks.sampler(1000, "id", None, None, False, False, {})
    choose = choose.held_to(table.schema)
    assert not choose.has_moments
    choose = _landmarks.replace(choose, expected={"": rows})
    state = choose.sample(table[:40_000].to_batches())
    # 101000 of 400000 stay, and some in case.
    assert len(state) < 1.1 * 10_100 * (8 + 8 + 5) + 200


def test_a_column_of_lists_and_other_names(landmarks):
    x = np.stack([landmarks.table[name] for name in landmarks.table.column_names[2:]], axis=1)
    ids = pa.array(np.arange(len(x)))
    table = pa.table({"n": ids, "v": list(x)})
    options = {"id": "n", "perplexity": 10, "max_iter": 60}
    listed = by_hand([table[:1500], table[1500:]])(200, **options)
    alone = LionTSNE(perplexity=10, max_iter=60).fit_landmarks(table, 200, id="n")
    assert listed._map.checksum == alone._map.checksum
    assert list(listed.feature_names_in_[:2]) == ["v[1]", "v[2]"]
    assert listed._map.labels is None


def test_a_bad_row_is_named_by_its_id(landmarks):
    table = landmarks.table
    values = table["f3"].to_pylist()
    values[17] = None
    bad = table.set_column(table.column_names.index("f3"), "f3", [values])
    with pytest.raises(ValueError, match="^id r17, column f3 is NaN: every value must be"):
        by_hand([bad[:10], bad[10:]])(300, id="id", label="kind")
    values = [None if name == "r5" else name for name in table["id"].to_pylist()]
    bad = table.set_column(0, "id", [values])
    with pytest.raises(ValueError, match="^column id is empty: every row needs an id"):
        by_hand([bad])(300, id="id", label="kind")


def test_what_cannot_be_is_refused(landmarks):
    fit = by_hand(landmarks.parts(2))
    with pytest.raises(ValueError, match="id must be the name of a column, not None: rows that"):
        fit(300, id=None)
    with pytest.raises(ValueError, match=r"columns must be a list of names.*\['f1'\]"):
        fit(300, id="id", columns="f1")
    with pytest.raises(ValueError, match="no column 'name'; the columns there are: id, kind"):
        fit(300, id="name")
    with pytest.raises(ValueError, match="column 'kind' holds string, not numbers"):
        fit(300, id="id")
    with pytest.raises(ValueError, match="say which column"):
        fit(300, id="id", stratify=True)
    with pytest.raises(ValueError, match="n_landmarks"):
        fit(3, id="id", label="kind")
    with pytest.raises(ValueError, match="the table has no rows"):
        by_hand([landmarks.table[:0]])(300, id="id", label="kind")
    twice = by_hand([landmarks.table[:200], landmarks.table[:200]])
    with pytest.raises(ValueError, match="is there more than once"):
        twice(400, id="id", label="kind")
