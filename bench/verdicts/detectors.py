"""Tools that say how unusual a row is, asked alike: fitted to ordinary rows, then told new ones; larger is more unusual.

All of them get the same columns. Lion's PCA is part of lion: it comes first where there are more than 50 columns, as in
`lion fit` with its defaults. PyOD's models have PyOD's defaults.
"""

import importlib
import statistics
import time
import warnings

import numpy as np

# The verdict does not depend on the map's places, so a few steps of the descent do.
SHORT = {"max_iter": 20, "exaggeration_iter": 10, "power": 20.0}
PYOD = {"KNN": "knn", "LOF": "lof", "IForest": "iforest", "ECOD": "ecod", "OCSVM": "ocsvm"}
LION, FIRST, PAPER = "lion", "first-distance", "paper"
TOOLS = [LION, FIRST, PAPER, *PYOD]
TURNS, ENOUGH_SECONDS = 3, 1.0


class Lion:
    """A map of the ordinary rows: the calibrated verdict, or the paper's."""

    def __init__(self, train, verdict, seed, threads):
        from liontsne import LionTSNE

        distinct = len(np.unique(train, axis=0))
        perplexity = min(30.0, (distinct - 1) / 3)  # the most that a map of so many rows can have
        self.map = LionTSNE(perplexity=perplexity, verdict=verdict, random_state=seed, n_jobs=threads, **SHORT).fit(train)

    def place(self, rows):
        return self.map.place(rows)


def outliers(placed):
    """Which rows the verdict calls strange; one beside an outlier of the map is one itself."""
    return np.isin(placed.verdict, ["outlier", "beside-outlier"])


def pyod(name, train, seed):
    """A fitted model of PyOD; its function from rows to strangeness."""
    model = getattr(importlib.import_module(f"pyod.models.{PYOD[name]}"), name)
    model = model(random_state=seed) if name == "IForest" else model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(train)
    return model.decision_function


def timed(ask, rows):
    """What `ask` says of the rows, and the microseconds a row: the median of a few calls with all of them, if these are quick."""
    seconds = []
    while len(seconds) < TURNS and sum(seconds) < ENOUGH_SECONDS:
        begun = time.perf_counter()
        answer = ask(rows)
        seconds.append(time.perf_counter() - begun)
    return answer, 1e6 * statistics.median(seconds) / len(rows)


def strangeness(only, train, rows, seed, threads):
    """For each tool: how strange each row is, and the microseconds a row took."""
    answers = {}
    if LION in only or FIRST in only:
        placed, cost = timed(Lion(train, "calibrated", seed, threads).place, rows)
        answers[LION] = (-placed.score, cost)
        answers[FIRST] = (placed.nearest_distance, None)
    if PAPER in only:
        placed, cost = timed(Lion(train, "paper", seed, threads).place, rows)
        answers[PAPER] = (outliers(placed).astype(float), cost)
    for name in [name for name in PYOD if name in only]:
        values, cost = timed(pyod(name, train, seed), rows)
        answers[name] = (np.nan_to_num(values.astype(float)), cost)
    return {name: answer for name, answer in answers.items() if name in only}
