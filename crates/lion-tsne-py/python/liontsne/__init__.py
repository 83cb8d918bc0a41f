"""t-SNE maps that stay alive: fit a map, keep it in one file, place new rows into it."""

from . import _native as _native
