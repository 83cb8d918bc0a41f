"""What the page needs to colour rows: classes with their middles, or the steps of a ramp."""

import json
import struct
from typing import Any

import numpy as np

from liontsne._plot import natural

NO_CLASS = np.uint32(0xFFFFFFFF)
MOST_CLASSES = 400  # of a column of texts; the rest have no colour of their own
STEPS = 64
# Viridis (Smith and van der Walt 2015), which eyes of every kind read in order.
RAMP = np.array(
    [(68, 1, 84), (71, 45, 123), (59, 82, 139), (44, 114, 142), (33, 145, 140), (40, 174, 128), (94, 201, 98), (173, 220, 48), (253, 231, 37)]
)


def packed(places: np.ndarray, ids: list[str] | None) -> bytes:
    """Places and ids as the page reads them: the length of a JSON header, the header, the columns."""
    parts = {axis: places[:, k].astype("<f4").tobytes() for k, axis in enumerate("xyz"[: places.shape[1]])}
    if ids is not None:
        parts["ids"] = "\n".join(id.replace("\n", " ") for id in ids).encode()
    columns, body = [], b""
    for name, part in parts.items():
        columns.append({"name": name, "type": "bytes", "offset": len(body), "length": len(part)})
        body += part + bytes(-len(part) % 8)
    header = json.dumps({"rows": len(places), "columns": columns}).encode()
    header += b" " * (-(4 + len(header)) % 8)
    return struct.pack("<I", len(header)) + header + body


def of(name: str, values: Any, places: np.ndarray) -> dict[str, Any]:
    """Colours by a column: numbers get a ramp, other values a colour for each."""
    column = np.asarray(values)
    if column.shape != (len(places),):
        raise ValueError(f"the map has {len(places)} rows, but the column to colour by has {len(column)}")
    if column.dtype.kind in "fiu" and len(np.unique(column[:1000])) > 12:
        return ramp(name, column.astype(float), places)
    return classes(name, column.tolist(), places)


def classes(name: str, labels: Any, places: np.ndarray) -> dict[str, Any]:
    """A class for each label, in their natural order."""
    codes = np.full(len(places), NO_CLASS, np.uint32)
    if labels is None:
        return {"clusters": [], "codes": codes.tobytes(), "ramp": None, "title": name}
    words = np.array(["" if missing(label) else str(label) for label in labels], dtype=object)
    kinds, counts = np.unique(words, return_counts=True)
    most = kinds[np.argsort(-counts, kind="stable")][:MOST_CLASSES]
    order = {word: k for k, word in enumerate(sorted((w for w in most if w), key=natural))}
    codes = np.array([order.get(word, NO_CLASS) for word in words], np.uint32)
    middles = medians(codes, len(order), places)
    clusters = [
        {"name": word, "rows": int(rows), **dict(zip("xyz", middle.tolist()))}
        for (word, _), rows, middle in zip(
            order.items(), np.bincount(codes[codes != NO_CLASS], minlength=len(order)), middles
        )
    ]
    return {"clusters": clusters, "codes": codes.tobytes(), "ramp": None, "title": name}


def ramp(name: str, values: np.ndarray, places: np.ndarray) -> dict[str, Any]:
    """Steps of a ramp, from the 2nd to the 98th percentile: a few extreme values would leave one
    colour to all others. The same holds of values such as prices or sizes, most of which lie near
    the lower end: for them it is logarithmic."""
    known = np.isfinite(values)
    low, middle, high = np.percentile(values[known], (2, 50, 98)) if known.any() else (0.0, 0.5, 1.0)
    logarithmic = low > 0 and middle - low < 0.1 * (high - low)
    scale = np.log if logarithmic else np.asarray
    within = np.clip(np.where(known, values, low), low, high)
    share = (scale(within) - scale(low)) / (scale(high) - scale(low) if high > low else 1.0)
    codes = np.where(known, share * (STEPS - 1) + 0.5, NO_CLASS).astype(np.uint32)
    at = np.linspace(0, len(RAMP) - 1, STEPS)
    colours = np.stack([np.interp(at, np.arange(len(RAMP)), RAMP[:, c]) for c in range(3)], axis=1)
    middle = dict(zip("xyz", places.mean(axis=0).tolist()))
    clusters = [
        {"name": f"step {k}", "rows": 0, "colour": colour.round().astype(int).tolist(), **middle}
        for k, colour in enumerate(colours)
    ]
    note = "2nd to 98th percentile" + (", logarithmic" if logarithmic else "")
    ends = {"name": name, "low": f"{low:.4g}", "high": f"{high:.4g}", "note": note}
    return {"clusters": clusters, "codes": codes.tobytes(), "ramp": ends, "title": name}


def medians(codes: np.ndarray, classes: int, places: np.ndarray) -> np.ndarray:
    """The median place of each class, coordinate by coordinate."""
    counts = np.bincount(codes[codes != NO_CLASS], minlength=classes)
    middle = np.cumsum(counts) - counts + counts // 2
    found = np.empty((classes, places.shape[1]))
    for k in range(places.shape[1]):
        order = np.lexsort((places[:, k], codes))
        found[:, k] = places[order[middle], k] if classes else 0
    return found


def missing(value: Any) -> bool:
    """Whether a value stands for none."""
    return value is None or isinstance(value, float) and np.isnan(value) or type(value).__name__ == "NAType"
