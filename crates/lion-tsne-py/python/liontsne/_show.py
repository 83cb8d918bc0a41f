"""What `LionTSNE` shows of its map: ids and labels, pictures, the widget."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from liontsne._native import Map
    from liontsne.widget import MapWidget


class ShowsMap:
    """How `LionTSNE` tells of its map, and draws it."""

    _map: "Map"
    embedding_: np.ndarray

    @property
    def ids_(self) -> np.ndarray:
        """The ids of the rows: their numbers as texts, counted from 0, if they were given none."""
        self._ready()
        ids = self._map.ids
        return np.array(ids or [str(row) for row in range(self._map.rows)], dtype=object)

    @property
    def labels_(self) -> np.ndarray | None:
        """The labels of the rows; None if they have none."""
        self._ready()
        labels = self._map.labels
        return None if labels is None else np.array(labels, dtype=object)

    def plot(self, ax: "Axes | None" = None, *, color: Any = None, size: float = 12.0) -> "Axes":
        """Draws the map with matplotlib, and returns the axes.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None makes a figure.
        color : sequence of shape (n_samples,) or None
            What colours the rows: numbers get a ramp, other values a colour for each. None is the
            labels of the map.
        size : float, default=12.0
            The size of the points.
        """
        from liontsne._plot import draw_map

        self._ready()
        values = self._map.labels if color is None else color
        return draw_map(self.embedding_, values, ax=ax, size=size)

    def widget(self, data: Any = None, *, color: Any = None, height: int = 480) -> "MapWidget":
        """Shows the map in a notebook: pan, zoom, hover, lasso. It needs anywidget.

        Parameters
        ----------
        data : frame, table or dict of columns, or None
            A table with a line for each row of the map. Its columns appear in the cards of points,
            and `widget.color` can name them.
        color : str, sequence of shape (n_samples,) or None
            What colours the rows: the name of a column of `data`, or values. Numbers get a ramp
            from the 2nd to the 98th percentile. Rows that are placed later have no such value and
            are grey. None is the labels, and gives a placed row the label of the nearest row.
        height : int, default=480
            Pixels.

        Returns
        -------
        MapWidget
            `selection` has the row numbers of what the lasso caught, and can be set. `add(rows)`
            places new rows, and they land on the map. `color` can be set.
        """
        from liontsne.widget import MapWidget

        self._ready()
        return MapWidget(self, data=data, color=color, height=height)
