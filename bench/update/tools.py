"""The tools of `bench update`, each asked to carry the map of a case through its steps; and what is kept of that.

A result is kept beside the case under a key of all that it depends on: the tables, the old places, the program. So a run that was cut
short goes on where it ended, and rivals are not run again for a new version of lion.
"""

import json
import struct
import subprocess
import sys
from pathlib import Path

from common import digest, tensors, write_npy

HERE = Path(__file__).resolve().parent
RIVALS = ["opentsne", "opentsne-defaults", "aligned-umap"]
STABILITIES = ["0", "0.25", "0.5", "0.75", "0.9", "1"]
LION = ["lion", *(f"lion-{stability}" for stability in STABILITIES)]
FIXED = [f"fixed-{stability}" for stability in STABILITIES[1:-1]]
FRESH = "fresh"
ALL = [FRESH, *LION, *FIXED, *RIVALS]
NAMES = {"fresh": "lion fit, fresh", "lion": "lion update", "opentsne": "openTSNE", "opentsne-defaults": "openTSNE, defaults", "aligned-umap": "AlignedUMAP"}
NAMES |= {f"lion-{s}": f"lion update, stability {s}" for s in STABILITIES}
NAMES |= {f"fixed-{s}": f"dynamic t-SNE, stability {s}" for s in STABILITIES}


class Runner:
    """One case: its tables, and the places that each tool gives their rows."""

    def __init__(self, bench, folder):
        self.bench, self.folder = bench, folder
        self.case = json.loads((folder / "case.json").read_text())
        self.steps = range(1, len(self.case["steps"]))
        self.tables = digest(*sorted(path for path in folder.iterdir() if path.is_file() and path.name != "made-by.txt"))

    def rows(self, at):
        return self.folder / f"rows-{at}.npy"

    def places(self, tool, at):
        return self.folder / tool / f"places-{at}.npy"

    def kept(self, name, key, make):
        """What `make` gives, from the file of that name if it was made under the same key."""
        path = self.folder / f"{name}.json"
        if path.exists() and not self.bench.options.again:
            found = json.loads(path.read_text())
            if found["key"] == key:
                return found["answer"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        answer = make()
        path.write_text(json.dumps({"key": key, "answer": answer}))
        return answer

    def old(self):
        """The map that all but AlignedUMAP begin with."""
        key = digest(self.bench.lion_digest, self.tables, self.bench.threads)
        given = self.case["steps"][0].get("with_ids")
        rows, extra = (self.folder / given, ["--id", "id"]) if given else (self.rows(0), [])
        return self.kept("old/answer", key, lambda: self.bench.fit_lion(rows, self.places("old", 0), extra=extra))

    def fit(self, tool, at):
        """A map of the rows of a step by `lion fit`."""
        return self.bench.fit_lion(self.rows(at), self.places(tool, at))

    def run(self, tool):
        """Seconds of each step, version and settings; the places go to files."""
        if tool in RIVALS:
            parts = [HERE / "rival.py", HERE.parent / "requirements.txt", self.places("old", 0)]
        else:
            parts = [self.bench.lion_digest]
        work = {FRESH: self.fresh}.get(tool, self.rival if tool in RIVALS else self.update)
        return self.kept(f"{tool}/answer", digest(tool, self.tables, self.bench.threads, *parts), lambda: work(tool))

    def fresh(self, tool):
        answers = [self.fit(tool, at) for at in self.steps]
        return {"seconds": [answer["seconds"] for answer in answers], "version": answers[0]["version"], "settings": "lion fit of all rows at each step"}

    def rival(self, tool):
        words = [sys.executable, HERE / "rival.py", tool, self.folder, self.places("old", 0), self.folder / tool / "places", self.bench.threads]
        return self.bench.run(words)

    def update(self, tool):
        """Step by step, each from the map of the step before."""
        name, _, stability = tool.partition("-")
        extra = ["--stability", stability] if stability else []
        extra += ["--anchoring", "fixed"] if name == "fixed" else []
        map, seconds = self.places("old", 0).with_suffix(".lion"), []
        for at in self.steps:
            out = self.places(tool, at).with_suffix(".lion")
            answer = self.bench.update_lion(map, self.given(at), out, extra)
            write_places(out, self.places(tool, at))
            seconds.append(answer["seconds"])
            map = out
        return {"seconds": seconds, "version": self.bench.version(), "settings": " ".join(["lion update", *extra])}

    def given(self, at):
        """What `lion update` is told of a step."""
        step, words = self.case["steps"][at], []
        if "new" in step:
            words.append(self.folder / step["new"])
        if "again" in step:
            words += [self.folder / step["again"], "--id", "id"]
        return words + (["--forget", self.folder / step["forget"]] if "forget" in step else [])

    def judged(self, tool):
        """What the judge says of each step, and of the last beside the first map."""
        last = self.steps[-1]
        files = [self.places_before(tool, 0), *(self.places(tool, at) for at in self.steps)]
        key = digest(self.bench.judge_digest, self.tables, *files)

        def work():
            answer = {"steps": [self.judge(tool, at - 1, at) for at in self.steps]}
            return answer | {"whole": self.judge(tool, 0, last) if last > 1 else None}

        return self.kept(f"{tool}/judged", key, work)

    def places_before(self, tool, at):
        """The places that a tool had; a fresh fit is compared with the fresh fit before."""
        return self.places("old", 0) if at == 0 and tool != "aligned-umap" else self.places(tool, at)

    def judge(self, tool, before, after):
        stayed = min(step["stayed"] for step in self.case["steps"][before + 1 : after + 1])
        words = [self.bench.program("judge_update"), self.rows(after), self.places(tool, after), "--labels", self.folder / f"labels-{after}.npy"]
        words += ["--old", self.rows(before), "--old-places", self.places_before(tool, before), "--stayed", stayed]
        words += ["--arrived", self.case["arrived"]] if self.case["arrived"] else []
        found = self.bench.run(words)
        return {name: value for name, value in found.items() if name not in ("peak_mb", "process_seconds")}


def write_places(map, out):
    """The places of a map as an .npy file, one for each row, in the order of the rows' numbers, which are their ids."""
    found = tensors(map, ["y", "place_of", "ids.offsets", "ids.bytes"])
    kind, (count, dims), data = found["y"]
    size = len(data) // count
    places = list(range(count))
    if "place_of" in found:
        places = struct.unpack(f"<{found['place_of'][1][0]}I", found["place_of"][2])
    if "ids.bytes" in found:
        ends, text = struct.unpack(f"<{len(places) + 1}Q", found["ids.offsets"][2]), found["ids.bytes"][2]
        ids = [int(text[begin:end]) for begin, end in zip(ends, ends[1:])]
        places = [place for _, place in sorted(zip(ids, places))]
    write_npy(out, kind, (len(places), dims), b"".join(data[size * place : size * (place + 1)] for place in places))


def can_update(bench, *flags):
    """Whether lion has the verb, with these flags: some are not in its help."""
    words = [bench.program("lion"), "update", *flags, "--help"]
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
