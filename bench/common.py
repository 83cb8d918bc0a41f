"""What the benches share: where things are, how a program is run and measured, how a report is written.

Nothing here loads a library of size, because a child's peak memory is never counted as less than what its parent held.
"""

import ast
import datetime
import hashlib
import json
import os
import shlex
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
# Sets that packages bundle, read by update/datasets.py, and their columns there.
PACKAGED = {"fashion": 50, "letter": 16, "newsgroups": 50, "penbased": 16, "optdigits": 50, "satimage": 36, "texture": 40, "pbmc68k": 50}


class Failed(Exception):
    """A tool that did not do its work; the table says so."""


class Bench:
    """Where things are, and how a program is run."""

    def __init__(self, target, threads):
        self.threads = threads
        self.folder = target / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.release = target / "release"
        self.packages = self.folder / "verdicts"
        names = ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "NUMEXPR"]
        self.environment = os.environ | {f"{name}_NUM_THREADS": str(threads) for name in names}
        # Idle threads sleep: those of a tool that waits for its turn would take the processor from the others.
        self.environment |= {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}
        if hasattr(os, "sched_setaffinity"):  # children inherit it: no tool can use more cores than another
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])

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

    def version(self):
        """Lion's own."""
        words = subprocess.run([self.program("lion"), "--version"], capture_output=True, text=True).stdout.split()
        return words[-1] if words else "?"

    def data(self, kind, rows, dims, also=()):
        """The .npy file of a data set, made on first use, and those that go with it: its labels, and what else is named."""
        out = self.folder / f"{kind}-{rows}x{dims}.npy"
        files = [out, *(beside(out, name) for name in ("labels", *also))]
        if not all(file.exists() for file in files):
            print(f"preparing {out.name}", file=sys.stderr)
            source = {"digits": DIGITS, "paper": DIGITS}.get(kind, MNIST) if kind not in PACKAGED else self.packages
            subprocess.run([sys.executable, HERE / "prepare.py", kind, str(rows), str(dims), out, source], check=True)
        return files

    def fit_lion(self, x, y, seed=0, extra=()):
        """A map of `x` by lion: the file of that name as `.lion`, its places in `y`."""
        out = y.with_suffix(".lion")
        words = [self.program("lion"), "fit", x, "-o", out, "--pca", "none", "--perplexity", PERPLEXITY]
        words += ["--threads", self.threads, "--seed", seed, "--json", *extra]
        answer = self.run(words)
        write_map(out, y)
        return {"version": self.version()} | answer


def beside(path, name):
    """The file that goes with another."""
    return path.with_name(f"{path.stem}-{name}{path.suffix}")


def shape(path):
    """Of the matrix in an .npy file, which is not read for that."""
    with open(path, "rb") as file:
        file.seek(8)
        (length,) = struct.unpack("<H", file.read(2))
        return ast.literal_eval(file.read(length).decode())["shape"]


def digest(*parts):
    """Of files and texts. Files are read piece by piece: what this process holds counts as its children's memory."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            with part.open("rb") as file:
                part = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(f"{part}\0".encode())
    return found.hexdigest()


def tensors(source, names):
    """Those of a map file (safetensors: length, JSON, bytes) that it has: NumPy's kind, shape and bytes of each."""
    found = {}
    with open(source, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        for name in [name for name in names if name in header]:
            begin, end = header[name]["data_offsets"]
            file.seek(8 + length + begin)
            kind = {"F32": "<f4", "F64": "<f8", "U32": "<u4", "U64": "<u8", "U8": "|u1"}[header[name]["dtype"]]
            found[name] = kind, header[name]["shape"], file.read(end - begin)
    return found


def write_npy(out, kind, shape, data):
    """An .npy file of a matrix."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape[0]}, {shape[1]}), }}"
    header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
    out.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_map(source, out):
    """Copies the tensor `y` of a map file into an .npy file."""
    write_npy(out, *tensors(source, ["y"])["y"])


def cpuinfo():
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def machine():
    """Processor, cores and memory; nothing that names the machine."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores, {memory:.0f} GB"


def command(task):
    """What a person types to run this again."""
    words = sys.argv[1:]
    at = words.index("--target")
    return shlex.join(["cargo", "xtask", "bench", task, *words[:at], *words[at + 2 :]])


def markdown(head, lines):
    """A table; a line with too few cells is filled up."""
    lines = [[*line, *[""] * (len(head) - len(line))] for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(line) + " |" for line in lines)])


def number(value, digits, deviation=None):
    around = "" if deviation is None else f" ± {deviation:.{digits}f}"
    return "-" if value is None else f"{value:.{digits}f}{around}"


def write(bench, task, intro, texts, record):
    """The report as Markdown and JSON. Called after every section, so that a run that is cut short leaves what it measured."""
    date, words = datetime.date.today().isoformat(), command(task)
    lines = [f"{date}, {machine()}. Command: `{words}`.", *intro]
    for title, text in texts.items():
        lines += ["", f"### {title}", "", text]
    (bench.folder / f"{task}.md").write_text("\n".join(lines) + "\n")
    record = {"date": date, "machine": machine(), "command": words, "threads": bench.threads, "sections": record}
    (bench.folder / f"{task}.json").write_text(json.dumps(record, indent=1) + "\n")
