"""t-SNE maps that stay alive: fit a map of a table once, keep it in one file, and place new rows
into it.

- `LionTSNE`: a scikit-learn estimator. `fit` makes a map, `transform` places new rows, `predict`
  tells strangers apart, `place` says everything that is known of each row.
- `TSNE`: the plain map with scikit-learn's names and defaults.
- `load`: a map from a file, whoever wrote it: `LionTSNE.save` or `lion fit`.
- `evaluate` and `baselines`: how good places are, and the other ways of placing.
- `liontsne.scanpy`: the same for AnnData.
- `liontsne.distributed`: placing rows that are spread over many machines, or pass by as Arrow.

Names are loaded when they are first used, so that `import liontsne` costs next to nothing;
scikit-learn comes with the first estimator, matplotlib with the first plot.

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
    from liontsne.estimator import LionTSNE, load
    from liontsne.evaluation import evaluate
    from liontsne.placements import Placements
    from liontsne.tsne import TSNE

__all__ = ["LionTSNE", "Placements", "TSNE", "__version__", "baselines", "evaluate", "load"]

_MODULE_OF = {
    "LionTSNE": "liontsne.estimator",
    "load": "liontsne.estimator",
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
