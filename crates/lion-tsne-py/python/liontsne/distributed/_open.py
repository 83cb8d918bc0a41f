"""Maps that this process has open: each is opened once, however many tasks ask for it."""

import os
from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

from liontsne import _native, _tables

# So many maps stay open; the one that nobody asked for longest makes room.
MOST = 4


class Opened(NamedTuple):
    """A map file, mapped into memory and ready for rows."""

    map: _native.Map
    placer: _native.Placer
    width: int
    """Columns of the rows that it takes."""
    names: tuple[str, ...]
    """Their names, if it knows any."""
    recipe: tuple[str, ...]
    """The columns of the table that its recipe makes rows of, if it has one."""
    state: tuple[int, ...]
    """What the file was like when it was opened."""


Options = tuple[tuple[str, Any], ...]

_maps: OrderedDict[tuple[str, str, Options], Opened] = OrderedDict()
_lock = Lock()


def opened(path: str, checksum: str, options: Options) -> Opened:
    """The map of a file, which must have this checksum, ready to place by these options."""
    key = (path, checksum, options)
    with _lock:
        if key in _maps and was_changed(path, _maps[key].state):
            # Whoever asks again gets what is in the file now, if it is the same map.
            del _maps[key]
            raise ValueError(
                f"{path} was changed in place while it is open: write a new file and rename it "
                "over the old one"
            )
        if key not in _maps:
            state = state_of(path)
            map = load(path, checksum)
            placer = _native.Placer(map, dict(options))
            _maps[key] = Opened(
                map,
                placer,
                map.input_dims,
                tuple(map.columns or ()),
                tuple(_tables.names_of(map)),
                state,
            )
            if len(_maps) > MOST:
                _maps.popitem(last=False)
        _maps.move_to_end(key)
        return _maps[key]


def state_of(path: str) -> tuple[int, ...]:
    """Which file this is, and what tells that it was written to; nothing if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def was_changed(path: str, before: tuple[int, ...]) -> bool:
    """Whether a file was written to while it is open: the map in memory is the file itself. A new
    file of that name, or none, leaves the open one as it is."""
    now = state_of(path)
    return now[:2] == before[:2] and now != before


def load(path: str, checksum: str) -> _native.Map:
    """The map of a file that must have this checksum."""
    try:
        map = _native.Map.load(path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path}: there is no such file here: every worker needs the map at the same path"
        ) from None
    if map.checksum != checksum:
        raise ValueError(
            f"{path} is another map here than where the job was made (checksum {map.checksum}, not "
            f"{checksum}): every worker needs the same file"
        )
    return map


def _forget_the_lock() -> None:
    """A fork copies a lock as it is, but not the thread that would let go of it."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_lock)
