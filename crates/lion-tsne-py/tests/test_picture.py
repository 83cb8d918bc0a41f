"""What notebooks show of fitted estimators and placements: a picture that needs no kernel."""

import base64
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sklearn

from liontsne import TSNE, LionTSNE
from liontsne._picture import of_placed

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 300_000


def svg(html: str) -> ET.Element:
    assert len(html.encode()) < MOST_BYTES and "<script" not in html.split("<figure")[1]
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert len(found) == 1
    return ET.fromstring(base64.b64decode(found[0]))


def dots(picture: ET.Element) -> dict[str, int]:
    paths = [path for path in picture.iter(f"{SVG}path") if path.get("stroke-width")]
    return {path.get("stroke"): path.get("d").count("M") for path in paths}


def words(picture: ET.Element) -> list[str]:
    return [text.text for text in picture.iter(f"{SVG}text")]


def test_a_fitted_estimator_shows_its_map(fitted):
    shown = fitted._repr_mimebundle_()
    # Diagrams are numbered.
    assert shown["text/html"].split("<figure")[1] == fitted._repr_html_().split("<figure")[1]
    picture = svg(shown["text/html"])
    assert words(picture) == ["0", "1", "2"] and sum(dots(picture).values()) == 200
    assert f"200 rows of {fitted.n_features_in_} columns on a 2-D map" in shown["text/html"]
    # One that is not fitted is the diagram of scikit-learn, and so are all if texts are asked for.
    assert "<figure" not in LionTSNE()._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(fitted._repr_mimebundle_()) == ["text/plain"] and fitted._repr_html_() is None


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_maps_of_all_dimensions_and_many_rows_stay_small(dims):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3)).astype("float32")
    lion = LionTSNE.from_embedding(X, X[:, :dims], rng.integers(0, 10, 60_000), perplexity=5)
    html = lion._repr_html_()
    picture = svg(html)
    assert sum(dots(picture).values()) == 5000 and "5000 of 60000 rows are drawn." in html
    numbers = np.array(re.findall(r"M([\d.]+) ([\d.]+)", ET.tostring(picture).decode()), dtype=float)
    assert (numbers > 0).all() and (numbers.max(axis=0) < [560, 420]).all()
    assert numbers.std(axis=0).min() > 15


def test_placements_show_rims_and_diamonds(fitted, blobs):
    X, _ = blobs
    far = X[:3] + 1000 * np.eye(3, X.shape[1])
    placed = fitted.place(np.vstack([X[200:230], far]))
    outliers = int((placed.verdict == "outlier").sum())
    html = placed._repr_html_()
    drawn = dots(svg(html))
    assert drawn["#d93025"] == outliers >= 3 and drawn["#202124"] == len(placed) - outliers
    assert repr(placed) in html


def test_names_are_escaped_and_cut():
    X = np.random.default_rng(0).normal(size=(60, 3))
    names = np.where(X[:, 0] > 0, "<b>&", "a name that is far too long to be shown")
    picture = svg(LionTSNE.from_embedding(X, X[:, :2], names, perplexity=5)._repr_html_())
    assert words(picture) == ["<b>&", "a name that is fa…"]
    same = LionTSNE.from_embedding(X, np.zeros((60, 2)), perplexity=5)._repr_html_()
    assert sum(dots(svg(same)).values()) == 60


def test_plain_tsne_has_a_picture_too():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert sum(dots(svg(TSNE(perplexity=5, max_iter=250).fit(X)._repr_html_())).values()) == 60


def test_outliers_far_away_are_drawn_at_the_edge():
    places = np.random.default_rng(0).normal(size=(50, 2))
    far = np.array([[900.0, 0.0], [0.0, -900.0]])
    html = of_placed(places, None, far, np.array([True, True]), [None, None], "Two.")
    assert "Outliers farther away are drawn at the edge." in html and dots(svg(html))["#d93025"] == 2
