"""Placing on many machines, with the same bits as `lion place` on one.

`placer` returns a function from Arrow record batches to Arrow record batches that any engine can run.
The position of an outlier depends on the other outliers, so a job has three steps. The first gives
every row that is no outlier its position. The second collects the pending outliers and gives them
positions. The third fills these in. Nothing else travels. Neither the number of parts nor their order
changes a bit of the result.

`liontsne.distributed.spark`, `ray` and `dask` do all of it for the data sets of these engines:

    from liontsne.distributed import dask as lion_dask
    placed = lion_dask.place(frame, "map.lion", id="id")

Examples
--------
By hand, with three parts of a table that could be anywhere:

>>> import numpy as np, os, pyarrow as pa, tempfile
>>> from liontsne import LionTSNE, distributed
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(150, 3)) + 8 * rng.integers(0, 3, size=(150, 1))
>>> path = os.path.join(tempfile.mkdtemp(), "map.lion")
>>> LionTSNE(perplexity=10, max_iter=100).fit(X).save(path)
>>> new = np.vstack([X[:4] + 0.01, [[900, 0, 0], [900, 0, 1]]])
>>> table = pa.table({"id": list("abcdef"), "a": new[:, 0], "b": new[:, 1], "c": new[:, 2]})

>>> place = distributed.placer(path, id="id")
>>> parts = [place.resolve(table[start : start + 2]) for start in (0, 2, 4)]
>>> positions = place.positions(part["stranger"] for part in parts)
>>> positions
Positions(2 outliers in 1 groups)
>>> filled = pa.concat_tables(place.fill(part, positions) for part in parts)
>>> filled["verdict"].to_pylist()[3:]
['interpolated', 'outlier', 'outlier']

In one process the same is one call:

>>> place(table).equals(filled)
True
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from liontsne import _native
from liontsne.distributed._placer import Placer
from liontsne.distributed._positions import Positions

__all__ = ["Placer", "Positions", "placer"]


def placer(
    map: str | os.PathLike[str],
    *,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    bad_rows: str = "stop",
    file: str | None = None,
    row: str | None = None,
    prefix: str = "",
    threads: int = 1,
    signed: bool = False,
    **how: Any,
) -> Placer:
    """Returns a function that places rows of Arrow data on the map of a file.

    Parameters
    ----------
    map : path
        The map file. Every worker must find the same file at the same path. Each process opens it
        once. It is never sent.
    id : str or None
        The column that names rows. It is kept, and the sentence about a bad row names it.
    columns : sequence of str or None
        The features in the order of the map, or one column of lists that holds them. None takes the
        columns that the map was fitted to, by name. If the map has no names, None takes all columns
        of numbers, or the one column of lists, except those that other parameters name. The first
        batch decides. If parts have their columns in different orders and are passed to `resolve` one
        by one, name the columns here.
    keep : sequence of str or None
        The columns to keep, besides `id`, `file` and `row`. None is all that are no features.
    bad_rows : {"stop", "aside"}
        What happens with a row that cannot be placed, because a value is missing, not finite or too
        large. "stop" raises a `ValueError`. "aside" keeps the row, with nulls in place of a
        placement, and a column `problem` says what is wrong; it is null for all other rows.
    file : str or None
        The column that says which file a row came from, for the sentence about a bad row.
    row : str or None
        The column that says which row of that file it was.
    prefix : str
        Goes before the names of all added columns, for tables that already have an `x`.
    threads : int
        Threads per call; 0 is all. Engines run one task per core already.
    signed : bool
        `neighbours` and `group` as int64, for engines that have no unsigned numbers.
    **how
        `local`, `taper`, `split_clusters`, `verdict`, `alpha`, `pca_residual`, `outliers`, `radius`,
        `power`, `r_y`, `r_close` and `random_state`, as for `liontsne.load`.

    Returns
    -------
    Placer
        Kept columns come first, in their order, then those of `lion place` except `id`.
    """
    from liontsne import _params

    for what, given in (("id", id), ("file", file), ("row", row), ("prefix", prefix)):
        if given is not None or what == "prefix":
            _name(what, given)
    path = os.path.abspath(os.fspath(map))
    known = _native.Map.load(path)
    options = {"seed": known.seed, "threads": _params.whole("threads", threads)} | _options(how)
    made = Placer(
        path,
        known.checksum,
        tuple(sorted(options.items())),
        id,
        _names("columns", columns),
        _names("keep", keep),
        _params.one_of("bad_rows", bad_rows, ("stop", "aside")),
        file,
        row,
        prefix,
        bool(signed),
    )
    # Opened here too: what is wrong with the options is said before the job begins, and the power
    # that goes with another radius, which takes long to find, is found once.
    options["power"] = made._opened.placer.power
    return replace(made, options=tuple(sorted(options.items()))) if "radius" in how else made


def _options(how: dict[str, Any]) -> dict[str, Any]:
    """What says how to place, in the words of the native module."""
    from liontsne import _params

    options: dict[str, Any] = {}
    for name, value in how.items():
        if name in ("local", "taper", "outliers", "verdict"):
            asked = "positions" if name == "outliers" else name
            options[asked] = _params.one_of(name, value)
        elif name in ("radius", "r_y", "r_close"):
            options[name] = _params.radius(name, value)
        elif name == "power":
            options[name] = _params.number_or_auto(name, value)
        elif name == "alpha":
            options[name] = _params.number(name, value)
        elif name == "split_clusters":
            options[name] = bool(value)
        elif name == "random_state":
            options["seed"] = _params.seed(value)
        elif name not in ("pca_residual", "off_plane"):
            raise TypeError(f"placer() has no parameter {name!r}")
        else:
            options[name] = value
    return options


def _names(name: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(given, str):
        raise ValueError(f"{name} must be a list of names, not one text: give [{given!r}]")
    if given is None:
        return None
    names = tuple(_name(name, one) for one in given)
    if name == "columns":
        if not names:
            raise ValueError("columns has no name in it: name the features, or leave columns out")
        for one in names:
            if names.count(one) > 1:
                raise ValueError(f"columns has {one} more than once: name each feature once")
    return names


def _name(name: str, given: Any) -> Any:
    if not isinstance(given, str):
        raise ValueError(f"{name} must be text, as names of columns are, not {given!r}")
    return str(given)
