"""Other methods that place rows on a map. LION is compared with them.

Examples
--------
>>> import numpy as np
>>> from liontsne import LionTSNE, baselines
>>> X = np.random.default_rng(0).normal(size=(80, 4))
>>> lion = LionTSNE.from_embedding(X, X[:, :2], perplexity=10)
>>> "kernelized" in baselines.names()
True
>>> baselines.Baseline(lion, "idw", power=3.0).transform(X[:5] + 0.1).shape
(5, 2)
"""

from typing import Any

import numpy as np

from liontsne._native import Built, baseline_names
from liontsne.estimator import LionTSNE


def names() -> list[str]:
    """Returns the names of all other methods. docs/methods.md says what each does and what it
    costs."""
    return list(baseline_names())


class Baseline:
    """A method of placing, built from a fitted map.

    Parameters
    ----------
    lion : LionTSNE
        A fitted map.
    name : str
        One of `names()`.
    **params
        Parameters of the method: `power` for "idw", `width` for "kernelized", `epsilon` ("mean" or
        "edges") for "rbf-...".
    """

    def __init__(self, lion: LionTSNE, name: str, **params: Any):
        lion._ready()
        self.name = name
        self._lion = lion
        if "seed" not in params:
            params["seed"] = lion._seed
        self._built = Built(lion._map, name, params)

    @property
    def notes(self) -> list[str]:
        """What you should know about how it was built."""
        return list(self._built.notes)

    def transform(self, X: Any) -> np.ndarray:
        """Returns the positions of rows."""
        return self._lion._ask(self._built.coordinates, X)

    def __repr__(self) -> str:
        return f"Baseline({self.name!r}) of {len(self._lion.embedding_)} rows"
