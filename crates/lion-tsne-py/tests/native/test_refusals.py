"""What cannot be done is refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from liontsne import _native

from .support import blobs, fit


def broken_row(value: float) -> np.ndarray:
    x = blobs(60, 4)
    x[3, 1] = value
    return x


@pytest.mark.parametrize(
    ("x", "params", "sentence"),
    [
        (broken_row(np.nan), {}, "row 3, column 1 is NaN; every value must be a finite number"),
        (broken_row(np.inf), {}, "row 3, column 1 is inf; every value must be a finite number"),
        (broken_row(1e20), {}, "values beyond 1e15 cannot be squared safely"),
        (np.zeros((0, 3), np.float32), {}, "the table is empty: 0 rows, 3 columns"),
        (np.ones((1, 3), np.float32), {}, "there is no map of 1 row: it needs at least 4 that differ"),
        (
            blobs(60, 4),
            {"perplexity": 30},
            "perplexity 30 is too large for 60 rows: use at most 19.6",
        ),
        (blobs(60, 4), {"perplexity": "many"}, "perplexity must be auto or a number, not 'many'"),
        (blobs(60, 4), {"iterations": -1}, "iterations must be a whole number from 0 on, not -1"),
        (blobs(60, 4), {"seed": -1}, "seed must be a whole number"),
        (blobs(60, 4), {"metric": "taxi"}, "metric must be one of euclidean, cosine, not 'taxi'"),
        (blobs(60, 4), {"radius": "99"}, None),
        (blobs(60, 4), {"radius": "wide"}, 'radius must be a percentile such as "99%"'),
        (blobs(60, 4), {"radius": -1.0}, "radius must be a distance from 0 on, not -1"),
        (blobs(60, 4), {"pca": 0}, "pca must be auto, none or a number from 1 on, not 0"),
        (blobs(60, 4), {"init": np.zeros((2, 2), np.float32)}, "init has 2 places"),
        (blobs(60, 4), {"perplexities": 3}, "there is no parameter 'perplexities'"),
    ],
)
def test_bad_input_is_a_sentence(x: np.ndarray, params: dict, sentence: str | None) -> None:
    if sentence is None:
        assert fit(x, **params).radius == 99
        return
    with pytest.raises(ValueError) as caught:
        fit(x, **params)
    assert sentence in str(caught.value)


def test_what_is_no_array_of_float32_is_a_type_error(fitted: _native.Map, data: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    for wrong in (data.astype(float), data[0], data.tolist(), "text", None, data.astype(">f4")):
        with pytest.raises(TypeError, match="x must be a 2-D array of float32"):
            placer.coordinates(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="x must be a 2-D array of float32"):
            _native.Map.fit(wrong)  # type: ignore[arg-type]


def test_names_must_fit(data: np.ndarray, fitted: _native.Map) -> None:
    for names in ({"ids": ["a"]}, {"labels": ["a"]}, {"columns": ["a"]}, {"ids": ["a"] * 300}):
        with pytest.raises(ValueError):
            _native.Map.fit(data, params={"iterations": 1}, **names)
    with pytest.raises(ValueError, match="there are 3 rows but 1 ids"):
        _native.Placer(fitted).place(data[:3], ["a"])
    with pytest.raises(ValueError, match="12"):
        _native.Placer(fitted).coordinates(data[:, :5].copy())


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    """A system of so many rows takes 320 GB; that most are equal makes the map quick to adopt."""
    x = np.tile(blobs(500, 2), (400, 1))
    large = _native.Map.fit(x, places=x, params={"power": 2.0})
    with pytest.raises(MemoryError, match="needs .* of memory, and .* can be had"):
        _native.Built(large, "rbf-linear")
