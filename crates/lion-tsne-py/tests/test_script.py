"""The command `lion` as pip installs it: it behaves as the binary does."""

import json
import signal
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import liontsne


@pytest.fixture(scope="module")
def script() -> Path:
    found = Path(sysconfig.get_path("scripts")) / "lion"
    assert found.is_file(), "the package installs it"
    return found


def run(script, *words, **how) -> subprocess.CompletedProcess:
    return subprocess.run([script, *map(str, words)], capture_output=True, text=True, **how)


def test_exit_codes_and_streams(script, tmp_path):
    version = run(script, "--version")
    assert (version.returncode, version.stdout) == (0, f"lion {liontsne.__version__}\n")
    assert run(script, "fit", "--help").stdout.count("Usage: lion fit") == 1
    wrong = run(script, "fit", "--no-such-flag")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "--no-such-flag" in wrong.stderr
    failed = run(script, "info", tmp_path / "none.lion")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: ") and failed.stderr.count("\n") == 1


def test_it_does_the_work(script, tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(80, 4)))
    fit = run(script, "fit", "t.npy", "-o", "m.lion", "--perplexity", 5, "--json", cwd=tmp_path)
    assert fit.returncode == 0 and json.loads(fit.stdout)["rows"] == 80
    assert liontsne.load(tmp_path / "m.lion").embedding_.shape == (80, 2)
    # Of a reader that has seen enough nothing is said.
    command = f"'{script}' place m.lion t.npy -q -o - | head -n 1; exit ${{PIPESTATUS[0]}}"
    piped = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (piped.returncode, piped.stderr) == (0, "") and piped.stdout.startswith("id,x,y,")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="other systems have other signals")
def test_ctrl_c_keeps_the_map_reached_so_far(script, tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(120, 4)))
    words = "fit t.npy -o m.lion --perplexity 5 --iterations 10000000 -v --json".split()
    started = subprocess.Popen(
        [script, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert any("KL" in line for line in started.stderr)
        started.send_signal(signal.SIGINT)
        stdout, stderr = started.communicate(timeout=60)
    finally:
        started.kill()
    assert "the map reached so far is kept" in stderr and "Traceback" not in stderr
    assert started.returncode == 0 and json.loads(stdout)["stopped_early"]


def test_ctrl_c_ends_what_waits_for_input(script, tmp_path):
    started = subprocess.Popen(
        [script, "fit", "-", "-o", tmp_path / "m.lion", "-v"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert any("reading standard input" in line for line in started.stderr)
        started.send_signal(signal.SIGINT)
        # Its input stays open: closed, it would end as a table without rows.
        started.wait(timeout=60)
        stderr = started.stderr.read()
    finally:
        started.kill()
    assert started.returncode == 130 and "nothing was written" in stderr
    assert "Traceback" not in stderr and not (tmp_path / "m.lion").exists()
