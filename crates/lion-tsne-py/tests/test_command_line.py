"""Map files between the estimator and the program `lion`, both ways."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import liontsne
from liontsne import LionTSNE

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def lion():
    """The program, which `cargo xtask test` has built; a function that runs it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = Path(os.environ.get("LION_BINARY", target / "release" / "lion"))
    if not program.is_file():
        assert "LION_BINARY" not in os.environ, f"there is no {program}"
        pytest.skip(f"there is no {program}: cargo build --release makes it")

    def run(*words: object) -> str:
        command = [program, *map(str, words)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="module")
def frame(blobs) -> pd.DataFrame:
    X, heap = blobs
    frame = pd.DataFrame(
        X.astype(float), columns=list("abcdef"), index=[f"n{i}" for i in range(240)]
    )
    return frame.assign(kind=[f"k{h}" for h in heap])


def test_the_same_landmarks(lion, frame, tmp_path):
    for at, part in enumerate((frame[:90], frame[90:])):
        part.rename_axis("name").reset_index().to_parquet(tmp_path / f"p{at}.parquet", index=False)
    names, files = {"id": "name", "label": "kind"}, str(tmp_path / "p*.parquet")
    ours = LionTSNE(perplexity=10, max_iter=100, pca=4)
    ours.fit_landmarks(files, 80, **names, stratify=True, cover=True).save(tmp_path / "ours.lion")
    how = ["--pca", 4, "--perplexity", 10, "--iterations", 100, "--landmarks", 80]
    columns = ["--id", "name", "--label", "kind", "--stratify", "--cover", "-q"]
    lion("fit", files, *columns, *how, "-o", tmp_path / "theirs.lion")
    assert (tmp_path / "ours.lion").read_bytes() == (tmp_path / "theirs.lion").read_bytes()


def test_maps_of_the_program(lion, frame, tmp_path):
    frame[:200].to_csv(tmp_path / "old.csv", index_label="name")
    frame[200:].to_csv(tmp_path / "new.csv", index_label="name")
    columns = ["--id", "name", "--label", "kind"]
    fit = [tmp_path / "old.csv", *columns, "--perplexity", 15, "--iterations", 200, "-q"]
    lion("fit", *fit, "-o", tmp_path / "map.lion")
    lion("place", tmp_path / "map.lion", tmp_path / "new.csv", *columns, "-o", tmp_path / "out.csv")

    read = liontsne.load(tmp_path / "map.lion")
    assert list(read.feature_names_in_) == list("abcdef") and read.perplexity == 15
    placed = read.place(frame.loc["n200":, "a":"f"])
    theirs = pd.read_csv(tmp_path / "out.csv", dtype={"x": np.float32, "y": np.float32})
    # The program was given labels of the new rows and keeps them, so what neighbours say has another name there.
    assert list(theirs.columns) == [{"label": "predicted_label"}.get(name, name) for name in placed.columns] + ["label"]
    assert_array_equal(theirs["predicted_label"].to_numpy(), placed["label"])
    assert_array_equal(theirs["label"].to_numpy(), frame.kind["n200":].to_numpy())
    assert_array_equal(theirs[["x", "y"]].to_numpy(), placed.coordinates)
    for column in ("id", "verdict", "nearest_id", "neighbours"):
        assert_array_equal(theirs[column].to_numpy(), placed[column])

    mine = LionTSNE(perplexity=15, max_iter=200).fit(frame.loc[:"n199", "a":"f"], frame.kind[:200])
    assert_array_equal(mine.embedding_, read.embedding_)


def test_maps_for_the_program(lion, fitted, blobs, tmp_path):
    X, _ = blobs
    fitted.save(tmp_path / "map.lion")
    said = json.loads(lion("info", tmp_path / "map.lion", "--json"))
    assert (said["rows"], said["perplexity"], said["kl"]) == (200, 15, fitted.kl_divergence_)
    np.save(tmp_path / "new.npy", X[200:])
    lion("place", tmp_path / "map.lion", tmp_path / "new.npy", "-o", tmp_path / "out.npy", "-q")
    assert_array_equal(np.load(tmp_path / "out.npy"), fitted.transform(X[200:]))


def test_quality_is_that_of_scikit_learn(lion, frame, tmp_path):
    from sklearn.manifold import trustworthiness

    frame.to_csv(tmp_path / "all.csv", index_label="name")
    columns = ["--id", "name", "--label", "kind"]
    fit = [tmp_path / "all.csv", *columns, "--perplexity", 10, "--iterations", 150, "-q"]
    lion("fit", *fit, "-o", tmp_path / "map.lion")
    told = json.loads(lion("quality", tmp_path / "map.lion", "--json"))
    X = frame.drop(columns="kind").to_numpy(dtype=np.float32)
    Y = liontsne.load(tmp_path / "map.lion").embedding_
    for scale in told["scales"]:
        k = scale["neighbours"]
        assert scale["trustworthiness"] == pytest.approx(trustworthiness(X, Y, n_neighbors=k), abs=1e-4)
        assert scale["continuity"] == pytest.approx(trustworthiness(Y, X, n_neighbors=k), abs=1e-4)
    assert [scale["neighbours"] for scale in told["scales"]] == [10, 30, 100]
