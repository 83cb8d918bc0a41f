"""liontsne beside its rivals, all of them through Python's own calls. `cargo xtask bench python` calls this.

The library itself, from Rust, is there too: the difference is what Python costs. Tools take turns as in place.py, which has
the tables; then what a package costs beside its work: memory over many single rows, and its import.
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import place  # noqa: E402
from common import DIMS, markdown, number, write  # noqa: E402
from placers import RIVALS, SETTINGS, SINGLES, LionTool, Package, Task  # noqa: E402

RIVALS["liontsne"] = ("liontsne", ["liontsne"])
SETTINGS["liontsne"] = "`LionTSNE.transform` with its defaults, in the map of lion"
SETTINGS["lion"] = "the library from Rust, its defaults"
TOOLS = ["lion", "liontsne", "opentsne", "opentsne-partial", "umap", "pacmap", "sklearn-knn"]
CALLS = 100_000
TURNS = 5
CALLS_A_TURN = 9
IMPORTS = ["import liontsne", "from liontsne import LionTSNE", "import sklearn.base", "import umap", "import openTSNE"]


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench python", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2500,60000", help="rows of the MNIST maps (default: %(default)s)")
    parser.add_argument("--only", default=",".join(TOOLS), help="tools (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each tool with all rows (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=30, help="seconds after which a tool gets no more single rows, once it had 20 (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of every tool (default: %(default)s)")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",") if n]
    options.only = options.only.split(",")
    return options


def overhead(bench, size):
    """What Python adds to the library: both as warm as each other, many calls a turn, in turns."""
    task, turns = Task(bench, size), {"Rust": [], "Python": []}
    lion = LionTool(bench, task, "lion")
    with Package(bench, task, "liontsne") as package:
        for _ in range(TURNS):
            turns["Rust"].append(lion.run("--rounds", CALLS_A_TURN, "--singles", SINGLES))
            seconds = [package.ask(do="place", way="liontsne")["seconds"] for _ in range(1 + CALLS_A_TURN)]
            single = package.ask(do="singles", way="liontsne", calls=SINGLES, seconds=60)
            turns["Python"].append(single | {"seconds": statistics.median(seconds[1:])})
    middle = lambda key, found: statistics.median(turn[key] for turn in found)  # noqa: E731
    return [{"from": way} | {key: middle(key, found) for key in ("p50_us", "p99_us", "seconds")} for way, found in turns.items()]


def table_of_overhead(rows):
    rust, python = rows
    lines = [[row["from"], number(row["p50_us"], 1), number(row["p99_us"], 1), number(1000 * row["seconds"], 2)] for row in rows]
    share = 100 * (python["seconds"] / rust["seconds"] - 1)
    lines.append(["Python over Rust", number(python["p50_us"] - rust["p50_us"], 1), "", f"{share:.1f} %"])
    return markdown(["called from", "one row, p50 µs", "p99 µs", "10000 rows, ms"], lines)


def memory(bench, size):
    """Resident memory before and after many single rows."""
    with Package(bench, Task(bench, size), "liontsne") as package:
        found = package.ask(do="singles", way="liontsne", calls=CALLS, seconds=600)
    return [found]


def table_of_memory(rows):
    head = ["calls", "p50 ms", "p99 ms", "MB before", "MB after"]
    line = [place.milliseconds(rows[0][key]) for key in ("p50_us", "p99_us")]
    line += [place.megabytes(rows[0][key]) for key in ("memory_before", "memory_after")]
    return markdown(head, [[str(rows[0]["calls"]), *line]])


def imports(rounds):
    """Seconds of each import, the quickest of a few: its files are in memory by then."""
    return [{"import": what, "seconds": min(seconds(what) for _ in range(rounds))} for what in IMPORTS]


def seconds(statement):
    """What a statement takes in a fresh process."""
    code = f"import time; began = time.perf_counter(); {statement}; print(time.perf_counter() - began)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def table_of_imports(rows):
    return markdown(["statement", "seconds"], [[f"`{row['import']}`", number(row["seconds"], 3)] for row in rows])


def main():
    options = arguments()
    bench, sections = place.PlaceBench(options), {}
    work = [("Imports", table_of_imports, lambda: imports(options.rounds))]
    work += [(f"MNIST {n} x {DIMS.get(n, 50)}", place.table_of_tools, lambda n=n: place.compare(bench, n)) for n in options.sizes if options.only != [""]]
    work += [(f"Python over Rust, {n} x {DIMS.get(n, 50)}", table_of_overhead, lambda n=n: overhead(bench, n)) for n in options.sizes]
    largest = max(options.sizes)
    work.append((f"Single rows into {largest} x {DIMS.get(largest, 50)}", table_of_memory, lambda: memory(bench, largest)))
    intro = ["Every tool but lion is called from Python, in a process of its own that holds its map."]
    for title, to_text, section in work:
        sections[title] = (to_text, section())
        texts = {title: to_text(rows) for title, (to_text, rows) in sections.items()}
        write(bench, "python", intro, texts, {title: rows for title, (_, rows) in sections.items()})
    print((bench.folder / "python.md").read_text())
    if any("error" in row for _, rows in sections.values() for row in rows):
        sys.exit("not everything was measured: see the tables")


if __name__ == "__main__":
    main()
