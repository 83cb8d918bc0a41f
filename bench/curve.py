"""KL divergence against seconds: lion and its rivals, each with several numbers of iterations. `cargo xtask bench curve` calls this with everything in place.

Every point is a run of its own from the table to the map. Only openTSNE gives all its points in one run: its iterations do not depend
on how many will follow, so it is stopped at each number, and its clock with it. Runs are kept in target/bench/curve under a key of all that
they depend on: a run of this bench that was cut short goes on where it ended. Points take turns, round after round; the median of the
seconds counts, and the map of the last run is judged.
"""

import argparse
import json
import statistics
import subprocess
import sys

from common import HERE, Failed, digest, markdown, shape, write
from fit import FLAGS, QUALITY, QUALITY_TOLD, FitBench, add_choices, chosen, quality_cells

# Iterations or epochs of each tool, ascending; None is the tool's own number. scikit-learn takes no fewer than 250.
CLASSIC = [300, 400, 550, 750, 1100]
LADDERS = {
    "lion": [100, 120, 150, 200, 300, 450, 700],
    "lion-classic": CLASSIC,
    "opentsne": CLASSIC,
    "sklearnex": CLASSIC,
    "sklearn": CLASSIC,
    "umap": [20, 50, 100, 200, 500],
    "pacmap": [45, 100, 200, 450, 900],
}
NAMES = {
    "lion": "lion",
    "lion-classic": "lion, classic descent",
    "opentsne": "openTSNE",
    "sklearnex": "scikit-learn-intelex",
    "sklearn": "scikit-learn",
    "umap": "UMAP",
    "pacmap": "PaCMAP",
}
NOTE = "Along a line the iterations grow. Lower is better, left is faster. UMAP and PaCMAP minimise other losses."
IN_ONE_RUN = ["opentsne"]
SMALL_ONLY, SMALL = ["sklearn"], 10000


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench curve", description=__doc__.splitlines()[0])
    add_choices(parser, list(LADDERS), "10000,60000")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each point (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=1800, help="seconds per size after which no further run begins (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="use nothing that an earlier run has kept")
    return chosen(parser, list(LADDERS))


class Job:
    """What one process does: a tool, and the numbers of iterations whose maps it makes. Keeps what its runs took."""

    def __init__(self, bench, x, tool, iterations):
        self.bench, self.x, self.tool, self.iterations = bench, x, tool, iterations
        self.folder = bench.kept / x.stem
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / f"{tool}-{self.told('-')}.json"
        program = bench.program("lion") if tool.startswith("lion") else HERE / "rival.py"
        self.key = digest(program, HERE / "requirements.txt", x, bench.threads, *FLAGS.get(tool, []))
        self.runs, self.error = [], None
        if self.path.exists() and not bench.options.again:
            found = json.loads(self.path.read_text())
            maps_there = all(self.map(count).exists() for count in iterations)
            self.runs = found["runs"] if found["key"] == self.key and maps_there else []

    def told(self, between):
        return between.join(str(count) if count else "default" for count in self.iterations)

    def map(self, count):
        return self.folder / f"{self.tool}-{count or 'default'}.npy"

    def run(self):
        """Once more. Its seconds are those of each map."""
        several = self.tool in IN_ONE_RUN
        out = self.folder / f"{self.tool}.npy" if several else self.map(self.iterations[0])
        answer = self.bench.fit(self.tool, self.x, out, iterations=self.told(",") if self.iterations[0] else None)
        seconds = [answer["stops"][str(count)] for count in self.iterations] if several else [answer["seconds"]]
        self.runs.append({"seconds": seconds, "process_seconds": answer["process_seconds"], "version": answer["version"]})
        self.path.write_text(json.dumps({"key": self.key, "runs": self.runs}))
        return seconds

    def points(self):
        """A row of the table for each map."""
        if not self.runs:
            return [{"tool": self.tool, "error": f"{self.told(', ')} iterations: {self.error or 'not run, the budget was spent'}"}]
        rows = []
        for at, count in enumerate(self.iterations):
            every = [run["seconds"][at] for run in self.runs]
            rows.append({"tool": self.tool, "version": self.runs[-1]["version"], "iterations": count, "seconds": statistics.median(every), "all_seconds": every})
            rows[-1]["map"] = self.map(count)
        return rows


class CurveBench(FitBench):
    """What is kept of runs and judgements."""

    def __init__(self, options):
        super().__init__(options)
        self.kept = self.folder / "curve"

    def jobs(self, x):
        """Those of all tools."""
        tools = [tool for tool in self.options.only if tool not in SMALL_ONLY or shape(x)[0] <= SMALL]
        parts = {tool: [LADDERS[tool]] if tool in IN_ONE_RUN else [[count] for count in LADDERS[tool]] for tool in tools}
        return [Job(self, x, tool, part) for tool in tools for part in parts[tool]]

    def judged(self, x, labels, rows):
        """Adds what the judge tells of each map; it is asked once of a map."""
        path = self.kept / x.stem / "judged.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        keys = {row["map"]: digest(self.program("judge"), x, labels, row["map"]) for row in rows}
        asked = [map for map, key in keys.items() if key not in known]
        if asked:
            known |= zip((keys[map] for map in asked), self.judge(x, asked, labels))
            path.write_text(json.dumps(known))
        return [row | known[keys[row["map"]]] | {"map": row["map"].name} for row in rows]


def measure(bench, x, labels):
    """All points of a table, in turns."""
    jobs, spent = bench.jobs(x), 0.0
    # By iterations first, so that no tool goes without points when the budget is spent.
    in_turns = sorted(jobs, key=lambda job: LADDERS[job.tool].index(job.iterations[0]))
    for turn in range(bench.options.rounds):
        for job in in_turns:
            last = job.runs[-1]["process_seconds"] if job.runs else 0.0
            if len(job.runs) > turn or job.error or spent + last > bench.options.budget:
                continue
            try:
                said = ", ".join(f"{seconds:.2f} s" for seconds in job.run())
                spent += job.runs[-1]["process_seconds"]
            except Failed as error:
                job.error = said = str(error)
            print(f"{x.stem} round {turn + 1} {job.tool} {job.told(',')}: {said}", file=sys.stderr, flush=True)
    rows = [row for job in jobs for row in job.points()]
    done = bench.judged(x, labels, [row for row in rows if "error" not in row])
    return [*done, *(row for row in rows if "error" in row)]


def table(rows):
    """A line for each point."""
    head = ["tool", "version", "iterations", "seconds", *QUALITY.values()]
    lines = []
    for row in rows:
        if "error" in row:
            lines.append([row["tool"], f"not measured: {row['error']}"])
            continue
        lines.append([row["tool"], row["version"] or "-", str(row["iterations"] or "its own"), f"{row['seconds']:.2f}", *quality_cells(row)])
    return markdown(head, lines)


def draw(bench, sections):
    """One chart for each table of rows: KL against seconds, a line for each tool."""
    charts = []
    for title, rows in sections.items():
        series = []
        for tool in bench.options.only:
            points = [(row["seconds"], row["kl"]) for row in rows if row["tool"] == tool and "kl" in row]
            if points:
                series.append({"name": NAMES[tool], "points": points, "line": True})
        if series:
            x = f"seconds, {bench.threads} threads"
            charts.append({"title": title, "x": x, "y": "KL divergence", "log": ["x"], "names_at_ends": True, "series": series, "notes": [NOTE]})
    if charts:
        path = bench.folder / "fit-curve.json"
        path.write_text(json.dumps({"title": "KL divergence against time", "charts": charts}))
        subprocess.run([bench.program("frontier"), path, path.with_suffix("")], check=True)


def main():
    options = arguments()
    bench, sections = CurveBench(options), {}
    intro = [
        f"lion {bench.version()}; {bench.threads} threads for every tool. {' '.join(__doc__.splitlines()[2:])} Seconds are of the fit alone: no imports, no",
        f"just-in-time compilation. {QUALITY_TOLD}",
        *bench.problems,
    ]
    for title, x, labels in bench.cases():
        sections[title] = measure(bench, x, labels)
        write(bench, "curve", intro, {title: table(rows) for title, rows in sections.items()}, sections)
        draw(bench, sections)
    print((bench.folder / "curve.md").read_text())
    if any("error" in row for rows in sections.values() for row in rows):
        sys.exit("some points were not measured: see the table")


if __name__ == "__main__":
    main()
