"""The other ways of placing, and how good places are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from liontsne import _native


def test_other_methods(lion: Path, fitted: _native.Map, new: np.ndarray) -> None:
    names = _native.baseline_names()
    assert names[0] == "idw" and len(names) == len(set(names))
    refused = subprocess.run([lion, "place", "--method", "?"], capture_output=True, text=True)
    assert all(name in refused.stderr for name in names)
    assert f"lion, {', '.join(names)}" in " ".join(refused.stderr.split())
    for name in ("idw", "rbf-linear", "kernelized", "fixed-point", "opentsne-median"):
        places = _native.Built(fitted, name).coordinates(new[:20])
        assert places.shape == (20, 2) and np.isfinite(places).all()
    steep = _native.Built(fitted, "idw", {"power": 60.0})
    assert steep.name == "idw p=60" and repr(steep) == "Built(idw p=60)"
    assert np.allclose(steep.coordinates(new[:10]), fitted.embedding[100:110], atol=1e-3)
    told: list[tuple] = []
    network = _native.Built(
        fitted, "nn-2x250", {"epochs": 3, "seed": 1}, lambda *step: told.append(step)
    )
    assert network.coordinates(new).shape == (55, 2) and told[-1][0] == "build"
    with pytest.raises(ValueError, match='there is no method "best"'):
        _native.Built(fitted, "best")
    with pytest.raises(ValueError, match="there is no parameter 'power'"):
        _native.Built(fitted, "fixed-point", {"power": 2.0})


def test_judging(fitted: _native.Map, data: np.ndarray) -> None:
    places = fitted.embedding[:30]
    labels = ["abc"[row % 3] for row in range(30)]
    assert _native.shares(fitted, places, labels).mean() > 0.9
    assert (_native.distances(fitted, places) == 0).all()
    assert (_native.percentiles(fitted, places) == 0).all()
    far = places + np.float32(1e4)
    assert (_native.percentiles(fitted, far) == 100).all()
    at_home, own = _native.joined_kl(fitted, data[:5] + np.float32(0.1), fitted.embedding[:5])
    away, _ = _native.joined_kl(fitted, data[:5] + np.float32(0.1), far[:5])
    assert (at_home < away).all() and np.isfinite(own)
    assert _native.auc(np.array([2.0, 5.0]), np.array([1.0, 2.0, 3.0])) == 4.5 / 6
    with pytest.raises(ValueError, match="places"):
        _native.joined_kl(fitted, data[:5], far[:4])
    with pytest.raises(ValueError):
        _native.shares(fitted, places, ["a"])
