"""Long work: it tells how far it is, stops when told to, and leaks nothing."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from liontsne import _native

from .support import blobs, fit, resident


def test_progress_is_told_and_may_stop(data: np.ndarray) -> None:
    told: list[tuple] = []
    _native.Map.fit(data, params={"perplexity": 15}, progress=lambda *step: told.append(step))
    assert told[-1] == ("parameters", 300, 300, None)
    assert all(done <= total for _, done, total, _ in told)

    def stop_in_the_descent(stage: str, done: int, total: int, kl: float | None) -> bool:
        return stage != "optimise"

    endless = {"perplexity": 15, "iterations": 10_000_000}
    stopped = _native.Map.fit(data, params=endless, progress=stop_in_the_descent)
    assert stopped.stopped_early and 0 < stopped.n_iter < 10_000_000
    assert stopped.kl is not None and stopped.embedding.shape == (300, 2)


def test_an_exception_in_progress_comes_out(data: np.ndarray) -> None:
    def fail(*_: object) -> None:
        raise KeyError("mine")

    began = time.monotonic()
    with pytest.raises(KeyError, match="mine"):
        _native.Map.fit(data, params={"perplexity": 15, "iterations": 10_000_000}, progress=fail)
    assert time.monotonic() - began < 60


def interrupted(work: str) -> tuple[str, float]:
    """What a script says that gets Ctrl-C once it has said that it is at work, and how long it takes to."""
    script = textwrap.dedent("""
        import signal, threading, time, numpy as np
        from liontsne import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random = np.random.default_rng(0)
        x = random.normal(size=(3000, 20)).astype(np.float32)
        def at_work():
            time.sleep(0.4)
            print("at work", flush=True)
        threading.Thread(target=at_work).start()
        try:
            WORK
            print("not stopped")
        except KeyboardInterrupt:
            print("stopped")
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", script.replace("WORK", work)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    said, _ = process.communicate(timeout=60)
    return said.strip(), time.monotonic() - began


@pytest.mark.parametrize(
    "work",
    [
        '_native.Map.fit(x, params={"iterations": 10_000_000})',
        '_native.Built(_native.Map.fit(x, places=x[:, :2].copy()), "nn-2x500", {"epochs": 1_000_000})',
        "p = _native.Placer(_native.Map.fit(x, places=x[:, :2].copy()))\n"
        "    while True: p.coordinates(np.tile(x, (20, 1)) + np.float32(0.1))",
    ],
    ids=["fit", "build", "place"],
)
def test_control_c_stops(work: str) -> None:
    said, seconds = interrupted(work)
    assert said == "stopped"
    assert seconds < 30


def test_other_threads_go_on_during_a_fit(data: np.ndarray) -> None:
    """The interpreter's lock is free: what progress counts is counted by another thread."""
    count, done = [0], threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            count[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    fit(np.tile(data, (5, 1)) + blobs(1500, 12, seed=1), iterations=300)
    done.set()
    thread.join()
    assert count[0] > 10


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_memory_is_flat(fitted: _native.Map, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    rows = [row[None].copy() for row in new]
    for row in rows:
        placer.coordinates(row), placer.place(row), placer.judge(row)

    def grown() -> float:
        before = resident()
        for call in range(10_000):
            row = rows[call % len(rows)]
            placer.coordinates(row)
            if call % 10 == 0:
                placer.place(row), placer.judge(row)
        return resident() - before

    # What the allocator takes now and then is no leak: that grows each time.
    assert min(grown() for _ in range(4)) < 1e6


def places_in_child(placer: _native.Placer, rows: np.ndarray, answers: object) -> None:
    answers.put(placer.coordinates(rows))  # type: ignore[attr-defined]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_place(fitted: _native.Map, new: np.ndarray) -> None:
    placer = _native.Placer(fitted)
    expected = placer.coordinates(new)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=places_in_child, args=(placer, new, answers))
    child.start()
    child.join(timeout=30)
    alive = child.is_alive()
    child.kill()
    assert not alive, "the child waits for threads that it does not have"
    assert np.array_equal(answers.get(), expected)
