"""How often ordinary rows are called outliers, and how many rows of unknown classes are found. `cargo xtask bench verdicts` calls this.

Calibration: a set is split at random, lion is fitted to one part and asked about the other, again and again; of rows like the
map's own, a share `alpha` should have a score of at most `alpha`. Unknown classes: one class of a set is held out, and lion, PyOD's
models and the paper's rule say which rows are of that class, having seen none of it.
"""

import argparse
import importlib.metadata
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

for library in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:  # before NumPy is loaded: all tools have one thread
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import packages  # noqa: E402
import tables  # noqa: E402
from common import Bench, write  # noqa: E402
from detectors import TOOLS, Lion, outliers, strangeness  # noqa: E402
from sets import LOADERS, Sources, load  # noqa: E402
from sklearn.metrics import roc_auc_score, roc_curve  # noqa: E402

ALPHAS = [0.01, 0.05, 0.10]
TRAINING = 0.7
FEWEST_SPLITS = 4  # for a standard error, whatever the budget
FEWEST_UNKNOWN, MOST_UNKNOWN, FEWEST_ORDINARY = 10, 1000, 60
QUICK = ["digits", "cells", "cells-few", "musk", "spam", "letter", "vowel", "vehicle", "banana", "wine"]


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench verdicts", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="of: " + ", ".join(LOADERS))
    parser.add_argument("--only", default=",".join(TOOLS), help="tools that look for unknown classes (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=5000, help="at most so many of a set (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=20, help="of each set, for the calibration (default: %(default)s)")
    parser.add_argument("--classes", type=int, default=4, help="of each set that are held out in turn (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="seconds for the splits of a set, once it had 4 (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of splits and tools (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="ten sets, at most 1500 rows, 6 splits, 1 class: some minutes")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.rows, options.splits, options.classes = 1500, 6, 1
    options.sets = options.sets.split(",") if options.sets else QUICK if options.quick else list(LOADERS)
    options.only = options.only.split(",")
    for given, known, what in [(options.sets, LOADERS, "set"), (options.only, TOOLS, "tool")]:
        if unknown := sorted(set(given) - set(known)):
            parser.error(f"no {what} called {', '.join(unknown)}; there are {', '.join(known)}")
    if options.splits < 2:
        parser.error("--splits must be at least 2: there is no standard error of one")
    return options


def calibrate(chosen, options):
    """The shares of ordinary rows with a score of at most each alpha, for each random split."""
    shares, called, begun = [], [], time.perf_counter()
    for split in range(options.splits):
        if split >= FEWEST_SPLITS and time.perf_counter() - begun > options.budget:
            break
        train, test = halves(chosen.x, np.random.default_rng([options.seed, split]))
        placed = Lion(train, "calibrated", options.seed, 1).place(test)
        shares.append([np.mean(placed.score <= alpha) for alpha in ALPHAS])
        called.append(np.mean(outliers(placed)))
    return {
        "rows": len(chosen.x),
        "columns": chosen.x.shape[1],
        "training": len(train),
        "splits": len(shares),
        "shares": np.mean(shares, axis=0).tolist(),
        "errors": errors(shares, len(test)),
        "called": float(np.mean(called)),
        "called_by_paper": float(np.mean(outliers(Lion(train, "paper", options.seed, 1).place(test)))),
    }


def errors(shares, tested):
    """Standard errors over splits, but never less than of as many independent rows: a few splits may agree by chance."""
    over_splits = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
    independent = [np.sqrt(alpha * (1 - alpha) / (tested * len(shares))) for alpha in ALPHAS]
    return np.maximum(over_splits, independent).tolist()


def halves(rows, generator):
    """Rows to fit, and rows to ask about."""
    order = generator.permutation(len(rows))
    cut = int(TRAINING * len(rows))
    return rows[order[:cut]], rows[order[cut:]]


def held_out(chosen, options):
    """Classes that can be unknown: large enough to count, and enough rows are left without them."""
    if chosen.labels is None:
        return []
    names, sizes = np.unique(chosen.labels, return_counts=True)
    fit = (sizes >= FEWEST_UNKNOWN) & (len(chosen.x) - sizes >= FEWEST_ORDINARY) & (sizes <= 0.7 * len(chosen.x))
    return np.random.default_rng(options.seed).permutation(names[fit])[: options.classes].tolist()


def unknown_class(chosen, name, options):
    """How well each tool tells the rows of one class from ordinary rows that it has not seen either."""
    generator = np.random.default_rng(options.seed)
    train, ordinary = halves(chosen.x[chosen.labels != name], generator)
    unknown = generator.permutation(chosen.x[chosen.labels == name])[:MOST_UNKNOWN]
    rows = np.vstack([ordinary, unknown])
    truth = np.r_[np.zeros(len(ordinary)), np.ones(len(unknown))]
    found = {}
    for tool, (values, cost) in strangeness(options.only, train, rows, options.seed, 1).items():
        alarms, hits, _ = roc_curve(truth, values, drop_intermediate=False)
        at = {f"found_{100 * rate:.0f}": float(np.interp(rate, alarms, hits)) for rate in ALPHAS[:2]}
        found[tool] = {"auc": float(roc_auc_score(truth, values)), "microseconds": cost, **at}
    return found


def measure(name, sources, options):
    """Everything about one set."""
    chosen = load(name, sources, options.rows)
    record = {"set": name, "source": chosen.source, **calibrate(chosen, options)}
    record["unknown"] = {kind: unknown_class(chosen, kind, options) for kind in held_out(chosen, options)}
    return record


def versions():
    names = ["liontsne", "pyod", "scikit-learn", "numpy"]
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def main():
    options = arguments()
    bench = Bench(options.target, 1)
    folder = bench.folder / "verdicts"
    problems = packages.fetch(folder)
    intro = [f"{versions()}; one thread each. {tables.INTRO}", *problems]
    records = []
    for name in options.sets:
        begun = time.perf_counter()
        try:
            records.append(measure(name, Sources(folder), options))
        except Exception as error:  # whatever a package or a tool does, the other sets are measured
            records.append({"set": name, "error": f"{type(error).__name__}: {error}"})
        print(f"{name}: {time.perf_counter() - begun:.0f} s {records[-1].get('error', '')}", file=sys.stderr, flush=True)
        write(bench, "verdicts", intro, tables.all_of(records, ALPHAS), records)
    print((bench.folder / "verdicts.md").read_text())
    if any("error" in record for record in records):
        sys.exit("not everything was measured: see the tables")


if __name__ == "__main__":
    main()
