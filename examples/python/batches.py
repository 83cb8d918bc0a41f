"""Documents in batches with an emerging group: what has no place on the map gathers beside it, and
becomes a find.

Each week brings notes on three known topics. From the third week on some are on a fourth. The map
is fitted to the first week's sparse word counts; the later weeks are placed, and outliers that
belong together share a group. Writes batches.png.
"""

import argparse
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix, vstack

from liontsne import LionTSNE

WORDS, LENGTH = 3000, 120


def topics(rng: np.random.Generator) -> np.ndarray:
    """How likely each word is in each of four topics: common words, and words of the topic's
    own."""
    common = rng.zipf(1.6, size=WORDS).clip(max=200).astype(float)
    own = np.stack([common * np.where(rng.random(WORDS) < 0.04, 60.0, 1.0) for _ in range(4)])
    return own / own.sum(axis=1, keepdims=True)


def notes(rng: np.random.Generator, likely: np.ndarray, kinds: np.ndarray) -> csr_matrix:
    """Word counts of one note for each kind, damped as text usually is."""
    counts = np.stack([rng.multinomial(LENGTH, likely[kind]) for kind in kinds])
    return csr_matrix(np.log1p(counts, dtype=np.float32))


def main(quick: bool) -> None:
    rng = np.random.default_rng(1)
    likely, per_week = topics(rng), 60 if quick else 150
    kinds = rng.integers(0, 3, size=5 * per_week)
    lion = LionTSNE(metric="cosine", pca=20, random_state=0)
    lion.fit(notes(rng, likely, kinds), [f"topic {kind}" for kind in kinds])
    print(lion)

    weeks, labels = [], []
    for week in range(1, 5):
        new = rng.integers(0, 3, size=per_week)
        new[: 0 if week < 3 else per_week // 4] = 3
        weeks.append(notes(rng, likely, new))
        labels += [f"topic {kind}" for kind in new]
        placed = lion.place(vstack(weeks))  # all since the first week, so that groups can grow
        groups = Counter(placed.group[placed.group >= 0].tolist()).most_common(1)
        largest = groups[0][1] if groups else 0
        outliers = (placed.verdict == "outlier").sum()
        print(f"week {week}: {outliers} outliers so far, the largest group has {largest}")

    ax = placed.plot(labels=labels)
    ax.set_title("Four weeks of notes on a map of the first")
    ax.figure.savefig("batches.png", dpi=110)
    plt.close(ax.figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    main(parser.parse_args().quick)
