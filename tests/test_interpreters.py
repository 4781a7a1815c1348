"""One training and one solution have the same bytes under every supported Python that is found.

``SPECAHD_TEST_PYTHONS`` names Pythons that have ``specahd[train]``, separated as in ``PATH``. Else
an environment is made for each Python, which takes minutes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import tree

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
HERE = ".".join(map(str, sys.version_info[:2]))
PROBLEMS = {
    "cvrp": "tests/data/tiny.vrp",
    "vrptw": "tests/data/elsewhere/few-solomon.txt",
    "sdvrp": "src/specahd/samples/sdvrp.vrp",
    "tsp": "tests/data/nine.tsp",
}
# Times, the order in which replies came, and what is said of the machine and of the paths.
OTHER = ("timings.jsonl", "wal.jsonl", "machine.json", "sandbox.json", "config.yaml", "train.log")

pytestmark = pytest.mark.slow


def python_of(version):
    """Return a Python of this version, None if neither PATH nor pyenv has one that starts."""
    folders = [*_pyenv().glob(f"versions/{version}.*/bin")]
    for path in [f"python{version}", *(str(folder / "python") for folder in folders)]:
        if (python := shutil.which(path)) and version_of(python) == version:
            return python
    return None


def _pyenv():
    if "PYENV_ROOT" in os.environ:
        return Path(os.environ["PYENV_ROOT"])
    if shutil.which("pyenv") is None:
        return Path(os.devnull)
    return Path(subprocess.run(["pyenv", "root"], capture_output=True, text=True).stdout.strip())


def version_of(python):
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module", params=[version for version in VERSIONS if version != HERE])
def other(request, tmp_path_factory):
    """Return a Python of another version in whose environment specahd is installed."""
    named = os.environ.get("SPECAHD_TEST_PYTHONS", "").split(os.pathsep)
    for python in filter(None, named):
        if version_of(python) == request.param:
            return python
    if (python := python_of(request.param)) is None:
        pytest.skip(f"no Python {request.param} is found")
    place = tmp_path_factory.mktemp(f"python{request.param}")
    python_here = str(place / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    subprocess.run([python, "-m", "venv", place], check=True)
    subprocess.run(
        [python_here, "-m", "pip", "install", "-q", "-c", constraints, f"{ROOT}[train]"], check=True
    )
    return python_here


def made(python, command, folder, *words):
    """Return what a command leaves in a folder, without times and paths."""
    folder.mkdir()
    place = f"hydra.run.dir={folder}" if command == "train" else f"out={folder}/solution.sol"
    words = [python, "-m", f"specahd.{command}", *words, place]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {path: data for path, data in tree(folder).items() if not path.name.endswith(OTHER)}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_training_has_the_same_bytes(other, problem, tmp_path):
    words = [f"problem={problem}", "llm=offline", "budget=quick", "seed=1", "tracking=none"]
    ours = made(sys.executable, "train", tmp_path / "ours", *words)
    theirs = made(other, "train", tmp_path / "theirs", *words)
    assert ours == theirs
    assert {"journal.jsonl", "responses.jsonl"} <= {path.name for path in ours}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_solution_has_the_same_bytes(other, problem, tmp_path):
    words = [str(ROOT / PROBLEMS[problem]), "repairs=2000"]
    ours, theirs = (
        made(python, "solve", tmp_path / name, *words)[Path("solution.sol")]
        for name, python in (("ours", sys.executable), ("theirs", other))
    )
    assert ours == theirs
