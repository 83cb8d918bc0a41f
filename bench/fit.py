"""Lion and its rivals side by side, in one run. `cargo xtask bench fit` calls this with everything in place.

Every tool runs in a process of its own on the same files with the same number of threads; the tools take turns,
round after round, so that a noisy minute hits all of them. All maps are judged by one program (KL divergence
from the exact P and Q, and the share of the 10 nearest map neighbours that carry a row's label). This process
loads no library of size, because a child's peak memory is never counted as less than what its parent held.
"""

import argparse
import statistics
import sys
from pathlib import Path

from common import DIMS, HERE, ITERATIONS, PERPLEXITY, Bench, Failed, cpuinfo, markdown, number, write

SMALL_ONLY = ["lion-exact", "sklearn-exact", "bhtsne-bh", "bhtsne-exact"]
FLAGS = {"lion-exact": ["--method", "exact"], "lion-accelerated": ["--descent", "accelerated"]}
ALL = ["lion", "lion-accelerated", "opentsne", "sklearnex", "bhtsne-fft", "umap", "pacmap", "sklearn", *SMALL_ONLY]


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench fit", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2500,10000,60000", help="rows of MNIST (default: %(default)s)")
    parser.add_argument("--only", help="tools, of: " + ", ".join(ALL))
    parser.add_argument("--rounds", type=int, default=3, help="runs of each tool (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=900, help="seconds per size after which slow tools get no further round (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of every tool (default: %(default)s)")
    parser.add_argument("--slow", action="store_true", help="scikit-learn's Barnes-Hut at 60000 rows too")
    parser.add_argument("--skip-neighbours", action="store_true", help="no bench of the neighbour search")
    parser.add_argument("--neighbour-rows", type=int, default=60000, help="rows of that bench (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="maps of the embedded digits by each of lion, opentsne, sklearn (default: %(default)s)")
    parser.add_argument("--synthetic", action="store_true", help="lion alone on 100 000 and 1 000 000 x 50 clusters too")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",") if n]
    options.only = options.only.split(",") if options.only else ALL
    unknown = sorted(set(options.only) - set(ALL))
    if unknown:
        parser.error(f"no tool called {', '.join(unknown)}; there are {', '.join(ALL)}")
    return options


class FitBench(Bench):
    """How a map is made and judged."""

    def __init__(self, options):
        super().__init__(options.target, options.threads)
        self.options = options

    def fit(self, tool, x, y, seed=0):
        """One run of one tool: writes the map to `y`, returns what there is to say of it."""
        if tool.startswith("lion"):
            return self.fit_lion(x, y, seed, FLAGS.get(tool, []))
        if tool.startswith("bhtsne"):
            answer = self.run([self.program("rival_bhtsne"), x, y, "--mode", tool.split("-")[1]])
            return {"version": "0.7", "phases": {}} | answer
        return self.run([sys.executable, HERE / "rival.py", tool, x, y, self.threads], SEED=str(seed))

    def judge(self, x, y, labels):
        """KL and accuracy of a map, by the one program that judges them all."""
        words = [self.program("judge"), x, y, "--perplexity", PERPLEXITY, "--labels", labels]
        answer = self.run(words)
        return {"kl": answer["kl"], "accuracy": answer.get("accuracy")}


def tools_for(size, options):
    def fits(tool):
        return not (tool in SMALL_ONLY and size > 2500) and not (tool == "sklearn" and size > 10000 and not options.slow)

    return [tool for tool in options.only if fits(tool)]


def compare(bench, size):
    """All tools on one size, in turns; a list of rows of the table."""
    x, labels = bench.data("mnist", size, DIMS.get(size, 50))
    tools, spent = tools_for(size, bench.options), 0.0
    runs, errors = {tool: [] for tool in tools}, {}
    for turn in range(bench.options.rounds):
        for tool in tools:
            last = runs[tool][-1]["process_seconds"] if runs[tool] else 0.0
            if tool in errors or (turn > 0 and spent + last > bench.options.budget):
                continue
            try:
                run = bench.fit(tool, x, bench.folder / f"{x.stem}-{tool}.npy")
            except Failed as error:
                errors[tool] = str(error)
                print(f"{size:>8} round {turn + 1} {tool}: {error}", file=sys.stderr)
                continue
            runs[tool].append(run)
            spent += run["process_seconds"]
            print(f"{size:>8} round {turn + 1} {tool}: {run['seconds']:.2f} s", file=sys.stderr)
    rows = []
    for tool in tools:
        row = summary(tool, runs[tool], errors.get(tool))
        if "error" not in row:
            try:
                row |= bench.judge(x, bench.folder / f"{x.stem}-{tool}.npy", labels)
            except Failed as error:
                print(f"{size:>8} {tool}: KL not computed, kl {error}", file=sys.stderr)
        rows.append(row)
    return rows


def summary(tool, runs, error):
    """The median run of a tool, with the seconds of all of them."""
    if error or not runs:
        return {"tool": tool, "error": error or "not run"}
    # The run in the middle (the slower of two), so that the phases add up to the seconds shown.
    middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
    row = {key: middle.get(key) for key in ("version", "settings", "phases", "recall")}
    row |= {"tool": tool, "seconds": middle["seconds"], "all_seconds": [run["seconds"] for run in runs]}
    row["process_seconds"] = statistics.median(run["process_seconds"] for run in runs)
    row["peak_mb"] = max(run["peak_mb"] for run in runs)
    return row


def digits(bench):
    """Quality on the digits that come with the repository: each seed another map, so that luck shows as such."""
    x, labels = bench.data("digits", 2500, 30)
    rows = []
    for tool in [tool for tool in ("lion", "opentsne", "sklearn") if tool in bench.options.only]:
        runs = []
        for seed in range(bench.options.seeds):
            y = bench.folder / f"{x.stem}-{tool}.npy"
            run = bench.fit(tool, x, y, seed) | bench.judge(x, y, labels)
            print(f"  digits seed {seed} {tool}: KL {run['kl']:.4f}, accuracy {run['accuracy']:.4f}", file=sys.stderr)
            runs.append(run)
        row = summary(tool, runs, None)
        for key in ("kl", "accuracy"):
            values = [run[key] for run in runs]
            row[key] = statistics.mean(values)
            row[key + "_deviation"] = statistics.stdev(values) if len(values) > 1 else 0.0
        rows.append(row)
    return rows


def neighbours(bench, dims):
    """90 nearest neighbours of every row: lion and faiss exactly, hnswlib at a recall of about .995."""
    x, _ = bench.data("mnist", bench.options.neighbour_rows, dims)
    truth = bench.folder / f"{x.stem}-faiss.npy"
    # faiss's own BLAS takes a slow kernel on many AVX-512 machines unless told.
    kernel = {"OPENBLAS_CORETYPE": "SkylakeX"} if "avx512f" in cpuinfo() else {}
    rival = [sys.executable, HERE / "rival.py"]
    threads = bench.options.threads
    commands = {
        "faiss": lambda: bench.run([*rival, "faiss", x, truth, threads], **kernel),
        "hnswlib": lambda: bench.run([*rival, "hnswlib", x, bench.folder / "hnsw.npy", threads, truth]),
        "lion": lambda: bench.run([bench.program("neighbours"), x, "--k", 90]),
    }
    runs, errors = {tool: [] for tool in commands}, {}
    for turn in range(bench.options.rounds):
        for tool, command in commands.items():
            try:
                runs[tool].append(command())
                print(f"{x.stem} round {turn + 1} {tool}: {runs[tool][-1]['seconds']:.2f} s", file=sys.stderr)
            except Failed as error:
                errors[tool] = str(error)
                print(f"{x.stem} {tool}: {error}", file=sys.stderr)
    return [summary(tool, runs[tool], errors.get(tool)) for tool in ("lion", "faiss", "hnswlib")]


def synthetic(bench):
    """Lion alone, on sizes where the others are not waited for."""
    rows = []
    for size in (100_000, 1_000_000):
        x, _ = bench.data("clusters", size, 50)
        try:
            run, error = bench.fit_lion(x, bench.folder / f"{x.stem}-lion.npy"), None
        except Failed as failure:
            run, error = None, str(failure)
        rows.append(summary(f"lion, {size} x 50", [run] if run else [], error))
    return rows


def table(rows):
    """A Markdown table; ratios are to the first row that is lion's."""
    lion = next((row["seconds"] for row in rows if row["tool"] == "lion" and "seconds" in row), None)
    has_recall = any(row.get("recall") is not None for row in rows)
    head = ["tool", "version", "seconds", "of which", "recall" if has_recall else "KL", *([] if has_recall else ["10-NN accuracy"]), "peak MB", "ratio to lion"]
    lines = []
    for row in rows:
        if "error" in row:
            lines.append([row["tool"], f"not measured: {row['error']}"])
            continue
        ratio = f"{row['seconds'] / lion:.2f}" if lion else "-"
        quality = [number(row.get("recall"), 4)] if has_recall else [number(row.get(key), 4, row.get(key + "_deviation")) for key in ("kl", "accuracy")]
        lines.append([row["tool"], row["version"] or "-", f"{row['seconds']:.2f}", phases(row), *quality, f"{row['peak_mb']:.0f}", ratio])
    notes = [f"{row['tool']}: {row['settings']}" for row in rows if row.get("settings")]
    settings = "\n\nSettings: " + "; ".join(notes) + "." if notes else ""
    return markdown(head, lines) + settings


def phases(row):
    parts = row.get("phases") or {}
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items()) if len(parts) > 1 else "-"


