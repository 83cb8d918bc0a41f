"""Adopting a map made elsewhere, by umap-learn if it is installed, and placing new rows into it.

Writes adopt_a_map.png.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import SpectralEmbedding

from liontsne import LionTSNE, evaluate


def places(X: np.ndarray, quick: bool) -> tuple[str, np.ndarray]:
    """A map by another package: what made it, and the places."""
    try:
        if quick:
            raise ImportError  # umap-learn compiles itself at its first call
        import umap
    except ImportError:
        return "SpectralEmbedding", 1000 * SpectralEmbedding(random_state=0).fit_transform(X)
    return "umap-learn", umap.UMAP(random_state=0, n_jobs=1).fit_transform(X)


def main(quick: bool) -> None:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[: 600 if quick else None]
    train, new = order[: -len(order) // 4], order[-len(order) // 4 :]
    maker, Y = places(X[train], quick)
    lion = LionTSNE.from_embedding(X[train], Y, y[train])
    print(lion)

    noise = np.random.default_rng(1).integers(0, 17, size=(40, X.shape[1]))
    table = evaluate(
        X[train],
        Y,
        y[train],
        X[new],
        y[new],
        X_strange=noise,
        methods=["lion", "idw", "kernelized"],
    )
    print(table.to_string(index=False, float_format="{:.3f}".format))

    placed = lion.place(np.vstack([X[new], noise]))
    ax = placed.plot(labels=[*y[new], *["noise"] * len(noise)])
    ax.set_title(f"A map by {maker}, new digits and noise placed by LION")
    ax.figure.savefig("adopt_a_map.png", dpi=110)
    plt.close(ax.figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    main(parser.parse_args().quick)
