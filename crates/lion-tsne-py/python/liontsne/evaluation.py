"""How good places are, by the measures of the paper, for LION and the other ways of placing."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from liontsne import _native, _rows
from liontsne.baselines import Baseline
from liontsne.estimator import LionTSNE

# Quick to build at any size; baselines.names() has the others.
METHODS = ("lion", "lion-idw", "idw", "kernelized", "opentsne-median", "fixed-point")


def evaluate(
    X: Any,
    Y: Any,
    labels: Any,
    X_new: Any,
    labels_new: Any,
    *,
    X_strange: Any = None,
    methods: Iterable[str] = METHODS,
    **params: Any,
) -> Any:
    """Places new rows on one map by several methods, and measures each method.

    The result has one row per method and these columns:

    - `accuracy`: take the ten positions of the map that are nearest to a new row. The accuracy is
      the share of them with the label of the new row, averaged over new rows. `error` is its
      standard error.
    - `distance`: the mean distance from a new row to the nearest position of the map.
    - `kl`: the mean KL divergence of the map with one more row at its new position.
    - `strange_percentile`: the distances from novel rows to their nearest positions, as a percentile
      of the distances between nearest positions of the map. 100 is apart from everything.
    - `strange_auc`: the probability that a novel row lies farther from the map than a new row.
    - `build_seconds`, `place_seconds`: the time it took.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows of the map.
    Y : array of shape (n_samples, n_components)
        Their positions, made by any method.
    labels : array of shape (n_samples,)
        Their labels.
    X_new : array
        Rows to place.
    labels_new : array
        Their labels.
    X_strange : array or None
        Novel rows, which are unlike all rows of the map.
    methods : iterable of str
        "lion", "lion-idw" (the rule of the paper), or any of `baselines.names()`.
    **params : Any
        Parameters of `LionTSNE`, above all the perplexity of the map.

    Returns
    -------
    pandas.DataFrame or dict of arrays
        A data frame, or a dict if pandas is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from liontsne import evaluate
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, size=150)
    >>> X = rng.normal(size=(150, 4)) + 9 * labels[:, None]
    >>> old, new = slice(0, 120), slice(120, 150)
    >>> given = X[old], X[old, :2], labels[old], X[new], labels[new]
    >>> table = evaluate(*given, methods=["lion", "idw"], perplexity=10)
    >>> list(table["method"]), bool(table["accuracy"][0] > 0.9)
    (['lion', 'idw'], True)
    """
    # Labels are needed whatever they are, real numbers too.
    words = _rows.texts("labels", labels, len(Y))
    lion = LionTSNE.from_embedding(X, Y, np.array(words, dtype=object), **params)
    new = lion._rows_to_place(X_new)
    new_labels = _rows.texts("labels_new", labels_new, len(new))
    strange = None if X_strange is None else lion._rows_to_place(X_strange)
    rows = [measure(lion, name, new, new_labels, strange) for name in methods]
    columns = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


def measure(
    lion: LionTSNE, name: str, new: np.ndarray, labels: list[str] | None, strange: np.ndarray | None
) -> dict[str, Any]:
    """One row of the table."""
    began = time.perf_counter()
    place = placing(lion, name)
    built = time.perf_counter()
    places = place(new)
    placed = time.perf_counter()
    shares = np.asarray(_native.shares(lion._map, places, labels))
    distances = np.asarray(_native.distances(lion._map, places))
    row = {
        "method": name,
        "rows": len(new),
        "accuracy": float(shares.mean()),
        "error": float(shares.std(ddof=1) / len(shares) ** 0.5) if len(shares) > 1 else 0.0,
        "distance": float(distances.mean()),
        "kl": float(np.mean(_native.joined_kl(lion._map, new, places)[0])),
    }
    if strange is not None:
        there = place(strange)
        row["strange_percentile"] = float(np.mean(_native.percentiles(lion._map, there)))
        row["strange_auc"] = float(
            _native.auc(np.asarray(_native.distances(lion._map, there)), distances)
        )
    return row | {"build_seconds": built - began, "place_seconds": placed - built}


def placing(lion: LionTSNE, name: str) -> Any:
    """The function that places rows by this method."""
    if name in ("lion", "lion-idw"):
        local = {"lion": "energy", "lion-idw": "idw"}[name]
        return _native.Placer(lion._map, lion._options(lion._seed) | {"local": local}).coordinates
    return Baseline(lion, name)._built.coordinates
