"""Writes the tables of one case: cases.py SET SCENARIO CLASS ROWS OUT KEPT PACKAGES; or lists the classes: cases.py SET.

OUT is a folder. It gets `rows-K.npy` and `labels-K.npy` for each step K, all rows at that time, those of the step before first and in
their order; `rows-0.csv` is the first of them with ids, where ids are needed. What `lion update` is given: `new-K.npy` (rows that are new), `again-K.csv` (rows that come again under their ids with
other values), `forget-K.txt` (ids of rows that go). `case.json`, written last, says what there is.
"""

import json
import sys
from pathlib import Path

import numpy as np
from datasets import load

ARRIVES = {"arrives10": 0.1, "arrives30": 0.3}
GROWTH = {"growth": (1.1, 10), "growth20": (1.05, 20)}  # by how much each step, and how many
DRIFT_STEPS = 5
FEWEST_OF_A_CLASS = 100


def classes(codes, names):
    """Classes that may arrive, drift or leave, in the random order of a fixed seed: large enough, and not most of the rows."""
    sizes = np.bincount(codes, minlength=len(names))
    fit = [code for code in range(len(names)) if FEWEST_OF_A_CLASS <= sizes[code] <= 0.6 * len(codes)]
    return [names[code] for code in np.random.default_rng(0).permutation(fit)]


class Case:
    """Steps in order, written as they are added."""

    def __init__(self, out, rows, codes):
        self.out, self.rows, self.codes, self.steps = out, rows, codes, []
        out.mkdir(parents=True, exist_ok=True)

    def add(self, rows, codes, stayed, **given):
        at = len(self.steps)
        np.save(self.out / f"rows-{at}.npy", np.ascontiguousarray(rows, np.float32))
        np.save(self.out / f"labels-{at}.npy", codes)
        self.steps.append({"rows": len(rows), "stayed": stayed, **given})

    def grow(self, chosen, stayed, **given):
        """A step whose rows are `chosen` of the set, of which those after the first `stayed` are new."""
        if self.steps and len(chosen) > stayed:
            np.save(self.out / f"new-{len(self.steps)}.npy", self.rows[chosen[stayed:]])
            given["new"] = f"new-{len(self.steps)}.npy"
        self.add(self.rows[chosen], self.codes[chosen], stayed, **given)


def split(codes, code):
    """The rows of a class, and all others."""
    return np.flatnonzero(codes == code), np.flatnonzero(codes != code)


def arrives(case, share, code, most):
    """A class that the map has not seen makes `share` of the new total, and ordinary rows of the same number come along."""
    of_class, others = split(case.codes, code)
    total = int(min(most, len(of_class) / share, len(others) / (1 - share)))
    count = int(share * total)
    old = total - 2 * count
    case.grow(others[:old], 0)
    # The order of new rows is random, as they would come.
    new = np.random.default_rng(1).permutation(np.r_[others[old : old + count], of_class[:count]])
    case.grow(np.r_[others[:old], new], old)


def growth(case, most, scenario):
    """A chain of steps, each with more rows of any class."""
    by, steps = GROWTH[scenario]
    most = min(most, len(case.rows))
    sizes = [int(most / by**left) for left in range(steps, -1, -1)]
    for before, size in zip([0, *sizes], sizes):
        case.grow(np.arange(size), before)


def tenth(case, most):
    """One step of any rows, which are a tenth of all after it."""
    most = min(most, len(case.rows))
    case.grow(np.arange(most - most // 10), 0)
    case.grow(np.arange(most), most - most // 10)


def drift(case, code, most):
    """The rows of a class move, step by step, by the vector from its mean to that of the nearest other class."""
    chosen = np.arange(min(most, len(case.rows)))
    of_class, others = split(case.codes[chosen], code)
    order = np.r_[others, of_class]
    rows, codes = case.rows[order].astype(np.float64), case.codes[order]
    means = {other: rows[codes == other].mean(axis=0) for other in np.unique(codes)}
    vectors = [mean - means[code] for other, mean in means.items() if other != code]
    vector = min(vectors, key=np.linalg.norm)
    # Rows that come again are known by their ids, so the first table has them too.
    write_csv(case.out / "rows-0.csv", np.arange(len(rows)), rows)
    case.add(rows, codes, 0, with_ids="rows-0.csv")
    for step in range(1, DRIFT_STEPS + 1):
        moved = rows.copy()
        moved[len(others) :] += vector * step / DRIFT_STEPS
        again = f"again-{step}.csv"
        write_csv(case.out / again, np.arange(len(others), len(rows)), moved[len(others) :])
        case.add(moved, codes, len(rows), again=again)


def leaves(case, code, most):
    """A class goes."""
    chosen = np.arange(min(most, len(case.rows)))
    of_class, others = split(case.codes[chosen], code)
    case.grow(np.r_[others, of_class], 0)
    gone = np.arange(len(others), len(chosen))
    (case.out / "forget-1.txt").write_text("".join(f"{row}\n" for row in gone))
    case.grow(others, len(others), forget="forget-1.txt")


def write_csv(path, ids, rows):
    """A table with the column `id`, with digits enough for 32-bit numbers."""
    head = ",".join(["id", *(f"c{column}" for column in range(rows.shape[1]))])
    lines = [",".join([str(row), *(f"{value:.9g}" for value in values)]) for row, values in zip(ids, rows.astype(np.float32))]
    path.write_text("\n".join([head, *lines]) + "\n")


def make(scenario, code, most, case):
    if scenario in ARRIVES:
        arrives(case, ARRIVES[scenario], code, most)
    elif scenario in GROWTH:
        growth(case, most, scenario)
    elif scenario == "tenth":
        tenth(case, most)
    else:
        {"drift": drift, "leaves": leaves}[scenario](case, code, most)


def main():
    name, kept, packages = sys.argv[1], Path(sys.argv[-2]), Path(sys.argv[-1])
    rows, codes, names = load(name, kept, packages)
    if len(sys.argv) == 4:
        print(json.dumps({"rows": len(rows), "columns": rows.shape[1], "classes": classes(codes, names)}))
        return
    scenario, kind, most, out = sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5])
    code = names.index(kind) if kind else None
    case = Case(out, rows, codes)
    make(scenario, code, most, case)
    about = {"set": name, "scenario": scenario, "class": kind or None, "columns": rows.shape[1], "steps": case.steps}
    about["arrived"] = str(code) if scenario in ARRIVES else None
    (out / "case.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
