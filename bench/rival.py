"""Runs one Python rival once, in this process: rival.py TOOL X.npy OUT.npy THREADS [TRUTH.npy].

Prints one JSON object: the seconds of the fit itself (not of imports, reading, or just-in-time compilation,
which a run on little data of the same kind has done before), by phase where the tool lets us see them, its
version and settings. Maps and neighbours go to OUT.npy.

The variable ITERATIONS has another number of iterations or epochs than the tool's own. Several, ascending, are told of openTSNE
alone, which goes on from where it was: the clock stands still while a map is taken, `stops` has the seconds up to each, and
OUT-N.npy its map.
"""

import json
import os
import sys
import time
from importlib.metadata import version

import numpy as np

PERPLEXITY = 30
EXAGGERATED, ITERATIONS = 250, 750
STOPS = [int(count) for count in os.environ.get("ITERATIONS", "").split(",") if count]
NEIGHBOURS = 90
SEED = int(os.environ.get("SEED", 0))


class Clock:
    """Seconds by phase; what lies between a lap and a `go` is not counted."""

    def __init__(self):
        self.phases, self.stops = {}, {}
        self.go()

    def go(self):
        self.last = time.perf_counter()

    def lap(self, phase):
        now = time.perf_counter()
        self.phases[phase] = self.phases.get(phase, 0) + now - self.last
        self.last = now

    def stop(self, iterations, places):
        """The map after so many iterations, and the seconds up to it."""
        self.stops[iterations] = self.seconds, places

    @property
    def seconds(self):
        return sum(self.phases.values())


def opentsne(x, threads):
    import openTSNE

    tsne = openTSNE.TSNE(perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED)
    clock = Clock()
    affinities = openTSNE.affinity.PerplexityBasedNN(
        x, perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED, method=tsne.neighbors
    )
    clock.lap("neighbours")
    # What TSNE.fit does, phase by phase: 250 iterations exaggerated 12 times, then 500. It keeps speed and gains in between.
    embedding = tsne.prepare_initial(x, affinities=affinities)
    clock.lap("initialisation")
    early = dict(exaggeration=tsne.early_exaggeration, momentum=tsne.initial_momentum)
    embedding.optimize(n_iter=EXAGGERATED, inplace=True, **early)
    clock.lap("exaggeration")
    done, late = EXAGGERATED, dict(exaggeration=tsne.exaggeration, momentum=tsne.final_momentum)
    for stop in STOPS or [ITERATIONS]:
        clock.go()
        embedding.optimize(n_iter=stop - done, inplace=True, **late)
        clock.lap("rest")
        done = stop
        clock.stop(stop, np.array(embedding))
    return np.asarray(embedding), clock, "openTSNE", f"perplexity 30, 250 + {done - EXAGGERATED} iterations, PCA init"


def scikit_learn(x, threads, method="barnes_hut"):
    from sklearn.manifold import TSNE

    return classic(TSNE(method=method, **classic_settings(threads)), x, "scikit-learn", method)


def scikit_learn_exact(x, threads):
    return scikit_learn(x, threads, "exact")


def scikit_learn_intelex(x, threads):
    import sklearnex

    sklearnex.patch_sklearn(verbose=False)
    import daal4py
    from sklearn.manifold import TSNE

    if not TSNE.__module__.startswith(("daal4py", "sklearnex")):
        raise RuntimeError("scikit-learn-intelex did not patch TSNE")
    daal4py.daalinit(threads)
    return classic(TSNE(**classic_settings(threads)), x, "scikit-learn-intelex", "patched")


def own(default):
    """The number of iterations that was asked for, or the tool's own."""
    return STOPS[-1] if STOPS else default


def classic_settings(threads):
    return dict(perplexity=PERPLEXITY, max_iter=own(ITERATIONS), init="pca", n_jobs=threads, random_state=SEED)


def classic(tsne, x, package, note):
    clock = Clock()
    y = tsne.fit_transform(x)
    clock.lap("all")
    return y, clock, package, f"{note}, perplexity 30, {tsne.n_iter_ + 1} iterations, PCA init"


