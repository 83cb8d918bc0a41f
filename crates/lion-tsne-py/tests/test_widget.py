"""The widget, as far as Python sees it; `web/tests/notebook` looks at it in JupyterLab."""

import json
import struct

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("anywidget")
from traitlets import TraitError  # noqa: E402


@pytest.fixture
def frame(blobs) -> pd.DataFrame:
    X, heap = blobs
    return pd.DataFrame({"income": X[:200, 0], "town": np.array(["Lyon", "Oslo", "Kyiv"])[heap[:200]]})


@pytest.fixture
def widget(fitted, frame):
    return fitted.widget(frame)


def unpacked(packed: bytes) -> dict[str, bytes]:
    length = struct.unpack_from("<I", packed)[0]
    header = json.loads(packed[4 : 4 + length])
    body = packed[4 + length :]
    assert (4 + length) % 8 == 0
    return {c["name"]: body[c["offset"] : c["offset"] + c["length"]] for c in header["columns"]}


def codes(widget) -> np.ndarray:
    return np.frombuffer(widget._color["codes"], np.uint32)


def test_places_travel_as_bytes(widget, fitted):
    columns = unpacked(widget._places)
    x, y = (np.frombuffer(columns[axis], "<f4") for axis in "xy")
    np.testing.assert_array_equal(np.column_stack([x, y]), fitted.embedding_)
    assert widget._info["bounds"][:2] == fitted.embedding_.min(axis=0).tolist()


def test_labels_are_the_first_colours(widget, blobs):
    _, heap = blobs
    assert [cluster["name"] for cluster in widget._color["clusters"]] == ["0", "1", "2"]
    np.testing.assert_array_equal(codes(widget), heap[:200])


