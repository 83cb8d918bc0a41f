"""Updates maps by one Python rival: rival.py TOOL CASE OLD.npy OUT THREADS.

CASE is a folder of cases.py, OLD.npy the places of its first table. OUT-K.npy gets the places of step K. Prints one JSON object: the
seconds of each step without imports, reading and just-in-time compilation, the version and the settings.
"""

import json
import logging
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

PERPLEXITY, ITERATIONS, SEED = 30, 750, 0


class Tables:
    """The rows of each step, and how many of them are those of the step before."""

    def __init__(self, folder):
        self.steps = json.loads((folder / "case.json").read_text())["steps"]
        self.rows = [np.load(folder / f"rows-{at}.npy") for at in range(len(self.steps))]


def opentsne(tables, old_places, threads, from_places=True):
    """Each step begins at the places of the step before; new rows where openTSNE's own `transform` puts them."""
    import openTSNE

    places, seconds = [old_places.astype(np.float64)], []
    for at in range(1, len(tables.rows)):
        rows, stayed = tables.rows[at], tables.steps[at]["stayed"]
        place = placing(openTSNE, tables.rows[at - 1], places[-1], threads) if len(rows) > stayed else None
        begun = time.perf_counter()
        new = [np.asarray(place(rows[stayed:]))] if place else []
        start = np.vstack([places[-1][:stayed], *new])
        start = start if from_places else openTSNE.initialization.rescale(start)
        tsne = openTSNE.TSNE(perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED, initialization=start)
        if from_places:
            affinities = openTSNE.affinity.PerplexityBasedNN(rows, perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED)
            embedding = tsne.prepare_initial(rows, affinities=affinities)
            embedding.optimize(n_iter=ITERATIONS, exaggeration=None, momentum=tsne.final_momentum, inplace=True)
        else:
            embedding = tsne.fit(rows)
        places.append(np.asarray(embedding))
        seconds.append(time.perf_counter() - begun)
    return places, seconds, "openTSNE"


def placing(opentsne_package, rows, places, threads):
    """The old map as openTSNE's own, which who has just made it would have at hand: not counted."""
    affinities = opentsne_package.affinity.PerplexityBasedNN(rows, perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED)
    tsne = opentsne_package.TSNE(perplexity=PERPLEXITY, n_jobs=threads, random_state=SEED, initialization=places)
    return tsne.prepare_initial(rows, affinities=affinities).transform


def opentsne_defaults(tables, old_places, threads):
    return opentsne(tables, old_places, threads, from_places=False)


def aligned_umap(tables, _, threads):
    """All tables at once: its maps of earlier steps know the later ones."""
    import numba
    import umap

    numba.set_num_threads(threads)

    def fit(rows, stayed, **settings):
        relations = [{row: row for row in range(count)} for count in stayed]
        return umap.AlignedUMAP(**settings).fit(rows, relations=relations).embeddings_

    # Has numba compile. From 4096 rows on neighbours are found another way, which is compiled too.
    count = 4200 if max(len(rows) for rows in tables.rows) >= 4096 else 300
    fit([np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)] * 2, [count], n_epochs=2)
    begun = time.perf_counter()
    places = fit(tables.rows, [step["stayed"] for step in tables.steps[1:]])
    took = time.perf_counter() - begun
    return [centred(np.asarray(found)) for found in places], [took], "umap-learn"


def centred(places):
    """Rows without neighbours get no place from it: they go to the middle."""
    lost = ~np.isfinite(places).all(axis=1)
    return np.where(lost[:, None], np.nanmean(places, axis=0), places)


TOOLS = {
    "opentsne": (opentsne, f"perplexity {PERPLEXITY}, {ITERATIONS} iterations from the old places, no early exaggeration"),
    "opentsne-defaults": (opentsne_defaults, f"perplexity {PERPLEXITY}, the old places rescaled as its guide says, its other defaults"),
    "aligned-umap": (aligned_umap, "AlignedUMAP with its defaults, all tables at once, no seed (a seed costs its threads)"),
}


def main():
    name, folder, old, out, threads = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
    update, settings = TOOLS[name]
    logging.disable(logging.WARNING)  # openTSNE warns of starts that are as wide as a map, which these are meant to be
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places, seconds, package = update(Tables(folder), np.load(old), threads)
    for at, found in enumerate(places):
        if not np.isfinite(found).all():
            raise RuntimeError(f"{name} gave places that are no numbers")
        np.save(f"{out}-{at}.npy", np.ascontiguousarray(found, np.float32))
    print(json.dumps({"seconds": seconds, "version": version(package), "settings": settings}))


if __name__ == "__main__":
    main()
