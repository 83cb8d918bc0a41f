"""How often the labels of placed rows are right, and how well their shares say so, beside k nearest neighbours. `cargo xtask bench
labels` calls this.

A set is split at random, lion is fitted to 70 % and labels the others. k nearest neighbours (scikit-learn) vote in the original
columns; the share of the votes is what they say of themselves. What lion does (which weights vote, how shares are calibrated) was
chosen on the sets of CHOSEN alone; those of CONFIRMED were looked at afterwards.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
import packages  # noqa: E402
import pandas as pd  # noqa: E402
from common import Bench, markdown, number, write  # noqa: E402
from sets import Sources, load  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

CHOSEN = ["mnist", "cells", "letter", "vehicle", "segment", "phoneme", "newsgroups", "wine", "contraceptive", "glass"]
CONFIRMED = ["fashion", "digits", "satellite", "pendigits", "texture", "vowel", "magic", "reuters", "spam", "breast-cancer"]
NEIGHBOURS = [1, 10, 30]
TRAINING, BINS = 0.7, 10
INTRO = (
    "Sets are those that packages bundle, at most `--rows` rows of each, in random order; 70 % are fitted. Means over splits. Rows that "
    "lion calls outliers get no label (last column) and are left out for all. The calibration error is the mean difference between "
    "the share that is told and the share that is right, over ten parts of equally many rows; lower is better. Columns of mixed units "
    "were divided by their standard deviation."
)


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench labels", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help="names as in bench/verdicts/sets.py (default: twenty of them)")
    parser.add_argument("--rows", type=int, default=5000, help="at most so many of a set (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=3, help="of each set (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the splits (default: %(default)s)")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def labels_of_lion(program, train, known, test):
    """The labels and shares that lion gives; None for outliers. Positions do not matter, so few iterations do."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        np.save(at / "old.npy", train)
        np.save(at / "new.npy", test)
        (at / "labels.txt").write_text("\n".join(known) + "\n")
        run = lambda *words: subprocess.run([program, *words, "-q"], cwd=at, check=True)  # noqa: E731
        run("fit", "old.npy", "--labels", "labels.txt", "--iterations", "30", "-o", "m.lion")
        run("place", "m.lion", "new.npy", "-o", "p.csv")
        placed = pd.read_csv(at / "p.csv", dtype={"label": str}, keep_default_na=False, na_values={"label_share": ""})
    return placed["label"].to_numpy(), placed["label_share"].to_numpy(dtype=float)


def calibration_error(told, right):
    order = np.argsort(told, kind="stable")
    parts = np.array_split(order, BINS)
    return sum(abs(told[part].sum() - right[part].sum()) for part in parts) / max(len(told), 1)


def measure(name, sources, options, program):
    chosen = load(name, sources, options.rows)
    # A number for each class: no text of a set can then be mistaken for a missing one.
    classes = np.unique(chosen.labels, return_inverse=True)[1].astype(str)
    found = {}
    for split in range(options.splits):
        order = np.random.default_rng([options.seed, split]).permutation(len(chosen.x))
        train, test = np.split(order, [int(TRAINING * len(order))])
        label, share = labels_of_lion(program, chosen.x[train], classes[train], chosen.x[test])
        labelled = ~np.isnan(share)
        truth = classes[test][labelled]
        said = {"lion": (label[labelled], share[labelled])}
        for k in NEIGHBOURS:
            votes = KNeighborsClassifier(k).fit(chosen.x[train], classes[train])
            shares = votes.predict_proba(chosen.x[test][labelled])
            said[f"k = {k}"] = votes.classes_[shares.argmax(axis=1)], shares.max(axis=1)
        for tool, (label, told) in said.items():
            right = (label == truth).astype(float)
            found.setdefault(tool, []).append([right.mean(), calibration_error(told, right)])
        found.setdefault("unlabelled", []).append([1 - labelled.mean()] * 2)
    means = {tool: np.mean(values, axis=0).tolist() for tool, values in found.items()}
    rows, columns = chosen.x.shape
    return {"set": name, "rows": rows, "columns": columns, "classes": len(set(classes)), "found": means}


def table(records):
    tools = ["lion", *(f"k = {k}" for k in NEIGHBOURS)]
    head = ["set", "rows x columns", "classes", *(f"accuracy, {tool}" for tool in tools)]
    head += [*(f"error, {tool}" for tool in tools), "no label %"]
    lines = []
    for record in records:
        if "error" in record:
            lines.append([record["set"], f"not measured: {record['error']}"])
            continue
        found = record["found"]
        line = [record["set"], f"{record['rows']} x {record['columns']}", str(record["classes"])]
        for which, best in ((0, max), (1, min)):
            values = [found[tool][which] for tool in tools]
            line += [f"**{value:.3f}**" if value == best(values) else number(value, 3) for value in values]
        lines.append([*line, number(100 * found["unlabelled"][0], 1)])
    whole = [record["found"] for record in records if "error" not in record]
    if len(whole) > 1:
        means = [[np.mean([found[tool][which] for found in whole]) for tool in tools] for which in (0, 1)]
        lines.append(["mean", "", "", *(number(value, 3) for values in means for value in values), ""])
    return markdown(head, lines)


def main():
    options = arguments()
    bench = Bench(options.target, 2)
    program = os.fspath(bench.program("lion").resolve())
    folder = bench.folder / "verdicts"
    problems = packages.fetch(folder)
    parts = {"Labels": options.sets.split(",")} if options.sets else {
        "Labels, sets that choices were made on": CHOSEN,
        "Labels, other sets": CONFIRMED,
    }
    records = {title: [] for title in parts}
    for title, names in parts.items():
        for name in names:
            try:
                records[title].append(measure(name, Sources(folder), options, program))
            except Exception as error:  # whatever a package does, the other sets are measured
                records[title].append({"set": name, "error": f"{type(error).__name__}: {error}"})
            print(name, records[title][-1].get("error", "done"), file=sys.stderr, flush=True)
            texts = {title: table(lines) for title, lines in records.items() if lines}
            write(bench, "labels", [INTRO, *problems], texts, records)
    print((bench.folder / "labels.md").read_text())
    if any("error" in record for lines in records.values() for record in lines):
        sys.exit("not everything was measured: see the tables")


if __name__ == "__main__":
    main()