def test_the_middle_of_a_class_is_its_median(widget, fitted, blobs):
    middle = widget._color["clusters"][1]
    of_class = np.sort(fitted.embedding_[blobs[1][:200] == 1], axis=0)
    np.testing.assert_allclose([middle["x"], middle["y"]], of_class[len(of_class) // 2])


def test_numbers_get_a_ramp_and_texts_classes(widget, frame):
    widget.color = "income"
    assert widget._color["ramp"]["name"] == "income" and len(widget._color["clusters"]) == 64
    order = np.argsort(frame["income"])
    assert (np.diff(codes(widget)[order].astype(int)) >= 0).all()
    assert codes(widget).min() == 0 and codes(widget).max() == 63
    widget.color = "town"
    assert widget._color["ramp"] is None
    names = np.array([cluster["name"] for cluster in widget._color["clusters"]])
    np.testing.assert_array_equal(names[codes(widget)], frame["town"])
    widget.color = np.where(np.arange(200) < 7, np.nan, np.linspace(0, 1, 200))
    assert (codes(widget)[:7] == 0xFFFFFFFF).all() and (codes(widget)[7:] < 64).all()


def test_a_ramp_leaves_colours_to_most_values(widget):
    even = np.arange(200.0)
    widget.color = np.where(even == 199, 1e9, even)
    assert widget._color["ramp"]["note"] == "2nd to 98th percentile"
    assert float(widget._color["ramp"]["high"]) < 200
    assert len(np.unique(codes(widget))) > 50
    # Sizes and prices: a few are a thousand times the others.
    skewed = np.geomspace(1, 1e5, 200)
    widget.color = skewed
    assert widget._color["ramp"]["note"] == "2nd to 98th percentile, logarithmic"
    assert len(np.unique(codes(widget))) > 50 and (np.diff(codes(widget).astype(int)) >= 0).all()
    # There is no logarithm of what is not above 0, but the few below the ramp do no harm.
    widget.color = np.where(np.arange(200) < 2, -5.0, skewed)
    assert widget._color["ramp"]["note"].endswith("logarithmic") and (codes(widget)[:2] == 0).all()
    widget.color = skewed - 1000
    assert widget._color["ramp"]["note"] == "2nd to 98th percentile"


def test_only_labels_are_classes_that_placed_rows_have(widget):
    assert widget._color["labels"]
    for column in ("income", "town"):
        widget.color = column
        assert "labels" not in widget._color


def test_a_colour_that_is_refused_changes_nothing(widget):
    before = widget._color
    with pytest.raises(TraitError, match="no column 'age'; the columns there are: income, town"):
        widget.color = "age"
    with pytest.raises(ValueError, match="the map has 200 rows, but the column to colour by has 3"):
        widget.color = [1, 2, 3]
    assert widget._color is before and widget.color is None


def test_the_selection_goes_both_ways(widget):
    heard = []
    widget.observe(lambda change: heard.append(change.new.tolist()), "selection")
    widget.selection = [5, 1]
    assert np.frombuffer(widget._selected["rows"], np.uint32).tolist() == [5, 1]
    # What the page tells arrives as memory.
    rows = np.array([7, 8, 9], np.uint32)
    widget.set_state({"_selected": {"rows": memoryview(rows.tobytes()), "placed": memoryview(b"")}})
    assert widget.selection.tolist() == [7, 8, 9] and heard == [[5, 1], [7, 8, 9]]
    widget.selection = np.arange(200) < 2
    assert widget.selection.tolist() == [0, 1]
    with pytest.raises(TraitError, match="selection has 200, and rows are numbered 0 to 199"):
        widget.selection = [200]


def placed(widget) -> dict[str, np.ndarray]:
    sent = widget._placed
    kinds = {"x": "<f4", "y": "<f4", "group": "<f4", "nearest": "<f4", "verdict": np.uint8}
    return {name: np.frombuffer(sent[name], kind) for name, kind in kinds.items()} | {"ids": sent["ids"]}


def test_rows_that_are_added_have_their_places(widget, fitted, blobs, strange):
    X, _ = blobs
    answer = widget.add(X[200:])
    sent = placed(widget)
    np.testing.assert_array_equal(sent["x"], answer.x)
    assert sent["ids"] == [str(row) for row in range(40)]
    widget.add(strange[:1])
    widget.add(strange[2:])
    sent = placed(widget)
    # As if they had come at once: apart from each other, in groups of their own.
    together = fitted.place(strange[[0, 2]])
    np.testing.assert_array_equal(sent["x"][40:], together.x)
    assert sent["group"][40:].tolist() == together.group.tolist() and len(set(together.group)) == 2
    widget.clear()
    assert placed(widget)["ids"] == [] and len(widget.selection_placed) == 0


def test_an_id_that_comes_again_moves(widget, blobs):
    X, _ = blobs
    widget.add(X[200:202], ids=["a", "b"], labels=["new", "new"])
    widget.add(X[:1], ids=["a"])
    assert placed(widget)["ids"] == ["a", "b"] and placed(widget)["verdict"][0] == 0
    assert widget._placed["labels"] == ["new", "new"]


def test_placements_have_a_widget_too(fitted, blobs):
    shown = fitted.place(blobs[0][200:])
    widget = shown.widget(labels=blobs[1][200:])
    np.testing.assert_array_equal(placed(widget)["y"], shown.y)
    assert widget._placed["labels"] == [str(label) for label in blobs[1][200:]]


def test_cards_are_answered_with_the_columns(widget, frame):
    sent = []
    widget.send = sent.append
    widget._answer(widget, {"question": 3, "row": 11}, [])
    assert sent[0]["question"] == 3
    assert sent[0]["detail"]["shown"][1] == ("town", frame["town"][11])
    widget._answer(widget, {"question": 4, "row": 10**9}, [])
    assert sent[1]["detail"]["shown"] == []


def test_tables_of_other_lengths_are_refused(fitted, frame):
    with pytest.raises(ValueError, match="the map has 200 rows, but column income of data has 9"):
        fitted.widget(frame[:9])


def test_the_map_is_plotted(fitted, frame):
    ax = fitted.plot()
    assert len(ax.collections[0].get_offsets()) == 200
    assert fitted.plot(color=frame["income"]).collections[0].get_array().shape == (200,)
    with pytest.raises(ValueError, match="there are 200 rows but 3 values of color"):
        fitted.plot(color=[1, 2, 3])
