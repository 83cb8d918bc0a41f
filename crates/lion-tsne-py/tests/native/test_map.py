"""A map: what it says of itself, and that nothing but rows and parameters makes it what it is."""

from __future__ import annotations

import numpy as np
import pytest

from liontsne import _native

from .support import SEED, fit


def test_a_map_says_what_it_is(fitted: _native.Map, data: np.ndarray) -> None:
    assert (fitted.rows, fitted.dims, fitted.input_dims) == (300, 2, 12)
    assert fitted.embedding.shape == (300, 2) and fitted.embedding.dtype == np.float32
    assert np.isfinite(fitted.embedding).all()
    assert fitted.kl is not None and 0 < fitted.kl < 2
    assert (fitted.n_iter, fitted.perplexity, fitted.seed) == (250, 15, SEED)
    assert (fitted.metric, fitted.pca_components, fitted.adopted) == ("euclidean", None, False)
    assert fitted.asked_radius == "99%" and fitted.radius is not None and fitted.radius > 0
    assert fitted.power is not None and fitted.power in fitted.power_curve[:, 0]
    assert (
        fitted.power_curve[:, 1].min()
        == fitted.power_curve[fitted.power_curve[:, 0] == fitted.power, 1]
    )
    assert fitted.labels is not None and fitted.labels[:3] == ["a", "b", "c"]
    assert fitted.ids is not None and fitted.ids[299] == "row 299"
    assert fitted.columns is not None and fitted.columns[11] == "f11"
    assert fitted.kl_history[-1].tolist() == [250, fitted.kl]
    assert repr(fitted) == "Map(300 x 12 in 2 dimensions)"
    bare = fit(data)
    assert bare.labels is None and bare.ids is None and bare.columns is None


def test_equal_rows_share_a_place(data: np.ndarray) -> None:
    twice = np.concatenate([data, data[:5]])
    places = fit(twice).embedding
    assert places.shape == (305, 2)
    assert np.array_equal(places[:5], places[300:])


def test_every_parameter_is_heard(data: np.ndarray) -> None:
    space = fit(data, dims=3, pca=5, metric="cosine", method="barnes-hut", init="random")
    assert (space.dims, space.pca_components, space.metric) == (3, 5, "cosine")
    assert space.method == "barnes-hut"
    given = fit(data, radius=4.5, power=7, r_y=3.0, r_close="20%")
    assert (given.radius, given.power, given.r_y) == (4.5, 7, 3.0)
    assert len(given.power_curve) == 0
    start = data[:, :2].copy()
    one = fit(data, init=start, iterations=1, exaggeration=1, learning_rate=1e-3)
    assert np.allclose(one.embedding, start - start.mean(axis=0), atol=1e-3)
    auto = {"pca": "auto", "power": "auto", "learning_rate": "auto", "init": "pca", "radius": None}
    assert fit(data, **auto).checksum == fit(data).checksum
    assert fit(data, seed=SEED + 1, init="random").checksum != fit(data, init="random").checksum


def test_any_layout_of_memory_gives_the_same_map(data: np.ndarray, new: np.ndarray) -> None:
    wide = np.zeros((600, 24), np.float32)
    wide[::2, ::2] = data
    raw = bytearray(b"!" + data.tobytes())
    unaligned = np.ndarray(data.shape, np.float32, buffer=raw, offset=1)
    readonly = data.copy()
    readonly.flags.writeable = False
    expected = fit(data).checksum
    for same in (np.asfortranarray(data), wide[::2, ::2], unaligned, readonly):
        assert fit(same).checksum == expected
    placer = _native.Placer(fit(data))
    reversed_rows = placer.coordinates(new[::-1])
    assert np.array_equal(reversed_rows[::-1], placer.coordinates(new))


def test_threads_do_not_matter(data: np.ndarray, new: np.ndarray) -> None:
    maps = [fit(data, threads=threads) for threads in (1, 2, 3)]
    assert len({map.checksum for map in maps}) == 1
    placers = [_native.Placer(maps[0], {"threads": threads}) for threads in (1, 2, 3)]
    first, *others = [placer.coordinates(new) for placer in placers]
    assert all(np.array_equal(first, other) for other in others)


def test_places_made_elsewhere(data: np.ndarray) -> None:
    places = data[:, :2].copy()
    adopted = _native.Map.fit(data, places=places, labels=["x"] * 300, params={"radius": "95%"})
    assert adopted.adopted and adopted.kl is None and adopted.asked_radius == "95%"
    assert np.array_equal(adopted.embedding, places)
    with pytest.raises(ValueError, match="there are 300 rows but 299 places"):
        _native.Map.fit(data, places=places[:299])
