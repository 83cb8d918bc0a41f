"""Writes the data of a bench as .npy files (float32 rows, uint8 labels): prepare.py KIND ROWS DIMS OUT SOURCE.

KIND is `mnist` (the first ROWS digits of a fixed shuffle; PCA to DIMS, or raw pixels if DIMS is 784),
`digits` (the training digits that come with the repository, PCA to DIMS) or `clusters` (synthetic: Gaussian clusters of unequal sizes and widths). Labels go to OUT with `-labels` added.
"""

import gzip
import sys
from pathlib import Path

import numpy as np


def mnist(rows, dims, folder):
    """Pixels / 255 of the first `rows` training digits of the shuffle of seed 0, with their labels."""
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    chosen = np.random.default_rng(0).permutation(len(images))[:rows]
    pixels = images[chosen].astype(np.float64) / 255
    return (pixels if dims == 784 else pca(pixels, dims)), labels[chosen]


def embedded(dims, path):
    """The training digits of data/README.md."""
    with gzip.open(path) as file:
        content = file.read()
    train, test, width = np.frombuffer(content, "<u4", 3, offset=8)
    at = 20 + 4 * (train + 2 * test)
    labels = np.frombuffer(content, np.uint8, train, offset=at)
    pixels = np.frombuffer(content, np.uint8, train * width, offset=at + train + test).reshape(train, width)
    return pca(pixels.astype(np.float64) / 255, dims), labels


def pca(rows, dims):
    """The leading principal components, in f64, each with its largest weight positive."""
    centred = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    vectors = vectors[:, ::-1][:, :dims]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dims)])
    return centred @ (vectors * signs)


def clusters(rows, dims, count=100):
    """Gaussian clusters; the centres are a few widths apart, so that neighbours are mostly but not all inside."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(count, dims)) * 3
    widths = rng.uniform(0.5, 1.5, count)
    shares = rng.dirichlet(np.full(count, 2.0))
    labels = rng.choice(count, rows, p=shares).astype(np.uint8)
    data = np.empty((rows, dims), np.float32)
    for start in range(0, rows, 100_000):
        part = labels[start : start + 100_000]
        data[start : start + len(part)] = centres[part] + rng.normal(size=(len(part), dims)) * widths[part, None]
    return data, labels


def main():
    kind, rows, dims, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    source = Path(sys.argv[5])
    makers = {
        "mnist": lambda: mnist(rows, dims, source),
        "digits": lambda: embedded(dims, source),
        "clusters": lambda: clusters(rows, dims),
    }
    data, labels = makers[kind]()
    np.save(out.with_name(out.stem + "-labels.npy"), labels)
    # Renamed when whole: the file's being there says that it need not be made again.
    part = out.with_name(out.stem + "-part.npy")
    np.save(part, np.ascontiguousarray(data, np.float32))
    part.rename(out)


if __name__ == "__main__":
    main()
