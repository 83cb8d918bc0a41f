"""Lion and its rivals side by side, in one run. `cargo xtask bench fit` calls this with everything in place.

Every tool runs in a process of its own on the same files with the same number of threads; the tools take turns,
round after round, so that a noisy minute hits all of them. All maps are judged by one program (KL divergence
from the exact P and Q, and the share of the 10 nearest map neighbours that carry a row's label). This process
loads no library of size, because a child's peak memory is never counted as less than what its parent held.
"""

import argparse
import datetime
import json
import os
import shlex
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MNIST = HERE.parent / "data" / "mnist"
DIGITS = HERE.parent / "data" / "digits.bin.gz"
PERPLEXITY, ITERATIONS = 30, 750
DIMS = {2500: 30}  # other sizes: 50
PYTHON_MAPS = ["opentsne", "sklearnex", "umap", "pacmap", "sklearn"]
SMALL_ONLY = ["lion-exact", "sklearn-exact", "bhtsne-bh", "bhtsne-exact"]
ALL = ["lion", "opentsne", "sklearnex", "bhtsne-fft", "umap", "pacmap", "sklearn", *SMALL_ONLY]


class Failed(Exception):
    """A tool that did not do its work; the table says so."""


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


class Bench:
    """Where things are, and how a tool is run."""

    def __init__(self, options):
        self.options = options
        self.folder = options.target / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.release = options.target / "release"
        threads = str(options.threads)
        names = ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "NUMEXPR"]
        self.environment = os.environ | {f"{name}_NUM_THREADS": threads for name in names}
        if hasattr(os, "sched_setaffinity"):  # children inherit it: no tool can use more cores than another
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])

    def run(self, words, **environment):
        """Runs a program that prints one JSON object, and adds its peak memory and whole time to that."""
        words = [str(word) for word in words]
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, env=self.environment | environment)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failed(f"ended with {process.returncode}")
        try:
            answer = json.loads(printed.decode().strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise Failed("printed no JSON") from None
        kilobytes = usage.ru_maxrss if sys.platform != "darwin" else usage.ru_maxrss / 1024
        return answer | {"peak_mb": kilobytes / 1024, "process_seconds": time.perf_counter() - start}

    def program(self, name):
        path = self.release / name
        if not path.exists():
            raise Failed(f"{name} is not built")
        return path

    def data(self, kind, rows, dims):
        """The .npy file of a data set, made on first use, and that of its labels."""
        out = self.folder / f"{kind}-{rows}x{dims}.npy"
        labels = out.with_name(out.stem + "-labels.npy")
        if not out.exists():
            print(f"preparing {out.name}", file=sys.stderr)
            subprocess.run([sys.executable, HERE / "prepare.py", kind, str(rows), str(dims), out, DIGITS if kind == "digits" else MNIST], check=True)
        return out, labels

    def fit(self, tool, x, y, seed=0):
        """One run of one tool: writes the map to `y`, returns what there is to say of it."""
        threads = self.options.threads
        if tool.startswith("lion"):
            return self.fit_lion(x, y, seed, ["--method", "exact"] if tool == "lion-exact" else [])
        if tool.startswith("bhtsne"):
            answer = self.run([self.program("rival_bhtsne"), x, y, "--mode", tool.split("-")[1]])
            return {"version": "0.7", "phases": {}} | answer
        return self.run([sys.executable, HERE / "rival.py", tool, x, y, threads], SEED=str(seed))

    def fit_lion(self, x, y, seed=0, extra=()):
        lion, out = self.program("lion"), y.with_suffix(".lion")
        version = subprocess.run([lion, "--version"], capture_output=True, text=True).stdout.split()
        words = [lion, "fit", x, "-o", out, "--pca", "none", "--perplexity", PERPLEXITY]
        words += ["--iterations", ITERATIONS, "--threads", self.options.threads, "--seed", seed, "--json", *extra]
        answer = self.run(words)
        write_map(out, y)
        return {"version": version[-1] if version else "?"} | answer

    def judge(self, x, y, labels):
        """KL and accuracy of a map, by the one program that judges them all."""
        words = [self.program("judge"), x, y, "--perplexity", PERPLEXITY, "--labels", labels]
        answer = self.run(words)
        return {"kl": answer["kl"], "accuracy": answer.get("accuracy")}


def write_map(source, out):
    """Copies the tensor `y` of a map file (safetensors: length, JSON, bytes) into an .npy file."""
    with open(source, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        tensor = json.loads(file.read(length))["y"]
        begin, end = tensor["data_offsets"]
        file.seek(8 + length + begin)
        data = file.read(end - begin)
    kind = {"F32": "<f4", "F64": "<f8"}[tensor["dtype"]]
    rows, dims = tensor["shape"]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {dims}), }}"
    header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
    out.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


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


