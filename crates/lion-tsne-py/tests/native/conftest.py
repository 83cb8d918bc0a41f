"""A map, rows to place into it, and the command line that would do the same."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from liontsne import _native

from .support import SEED, blobs

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return blobs(300, 12)


@pytest.fixture(scope="module")
def new(data: np.ndarray) -> np.ndarray:
    """Rows of the map, rows beside them, and strangers of two kinds."""
    near = data[:40] + np.float32(0.1)
    strange = np.concatenate([np.full((3, 12), 99), np.full((2, 12), -80)])
    strange[:, 0] += np.arange(5)
    return np.concatenate([data[100:110], near, strange]).astype(np.float32)


@pytest.fixture(scope="module")
def fitted(data: np.ndarray) -> _native.Map:
    return _native.Map.fit(
        data,
        labels=["abc"[row % 3] for row in range(len(data))],
        ids=[f"row {row}" for row in range(len(data))],
        columns=[f"f{column}" for column in range(data.shape[1])],
        params={"perplexity": 15, "iterations": 250, "seed": SEED},
    )


@pytest.fixture(scope="module")
def lion() -> Path:
    """The command line, which `cargo xtask test` has built."""
    if named := os.environ.get("LION_BINARY"):
        assert Path(named).is_file(), f"there is no {named}"
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = target / "release" / "lion"
    if not found.is_file():
        pytest.skip(f"there is no {found}: cargo build --release makes it")
    return found
