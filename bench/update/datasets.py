"""The sets of `bench update`, and those beside MNIST of `bench fit`: rows of at most 50 columns and a class for each.

Sets of packages are read by the loaders of `bench verdicts`. A table of more than 50 columns becomes the 50 leading principal
components of all its rows, and texts become the 50 of a truncated SVD, so that every tool sees the same columns. Of equal rows one
is kept. Rows are in the random order of a fixed seed.
"""

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "verdicts")]

import numpy as np  # noqa: E402
from common import MNIST  # noqa: E402
from prepare import images, projected  # noqa: E402
from sets import Sources, cells, keel  # noqa: E402

COLUMNS = 50


def mnist(_):
    pixels, labels = images("train", MNIST)
    return pixels / 255, labels.astype(str)


def fashion(sources):
    """Fashion-MNIST, the images of all classes."""
    classes = [np.array(sources.clothes(number), np.float32) for number in range(10)]
    return np.vstack(classes), np.repeat(np.arange(10), [len(images) for images in classes]).astype(str)


def newsgroups(sources):
    """Latent semantic analysis: TF-IDF, truncated SVD, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = sources.orange("20newsgroups-train")[["Category", "Text"]].dropna()
    words = TfidfVectorizer(min_df=5, max_df=0.5, max_features=20000, stop_words="english", sublinear_tf=True)
    rows = TruncatedSVD(COLUMNS, random_state=0).fit_transform(words.fit_transform(frame["Text"].astype(str)))
    length = np.linalg.norm(rows, axis=1)
    return rows[length > 0] / length[length > 0, None], frame["Category"].astype(str).to_numpy()[length > 0]


def of_keel(name, scaled=False):
    return keel(name, scaled=scaled)[1]


LOADERS = {
    "mnist": mnist,
    "fashion": fashion,
    "letter": of_keel("letter"),
    "penbased": of_keel("penbased"),
    "optdigits": of_keel("optdigits"),
    "satimage": of_keel("satimage", scaled=True),
    "texture": of_keel("texture"),
    "newsgroups": newsgroups,
    "pbmc68k": cells,
}


def load(name, folder, packages):
    """Rows, the codes of their classes and the names of these, from the file in `folder` that the first call makes."""
    made_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    path = folder / f"{name}-{made_by}.npz"
    if not path.exists():
        rows, labels = LOADERS[name](Sources(packages))
        part = path.with_suffix(".part.npz")
        np.savez(part, **arranged(np.asarray(rows, np.float64), np.asarray(labels)))
        part.rename(path)
    with np.load(path) as file:
        return file["rows"], file["codes"], file["names"].tolist()


def arranged(rows, labels):
    if rows.shape[1] > COLUMNS:
        rows = projected(rows, COLUMNS)(rows)
    rows = np.ascontiguousarray(rows, np.float32)
    _, first = np.unique(rows, axis=0, return_index=True)
    chosen = np.random.default_rng(0).permutation(np.sort(first))
    names, codes = np.unique(labels, return_inverse=True)
    return {"rows": rows[chosen], "codes": codes[chosen].astype(np.uint8), "names": names.astype(str)}
