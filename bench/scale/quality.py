"""How good places are: do the 10 nearest places around a row carry its label, and are they the 10 nearest rows of the data?

Of all rows, and of those that are no landmarks of their map; and the same share in the data itself, among the rows of the map. Neighbours in the data and on the map are found by comparing
every pair, for a sample of rows.
"""

import json
import sys

import numpy as np
import pyarrow.parquet as pq

K = 10
SAMPLE = 5000


def nearest(rows, of, among=None):
    """The K nearest other rows of each of these, of all rows or among some."""
    lengths = (rows**2).sum(axis=1)
    if among is not None:
        lengths = np.where(among, lengths, np.inf)
    found = np.empty((len(of), K), dtype=np.int64)
    for first in range(0, len(of), 250):
        some = of[first : first + 250]
        distances = lengths[None] - 2 * rows[some] @ rows.T
        distances[np.arange(len(some)), some] = np.inf
        found[first : first + 250] = np.argpartition(distances, K, axis=1)[:, :K]
    return found


def main():
    x, labels, placed = sys.argv[1:]
    x, labels, placed = np.load(x), np.load(labels), pq.read_table(placed)
    places = np.stack([placed.column(name).to_numpy() for name in ("x", "y")], axis=1).astype(np.float64)
    places -= places.mean(axis=0)
    unseen = np.array(placed.column("verdict").to_pylist()) != "exact"
    of = np.sort(np.random.default_rng(0).choice(len(x), SAMPLE, replace=False))
    x = x.astype(np.float32)
    around, true = nearest(places, of), nearest(x, of)
    # What the rows of the map know of the others, without any map.
    known = nearest(x, of, ~unseen)
    right = (labels[around] == labels[of][:, None]).mean(axis=1)
    kept = [len(set(a) & set(b)) / K for a, b in zip(around, true)]
    unseen_right = right[unseen[of]]
    print(json.dumps({
        "accuracy": right.mean(),
        "unseen_accuracy": unseen_right.mean() if len(unseen_right) else None,
        "preserved": float(np.mean(kept)),
        "data_accuracy": float((labels[known] == labels[of][:, None]).mean()),
    }))


if __name__ == "__main__":
    main()
