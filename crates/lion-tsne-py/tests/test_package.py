"""The package around the estimators: its import, its examples, the README."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import liontsne

ROOT = Path(__file__).parents[3]
MODULES = [
    "liontsne",
    *(module.name for module in pkgutil.walk_packages(liontsne.__path__, "liontsne.")),
]


def run(arguments, folder, **env):
    words = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        words, cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, **env}
    )


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    results = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.failed == 0


def test_most_modules_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [
        test
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(examples) >= 12


def test_import_loads_nothing_heavy(tmp_path):
    code = "import sys, liontsne; print(*sys.modules)"
    loaded = set(run(["-c", code], tmp_path).stdout.split())
    assert "liontsne._native" in loaded
    assert not loaded & {"sklearn", "scipy", "pandas", "matplotlib", "pyarrow", "scanpy"}
    assert set(liontsne.__all__) <= set(dir(liontsne)) and re.match(
        r"\d+\.\d+", liontsne.__version__
    )
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        liontsne.nothing


def pictures(folder):
    return {path.name: matplotlib.image.imread(path) for path in folder.glob("*.png")}


@pytest.mark.parametrize(
    "script", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.stem
)
def test_gallery(script, tmp_path):
    run([script, "--quick"], tmp_path, MPLBACKEND="Agg")
    drawn = pictures(tmp_path)
    assert list(drawn) == [f"{script.stem}.png"]
    assert all(
        image.shape[0] > 300 and np.unique(image.reshape(-1, 4), axis=0).shape[0] > 50
        for image in drawn.values()
    )


def test_readme_example_runs_as_printed(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert blocks
    assert any("from liontsne import" in block for block in blocks)
    (tmp_path / "readme.py").write_text("\n".join(blocks))
    run(["readme.py"], tmp_path, MPLBACKEND="Agg")
    assert pictures(tmp_path)
