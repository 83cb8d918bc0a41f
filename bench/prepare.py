"""Writes the data of a bench as .npy files (float32 rows, uint8 labels): prepare.py KIND ROWS DIMS OUT SOURCE.

KIND is one of
- `mnist`: the first ROWS digits of a fixed shuffle; PCA to DIMS, or raw pixels if DIMS is 784;
- `unseen`: what is placed into that: the 10000 test digits by the same PCA, and up to 1000 images of noise farther from
  every digit than any digit is from the others, which go to OUT with `-noise` added (none of raw pixels);
- `digits`: the training digits that come with the repository, PCA to DIMS;
- `paper`: the same as raw pixels and all that the paper's tests place: `-test`, `-test-labels`, `-picked` (the training digit
  that each was picked for), `-others` (10000 digits that nobody picked), `-noise`;
- `clusters`: synthetic, Gaussian clusters of unequal sizes and widths; their first two columns, a map of no merit, go to
  OUT with `-plane` added; `fresh`: other rows of the same clusters;
- a set that packages bundle (update/datasets.py): its first ROWS, or all where there are fewer; SOURCE has the packages.

Labels go to OUT with `-labels` added.
"""

import gzip
import sys
from pathlib import Path

import numpy as np


def images(part, folder):
    """Pixels and labels of `train` or `t10k`."""
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        return pixels, np.frombuffer(file.read(), np.uint8, offset=8)


def training(rows, folder):
    """Pixels / 255 of the first `rows` training digits of the shuffle of seed 0, with their labels."""
    pixels, labels = images("train", folder)
    chosen = np.random.default_rng(0).permutation(len(pixels))[:rows]
    return pixels[chosen].astype(np.float64) / 255, labels[chosen]


def mnist(rows, dims, folder):
    pixels, labels = training(rows, folder)
    return (pixels if dims == 784 else projected(pixels, dims)(pixels)), labels


def unseen(rows, dims, folder, out):
    """Test digits and noise in the space of `mnist`."""
    known, _ = training(rows, folder)
    project = (lambda pixels: pixels) if dims == 784 else projected(known, dims)
    pixels, labels = images("t10k", folder)
    if dims < 784:
        save(out, "noise", strangers(project, known))
    return project(pixels.astype(np.float64) / 255), labels


def strangers(project, known):
    """Images of noise that are farther from the known ones than any of those is from the others, projected."""
    known = project(known).astype(np.float32)
    noise = project(np.random.default_rng(1).uniform(size=(1500, 784))).astype(np.float32)
    farthest = nearest(known, known, skip=1).max()
    return noise[nearest(noise, known, skip=0) > farthest][:1000]


def nearest(rows, known, skip):
    """The distance of each row to its nearest known one, or to the next where `skip` is 1."""
    lengths = (known**2).sum(axis=1)
    distances = []
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        squared = (part**2).sum(axis=1)[:, None] + lengths - 2 * part @ known.T
        distances.append(np.partition(squared, skip, axis=1)[:, skip])
    return np.sqrt(np.maximum(np.concatenate(distances), 0))


class Embedded:
    """The file of data/README.md."""

    def __init__(self, path):
        with gzip.open(path) as file:
            content = file.read()
        train, test, ordinary, width = (int(n) for n in np.frombuffer(content, "<u4", 4, offset=8))
        every = train + test + ordinary
        # Those that were picked; the ordinary ones come last.
        self.rows = np.frombuffer(content, "<u4", train + test, offset=24)
        self.picked = np.frombuffer(content, "<u4", test, offset=24 + 4 * every)
        at = 24 + 4 * (every + test)
        labels = np.frombuffer(content, np.uint8, every, offset=at)
        pixels = np.frombuffer(content, np.uint8, offset=at + every).reshape(every, width) / 255
        self.labels, self.test_labels = labels[:train], labels[train : train + test]
        self.pixels, self.test = pixels[:train], pixels[train : train + test]
        self.ordinary, self.ordinary_labels = pixels[train + test :], labels[train + test :]


def embedded(dims, path):
    digits = Embedded(path)
    return projected(digits.pixels, dims)(digits.pixels), digits.labels


def paper(path, out):
    digits, rng = Embedded(path), np.random.default_rng(0)
    train, _ = images("train", path.parent / "mnist")
    nobodys = np.setdiff1d(np.arange(len(train)), digits.rows)
    save(out, "test", digits.test)
    save(out, "picked", digits.picked[:, None])
    save(out, "others", train[rng.permutation(nobodys)[:10000]] / 255)
    save(out, "noise", rng.uniform(size=(1000, train.shape[1])))
    np.save(out.with_name(out.stem + "-test-labels.npy"), digits.test_labels)
    return digits.pixels, digits.labels


def projected(rows, dims):
    """Projects onto the leading principal components of `rows`, in f64, each with its largest weight positive."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    _, vectors = np.linalg.eigh(centred.T @ centred)
    vectors = vectors[:, ::-1][:, :dims]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dims)])
    return lambda rows: (rows - mean) @ vectors


def mixture(dims, count=100):
    """Clusters whose centres are a few widths apart, so that neighbours are mostly but not all inside; and the generator."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(count, dims)) * 3
    widths = rng.uniform(0.5, 1.5, count)
    shares = rng.dirichlet(np.full(count, 2.0))
    return centres, widths, shares, rng


def clusters(rows, dims, out):
    data, labels = drawn(rows, *mixture(dims))
    save(out, "plane", data[:, :2])
    return data, labels


def fresh(rows, dims):
    centres, widths, shares, _ = mixture(dims)
    return drawn(rows, centres, widths, shares, np.random.default_rng(1))


def packaged(name, rows, packages, out):
    """As `bench update` has it, from the same file."""
    sys.path.insert(0, str(Path(__file__).resolve().parent / "update"))
    import datasets

    folder = out.parent / "update" / "sets"
    folder.mkdir(parents=True, exist_ok=True)
    data, labels, _ = datasets.load(name, folder, packages)
    return data[:rows], labels[:rows]


def drawn(rows, centres, widths, shares, rng):
    labels = rng.choice(len(shares), rows, p=shares).astype(np.uint8)
    data = np.empty((rows, centres.shape[1]), np.float32)
    for start in range(0, rows, 100_000):
        part = labels[start : start + 100_000]
        data[start : start + len(part)] = centres[part] + rng.normal(size=(len(part), data.shape[1])) * widths[part, None]
    return data, labels


def save(out, name, rows):
    """A table beside `out`."""
    np.save(out.with_name(f"{out.stem}-{name}.npy"), np.ascontiguousarray(rows, np.float32))


def main():
    kind, rows, dims, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    source = Path(sys.argv[5])
    makers = {
        "mnist": lambda: mnist(rows, dims, source),
        "unseen": lambda: unseen(rows, dims, source, out),
        "digits": lambda: embedded(dims, source),
        "paper": lambda: paper(source, out),
        "clusters": lambda: clusters(rows, dims, out),
        "fresh": lambda: fresh(rows, dims),
    }
    data, labels = makers[kind]() if kind in makers else packaged(kind, rows, source, out)
    np.save(out.with_name(out.stem + "-labels.npy"), labels)
    # Renamed when whole: the file's being there says that it need not be made again.
    part = out.with_name(out.stem + "-part.npy")
    np.save(part, np.ascontiguousarray(data, np.float32))
    part.rename(out)


if __name__ == "__main__":
    main()
