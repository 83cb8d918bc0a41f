"""`Placements`: what is known of placed rows, as a table and as a picture."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from liontsne import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

    from liontsne.estimator import LionTSNE
    from liontsne.widget import MapWidget

VERDICTS = tuple(_native.verdicts())


class Placements:
    """Placed rows: one for each row that was given, in the same order.

    The columns are those of `lion place`, and `columns` lists them. Each is an attribute, and
    `placements["score"]` is the same. `nearest` has the row numbers of `nearest_id`.

    `group` is -1 for rows that are no outliers. `p_neighbours` is nan with the rule of the paper.
    `off_plane` is nan without PCA. `label` is None and `label_share` nan for outliers, and for maps
    without labels.

    Anything that reads Arrow's PyCapsule interface takes the object as it is:
    `pyarrow.table(placements)`, `polars.DataFrame(placements)`, a query in DuckDB.

    Examples
    --------
    >>> import numpy as np
    >>> from liontsne import LionTSNE
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> placed = LionTSNE.from_embedding(X, X[:, :2]).place(np.vstack([X[:2], X[:1] + 1000]))
    >>> len(placed), list(placed.verdict), placed.coordinates.shape
    (3, ['exact', 'exact', 'outlier'], (3, 2))
    >>> placed
    Placements: 3 rows, 2 exact, 1 outlier
    """

    def __init__(self, native: Any, lion: "LionTSNE"):
        self._native = native
        self._lion = lion

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._native.columns)

    @property
    def coordinates(self) -> np.ndarray:
        """The positions, float32, of shape (n, dimensions of the map)."""
        return self._native.coordinates

    @property
    def nearest(self) -> np.ndarray:
        """The number of the nearest row of the map."""
        return self._native.nearest

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._native.columns:
            raise KeyError(name)
        return getattr(self, name)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in self._native.columns:
            raise AttributeError(f"'Placements' has no column {name!r}")
        if name in ("x", "y", "z"):
            return self.coordinates[:, "xyz".index(name)]
        if name == "verdict":
            return np.array(VERDICTS, dtype=object)[self._native.verdict_codes]
        values = getattr(self._native, name)
        return np.asarray(values, dtype=object if isinstance(values, list) else None)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.columns})

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> list[str]:
        """The names of the columns: with this, `dict(placements)` is a dict of arrays."""
        return self.columns

    def __repr__(self) -> str:
        verdict = self.verdict
        counts = [(int((verdict == word).sum()), word) for word in VERDICTS]
        return ", ".join(
            [f"Placements: {len(self)} rows", *(f"{n} {word}" for n, word in counts if n)]
        )

    def _repr_html_(self) -> str:
        """A picture of the map with these rows on it, which needs no kernel."""
        from liontsne._picture import of_placed

        lion, strange = self._lion, self.verdict == "outlier"
        labels = list(self.label) if "label" in self.columns else [None] * len(self)
        words = f"{self!r}. Placed rows have a rim, outliers are diamonds."
        return of_placed(lion.embedding_, lion._map.labels, self.coordinates, strange, labels, words)

    # Tables

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def to_pyarrow(self) -> "pyarrow.Table":
        """A pyarrow table over the same memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> "polars.DataFrame":
        """A polars frame over the same memory."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """A pandas frame. The verdict is a category. What a row does not have is missing."""
        import pandas

        verdict = pandas.Categorical.from_codes(self._native.verdict_codes, categories=VERDICTS)
        group = pandas.Series(self.group, dtype="Int64").where(self.group >= 0)
        return pandas.DataFrame(dict(self) | {"verdict": verdict, "group": group})

    # Pictures

    def plot(self, ax: "Axes | None" = None, *, labels: Any = None, size: float = 12.0) -> "Axes":
        """Draws the map, the new rows and the outliers with matplotlib, and returns the axes.

        The map is pale, and coloured by its labels if it has any. New rows have a dark rim, and
        `labels` colours them. Outliers are diamonds, with a number where several lie together.
        """
        from liontsne._plot import draw

        lion = self._lion
        return draw(self, lion.embedding_, lion._map.labels, ax=ax, labels=labels, size=size)

    def widget(
        self, data: Any = None, *, labels: Any = None, color: Any = None, height: int = 480
    ) -> "MapWidget":
        """Shows the map with these rows on it in a notebook. It needs anywidget.

        `data`, `color` and `height` are those of `LionTSNE.widget`, of which this is a widget with
        the placed rows on it. `labels` are the labels of the placed rows, shown in their cards.
        """
        widget = self._lion.widget(data, color=color, height=height)
        widget.show(self, labels=labels)
        return widget
