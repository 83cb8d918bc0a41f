"""How well maps take in new rows: lion beside its rivals. `cargo xtask bench update` calls this with everything in place.

Each case is a set, a scenario and mostly a class: tables of rows before and after. Each tool makes a map of the rows after from the map
of the rows before, and one program (bench/src/bin/judge_update.rs) judges all of them: how good the map is, and how far rows moved that
had no reason to. Results are kept in target/bench/update; a run that was cut short goes on where it ended.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "verdicts")]

import packages  # noqa: E402
import summary  # noqa: E402
from common import Bench, Failed, command, digest, markdown, write  # noqa: E402
from tools import ALL, FIXED, RIVALS, Runner, can_update  # noqa: E402

SETS = ["mnist", "letter", "penbased", "optdigits", "satimage", "texture", "newsgroups", "pbmc68k"]
FEW_SETS = ["mnist", "penbased", "pbmc68k"]
TITLES = {
    "arrives10": "A new class makes 10 % of all rows",
    "arrives30": "A new class makes 30 % of all rows",
    "growth": "Ten steps of 10 % more rows",
    "growth20": "Twenty steps of 5 % more rows",
    "drift": "A class moves towards its nearest, in five steps",
    "leaves": "A class goes",
}
CHAINS = ["growth", "growth20", "drift"]
DEFAULT_TOOLS = [tool for tool in ALL if tool != "opentsne-defaults"]
SECTIONS = ["quality", "time"]

INTRO = """Medians over cases: a set and, but for growth, a class. Tables of more than 50 columns are
the 50 principal components of all rows, old and new, for every tool. Quality is that after the last step, beside a fresh `lion fit` of the
same rows. Moves are of rows that stayed, beyond the best similarity transform, in map radii (the mean distance from the middle).
Unchanged rows have the ten nearest rows that they had. Spearman: of a row's move and the share of its 90 neighbours that changed. One
component: 95 % of the new class hang together through their ten nearest places. AlignedUMAP is given all tables at once, so its old map
knows the new rows; its KL divergence is that of t-SNE, which is not what it minimises. Dynamic t-SNE (Rauber, Falcão and Telea 2016) is on
lion's engine."""


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench update", description=__doc__.splitlines()[0])
    parser.add_argument("--scenarios", default=",".join(TITLES), help="default: %(default)s")
    parser.add_argument("--sets", help=f"of: {', '.join(SETS)} (default: all where a class arrives, else {','.join(FEW_SETS)})")
    parser.add_argument("--classes", default="3", help="of MNIST that arrive in turn, a number or `all` (default: %(default)s)")
    parser.add_argument("--other-classes", type=int, default=1, help="of each other set, and in other scenarios (default: %(default)s)")
    parser.add_argument("--tools", default=",".join(DEFAULT_TOOLS), help=f"of: {', '.join(ALL)} (default: all but opentsne-defaults)")
    parser.add_argument("--rival-sets", default=",".join(FEW_SETS), help="sets whose first class rivals get too, or `all` (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=6000, help="at most so many after an update (default: %(default)s)")
    parser.add_argument("--chain-rows", type=int, default=1500, help=f"the same for {' and '.join(CHAINS)} (default: %(default)s)")
    parser.add_argument("--sections", default="quality", help=f"of: {', '.join(SECTIONS)} (default: %(default)s)")
    parser.add_argument("--time-rows", type=int, default=60000, help="of MNIST in the section time (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of the section time (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of every tool (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="use nothing that an earlier run has kept")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.classes != "all" and not options.classes.isdigit():
        parser.error(f"--classes must be a number or `all`, not {options.classes}")
    for name, known in [("scenarios", TITLES), ("sets", SETS), ("tools", ALL), ("rival_sets", [*SETS, "all"]), ("sections", SECTIONS)]:
        given = getattr(options, name)
        chosen = given.split(",") if given else []
        if unknown := sorted(set(chosen) - set(known)):
            parser.error(f"--{name.replace('_', '-')}: there is no {', '.join(unknown)}; there are {', '.join(known)}")
        setattr(options, name, chosen)
    return options


class UpdateBench(Bench):
    """Cases, and how lion updates a map."""

    def __init__(self, options):
        super().__init__(options.target, options.threads)
        self.options = options
        self.kept = self.folder / "update"
        (self.kept / "sets").mkdir(parents=True, exist_ok=True)
        self.lion_digest = digest(self.program("lion"))
        self.judge_digest = digest(self.program("judge_update"))
        self.can_update, self.can_fix = can_update(self), can_update(self, "--anchoring", "fixed")

    def update_lion(self, map, given, out, extra=()):
        if not self.can_update:
            raise Failed("this lion has no verb `update`")
        words = [self.program("lion"), "update", map, *given, "-o", out, "--threads", self.threads, "--seed", 0, "--json", "--quiet", *extra]
        return self.run(words)

    def script(self, *words):
        """Runs cases.py, which loads the libraries that this process must not hold."""
        words = [str(word) for word in [sys.executable, HERE / "cases.py", *words, self.kept / "sets", self.packages]]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=self.environment)
        if done.returncode:
            raise Failed(f"cases.py {words[2]} ended with {done.returncode}")
        return done.stdout

    def case(self, name, scenario, kind):
        """The folder of a case, made on first use and when the scripts that make it have changed."""
        rows = {"tenth": self.options.time_rows, **dict.fromkeys(CHAINS, self.options.chain_rows)}.get(scenario, self.options.rows)
        safe = "".join(letter if letter.isalnum() else "_" for letter in kind or "all")
        folder = self.kept / f"{name}-{scenario}-{safe}-{rows}"
        made, by = folder / "made-by.txt", digest(HERE / "cases.py", HERE / "datasets.py")
        if not made.exists() or made.read_text() != by:
            # What tools made of old tables stays: it counts again if the new ones are the same.
            for table in [path for path in folder.glob("*") if path.is_file()]:
                table.unlink()
            self.script(name, scenario, kind or "", rows, folder)
            made.write_text(by)
        return folder


def classes(bench, name, scenario):
    """The classes of a set that arrive, drift or leave in turn."""
    if scenario.startswith("growth"):
        return [None]
    found = json.loads(bench.script(name))["classes"]
    few = bench.options.other_classes
    if name == "mnist" and scenario.startswith("arrives"):
        few = len(found) if bench.options.classes == "all" else int(bench.options.classes)
    return found[:few]


def plan(bench, scenario):
    """The cases of a scenario with the tools of each."""
    options = bench.options
    tools = [tool for tool in options.tools if tool not in FIXED or bench.can_fix]
    sets = options.sets or (SETS if scenario.startswith("arrives") else FEW_SETS)
    for name in sets:
        for at, kind in enumerate(classes(bench, name, scenario)):
            rivals = options.rival_sets == ["all"] or (name in options.rival_sets and at == 0)
            yield name, kind, [tool for tool in tools if rivals or tool not in RIVALS]


def measure(bench, folder, tools):
    """All tools on one case."""
    runner = Runner(bench, folder)
    record = runner.case | {"old": runner.old(), "tools": {}}
    for tool in tools:
        try:
            run = runner.run(tool) | runner.judged(tool)
            last = run["steps"][-1]
            said = f"{sum(run['seconds']):.1f} s, KL {last['kl']:.3f}, moved {last['moved'][0]:.3f}"
        except Failed as error:
            run, said = {"error": str(error)}, str(error)
        record["tools"][tool] = run
        print(f"{folder.name} {tool}: {said}", file=sys.stderr, flush=True)
    return record


class Report:
    """update.md and update.json. A section that is not run this time is as it was measured before, and says by which command."""

    def __init__(self, bench, problems):
        self.bench, self.path = bench, bench.kept / "sections.json"
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.sections = {name: section for name, section in kept.items() if name not in bench.options.sections}
        self.intro = [f"lion {bench.version()}; {bench.threads} threads for every tool. {INTRO}", *problems]

    def tell(self, name, texts, record):
        """Writes a section as far as it has come."""
        self.sections[name] = {"command": command("update"), "texts": texts, "record": record}
        self.path.write_text(json.dumps(self.sections))
        shown = {}
        for section, found in self.sections.items():
            before = "" if section in self.bench.options.sections else f" (earlier, `{found['command']}`)"
            shown |= {title + before: text for title, text in found["texts"].items()}
        write(self.bench, "update", self.intro, shown, {section: found["record"] for section, found in self.sections.items()})


def quality(bench, report):
    """All cases of all scenarios."""
    texts, record = {}, {}
    for scenario in bench.options.scenarios:
        for name, kind, tools in plan(bench, scenario):
            record.setdefault(scenario, []).append(measure(bench, bench.case(name, scenario, kind), tools))
            rows = max(step["rows"] for case in record[scenario] for step in case["steps"])
            texts[TITLES[scenario]] = f"Up to {rows} rows.\n\n" + summary.text(record[scenario])
            report.tell("quality", texts, record)
    draw(bench, record)
    return any("error" in run for cases in record.values() for case in cases for run in case["tools"].values())


def draw(bench, scenarios):
    """The picture of the frontier, if there is anything to draw."""
    charts = summary.frontier(scenarios, TITLES)
    if charts:
        path = bench.folder / "update-frontier.json"
        path.write_text(json.dumps({"title": "Quality and stability of updated maps", "charts": charts}))
        subprocess.run([bench.program("frontier"), path, path.with_suffix("")], check=True)


def timed(bench):
    """`lion update` with a tenth of the rows new, and `lion fit` of all of them, in turns."""
    folder = bench.case("mnist", "tenth", None)
    bench.fit_lion(folder / "rows-0.npy", folder / "old.npy")
    map, runs = folder / "old.lion", {"lion fit": [], "lion update": []}
    for turn in range(bench.options.rounds):
        runs["lion fit"].append(bench.fit_lion(folder / "rows-1.npy", folder / "fit.npy"))
        runs["lion update"].append(bench.update_lion(map, [folder / "new-1.npy"], folder / "update.lion"))
        print(f"time, round {turn + 1}: " + ", ".join(f"{name} {found[-1]['seconds']:.2f} s" for name, found in runs.items()), file=sys.stderr)
    base = statistics.median(run["seconds"] for run in runs["lion fit"])
    lines = []
    for name, found in runs.items():
        seconds = statistics.median(run["seconds"] for run in found)
        lines.append([name, f"{seconds:.2f}", f"{seconds / base:.2f}", f"{max(run['peak_mb'] for run in found):.0f}", f"{found[0]['kl']:.4f}"])
    return markdown(["", "seconds", "ratio to lion fit", "peak MB", "KL as lion says"], lines), runs


def main():
    options = arguments()
    bench, failed = UpdateBench(options), False
    problems = packages.fetch(bench.packages, ["python"]) if "quality" in options.sections else []
    report = Report(bench, problems)
    if "quality" in options.sections:
        failed = quality(bench, report)
    if "time" in options.sections:
        text, record = timed(bench)
        report.tell("time", {f"Time, MNIST {options.time_rows} x 50, a tenth of the rows new": text}, record)
    print((bench.folder / "update.md").read_text())
    if failed:
        sys.exit("some tools were not measured: see the tables")


if __name__ == "__main__":
    main()
