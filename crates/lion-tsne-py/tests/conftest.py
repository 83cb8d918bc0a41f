"""Small tables that all tests share."""

import matplotlib
import numpy as np
import pytest

from liontsne import LionTSNE

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """240 rows of 6 columns in three heaps, float32, and the heap of each."""
    rng = np.random.default_rng(3)
    heap = rng.integers(0, 3, size=240)
    centres = 12 * rng.normal(size=(3, 6))
    return (centres[heap] + rng.normal(size=(240, 6))).astype(np.float32), heap


@pytest.fixture(scope="session")
def fitted(blobs) -> LionTSNE:
    """A map of the first 200; tests must not change it."""
    X, heap = blobs
    return LionTSNE(perplexity=15, random_state=1).fit(X[:200], heap[:200])


@pytest.fixture(scope="session")
def strange() -> np.ndarray:
    """Two rows that belong nowhere, close to each other, and one that is alone."""
    far = np.full((3, 6), 500.0, dtype=np.float32)
    far[1, 0] += 0.01
    far[2] = -500.0
    return far
