"""Digits with unseen digits and noise: a map of the digits 0 to 8, into which come other digits,
nines, and noise.

The map has never seen a nine. Some nines look like other digits and are put among them; most find
no neighbours and gather apart, as groups with their numbers. Noise finds none at all.
Writes unseen_digits.png.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from liontsne import LionTSNE


def main(quick: bool) -> None:
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(np.flatnonzero(y < 9))[: 700 if quick else None]
    train, new = order[: -len(order) // 5], order[-len(order) // 5 :]
    lion = LionTSNE(random_state=0).fit(X[train], y[train])
    print(lion)

    nines = np.flatnonzero(y == 9)
    noise = rng.integers(0, 17, size=(60, X.shape[1]))
    arrived = {"unseen digits": X[new], "nines": X[nines], "noise": noise}
    for name, rows in arrived.items():
        print(f"{name}: {(lion.predict(rows) == -1).mean():.0%} outliers")

    labels = [*y[new], *["9"] * len(nines), *["noise"] * len(noise)]
    placed = lion.place(np.vstack(list(arrived.values())))
    ax = placed.plot(labels=labels)
    ax.set_title("Digits 0 to 8, and what arrived later")
    ax.figure.savefig("unseen_digits.png", dpi=110)
    plt.close(ax.figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    main(parser.parse_args().quick)
