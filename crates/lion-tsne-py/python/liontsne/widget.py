"""The map in a notebook, by anywidget: pan, zoom, hover, lasso, and new rows that land on it.

It is the dashboard of `lion serve` without the server. It works in Jupyter, VS Code, marimo and Colab,
and needs `pip install "liontsne[widget]"`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liontsne import _coloring
from liontsne._plot import in_plane
from liontsne._values import columns as columns_of
from liontsne.placements import Placements

try:
    import anywidget
    import traitlets
except ImportError as error:  # pragma: no cover
    raise ImportError('the widget needs anywidget: pip install "liontsne[widget]"') from error

if TYPE_CHECKING:
    from liontsne.estimator import LionTSNE

MOST_SHOWN = 12  # columns in a card
LONGEST = 300  # characters of a value in a card


class MapWidget(anywidget.AnyWidget):
    """A map that can be looked at, asked, and added to. `LionTSNE.widget` and `Placements.widget`
    make one.

    Attributes
    ----------
    selection : int64 array
        The numbers of the selected rows of the map. The lasso sets it, and so can you.
    selection_placed : int64 array
        The same for placed rows, in the order in which they were added.
    color : str, sequence or None
        What colours the rows: the name of a column of `data`, values for each row, or None for the
        labels of the map.
    height : int
        Pixels.

    Examples
    --------
    >>> widget = lion.widget(frame)                   # doctest: +SKIP
    >>> widget.color = "income"                       # doctest: +SKIP
    >>> frame.iloc[widget.selection].describe()       # doctest: +SKIP
    >>> widget.observe(lambda change: print(len(change.new)), "selection")  # doctest: +SKIP
    """

    _esm = Path(__file__).parent / "static" / "widget.js"
    _info = traitlets.Dict().tag(sync=True)
    _places = traitlets.Bytes().tag(sync=True)
    _color = traitlets.Dict().tag(sync=True)
    _placed = traitlets.Dict().tag(sync=True)
    _selected = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)
    selection = traitlets.Any()
    selection_placed = traitlets.Any()
    color = traitlets.Any(allow_none=True)

    def __init__(self, lion: "LionTSNE", *, data: Any = None, color: Any = None, height: int = 480):
        self._lion = lion
        self._labels = lion._map.labels
        self._embedding = in_plane(lion.embedding_, lion.embedding_)
        self._data = table(data, len(self._embedding))
        self._forget_placed()
        nothing = np.empty(0, dtype=np.int64)
        super().__init__(
            _info=self._described(),
            _places=_coloring.packed(self._embedding, lion._map.ids),
            _color=self._colored_by(color),
            _placed=self._rows_placed.sent(),
            _selected={"rows": b"", "placed": b""},
            height=height,
            selection=nothing,
            selection_placed=nothing,
            color=color,
        )
        self.on_msg(self._answer)

    def _described(self) -> dict[str, Any]:
        low, high = self._embedding.min(axis=0), self._embedding.max(axis=0)
        return {
            "name": "map",
            "rows": len(self._embedding),
            "columns": self._lion.n_features_in_,
            "places": self._embedding.shape[1],
            "clusters_from": "labels",
            "image": None,
            "version": 1,
            "parent": None,
            "bounds": [*low.tolist(), *high.tolist()],
            "first": 0,
            "last": 0,
            "window": 0,
        }

    # Colours

    def _colored_by(self, color: Any) -> dict[str, Any]:
        if color is None:
            return _coloring.classes("Labels", self._labels, self._embedding) | {"labels": True}
        if isinstance(color, str):
            if color not in self._data:
                there = ", ".join(self._data) or "none: give data=… to widget()"
                raise traitlets.TraitError(f"there is no column {color!r}; the columns there are: {there}")
            return _coloring.of(color, self._data[color], self._embedding)
        return _coloring.of("Colour", color, self._embedding)

    @traitlets.validate("color")
    def _check_color(self, proposal: Any) -> Any:
        # Before anything changes: a colour that is refused leaves the picture as it is.
        self._next_color = self._colored_by(proposal["value"])
        return proposal["value"]

    @traitlets.observe("color")
    def _recolor(self, change: Any) -> None:
        self._color = self._next_color

    # Selection

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> np.ndarray:
        return numbers("selection", proposal["value"], len(self._embedding))

    @traitlets.validate("selection_placed")
    def _check_selection_placed(self, proposal: Any) -> np.ndarray:
        return numbers("selection_placed", proposal["value"], len(self._rows_placed))

    @traitlets.observe("selection", "selection_placed")
    def _tell_selection(self, change: Any) -> None:
        sent = {
            "rows": self.selection.astype(np.uint32).tobytes(),
            "placed": self.selection_placed.astype(np.uint32).tobytes(),
        }
        if {name: bytes(part) for name, part in self._selected.items()} != sent:
            self._selected = sent

    @traitlets.observe("_selected")
    def _hear_selection(self, change: Any) -> None:
        for name, part in (("selection", "rows"), ("selection_placed", "placed")):
            heard = np.frombuffer(bytes(change["new"][part]), dtype=np.uint32).astype(np.int64)
            if not np.array_equal(heard, getattr(self, name)):
                setattr(self, name, heard)

    # New rows

    def add(self, X: Any, *, ids: Any = None, labels: Any = None) -> Placements:
        """Places rows on the map and returns their placements. The new points land in view.

        Parameters
        ----------
        X : array or frame
            Rows with the columns of the map.
        ids : sequence or None
            Names of the rows. A row with the id of an earlier one takes its place. None counts on
            from the rows that are there.
        labels : sequence or None
            Labels of the rows, for their cards and colours.
        """
        count = len(X) if hasattr(X, "__len__") else X.shape[0]
        if ids is None:
            ids = [str(number) for number in range(len(self._rows_placed), len(self._rows_placed) + count)]
        placed = self._lion.place(X, ids=ids)
        self._show(placed, labels, self._lion._rows_to_place(X))
        return placed

    def show(self, placed: Placements, *, labels: Any = None) -> None:
        """Shows rows that were placed already, in the place of those shown before."""
        self._forget_placed()
        self._show(placed, labels)
        self._first_group = int(placed.group.max(initial=-1)) + 1

    def clear(self) -> None:
        """Takes all placed rows off the map. The map stays."""
        self._forget_placed()
        self.selection_placed = np.empty(0, dtype=np.int64)
        self._placed = self._rows_placed.sent()

    def _forget_placed(self) -> None:
        self._rows_placed = PlacedColumns(self._embedding.shape[1])
        # The rows of outliers that were added, by their ids, and the number of their first group.
        self._outliers: dict[str, np.ndarray] = {}
        self._first_group = 0

    def _show(self, placed: Placements, labels: Any, rows: np.ndarray | None = None) -> None:
        words = None if labels is None else [str(label) for label in labels]
        if words is not None and len(words) != len(placed):
            raise ValueError(f"there are {len(placed)} placed rows but {len(words)} labels")
        self._take(placed, words)
        if rows is not None:
            self._settle(placed, rows)
        self._placed = self._rows_placed.sent()

    def _settle(self, placed: Placements, rows: np.ndarray) -> None:
        """Gives outliers the positions and groups that they have beside the outliers added before: each
        call of `place` is for itself, and two would give the same position to different rows."""
        for id, row, verdict in zip(placed.id, rows, placed.verdict):
            self._outliers.pop(id, None)
            if verdict == "outlier":
                self._outliers[id] = row
        if not self._outliers:
            return
        together = self._lion._placer.place(np.stack(list(self._outliers.values())), list(self._outliers))
        self._take(Placements(together, self._lion), None)

    def _take(self, placed: Placements, labels: list[str] | None) -> None:
        places = in_plane(placed.coordinates, self._lion.embedding_)
        self._rows_placed.take(placed, labels, places, self._first_group)

    # Questions of cards

    def _answer(self, _: Any, asked: Any, __: Any) -> None:
        if not isinstance(asked, dict) or "question" not in asked:
            return
        detail: dict[str, Any] = {"picture": None, "nearest": [], "shown": []}
        if "row" in asked and 0 <= int(asked["row"]) < len(self._embedding):
            row = int(asked["row"])
            label = None if self._labels is None else self._labels[row]
            detail |= {"label": label, "shown": self._shown(row)}
        else:
            detail |= {"history": []}
        self.send({"question": asked["question"], "detail": detail})

    def _shown(self, row: int) -> list[tuple[str, str]]:
        return [
            (name, str(values[row])[:LONGEST])
            for name, values in list(self._data.items())[:MOST_SHOWN]
        ]


class PlacedColumns:
    """Placed rows as columns, by id."""

    def __init__(self, dims: int):
        self.dims = dims
        self.row_of: dict[str, int] = {}
        self.places = np.empty((0, dims), np.float32)
        self.score = np.empty(0, np.float32)
        self.verdict = np.empty(0, np.uint8)
        self.group = np.empty(0, np.float32)
        self.nearest = np.empty(0, np.float32)
        self.labels: list[str | None] = []

    def __len__(self) -> int:
        return len(self.row_of)

    def take(
        self, placed: Placements, labels: list[str] | None, places: np.ndarray, first_group: int
    ) -> None:
        """Adds rows; one whose id is known takes the place of the one before."""
        at = np.array([self.row_of.setdefault(id, len(self.row_of)) for id in placed.id], dtype=int)
        more = len(self.row_of) - len(self.score)
        self.places = np.vstack([self.places, np.zeros((more, self.dims), np.float32)])
        for name in ("score", "verdict", "group", "nearest"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros(more, column.dtype)]))
        self.labels += [None] * more
        self.places[at] = places
        self.score[at] = placed.score
        self.verdict[at] = placed._native.verdict_codes
        self.group[at] = np.where(placed.group < 0, -1, placed.group + first_group)
        self.nearest[at] = placed.nearest
        for row, label in zip(at, labels or ()):
            self.labels[row] = label

    def sent(self) -> dict[str, Any]:
        """As the page reads them."""
        named = any(label is not None for label in self.labels)
        return {
            **{axis: self.places[:, k].tobytes() for k, axis in enumerate("xyz"[: self.dims])},
            "z": self.places[:, 2].tobytes() if self.dims == 3 else None,
            "score": self.score.tobytes(),
            "verdict": self.verdict.tobytes(),
            "group": self.group.tobytes(),
            "nearest": self.nearest.tobytes(),
            "ids": list(self.row_of),
            "labels": self.labels if named else None,
        }


def numbers(name: str, value: Any, rows: int) -> np.ndarray:
    """Row numbers, or a sentence that says which is none."""
    given = np.asarray(value)
    if given.dtype == bool and given.shape == (rows,):
        given = np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise traitlets.TraitError(f"{name} must be row numbers, not {value!r}")
    beyond = given[(given < 0) | (given >= rows)]
    if len(beyond):
        raise traitlets.TraitError(f"{name} has {beyond[0]}, and rows are numbered 0 to {rows - 1}")
    return given.astype(np.int64)


def table(data: Any, rows: int) -> dict[str, Any]:
    """The columns of a table with a line for each row of the map."""
    if data is None:
        return {}
    there = dict(data) if isinstance(data, dict) else dict(columns_of(data) or ())
    if not there:
        raise ValueError("data must be a frame, a table or a dict of columns")
    for name, values in there.items():
        if len(values) != rows:
            raise ValueError(f"the map has {rows} rows, but column {name} of data has {len(values)}")
    return {str(name): np.asarray(values) for name, values in there.items()}