def umap(x, threads):
    import umap

    def fit(rows, epochs=None):
        return umap.UMAP(n_jobs=threads, n_epochs=epochs).fit_transform(rows)

    # From 4096 rows on it takes another path, which must be compiled too.
    warm_up(lambda rows: fit(rows, 5), x, 4200 if len(x) >= 4096 else 300)
    clock = Clock()
    y = fit(x, own(None))
    clock.lap("all")
    return y, clock, "umap-learn", f"{told('epochs')}, no seed (a seed costs its threads)"


def pacmap(x, threads):
    import numba
    import pacmap

    numba.set_num_threads(threads)

    def fit(rows):
        total, near = own(450), own(450) * 100 // 450  # its default: 100, 100 and 250
        return pacmap.PaCMAP(num_iters=(near, near, total - 2 * near)).fit_transform(rows, init="pca")

    warm_up(fit, x, 300)
    clock = Clock()
    y = fit(x)
    clock.lap("all")
    return y, clock, "pacmap", f"{told('iterations')}, PCA init, no seed"


def told(what):
    return f"{STOPS[-1]} {what}, else its defaults" if STOPS else "its defaults"


def warm_up(fit, x, rows):
    """Has numba compile: a run on random rows of the same width and type."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(np.random.default_rng(1).normal(size=(rows, x.shape[1])).astype(x.dtype))


def faiss_flat(x, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    clock = Clock()
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    _, found = index.search(x, NEIGHBOURS + 1)
    clock.lap("all")
    return without_self(found), clock, "faiss-cpu", "IndexFlatL2, exact"


def hnsw(x, threads, truth):
    import hnswlib

    clock = Clock()
    index = hnswlib.Index("l2", x.shape[1])
    index.init_index(len(x), M=16, ef_construction=200, random_seed=0)
    index.set_num_threads(threads)
    index.add_items(x)
    clock.lap("build")
    ef = calibrate(index, x, truth)
    index.set_ef(ef)
    clock.go()  # the search for ef is not its time
    found, _ = index.knn_query(x, NEIGHBOURS + 1)
    clock.lap("query")
    return without_self(found.astype(np.int64)), clock, "hnswlib", f"M 16, ef {ef}"


def calibrate(index, x, truth):
    """The smallest of a ladder of ef with a recall of .995 on every 60th row or so."""
    some = np.arange(0, len(x), max(1, len(x) // 1000))
    for ef in (91, 110, 130, 160, 200, 250, 320, 400, 500, 640, 800):
        index.set_ef(ef)
        found, _ = index.knn_query(x[some], NEIGHBOURS + 1)
        if recall(without_self(found.astype(np.int64), some), truth[some]) >= 0.995:
            break
    return ef


def without_self(found, rows=None):
    """Drops each row's own number, or where duplicates pushed it out, the last."""
    rows = np.arange(len(found)) if rows is None else rows
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(len(found), -1)


def recall(found, truth):
    return float(np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, truth)]))


MAPS = {
    "opentsne": opentsne,
    "sklearn": scikit_learn,
    "sklearn-exact": scikit_learn_exact,
    "sklearnex": scikit_learn_intelex,
    "umap": umap,
    "pacmap": pacmap,
}


def main():
    tool, source, out, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    x = np.load(source)
    answer = {}
    if tool == "faiss":
        result, clock, package, settings = faiss_flat(x, threads)
    elif tool == "hnswlib":
        truth = np.load(sys.argv[5])
        result, clock, package, settings = hnsw(x, threads, truth)
        answer["recall"] = recall(result, truth)
    else:
        result, clock, package, settings = MAPS[tool](x, threads)
        if not np.isfinite(result).all() or result.shape != (len(x), 2):
            raise RuntimeError(f"{tool} gave no map of {len(x)} x 2 finite numbers")
        result = np.ascontiguousarray(result, np.float32)
    np.save(out, result)
    for iterations, (_, places) in clock.stops.items() if STOPS else ():
        np.save(f"{out.removesuffix('.npy')}-{iterations}.npy", np.ascontiguousarray(places, np.float32))
    answer["stops"] = {iterations: seconds for iterations, (seconds, _) in clock.stops.items()}
    answer |= {"seconds": clock.seconds, "phases": clock.phases, "version": version(package), "settings": settings}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
