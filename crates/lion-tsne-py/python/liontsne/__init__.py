"""t-SNE maps that stay alive: fit a map of a table once, keep it in one file, and place new rows
on it.

- `LionTSNE`: a scikit-learn estimator. `fit` makes a map, `transform` places new rows, `predict`
  finds outliers, `place` returns everything that is known of each row.
- `TSNE`: the plain map with the names and defaults of scikit-learn.
- `load`: reads a map file that `LionTSNE.save` or `lion fit` wrote.
- `evaluate` and `baselines`: measure positions, and place by other methods.
- `liontsne.scanpy`: the same for AnnData.
- `liontsne.distributed`: place rows on many machines, or rows of Arrow data.

Names are loaded when they are first used, so `import liontsne` is fast. scikit-learn is imported with
the first estimator, matplotlib with the first plot.

>>> import numpy as np
>>> from liontsne import LionTSNE
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(150, 5)) + 8 * rng.integers(0, 3, size=(150, 1))
>>> lion = LionTSNE(perplexity=10, random_state=0).fit(X)
>>> lion.transform(X[:3]).shape
(3, 2)
>>> lion.predict([[0, 0, 0, 0, 0], [900, 0, 0, 0, 0]])
array([ 1, -1])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from liontsne._native import __version__

if TYPE_CHECKING:
    from liontsne import baselines
    from liontsne.estimator import LionTSNE
    from liontsne.evaluation import evaluate
    from liontsne.maps import load
    from liontsne.placements import Placements
    from liontsne.tsne import TSNE

__all__ = ["LionTSNE", "Placements", "TSNE", "__version__", "baselines", "evaluate", "load"]

_MODULE_OF = {
    "LionTSNE": "liontsne.estimator",
    "load": "liontsne.maps",
    "TSNE": "liontsne.tsne",
    "Placements": "liontsne.placements",
    "evaluate": "liontsne.evaluation",
}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    elif name == "baselines":
        value = import_module("liontsne.baselines")
    else:
        raise AttributeError(f"module 'liontsne' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