def report(bench, sections):
    """fit.md and fit.json."""
    intro = [
        f"{bench.threads} threads for every tool; seconds are the median of up to {bench.options.rounds} runs in turns, of the fit",
        "alone (no imports, no just-in-time compilation); peak MB is the whole process, libraries included. KL and accuracy",
        f"of every map are computed by the same program. Perplexity {PERPLEXITY} and {ITERATIONS} iterations where the tool has them.",
    ]
    write(bench, "fit", intro, {title: table(rows) for title, rows in sections.items()}, sections)


def main():
    options = arguments()
    bench, sections = FitBench(options), {}
    work = [(f"MNIST {n} x {DIMS.get(n, 50)}", lambda n=n: compare(bench, n)) for n in options.sizes]
    if options.seeds:
        work.append((f"Embedded digits, 2500 x 30, mean and deviation over {options.seeds} seeds", lambda: digits(bench)))
    if not options.skip_neighbours:
        rows = options.neighbour_rows
        work += [(f"90 nearest neighbours, MNIST {rows} x {d}", lambda d=d: neighbours(bench, d)) for d in (50, 784)]
    if options.synthetic:
        work.append(("Synthetic clusters", lambda: synthetic(bench)))
    for title, section in work:
        sections[title] = section()
        report(bench, sections)
    print((bench.folder / "fit.md").read_text())
    if any("error" in row for rows in sections.values() for row in rows):
        sys.exit("some tools were not measured: see the table")


if __name__ == "__main__":
    main()
