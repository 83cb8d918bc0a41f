"""Keeps one Python rival with its own map, and has it place rows when told: place_rival.py TOOL X.npy NEW.npy KEPT THREADS [Y.npy].

The rival is fitted to X, or taken from the file KEPT where an earlier run left it. Then one JSON object a line comes in on
stdin, a question, and one goes out on stdout, the answer:
- `{"do": "place", "way": W}`: all of NEW in one call, or those of another file with `"rows": F`; its seconds. With `"places": F`
  the places are written to a file, with `"map": F` those of the map's own rows (some rivals move their map as they place).
- `{"do": "singles", "way": W, "calls": N, "seconds": S}`: rows of NEW one at a time, N or as many as S seconds allow, but 20 at
  least; microseconds in the middle and at the 99th percentile, and resident memory before and after.
A rival is asked to place all rows once before its time counts: it has compiled and built what it needs by then.
"""

import json
import os
import pickle
import sys
import time
import warnings
from pathlib import Path

import numpy as np

PERPLEXITY = 30
LEAST_CALLS = 20


def opentsne(x, threads, kept, _):
    import openTSNE

    def fit():
        return openTSNE.TSNE(perplexity=PERPLEXITY, n_jobs=threads, random_state=0).fit(x)

    embedding = remembered(kept, fit)

    def transform(rows, gradient):
        embedding.gradient_descent_params["negative_gradient_method"] = gradient
        return embedding.transform(rows)

    def optimised(rows):
        # What `transform` does to its own, at the map's perplexity instead of 5.
        embedding.gradient_descent_params["negative_gradient_method"] = "auto"
        partial = embedding.prepare_partial(rows)
        partial.optimize(250, inplace=True, learning_rate=0.1, exaggeration=1.5, momentum=0.8, max_grad_norm=0.25)
        return partial

    ways = {
        "opentsne": lambda rows: transform(rows, "auto"),
        "opentsne-fft": lambda rows: transform(rows, "fft"),
        "opentsne-partial": embedding.prepare_partial,
        "opentsne-partial-optimised": optimised,
    }
    return embedding, ways


def umap(x, threads, kept, _):
    import umap

    # Without a seed: one would cost it its threads.
    fitted = remembered(kept, lambda: umap.UMAP(n_jobs=threads).fit(x))
    return fitted.embedding_, {"umap": fitted.transform}


def pacmap(x, threads, kept, _):
    import numba
    import pacmap

    numba.set_num_threads(threads)

    def fit():
        fitted = pacmap.PaCMAP(save_tree=True)
        fitted.fit(x, init="pca")
        return fitted

    fitted = remembered(kept, fit)
    return fitted.embedding_, {"pacmap": fitted.transform}


def neighbours(x, threads, _, y):
    from sklearn.neighbors import KNeighborsRegressor

    y = np.load(y)
    fitted = KNeighborsRegressor(weights="distance", n_jobs=threads).fit(x, y)
    return y, {"sklearn-knn": fitted.predict}


def liontsne(_, threads, __, y):
    """Ours, as a Python package: the map that the program made."""
    import liontsne

    lion = liontsne.load(Path(y).with_suffix(".lion"), n_jobs=threads)
    return lion.embedding_, {"liontsne": lion.transform}


RIVALS = {"liontsne": liontsne, "opentsne": opentsne, "umap": umap, "pacmap": pacmap, "sklearn-knn": neighbours}


def remembered(kept, fit):
    """What was fitted in an earlier run, or is now."""
    if not kept.exists():
        part = kept.with_suffix(".part")
        part.write_bytes(pickle.dumps(fit()))
        part.rename(kept)
    # Read again in either case, so that no run differs from the next.
    return pickle.loads(kept.read_bytes())


def resident():
    """Bytes in memory now, where the system tells."""
    try:
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    except OSError:
        return None


def singles(place, rows, calls, budget):
    """Microseconds of each call, ascending, with memory before and after."""
    place(rows[:1])
    spent, before = [], resident()
    end = time.perf_counter() + budget
    while len(spent) < calls and (len(spent) < LEAST_CALLS or time.perf_counter() < end):
        row = rows[len(spent) % len(rows)][None, :]
        start = time.perf_counter()
        place(row)
        spent.append(1e6 * (time.perf_counter() - start))
    after = resident()
    spent.sort()
    at = {f"p{share}_us": spent[share * len(spent) // 100] for share in (50, 99)}
    return at | {"calls": len(spent), "memory_before": before, "memory_after": after}


def save(path, places, rows):
    places = np.ascontiguousarray(places, np.float32)
    if places.shape != (rows, 2) or not np.isfinite(places).all():
        raise RuntimeError(f"no {rows} x 2 finite numbers but {places.shape}")
    np.save(path, places)


def answer(question, y, ways, new):
    place = ways[question["way"]]
    if question["do"] == "singles":
        return singles(place, new, question["calls"], question["seconds"])
    rows = np.load(question["rows"]) if "rows" in question else new
    start = time.perf_counter()
    places = place(rows)
    seconds = time.perf_counter() - start
    if "places" in question:
        save(question["places"], places, len(rows))
    if "map" in question:
        save(question["map"], y, len(y))
    return {"seconds": seconds}


def main():
    warnings.simplefilter("ignore")
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tool, source, new, kept, threads, *given = sys.argv[1:]
    y, ways = RIVALS[tool](np.load(source), int(threads), Path(kept), *given or [None])
    new = np.load(new)
    for line in sys.stdin:
        try:
            told = answer(json.loads(line), y, ways, new)
        except Exception as error:  # the bench says so in its table, and goes on with the others
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main()
