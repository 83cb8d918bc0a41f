"""A static picture of a map as HTML: it needs no kernel, no script and no other package."""

import base64
from html import escape

import numpy as np

from liontsne._plot import ALARM, GREY, RIM, in_plane, kinds_in_colour

WIDTH, HEIGHT, LEGEND = 560, 420, 150
MARGIN = 14
# Rows that are drawn at most: with them the picture stays below 300 kB.
MOST_ROWS, MOST_PLACED, MOST_OUTLIERS = 5000, 2000, 500
LONGEST_NAME = 18
BEYOND = 0.12  # outliers farther than this share of the map from it are drawn at the edge


def of_map(places: np.ndarray, labels: list[str] | None, words: str) -> str:
    """The picture of a map, with a sentence below it."""
    return Picture(places, labels).html(words)


def of_placed(
    places: np.ndarray,
    labels: list[str] | None,
    placed: np.ndarray,
    strange: np.ndarray,
    placed_labels: list[str | None],
    words: str,
) -> str:
    """The same with placed rows: those with a rim are like the map's own, diamonds are outliers."""
    picture = Picture(places, labels, faint=True)
    picture.add_placed(placed[~strange], [label for label, odd in zip(placed_labels, strange) if not odd])
    picture.add_outliers(placed[strange])
    return picture.html(words)


class Picture:
    """An SVG in the making."""

    def __init__(self, places: np.ndarray, labels: list[str] | None, *, faint: bool = False):
        self.map = np.asarray(places, dtype=np.float64)
        flat = self.flat(self.map)
        self.low, self.high = flat.min(axis=0), flat.max(axis=0)
        room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
        spread = np.maximum(self.high - self.low, 1e-30)
        self.scale = (room / (spread * (1 + 2 * BEYOND if faint else 1))).min()
        self.colour = kinds_in_colour(labels)
        self.parts: list[str] = []
        self.notes: list[str] = []
        drawn = sample(len(flat), MOST_ROWS)
        if len(drawn) < len(flat):
            self.notes.append(f"{len(drawn)} of {len(flat)} rows are drawn.")
        fills = [GREY if labels is None else self.colour.get(labels[row], GREY) for row in drawn]
        size = float(np.clip(110 / np.sqrt(len(drawn)), 2.2, 7))
        self.dots(flat[drawn], fills, size, 0.35 if faint else 0.8)
        self.size = size

    def flat(self, places: np.ndarray) -> np.ndarray:
        """Places in the plane of the picture; those in space are seen from the side and above."""
        if places.shape[1] == 3:
            turned, tilted = 0.6, 0.35
            x = places[:, 0] * np.cos(turned) + places[:, 1] * np.sin(turned)
            deep = places[:, 1] * np.cos(turned) - places[:, 0] * np.sin(turned)
            return np.column_stack([x, places[:, 2] * np.cos(tilted) + deep * np.sin(tilted)])
        return in_plane(places, self.map)

    def pixels(self, flat: np.ndarray) -> np.ndarray:
        """Where places are drawn, the y axis upwards; none is drawn outside the frame."""
        edge = [WIDTH - MARGIN / 2, HEIGHT - MARGIN / 2]
        return np.clip(self.unbound(flat), MARGIN / 2, edge).round(1)

    def unbound(self, flat: np.ndarray) -> np.ndarray:
        """Where they would be drawn if the frame were larger."""
        middle = (self.low + self.high) / 2
        return (flat - middle) * self.scale * [1, -1] + [WIDTH / 2, HEIGHT / 2]

    def dots(self, flat: np.ndarray, fills: list[str], size: float, opacity: float = 1.0) -> None:
        """A path for each colour: a dot is a line of no length with round ends, which takes few bytes."""
        of_colour: dict[str, list[str]] = {}
        for (x, y), fill in zip(self.pixels(flat), fills):
            of_colour.setdefault(fill, []).append(f"M{x:g} {y:g}h0")
        for fill, marks in of_colour.items():
            looks = f'stroke="{fill}" stroke-width="{size:.1f}" opacity="{opacity}"'
            self.parts.append(f'<path {looks} d="{"".join(marks)}"/>')

    def add_placed(self, places: np.ndarray, labels: list[str | None]) -> None:
        """Placed rows, with a dark rim."""
        drawn = sample(len(places), MOST_PLACED)
        if not len(drawn):
            return
        if len(drawn) < len(places):
            self.notes.append(f"{len(drawn)} of {len(places)} placed rows are drawn.")
        flat = self.flat(np.asarray(places, dtype=np.float64)[drawn])
        size = max(self.size, 4.0)
        self.dots(flat, [RIM] * len(drawn), size + 1.8)
        self.dots(flat, [self.colour.get(labels[row] or "", "#ffffff") for row in drawn], size)

    def add_outliers(self, places: np.ndarray) -> None:
        """Outliers, as diamonds."""
        drawn = sample(len(places), MOST_OUTLIERS)
        if not len(drawn):
            return
        if len(drawn) < len(places):
            self.notes.append(f"{len(drawn)} of {len(places)} outliers are drawn.")
        flat = self.flat(np.asarray(places, dtype=np.float64)[drawn])
        at = self.pixels(flat)
        if (np.abs(at - self.unbound(flat)) > 1).any():
            self.notes.append("Outliers farther away are drawn at the edge.")
        marks = "".join(f"M{x:g} {y - 5:g}l5 5-5 5-5-5z" for x, y in at)
        self.parts.append(f'<path fill="#fff" stroke="{ALARM}" stroke-width="1.6" d="{marks}"/>')

    def legend(self) -> str:
        """The names of the colours."""
        lines = []
        for k, (name, fill) in enumerate(self.colour.items()):
            short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
            y = MARGIN + 10 + 20 * k
            lines.append(
                f'<circle cx="{WIDTH + 10}" cy="{y}" r="4.5" fill="{fill}"/>'
                f'<text x="{WIDTH + 22}" y="{y + 4}">{escape(short) or "(none)"}</text>'
            )
        return "".join(lines)

    def html(self, words: str) -> str:
        """The picture as an image that has all in itself, with words below."""
        width = WIDTH + (LEGEND if self.colour else 0)
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
            f'viewBox="0 0 {width} {HEIGHT}" font-family="system-ui,sans-serif" font-size="12" fill="{RIM}">'
            f'<rect width="{width}" height="{HEIGHT}" rx="6" fill="#fbfcfd"/>'
            f'<g stroke-linecap="round" fill="none">{"".join(self.parts)}</g>{self.legend()}</svg>'
        )
        source = base64.b64encode(svg.encode()).decode()
        words = escape(" ".join([words, *self.notes]))
        return (
            '<figure style="margin:8px 0">'
            f'<img alt="{words}" src="data:image/svg+xml;base64,{source}" '
            f'style="max-width:100%;height:auto;border:1px solid #dadce0;border-radius:6px" width="{width}">'
            f'<figcaption style="font-size:12px;opacity:.8">{words}</figcaption></figure>'
        )


def sample(count: int, most: int) -> np.ndarray:
    """So many row numbers at most, the same each time, in no order that rows could share.

    >>> sample(3, 10).tolist(), len(sample(100, 10))
    ([0, 1, 2], 10)
    """
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
