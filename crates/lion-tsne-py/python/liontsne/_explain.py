"""What is this cluster? The columns, words and rows that set clusters of a map apart."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from liontsne._native import Map, explained
from liontsne._values import holds_lists

if TYPE_CHECKING:
    import pandas

# Columns and keywords of a cluster that are printed.
SHOWN = 4
# Lines of an explanation that are printed, about.
LINES = 20


class Explanation:
    """The clusters of a map with what sets them apart.

    Attributes
    ----------
    clusters : list of dict
        The clusters of all levels, the coarsest first: `id`, `name`, `size`, `level`, `parent`,
        `columns`, `keywords`, `typical`, `borders` and more, as `lion explain --json` has them.
    by : {"labels", "density", "selection"}
        Where they come from.
    levels : int
        How many levels of detail there are.
    usual_level : int
        The level that is what density alone says, counted from 1.
    """

    def __init__(self, summary: dict[str, Any], levels: list[list[int | None]]):
        self.clusters: list[dict[str, Any]] = summary["clusters"]
        self.by: str = summary["by"]
        self.levels: int = summary["levels"]
        self.usual_level: int = summary["usual_level"]
        self._of_row = levels

    def labels(self, level: int | None = None) -> np.ndarray:
        """The cluster of each row at a level, counted from 1 (the usual one unless given): the `id`
        of a cluster, or -1 for none."""
        level = self.usual_level if level is None else level
        if not 1 <= level <= len(self._of_row):
            raise ValueError(f"level is {level}: there are levels 1 to {len(self._of_row)}")
        return np.array([-1 if i is None else i for i in self._of_row[level - 1]], dtype=np.int64)

    def names(self, level: int | None = None) -> np.ndarray:
        """The name of each row's cluster at a level, or "" for none."""
        known = {cluster["id"]: cluster["name"] for cluster in self.clusters} | {-1: ""}
        return np.array([known[i] for i in self.labels(level).tolist()], dtype=object)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line for each column that sets a cluster apart; one without columns for a cluster that
        no column does."""
        import pandas as pd

        rows = []
        for cluster in self.clusters:
            facts = {key: cluster[key] for key in ("id", "name", "size", "level", "parent")}
            facts["keywords"] = ", ".join(cluster["keywords"])
            rows += [facts | column for column in cluster["columns"] or [{"column": None, "effect": None}]]
        return pd.DataFrame(rows)

    def __len__(self) -> int:
        return len(self.clusters)

    def __repr__(self) -> str:
        lines = [f"{len(self.clusters)} clusters by {self.by}" if self.by != "selection" else "A selection"]
        for at, cluster in enumerate(self.clusters):
            if len(lines) >= LINES:
                lines.append(f"and {len(self.clusters) - at} more, all of them in .clusters and .to_pandas()")
                break
            indent = "  " * cluster["level"]
            lines.append(f"{indent}{cluster['name']} ({cluster['size']} rows)")
            lines += [f"{indent}    {told(column)}" for column in cluster["columns"][:SHOWN]]
            if cluster["keywords"]:
                lines.append(f"{indent}    words: {', '.join(cluster['keywords'][: 2 * SHOWN])}")
        return "\n".join(lines)


def told(column: dict[str, Any]) -> str:
    """A column in words.

    >>> told({"column": "age", "words": "42 against 31", "effect": 1.2, "error": 0.1})
    'age: 42 against 31, effect +1.20 ± 0.10'
    """
    return f"{column['column']}: {column['words']}, effect {column['effect']:+.2f} ± {column['error']:.2f}"


def explain(map: Map, rows: Any, text: str | None, by: str, select: Any) -> Explanation:
    """The clusters of a map, or a selection of its rows, by the columns of a table or of the map."""
    chosen = None if select is None else selected(select, map.rows)
    columns = None if rows is None else list(columns_of(rows))
    summary, levels = explained(map, columns=columns, text=text, by=by, rows=chosen)
    return Explanation(json.loads(summary), levels)


def selected(select: Any, rows: int) -> list[int]:
    """Row numbers, given as such or as a mask."""
    chosen = np.asarray(select)
    if chosen.dtype == bool:
        if chosen.shape != (rows,):
            raise ValueError(f"select has {chosen.size} values, and the map {rows} rows: give one for each")
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError("select must be row numbers, counted from 0, or a mask of booleans")
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < rows:
        raise ValueError(f"select has row {chosen.max()}, and the map has {rows} rows")
    return chosen.tolist()


def columns_of(rows: Any) -> Iterable[tuple[str, Any]]:
    """The columns of a frame (pandas, polars, pyarrow) or mapping: numbers as they are, all else as texts.
    A column of lists is left out: it has no value for a row that could be compared.

    >>> frame = {"age": [1, 2], "embedding": [np.ones(2), np.zeros(2)], "plan": ["a", None]}
    >>> list(columns_of(frame))
    [('age', [1.0, 2.0]), ('plan', ['a', None])]
    """
    table = rows if isinstance(rows, Mapping) else {str(name): rows[name] for name in names_of(rows)}
    for name, column in table.items():
        if holds_lists(column):
            continue
        values = np.asarray(column)
        if values.dtype.kind in "fiu":
            yield str(name), values.astype(np.float64).tolist()
        else:
            yield str(name), [None if missing(value) else str(value) for value in values.tolist()]


def names_of(rows: Any) -> Iterable[str]:
    names = getattr(rows, "column_names", None) or getattr(rows, "columns", None)
    if names is None:
        raise ValueError("rows must be a data frame or a dict of columns, with a value for each row of the map")
    return names


def missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"