def cpuinfo():
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def machine():
    """Processor, cores and memory; nothing that names the machine."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores, {memory:.0f} GB"


def table(rows):
    """A Markdown table; ratios are to the first row that is lion's."""
    lion = next((row["seconds"] for row in rows if row["tool"] == "lion" and "seconds" in row), None)
    has_recall = any(row.get("recall") is not None for row in rows)
    head = ["tool", "version", "seconds", "of which", "recall" if has_recall else "KL", *([] if has_recall else ["10-NN accuracy"]), "peak MB", "ratio to lion"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['tool']} | not measured: {row['error']} |" + " |" * (len(head) - 2))
            continue
        ratio = f"{row['seconds'] / lion:.2f}" if lion else "-"
        quality = [number(row.get("recall"), 4)] if has_recall else [number(row.get(key), 4, row.get(key + "_deviation")) for key in ("kl", "accuracy")]
        cells = [row["tool"], row["version"] or "-", f"{row['seconds']:.2f}", phases(row), *quality, f"{row['peak_mb']:.0f}", ratio]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def number(value, digits, deviation=None):
    around = "" if deviation is None else f" ± {deviation:.{digits}f}"
    return "-" if value is None else f"{value:.{digits}f}{around}"


def phases(row):
    parts = row.get("phases") or {}
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items()) if len(parts) > 1 else "-"


def write(bench, sections, command):
    """fit.md and fit.json, after every section, so that a run that is cut short leaves what it measured."""
    date = datetime.date.today().isoformat()
    options = bench.options
    lines = [
        f"{date}, {machine()}. Command: `{command}`.",
        f"{options.threads} threads for every tool; seconds are the median of up to {options.rounds} runs in turns, of the fit",
        "alone (no imports, no just-in-time compilation); peak MB is the whole process, libraries included. KL and accuracy",
        f"of every map are computed by the same program. Perplexity {PERPLEXITY} and {ITERATIONS} iterations where the tool has them.",
    ]
    for title, rows in sections.items():
        lines += ["", f"### {title}", "", table(rows)]
        notes = [f"{row['tool']}: {row['settings']}" for row in rows if row.get("settings")]
        lines += ["", "Settings: " + "; ".join(notes) + "."] if notes else []
    (bench.folder / "fit.md").write_text("\n".join(lines) + "\n")
    record = {"date": date, "machine": machine(), "command": command, "threads": options.threads, "sections": sections}
    (bench.folder / "fit.json").write_text(json.dumps(record, indent=1) + "\n")


def main():
    options = arguments()
    words = [word for word in sys.argv[1:]]
    at = words.index("--target")
    command = shlex.join(["cargo", "xtask", "bench", "fit", *words[:at], *words[at + 2 :]])
    bench, sections = Bench(options), {}
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
        write(bench, sections, command)
    print((bench.folder / "fit.md").read_text())
    if any("error" in row for rows in sections.values() for row in rows):
        sys.exit("some tools were not measured: see the table")


if __name__ == "__main__":
    main()
