"""The picture of a map with placed rows, by matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from liontsne.placements import Placements

GREY, RIM, ALARM = "#9aa0a6", "#202124", "#d93025"
INSIDE = {"edgecolors": RIM, "linewidths": 0.6}
STRANGE = {"marker": "D", "edgecolors": ALARM, "linewidths": 0.9}
# Matplotlib's ten, and eight more. Beyond that colours can no longer be told apart.
COLOURS = (
    "#1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b #e377c2 #7f7f7f #bcbd22 #17becf "
    "#404040 #00c2a0 #b8860b #5b2c6f #a3e048 #ff9da7 #1b4f72 #ffd92f"
).split()


def draw(
    placed: "Placements",
    embedding: np.ndarray,
    map_labels: list[str] | None,
    *,
    ax: "Axes | None",
    labels: Any,
    size: float,
) -> "Axes":
    """Draws the map, new rows with a rim, outliers as diamonds."""
    new_labels = None if labels is None else [str(label) for label in labels]
    if new_labels is not None and len(new_labels) != len(placed):
        raise ValueError(f"there are {len(placed)} placed rows but {len(new_labels)} labels")
    dims, ax = embedding.shape[1], axes(embedding.shape[1]) if ax is None else ax
    embedding, new = in_plane(embedding, embedding), in_plane(placed.coordinates, embedding)
    colour = palette(map_labels, new_labels)
    fills = colours(new_labels, colour, len(placed))
    strange = placed.verdict == "outlier"
    old, rimmed = {"s": size / 2, "alpha": 0.35, "linewidths": 0}, {"s": size, **INSIDE}
    ax.scatter(*embedding.T, c=colours(map_labels, colour, len(embedding)), **old)
    ax.scatter(*new[~strange].T, c=fills[~strange], **rimmed)
    if strange.any():
        ax.scatter(*new[strange].T, c=fills[strange], s=2 * size, **STRANGE)
    count_groups(ax, placed.group, new)
    legend(ax, colour, int((~strange).sum()), int(strange.sum()))
    bare(ax, dims)
    return ax


def draw_map(embedding: np.ndarray, values: Any, *, ax: "Axes | None", size: float) -> "Axes":
    """Draws the map alone. Numbers get a ramp of colours, other values a colour for each."""
    values = None if values is None else np.asarray(values)
    if values is not None and values.shape != (len(embedding),):
        raise ValueError(f"there are {len(embedding)} rows but {len(values)} values of color")
    dims, ax = embedding.shape[1], axes(embedding.shape[1]) if ax is None else ax
    looks = {"s": size / 2, "alpha": 0.7, "linewidths": 0}
    places = in_plane(embedding, embedding).T
    if values is not None and values.dtype.kind in "fiu":
        drawn = ax.scatter(*places, c=values, cmap="viridis", **looks)
        ax.figure.colorbar(drawn, ax=ax, shrink=0.6)
    else:
        labels = None if values is None else [str(value) for value in values]
        colour = palette(labels)
        ax.scatter(*places, c=colours(labels, colour, len(embedding)), **looks)
        if colour:
            legend(ax, colour)
    bare(ax, dims)
    return ax


def bare(ax: "Axes", dims: int) -> None:
    """Neither axis has a meaning, but distances along both are the same."""
    ax.set_xticks([])
    ax.set_yticks([])
    if dims == 2:
        ax.set_aspect("equal")


def in_plane(places: np.ndarray, map: np.ndarray) -> np.ndarray:
    """Places on a line as a strip: how high a point is in it means nothing, but that points do not
    hide each other. Other places are what they are.

    >>> in_plane(np.array([[0.0], [8.0]]), np.array([[0.0], [8.0]])).shape
    (2, 2)
    """
    if places.shape[1] != 1:
        return places
    height = np.ptp(map[:, 0]) / 8
    return np.column_stack([places, np.random.default_rng(0).uniform(-height, height, len(places)) / 2])


def count_groups(ax: "Axes", group_of: np.ndarray, places: np.ndarray) -> None:
    """Outliers that belong together lie on top of each other: says how many they are."""
    groups, counts = np.unique(group_of[group_of >= 0], return_counts=True)
    for group, count in zip(groups[counts > 1], counts[counts > 1]):
        middle = places[group_of == group].mean(axis=0)
        if len(middle) == 2:
            offset = {"xytext": (5, 3), "textcoords": "offset points"}
            ax.annotate(str(count), middle, **offset, color=ALARM, fontsize="small")


def axes(dims: int) -> "Axes":
    """Axes of a figure of their own."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7, 6), layout="constrained")
    return figure.add_subplot(projection="3d" if dims == 3 else None)


def kinds_in_colour(*labels: list[str] | None) -> dict[str, str]:
    """A colour for each label; none where there are too many kinds.

    >>> kinds_in_colour(["10", "9"], None)
    {'9': '#1f77b4', '10': '#ff7f0e'}
    """
    kinds = sorted({label for some in labels if some for label in some}, key=natural)
    return dict(zip(kinds, COLOURS)) if len(kinds) <= len(COLOURS) else {}


def palette(*labels: list[str] | None) -> dict[str, Any]:
    """The same for matplotlib."""
    from matplotlib.colors import to_rgb

    return {kind: to_rgb(colour) for kind, colour in kinds_in_colour(*labels).items()}


def natural(label: str) -> tuple[bool, float, str]:
    """Numbers by value, then words."""
    try:
        return (False, float(label), label)
    except ValueError:
        return (True, 0.0, label)


def colours(labels: list[str] | None, colour: dict[str, Any], rows: int) -> np.ndarray:
    """A colour for each row."""
    from matplotlib.colors import to_rgb

    grey = to_rgb(GREY)
    return np.array([colour.get(label, grey) for label in labels] if labels else [grey] * rows)


def legend(ax: "Axes", colour: dict[str, Any], inside: int = 0, strange: int = 0) -> None:
    """What colours and shapes mean."""
    from matplotlib.lines import Line2D

    def mark(shape: str, fill: Any, edge: Any) -> Line2D:
        looks = {"markerfacecolor": fill, "markeredgecolor": edge, "markersize": 5}
        return Line2D([], [], linestyle="", marker=shape, **looks)

    marks = {kind: mark("o", c, c) for kind, c in colour.items()}
    if inside or strange:
        marks[f"placed ({inside})"] = mark("o", "white", RIM)
    if strange:
        marks[f"outliers ({strange})"] = mark("D", "white", ALARM)
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    ax.legend(marks.values(), marks.keys(), frameon=False, fontsize="small", **beside)
