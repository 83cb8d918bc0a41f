"""What the tests of the compiled half share: tables, a quick fit, the command line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from liontsne import _native

SEED = 7


def blobs(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Three clouds far from each other."""
    random = np.random.default_rng(seed)
    centres = 12 * random.normal(size=(3, columns))
    values = centres[np.arange(rows) % 3] + random.normal(size=(rows, columns))
    return values.astype(np.float32)


def fit(x: np.ndarray, **params: object) -> _native.Map:
    return _native.Map.fit(x, params={"perplexity": 15, "iterations": 250, "seed": SEED} | params)


def run(lion: Path, *words: object) -> None:
    subprocess.run([lion, *map(str, words)], check=True, capture_output=True)


def resident() -> float:
    """Bytes of memory in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
