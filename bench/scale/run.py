"""Past memory and past one machine. `cargo xtask bench scale` calls this with everything in place.

A table of clusters and strangers is made once. Landmarks of it are mapped, and all of it is placed there, by the command
line and by the engines, which take turns. What parts of a job cost is measured on one core, and a small simulation says
from that what two workers should take, beside what they do take, and what a cluster would.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import HERE, Bench, Failed, markdown, write  # noqa: E402
from simulate import Cluster, Costs, simulate  # noqa: E402

PARTS = ["table", "full", "landmarks", "engines", "mnist", "costs", "positions", "plan"]
CELLS = [10, 100, 1000]
ENGINES = ["spark", "ray", "dask", "alone"]
CHOOSERS = ["spark", "ray", "dask"]  # engines that choose landmarks
PRICE = 0.04  # dollars for an hour of a core, as clouds ask for it; an assumption, not a measurement


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask bench scale", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the large table (default: %(default)s)")
    parser.add_argument("--landmarks", type=int, default=50_000, help="default: %(default)s")
    parser.add_argument("--full-rows", type=int, default=1_000_000, help="of the table that is fitted in full (default: %(default)s)")
    parser.add_argument("--engine-rows", type=int, default=1_000_000, help="that engines place (default: %(default)s)")
    parser.add_argument("--cost-rows", type=int, default=200_000, help="that costs are measured with (default: %(default)s)")
    parser.add_argument("--outliers", type=int, nargs="+", default=[1_000_000, 3_000_000], help="that get positions (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="of the engines (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="and workers (default: %(default)s)")
    parser.add_argument("--only", help="parts, of: " + ", ".join(PARTS))
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else PARTS
    unknown = sorted(set(options.only) - set(PARTS))
    if unknown:
        parser.error(f"no part called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return options


class ScaleBench(Bench):
    """Tables, maps, and runs of lion."""

    def __init__(self, options):
        super().__init__(options.target, options.threads)
        self.options = options
        self.folder = self.folder / "scale"
        self.folder.mkdir(exist_ok=True)

    def table(self, rows, columns=50):
        """The made table, on first use."""
        path = self.folder / f"table-{rows}x{columns}.parquet"
        if not path.exists():
            say(f"making {path.name}")
            words = [sys.executable, HERE / "scale/table.py", path, "--rows", rows, "--columns", columns]
            subprocess.run([str(word) for word in words], check=True)
        return path

    def lion(self, *words, samples=None):
        """Runs lion; `samples` hears of its memory every second, as pairs of seconds and MB."""
        words = [str(word) for word in [self.program("lion"), *words, "--threads", self.threads, "--json"]]
        begun = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, text=True)
        while samples is not None and process.poll() is None:
            if (held := resident(process.pid)) is not None:
                samples.append((time.perf_counter() - begun, held))
            time.sleep(0.5)
        printed, _ = process.communicate()
        if process.returncode:
            raise Failed(f"lion {words[1]} ended with {process.returncode}")
        answer = json.loads(printed)
        say(f"lion {' '.join(words[1:3])}: {answer['seconds']:.1f} s, {answer['peak_rss_bytes'] / 1e6:.0f} MB")
        return answer

    def run_quietly(self, words):
        subprocess.run([str(word) for word in words], check=True, env=self.environment)

    def landmark_map(self, table, landmarks):
        """A map of landmarks of a table, and what the fit said."""
        out = self.folder / f"{table.stem}-{landmarks}.lion"
        said = out.with_suffix(".json")
        if not (out.exists() and said.exists()):
            answer = self.lion("fit", table, "--id", "id", "--label", "kind", "--landmarks", landmarks, "-o", out)
            said.write_text(json.dumps(answer))
        return out, json.loads(said.read_text())


def say(words):
    print(words, file=sys.stderr, flush=True)


def resident(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(found[0]) / 1024 if found else None


def mb(answer):
    return f"{answer['peak_rss_bytes'] / 1e6:.0f}"


def phases(answer):
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in answer["phases"].items() if seconds >= 0.05)


# Parts: each gives a text and a record


def large_table(bench):
    """Landmarks of a table, and all of it placed among them."""
    options = bench.options
    table = bench.table(options.rows)
    for old in bench.folder.glob(f"{table.stem}-{options.landmarks}.*"):
        old.unlink()
    map, fit = bench.landmark_map(table, options.landmarks)
    samples, out = [], bench.folder / "placed.parquet"
    place = bench.lion("place", map, table, "--id", "id", "--exclude", "kind", "-o", out, samples=samples)
    judged = bench.run([sys.executable, HERE / "scale/verdicts.py", table, out])
    at = [samples[int(len(samples) * share)][1] for share in (0.1, 0.25, 0.5, 0.75, 0.95)]
    lines = [
        [f"fit, {options.landmarks} landmarks", f"{fit['seconds']:.0f}", mb(fit), phases(fit)],
        ["place all rows", f"{place['seconds']:.0f}", mb(place), phases(place)],
    ]
    words = [
        markdown(["", "seconds", "peak MB", "of which seconds"], lines),
        "",
        f"{place['rows'] / place['seconds']:.0f} rows a second. Memory of `lion place` after 10, 25, 50, 75 and 95 % of its time: "
        + ", ".join(f"{held:.0f}" for held in at)
        + f" MB. {place['outlier']} outliers in {place['groups']} groups.",
        "",
        f"Beyond r_x of every landmark, as the fit has it: {beyond(fit)}. Outliers: {called(judged, 'stranger')} strangers that are alone; "
        f"{called(judged, 'family')} strangers of families, of which some are landmarks themselves; {called(judged, 'ordinary')} ordinary rows.",
    ]
    return "\n".join(words), {"fit": fit, "place": place, "memory_mb": at, "verdicts": judged}


def called(judged, kind):
    found = judged[kind]
    return f"{100 * found['outliers'] / max(found['rows'], 1):.2f} % of {found['rows']}"


def beyond(fit):
    share = fit["beyond"] / fit["sampled_from"]
    return f"{fit['beyond']} ± {fit['beyond_error']} rows, {100 * share:.2f} %, judged by {fit['beyond_judged']} of them"


def full_fit(bench):
    """A map of every row."""
    table = bench.table(bench.options.full_rows)
    fit = bench.lion("fit", table, "--id", "id", "--label", "kind", "-o", bench.folder / "full.lion")
    line = [f"{fit['rows']} x {fit['dims']}", f"{fit['seconds']:.0f}", mb(fit), f"{fit['kl']:.3f}", phases(fit)]
    return markdown(["", "seconds", "peak MB", "KL", "of which seconds"], [line]), fit


def engines(bench):
    """Engines with two workers beside `lion place` with two threads, in turns; and with one worker, for the simulation."""
    options = bench.options
    table = bench.table(options.engine_rows)
    map, _ = bench.landmark_map(bench.table(options.rows), options.landmarks)
    runs = {}

    def turn(name, workers):
        out = bench.folder / f"engine-{name}"
        if name == "lion":
            answer = bench.lion("place", map, table, "--id", "id", "--exclude", "kind", "-o", f"{out}.parquet")
        else:
            answer = bench.run([sys.executable, HERE / "scale/engine.py", name, workers, table, map, out])
        say(f"{name}, {workers}: {answer['seconds']:.1f} s")
        runs.setdefault((name, workers), []).append(answer)

    for _ in range(options.rounds):
        for name in ["lion", *ENGINES]:
            turn(name, options.threads)
    for name in ENGINES:
        turn(name, 1)
    seconds = {key: statistics.median(run["seconds"] for run in found) for key, found in runs.items()}
    base = seconds["lion", options.threads]
    lines = []
    for (name, workers), found in runs.items():
        took, start = seconds[name, workers], found[0].get("start_up")
        said = {"lion": "`lion place`", "alone": "`distributed.placer`, no engine"}.get(name, name)
        lines.append([
            said, str(workers), f"{took:.1f}", "-" if start is None else f"{start:.1f}", f"{options.engine_rows / took:.0f}", f"{took / base:.2f}",
        ])
    record = [{"name": name, "workers": workers, "runs": found} for (name, workers), found in runs.items()]
    return markdown(["", "workers or threads", "seconds", "start-up, aside", "rows a second", "ratio to `lion place`"], lines), record


def landmarks(bench):
    """Landmarks chosen by engines with two workers beside `lion fit --landmarks` with two threads, in turns: the same map file."""
    options = bench.options
    table = bench.table(options.rows)
    runs, maps = {}, {}

    def turn(name):
        out = bench.folder / f"landmarks-{name}.lion"
        if name == "lion":
            answer = bench.lion("fit", table, "--id", "id", "--label", "kind", "--landmarks", options.landmarks, "-o", out)
        else:
            answer = bench.run([sys.executable, HERE / "scale/landmarks.py", name, options.threads, table, options.landmarks, out])
        say(f"{name}: {answer['seconds']:.1f} s")
        maps[name] = hashlib.sha256(out.read_bytes()).hexdigest()
        runs.setdefault(name, []).append(answer)

    for _ in range(options.rounds):
        for name in ["lion", *CHOOSERS]:
            turn(name)
    if len(set(maps.values())) > 1:
        raise Failed(f"the map files differ: {maps}")
    seconds = {name: statistics.median(run["seconds"] for run in found) for name, found in runs.items()}
    lines = []
    for name, took in seconds.items():
        start = runs[name][0].get("start_up")
        said = "`lion fit --landmarks`" if name == "lion" else name
        lines.append([said, f"{took:.1f}", "-" if start is None else f"{start:.1f}", f"{took / seconds['lion']:.2f}"])
    words = markdown(["", "seconds", "start-up, aside", "ratio to `lion fit`"], lines)
    return f"{words}\n\nAll of them wrote the same map file, byte by byte. Of `lion fit`: {phases(runs['lion'][-1])}.", {"runs": runs, "maps": maps}


def mnist(bench):
    """Landmarks of MNIST beside the map of all of it."""
    x, labels = bench.data("mnist", 60000, 50)
    full, few = bench.folder / "mnist-full.lion", bench.folder / "mnist-10000.lion"
    bench.lion("fit", x, "--labels", labels, "--pca", "none", "-o", full)
    lines, record = [], {}
    ways = {"all 60000 rows": None, "10000 landmarks": [], "the same, stratified": ["--stratify"], "the same, covering": ["--cover"]}
    for name, flags in ways.items():
        map = full
        if flags is not None:
            map = few
            bench.lion("fit", x, "--labels", labels, "--pca", "none", "--landmarks", 10000, *flags, "-o", few)
        placed = bench.folder / "mnist-placed.parquet"
        answer = bench.lion("place", map, x, "--labels", labels, "-o", placed)
        found = bench.run([sys.executable, HERE / "scale/quality.py", x, labels, placed])
        record[name] = found | {"outliers": answer["outlier"], "place_seconds": answer["seconds"]}
        lines.append([
            name, f"{100 * found['accuracy']:.2f} %", f"{100 * found['unseen_accuracy']:.2f} %" if flags is not None else "-",
            f"{100 * found['preserved']:.2f} %", f"{answer['outlier']}", f"{100 * found['data_accuracy']:.2f} %",
        ])
    head = ["map", "label accuracy of all rows", "of rows that are no landmarks", "neighbours preserved", "outliers", "accuracy in the data, among the map's rows"]
    return markdown(head, lines), record


def costs(bench):
    """Cost of a row against landmarks and columns; then what follows from it for a cluster."""
    options = bench.options
    lines, record = [], {}
    sizes = [(50, options.landmarks * n // 10) for n in (1, 4, 10, 40)] + [(columns, options.landmarks) for columns in (10, 100)]
    for columns, landmarks in sizes:
        # For other columns and landmarks than those of the large table a smaller one is enough.
        rows = options.rows if (columns, landmarks) == (50, options.landmarks) else min(options.rows, max(1_000_000, 5 * landmarks))
        table = bench.table(rows, columns)
        map, _ = bench.landmark_map(table, landmarks)
        found = bench.run([sys.executable, HERE / "scale/costs.py", map, table, options.cost_rows])
        say(f"{columns} columns, {landmarks} landmarks: {found['settle_us']:.1f} µs a row")
        record[f"{columns} x {landmarks}"] = found
        lines.append([
            str(landmarks), str(columns), *(f"{found[part]:.2f}" for part in ("read_us", "settle_us", "fill_us")),
            f"{100 * found['stranger_share']:.2f} %", f"{found['stranger_share'] * (found['stranger_bytes'] + found['positions_bytes']):.1f}",
            f"{found['worker_mb']:.0f}", f"{found['map_mb']:.0f}",
        ])
    head = ["landmarks", "columns", "read, µs a row", "settle", "fill in", "outliers", "network bytes a row", "worker MB", "of which since the map was opened"]
    return markdown(head, lines), record


def positions(bench):
    """What the one process takes that gives outliers their positions; and whether cells could do without it."""
    options = bench.options
    map, _ = bench.landmark_map(bench.table(options.rows), options.landmarks)
    out = bench.folder / f"outliers-{map.stem}-{max(options.outliers)}.arrows"
    if not out.exists():
        say(f"making {out.name}")
        bench.run_quietly([sys.executable, HERE / "scale/outliers.py", map, out, max(options.outliers)])
    lines, record = [], {}
    for count in options.outliers:
        found = record[count] = bench.run([sys.executable, HERE / "scale/positions.py", map, out, count, options.threads])
        say(f"{count} outliers: {found['seconds']:.1f} s, {found['bytes_per_outlier']:.0f} bytes each")
        lines.append([
            f"{found['outliers']}", f"{found['groups']}", f"{found['seconds']:.1f}", f"{found['cpu_seconds']:.1f}", f"{found['bytes_per_outlier']:.0f}",
            f"{found['sent_per_outlier']:.0f}",
        ])
    head = ["outliers of 50 columns", "groups", "seconds", "processor seconds", "bytes an outlier at the peak", "bytes an outlier back to each machine"]
    text, record["cells"] = by_cells(bench, map, out)
    return f"{markdown(head, lines)}\n\n{text}", record


def by_cells(bench, map, outliers):
    """How many outliers could be left to a worker that has a cell of the data."""
    digits, *_ = bench.data("digits", 2500, 30)
    bench.fit_lion(digits, bench.folder / "digits-places.npy")
    sets = {"outliers of the table": (map, outliers), "2500 digits, 30 components": (bench.folder / "digits-places.lion", digits)}
    lines, record = [], {}
    for name, (of, rows) in sets.items():
        found = record[name] = bench.run([sys.executable, HERE / "scale/cells.py", of, rows, *CELLS[: 3 if of == map else 2]])
        for cells, said in found["cells"].items():
            lines.append([name, cells, f"{said['between']:.1f} r_x", f"{100 * said['inside']:.1f} %", f"{said['sent']:.1f}"])
    return markdown(["", "cells", "to the nearest other cell's centre", "farther than r_x from every border", "cells within r_x, besides the own"], lines), record


def plan(record):
    """What two workers should take beside what they took, and a billion rows on clusters."""
    found = record["costs"][f"50 x {record['table']['fit']['rows']}"]
    steps = {int(count): seconds for count, seconds in found["positions_s"].items()}
    place = record["table"]["place"]
    steps[place["outlier"]] = place["phases"]["outliers"]
    lines, checks = [], {}
    runs = {(run["name"], run["workers"]): run["runs"] for run in record["engines"]}

    def took(name, workers):
        return statistics.median(run["seconds"] for run in runs[name, workers])

    # Two cores that share caches and memory do less than twice the work of one: by how much, says the function without an engine.
    crowding = 2 * took("alone", 2) / took("alone", 1)
    for name in ENGINES:
        one = runs[name, 1][0]
        # All that an engine does to a row, from what one worker took.
        row = one["seconds"] / one["rows"]
        costs = Costs(row, 0.0, 0.0, 0.0, found["stranger_share"], found["stranger_bytes"], found["positions_bytes"], {})
        expected = simulate(one["rows"], Cluster(2, crowding=crowding), costs, partition=100_000).total
        checks[name] = {"expected": expected, "took": took(name, 2)}
        if name != "alone":
            lines.append([name, f"{one['seconds']:.1f}", f"{expected:.1f}", f"{took(name, 2):.1f}", f"{took(name, 2) / expected:.2f}"])
    check = markdown(["engine", "one worker took", "two should take", "two took", "ratio"], lines)
    spark = runs["spark", 1][0]
    share = found["fill_us"] / (found["settle_us"] + found["fill_us"])
    row = spark["seconds"] / spark["rows"]
    costs = Costs(
        row * (1 - share), row * share, 0.1, spark["start_up"], found["stranger_share"], found["stranger_bytes"], found["positions_bytes"], steps
    )
    lines = []
    for cores in (10, 100, 1000):
        outcome = simulate(1_000_000_000, Cluster(cores, crowding=crowding), costs)
        hours = outcome.total / 3600
        parts = (outcome.settle, outcome.gather, outcome.positions, outcome.fill)
        lines.append([str(cores), minutes(outcome.total), *map(minutes, parts), f"{cores * hours:.0f}", f"{cores * hours * PRICE:.2f}"])
    head = ["cores", "minutes in all", "settle", "gather", "positions", "fill in", "core hours", f"dollars at {PRICE} an hour"]
    words = f"A core takes {crowding:.2f} times as long while the one beside it is busy, by the function without an engine."
    return f"{words}\n\n{check}\n\nA billion rows:\n\n{markdown(head, lines)}", {"checks": checks, "crowding": crowding}


def minutes(seconds):
    return f"{seconds / 60:.1f}"


def main():
    options = arguments()
    bench = ScaleBench(options)
    kept = bench.folder / "parts.json"
    record = json.loads(kept.read_text()) if kept.exists() else {}
    texts = record.pop("texts", {})
    work = {"table": large_table, "full": full_fit, "landmarks": landmarks, "engines": engines, "mnist": mnist, "costs": costs, "positions": positions}
    titles = {
        "table": f"{options.rows} x 50 Parquet, {options.landmarks} landmarks",
        "full": f"{options.full_rows} x 50 in full",
        "landmarks": f"Landmarks chosen by engines, {options.landmarks} of {options.rows} x 50",
        "engines": f"Engines, {options.engine_rows} rows into {options.landmarks} landmarks",
        "mnist": "Landmarks of MNIST, 60000 x 50",
        "costs": "Cost of a row, one core",
        "positions": f"Positions for outliers, {options.threads} threads",
        "plan": "Simulation: two workers, and a billion rows",
    }
    for part in options.only:
        if part != "plan":
            texts[titles[part]], record[part] = work[part](bench)
        if all(name in record for name in ("table", "engines", "costs")):
            texts[titles["plan"]], record["plan"] = plan(record)
        kept.write_text(json.dumps(record | {"texts": texts}, indent=1))
        write(bench, "scale", [f"{options.threads} threads and workers. Parts that were not run this time are as they were measured before."], texts, record)
    print((bench.folder / "scale.md").read_text())


if __name__ == "__main__":
    main()
