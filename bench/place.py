"""Placing new rows: lion and its rivals side by side, in one run. `cargo xtask bench place` calls this with everything in place.

Each rival has a map of its own of the same rows, in a process that stays; lion is a fresh process each time. The tools take
turns, round after round, so that a noisy minute hits all of them. All places are judged by the same functions
(bench/src/places.rs). Then lion alone: what a row costs as maps grow, and the paper's two tests on the digits that come with
the repository.
"""

import argparse
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from common import DIMS, Bench, Failed, beside, markdown, number, write
from placers import LION, RIVALS, SETTINGS, SINGLES, WAYS, LionTool, Package, RivalTool, Task

# Threads of the tool before may wait busily for more work.
PAUSE = 0.5
ROWS, COLUMNS, ROWS_OF_COLUMNS, FRESH = [1000, 10_000, 100_000, 1_000_000], [10, 50, 200, 784], 10_000, 2000
# The paper's, by radius: accuracy and power. The same for all: the baseline, and the percentile of noise.
PAPER = {90: (86.42, 17.2), 95: (87.18, 21.3), 99: (87.81, 20.7), 100: (87.87, 25.5)}
PAPER_BASELINE, PAPER_PERCENTILE = 87.59, 100


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench place", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2500,60000", help="rows of the MNIST maps (default: %(default)s)")
    parser.add_argument("--only", help="tools, of: " + ", ".join(WAYS))
    parser.add_argument("--rounds", type=int, default=3, help="timed calls of each tool with all rows (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=30, help="seconds after which a rival gets no more single rows, once it had 20 (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of every tool (default: %(default)s)")
    parser.add_argument("--skip-scaling", action="store_true", help="not what a row costs as maps grow")
    parser.add_argument("--skip-paper", action="store_true", help="not the paper's cluster test and outlier test")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",") if n]
    options.only = options.only.split(",") if options.only else WAYS
    unknown = sorted(set(options.only) - set(WAYS))
    if unknown:
        parser.error(f"no tool called {', '.join(unknown)}; there are {', '.join(WAYS)}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


class PlaceBench(Bench):
    """Lion's maps, and how rows are placed into them."""

    def __init__(self, options):
        super().__init__(options.target, options.threads)
        self.options = options
        self.maps = {}

    def lion_map(self, size):
        """The places of lion's map of so many digits; the map itself is beside them. Fitted once a run."""
        if size not in self.maps:
            x, *_ = self.data("mnist", size, DIMS.get(size, 50))
            say(f"fitting lion to {x.stem}")
            self.maps[size] = beside(x, "place")
            self.fit_lion(x, self.maps[size])
        return self.maps[size]

    def adopt(self, x, y):
        """A map of lion's from places made elsewhere: its file, and the seconds it took to work out how to place into it."""
        out = beside(x, "adopted").with_suffix(".lion")
        words = ["fit", x, "-o", out, "--pca", "none", "--embedding", y, "--threads", self.threads, "--json"]
        return out, self.run([self.program("lion"), *words])["seconds"]

    def place_by_lion(self, at, new, *words):
        return self.run([self.program("place"), at, new, "--threads", self.threads, *words])


def say(words):
    print(words, file=sys.stderr, flush=True)


def compare(bench, size):
    """All tools on one size, in turns; a list of rows of the table."""
    task, only = Task(bench, size), bench.options.only
    with ExitStack() as processes:
        tools = [LionTool(bench, task, way) for way in LION if way in only]
        for name, (_, ways) in RIVALS.items():
            wanted = [way for way in ways if way in only]
            if wanted:
                package = processes.enter_context(Package(bench, task, name))
                tools += [RivalTool(bench, task, package, way) for way in wanted]
        rows = {tool: {"tool": tool.way, "all_seconds": []} for tool in tools}

        def each(what, do):
            for tool, row in rows.items():
                if "error" in row:
                    continue
                time.sleep(PAUSE)
                try:
                    do(tool, row)
                    say(f"{task.x.stem} {what} {tool.way}: {[round(s, 3) for s in row['all_seconds']]} s")
                except Failed as error:
                    row["error"] = str(error)
                    say(f"{task.x.stem} {what} {tool.way}: {error}")

        each("warm-up", lambda tool, row: tool.warm_up())
        for turn in range(bench.options.rounds):
            each(f"round {turn + 1}", lambda tool, row: row["all_seconds"].append(tool.place()))
        each("single rows", lambda tool, row: row.update(tool.rest()))
    for row in rows.values():
        row["seconds"] = statistics.median(row["all_seconds"]) if row["all_seconds"] else None
    return list(rows.values())


def table_of_tools(rows):
    """Speed and quality of all tools; ratios are to lion."""
    lion = next((row["seconds"] for row in rows if row["tool"] == "lion" and "error" not in row), None)
    head = ["tool", "version", "all rows, s", "ratio to lion", "one row, p50 ms", "p99 ms", "calls", "accuracy %", "map's own %", "noise percentile", "MB before", "MB after"]
    lines = []
    for row in rows:
        if "error" in row:
            lines.append([row["tool"], f"not measured: {row['error']}"])
            continue
        line = [row["tool"], row["version"], number(row["seconds"], 3), number(lion and row["seconds"] / lion, 2)]
        line += [milliseconds(row["p50_us"]), milliseconds(row["p99_us"]), str(row["calls"])]
        line += [percent(row["accuracy"]), percent(row["map_accuracy"]), number(row["noise"], 2)]
        lines.append(line + [megabytes(row["memory_before"]), megabytes(row["memory_after"])])
    settings = "; ".join(f"{row['tool']}: {SETTINGS[row['tool']]}" for row in rows)
    return markdown(head, lines) + f"\n\nSettings: {settings}.\n\n" + table_of_ways(rows)


def table_of_ways(rows):
    """What only lion has to say."""
    head = ["tool", "r_x", "power", "outliers %", "accuracy of all %", "of those that are no outliers %", "map's own %", "made ready in s"]
    lines = []
    for row in [row for row in rows if row["tool"] in LION and "error" not in row]:
        power = number(row["power"], 1) if "idw" in row["tool"] else "-"
        line = [row["tool"], number(row["r_x"], 3), power, percent(row["outlier_share"])]
        line += [percent(row[key]) for key in ("accuracy", "accuracy_inside", "map_accuracy")]
        lines.append([*line, number(row["ready"], 3)])
    return markdown(head, lines)


def percent(share):
    return number(share and 100 * share, 2)


def milliseconds(microseconds):
    return "-" if microseconds is None else f"{microseconds / 1000:.3f}"


def megabytes(count):
    return number(count and count / 1e6, 1)


def cost(bench, x, y, new):
    """What it costs lion to place a row among those of `x`, placed at `y`, by both rules."""
    row = {"map": x.stem}
    try:
        at, row["adopted_in"] = bench.adopt(x, y)
        for name, words in (("energy", []), ("idw", ["--local", "idw"])):
            row[name] = bench.place_by_lion(at, new, "--singles", SINGLES, *words)
        say(f"{x.stem}: {row['energy']['p50_us']:.0f} us a row alone")
    except Failed as error:
        row["error"] = str(error)
        say(f"{x.stem}: {error}")
    return row | {"rows_placed": rows_of(new)}


def rows_of(path):
    """How many rows an .npy file has, from its header."""
    with open(path, "rb") as file:
        head = file.read(128).decode("latin-1")
    return int(head.split("'shape': (")[1].split(",")[0])


def by_rows(bench):
    """As the map has more rows."""
    new, *_ = bench.data("fresh", FRESH, 50)
    return [cost_of_clusters(bench, rows, 50, new) for rows in ROWS]


def by_columns(bench):
    """As rows have more columns."""
    return [cost_of_clusters(bench, ROWS_OF_COLUMNS, dims, bench.data("fresh", FRESH, dims)[0]) for dims in COLUMNS]


def cost_of_clusters(bench, rows, dims, new):
    x, _, plane = bench.data("clusters", rows, dims, also=["plane"])
    return cost(bench, x, plane, new)


def raw(bench):
    """Digits as they are, at the places of the map of 50 components."""
    x, *_ = bench.data("mnist", 60000, 784)
    new, *_ = bench.data("unseen", 60000, 784)
    return [cost(bench, x, bench.lion_map(60000), new)]


def table_of_costs(rows):
    head = ["map", "parameters found in s", "energy: µs a row, all at once", "alone, p50 µs", "p99 µs", "idw: µs a row, all at once", "alone, p50 µs", "p99 µs", "outliers %"]
    lines = []
    for row in rows:
        if "error" in row:
            lines.append([row["map"], f"not measured: {row['error']}"])
            continue
        line = [row["map"], number(row["adopted_in"], 2)]
        for way in (row["energy"], row["idw"]):
            line += [number(1e6 * way["seconds"] / row["rows_placed"], 1), number(way["p50_us"], 0), number(way["p99_us"], 0)]
        lines.append([*line, percent(row["energy"]["outlier_share"])])
    return markdown(head, lines)


def paper(bench):
    """The paper's cluster test and outlier test."""
    also = ["test", "test-labels", "picked", "noise", "others"]
    x, labels, *files = bench.data("paper", 2500, 784, also)
    words = [word for name, file in zip(also, files) for word in (f"--{name}", file)]
    try:
        found = bench.run([bench.program("paper"), x, "--labels", labels, *words])
    except Failed as error:
        say(f"the paper's tests: {error}")
        return [{"way": "all", "error": str(error)}]
    return [row | {"drawn": found["drawn"], "others": found["others"]} for row in found["rows"]]


def table_of_paper(rows):
    if "error" in rows[0]:
        return f"Not measured: {rows[0]['error']}."
    head = ["rule", "radius", "accuracy %", "less baseline", "paper", "less baseline", "noise called outliers", "noise percentile", "paper", "power", "paper", "valleys of its curve", "test digits called outliers", "unseen digits called outliers %", "promised %"]
    lines = []
    for row in sorted(rows, key=lambda row: row["way"], reverse=True):
        radius, idw = row["radius"], row["way"] == "idw"
        theirs, power = PAPER[int(radius)]
        gain, their_gain = 100 * (row["accuracy"] - row["baseline"]), theirs - PAPER_BASELINE
        line = [row["way"], f"{radius:.0f} %", percent(row["accuracy"]), f"{gain:+.2f}"]
        line += [f"{theirs:.2f}", f"{their_gain:+.2f}"] if idw else ["-", "-"]
        line += [f"{row['noise_called_outlier']} of {row['noise']}", number(row["noise_percentile"], 2), str(PAPER_PERCENTILE) if idw else "-"]
        line += [number(row["power"], 1), str(power), str(row["minima"])] if idw else ["-", "-", "-"]
        line += [str(row["digits_called_outlier"]), percent(row["others_called_outlier"]), f"{100 - radius:.0f}"]
        lines.append(line)
    row = rows[0]
    notes = [
        f"Baseline: {percent(row['baseline'])} % (the paper's {PAPER_BASELINE}): the accuracy at the places of the training digits that the 1000 test digits were picked for.",
        f"Noise: {row['noise']} of {row['drawn']} uniform images are farther from all digits than any digit is from the others; each is placed alone.",
        f"Unseen digits: {row['others']} training digits of MNIST that are neither in the map nor in the test. idw is the paper's way, which does not look off the plane; energy is the default.",
    ]
    return markdown(head, lines) + "\n\n" + "\n".join(notes)


def report(bench, sections):
    """place.md and place.json."""
    options = bench.options
    intro = [
        f"{options.threads} threads for every tool. The 10000 test digits of MNIST are placed in one call: seconds are the median of {options.rounds},",
        f"in turns, after a call that does not count. Then one row at a time: {SINGLES} calls, or as many as go into {options.budget:g} s; resident",
        "memory before and after those. Accuracy: the mean share of the 10 nearest places of the tool's own map with the row's label;",
        "the map's own is that of its own rows. Noise: where its distance to the nearest place falls among the distances between",
        "nearest places of the map, on average; 100 is apart from everything. Lion places each row of noise alone, the others all in one call.",
    ]
    texts = {title: table(rows) for title, (table, rows) in sections.items()}
    write(bench, "place", intro, texts, {title: rows for title, (_, rows) in sections.items()})


def main():
    options = arguments()
    bench, sections = PlaceBench(options), {}
    work = [(f"MNIST {n} x {DIMS.get(n, 50)}", table_of_tools, lambda n=n: compare(bench, n)) for n in options.sizes]
    if not options.skip_scaling:
        aside = f"clusters placed at their first two columns, {FRESH} other rows of them"
        work += [
            (f"Cost of a row by rows of the map: {aside}", table_of_costs, lambda: by_rows(bench)),
            (f"Cost of a row by columns: {aside}", table_of_costs, lambda: by_columns(bench)),
            ("Cost of a row of raw pixels: MNIST at the places of the map of 60000 x 50, the test digits", table_of_costs, lambda: raw(bench)),
        ]
    if not options.skip_paper:
        work.append(("The paper's tests, embedded digits, PCA 30, perplexity 30", table_of_paper, lambda: paper(bench)))
    for title, table, section in work:
        sections[title] = (table, section())
        report(bench, sections)
    print((bench.folder / "place.md").read_text())
    if any("error" in row for _, rows in sections.values() for row in rows):
        sys.exit("not everything was measured: see the tables")


if __name__ == "__main__":
    main()
