"""Whether groups of outliers could be found cell by cell, where the outliers are: the share of rows that are farther than r_x
from each border of their cell, and so cannot be near a row of another; and to how many cells a row would have to be sent."""

import json
import sys

import numpy as np
import pyarrow as pa

from liontsne.distributed import placer

ROWS, SAMPLE, ROUNDS = 100_000, 20_000, 10
HEAD = 29  # bytes of an outlier before its row


def rows_of(path):
    """The first rows of an .npy file, or of a file of outliers."""
    if path.endswith(".npy"):
        return np.load(path, mmap_mode="r")[:ROWS].astype(np.float64)
    with pa.OSFile(path) as file, pa.ipc.open_stream(file) as batches:
        found = pa.concat_arrays([batch.column(0) for batch, _ in zip(batches, range(50))])[:ROWS].to_pylist()
    return np.array([np.frombuffer(one, "<f4", offset=HEAD) for one in found], np.float64)


def distances2(rows, centres):
    return (rows**2).sum(1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(1)


def cells(rows, count, draw):
    """Centres by k-means on a sample."""
    rows = rows[draw.permutation(len(rows))[:SAMPLE]]
    centres = rows[:count].copy()
    for _ in range(ROUNDS):
        nearest = distances2(rows, centres).argmin(1)
        for cell in np.unique(nearest):
            centres[cell] = rows[nearest == cell].mean(0)
    return centres


def main():
    map, path, counts = sys.argv[1], sys.argv[2], [int(count) for count in sys.argv[3:]]
    r_x = placer(map)._opened.placer.r_x
    rows, answer = rows_of(path), {}
    for count in counts:
        centres = cells(rows, count, np.random.default_rng(0))
        d2 = distances2(rows, centres)
        own = d2.argmin(1)
        between = np.sqrt(np.maximum(distances2(centres, centres), 0))
        np.fill_diagonal(between, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            # How far a row is from the border between its cell and each of the others.
            margin = (d2 - d2[np.arange(len(rows)), own][:, None]) / (2 * between[own])
        margin[np.arange(len(rows)), own] = np.inf
        sent = (margin <= r_x).sum(1)
        answer[count] = {"inside": float((sent == 0).mean()), "sent": float(sent.mean()), "between": float(np.median(between[own].min(1))) / r_x}
    print(json.dumps({"r_x": r_x, "rows": len(rows), "cells": answer}))


if __name__ == "__main__":
    main()
