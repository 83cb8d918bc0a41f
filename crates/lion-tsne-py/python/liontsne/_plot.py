"""The picture of a map with placed rows, by matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from liontsne.placements import Placements

GREY, RIM, ALARM = "#9aa0a6", "#202124", "#d93025"
# Beyond so many kinds colours can no longer be told apart, and a legend is a wall of text.
COLOURS = 20


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
    ax = axes(embedding.shape[1]) if ax is None else ax
    colour = palette(map_labels, new_labels)
    places, strange = placed.coordinates, placed.verdict == "outlier"
    map_colours, new_colours = colours(map_labels, colour, len(embedding)), colours(
        new_labels, colour, len(placed)
    )
    ax.scatter(*embedding.T, s=size / 2, c=map_colours, alpha=0.35, linewidths=0)
    inside = ~strange
    ax.scatter(
        *places[inside].T,
        s=size,
        c=new_colours[inside],
        edgecolors=RIM,
        linewidths=0.6,
        label=f"placed ({inside.sum()})",
    )
    if strange.any():
        fill = new_colours[strange] if new_labels is not None else ALARM
        ax.scatter(
            *places[strange].T,
            s=2 * size,
            c=fill,
            marker="D",
            edgecolors=ALARM,
            linewidths=0.9,
            label=f"outliers ({strange.sum()})",
        )
    legend(ax, colour)
    ax.set_xticks([])
    ax.set_yticks([])
    if embedding.shape[1] == 2:
        ax.set_aspect("equal")
    return ax


def axes(dims: int) -> "Axes":
    """Axes of a figure of their own."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7, 6), layout="constrained")
    return figure.add_subplot(projection="3d" if dims == 3 else None)


def palette(*labels: list[str] | None) -> dict[str, Any]:
    """A colour for each label; none where there are too many kinds."""
    import matplotlib

    kinds = sorted({label for some in labels if some for label in some}, key=natural)
    if not 0 < len(kinds) <= COLOURS:
        return {}
    return dict(zip(kinds, matplotlib.colormaps["tab10" if len(kinds) <= 10 else "tab20"].colors))


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


def legend(ax: "Axes", colour: dict[str, Any]) -> None:
    """What shapes and colours mean."""
    from matplotlib.lines import Line2D

    shapes, names = ax.get_legend_handles_labels()
    kinds = [
        Line2D([], [], marker="o", linestyle="", color=c, markersize=5) for c in colour.values()
    ]
    ax.legend(
        [*kinds, *shapes],
        [*colour, *names],
        frameon=False,
        fontsize="small",
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )
