"""Fitted estimators of maps that were made before: of files, and of bytes."""

import os
import re
from typing import Any

import numpy as np

from liontsne import _params, _rows, _tables
from liontsne._native import Map
from liontsne.estimator import LionTSNE


def load(path: str | os.PathLike[str], **params: Any) -> LionTSNE:
    """Returns a fitted `LionTSNE` from a map file that `LionTSNE.save` or `lion fit` wrote.

    Parameters
    ----------
    path : str or path
        The map file.
    **params
        How to place: `local`, `alpha`, `n_jobs` and others. `radius` and `power` can differ from
        those of the map.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> X = np.random.default_rng(0).normal(size=(80, 6))
    >>> lion = LionTSNE(perplexity=10).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "map.lion")
    ...     lion.save(path)
    ...     again = load(path)
    >>> bool((again.transform(X) == lion.embedding_).all())
    True
    """
    return from_map(Map.load(os.fspath(path)), params)


def from_map(map: Map, params: dict[str, Any]) -> LionTSNE:
    """A fitted `LionTSNE` of a map as files have it; what `params` say of radii and power goes
    before what the map says."""
    map, reducer = _rows.SparsePca.taken_from(map)
    own = {
        "n_components": map.dims,
        "perplexity": map.perplexity,
        "metric": "cosine" if reducer and reducer.unit else map.metric,
        "radius": map.asked_radius or "99%",
        "random_state": map.seed,
    }
    lion = LionTSNE(**own | params)
    lion.n_features_in_ = map.input_dims if reducer is None else reducer.columns
    names = map.columns
    if map.recipe is not None:
        names = _tables.names_of(map)
        lion.n_features_in_ = len(names)
    if names and not numbered(names):
        lion.feature_names_in_ = np.array(names, dtype=object)
    chosen = {
        name: _params.radius(name, params[name])
        for name in ("radius", "r_y", "r_close")
        if name in params
    }
    if "power" in params:
        chosen["power"] = _params.number_or_auto("power", params["power"])
    return lion._hold(map, reducer, map.seed, **chosen)


def numbered(names: list[str]) -> bool:
    """Whether these are the names given to columns that have none: c1, c2 and so on.

    >>> numbered(["c1", "c2"]), numbered(["c1", "age"])
    (True, False)
    """
    return all(re.fullmatch(f"c{i}", name) for i, name in enumerate(names, 1))
