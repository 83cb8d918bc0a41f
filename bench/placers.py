"""The tools that place rows, for place.py: lion in its ways, and the rivals in theirs, each asked the same three things.

`warm_up` has it place all rows once, `place` gives the seconds to do so, `rest` everything else there is to know.
"""

import json
import subprocess
import sys
from importlib.metadata import version

from common import DIMS, HERE, Failed, beside

LION = {
    "lion": [],
    "lion-idw": ["--local", "idw"],
    "lion-100": ["--radius", "100%"],
    "lion-idw-100": ["--local", "idw", "--radius", "100%"],
}
# By tool: the package that must be asked for its version, and its ways to place rows.
RIVALS = {
    "opentsne": ("openTSNE", ["opentsne", "opentsne-fft", "opentsne-partial", "opentsne-partial-optimised"]),
    "umap": ("umap-learn", ["umap"]),
    "pacmap": ("pacmap", ["pacmap"]),
    "sklearn-knn": ("scikit-learn", ["sklearn-knn"]),
}
SETTINGS = {
    "lion": "the defaults, energy rule, r_x 99 %",
    "lion-idw": "the paper's rule, r_x 99 %",
    "lion-100": "energy rule, r_x 100 %",
    "lion-idw-100": "the paper's rule, r_x 100 %, the power cross-validated anew",
    "opentsne": "`transform` with its defaults; its gradient is then FFT for 10000 rows and Barnes-Hut for one",
    "opentsne-fft": "`transform`, FFT always",
    "opentsne-partial": "`prepare_partial` alone: the median of 25 neighbours, nothing optimised",
    "opentsne-partial-optimised": "`prepare_partial`, then `optimize` as `transform` does, at perplexity 30 instead of 5",
    "umap": "its defaults",
    "pacmap": "its defaults, index kept",
    "sklearn-knn": "`KNeighborsRegressor(weights='distance')`, 5 neighbours, in lion's map",
}
WAYS = list(SETTINGS)
SINGLES = 10_000


class Task:
    """A map's rows, and the rows to be placed among them."""

    def __init__(self, bench, size):
        dims = DIMS.get(size, 50)
        self.x, self.labels = bench.data("mnist", size, dims)
        self.new, self.new_labels, self.noise = bench.data("unseen", size, dims, also=["noise"])
        self.y = bench.lion_map(size)
        self.judging = ["--labels", self.labels, "--new-labels", self.new_labels]


class LionTool:
    """Lion, in one of its ways; a fresh process each time."""

    def __init__(self, bench, task, way):
        self.bench, self.task, self.way = bench, task, way

    def warm_up(self):
        """The program places all rows once before it measures."""

    def place(self):
        return self.run("--rounds", 1, "--singles", 0)["seconds"]

    def rest(self):
        found = self.run("--rounds", 1, "--singles", SINGLES, "--noise", self.task.noise, *self.task.judging)
        del found["seconds"]
        return found | {"version": self.bench.version()}

    def run(self, *words):
        return self.bench.place_by_lion(self.task.y.with_suffix(".lion"), self.task.new, *LION[self.way], *words)


class RivalTool:
    """A package, in one of its ways."""

    def __init__(self, bench, task, package, way):
        self.bench, self.task, self.package, self.way = bench, task, package, way

    def warm_up(self):
        self.package.ask(do="place", way=self.way)

    def place(self):
        return self.package.ask(do="place", way=self.way)["seconds"]

    def rest(self):
        places, of_noise, y = (beside(self.task.x, f"{self.way}-{name}") for name in ("places", "noise", "map"))
        self.package.ask(do="place", way=self.way, places=places, map=y)
        self.package.ask(do="place", way=self.way, places=of_noise, rows=self.task.noise)
        found = self.package.ask(do="singles", way=self.way, calls=SINGLES, seconds=self.bench.options.budget)
        judged = self.bench.run([self.bench.program("judge_places"), y, places, *self.task.judging, "--noise", of_noise])
        return found | judged | {"version": self.package.version}


class Package:
    """A process that holds a Python package with its own map. `with` ends it."""

    def __init__(self, bench, task, name):
        self.version = version(RIVALS[name][0])
        kept = bench.folder / f"{task.x.stem}-{name}-{self.version}.pickle"
        words = [sys.executable, HERE / "place_rival.py", name, task.x, task.new, kept, bench.threads, task.y]
        words = [str(word) for word in words]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=bench.environment
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, **question):
        """The answer to a question; see place_rival.py."""
        try:
            self.process.stdin.write(json.dumps(question, default=str) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed("ended early") from None
        line = self.process.stdout.readline()
        if not line:
            raise Failed("ended early")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer
