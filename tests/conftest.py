"""What the tests of all packages share."""

import gc
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

import forking
from commands import SMALL, call
from copied_stores import copy_stores
from forked_zygotes import fork_zygotes

# The machines are noisy, and the first call of a kernel may compile it.
settings.register_profile("specahd", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=200)  # of make test-slow
settings.load_profile("specahd")

ROOT = Path(__file__).parent.parent

# Fixtures that need an extra, PostgreSQL or Chromium; without it they skip.
EXTRAS = {"tiny_models", "database", "browser", "optuna", "litellm"}

# Modules that compile, search or compose configurations for many seconds: not for make check.
LONG = {
    "test_ablation",
    "test_composition",
    "test_fun_search",
    "test_guidance",
    "test_local_search",
    "test_method_tables",
}


def pytest_configure(config: pytest.Config) -> None:
    """Offer what is forked for all processes of the tests."""
    # Ctrl-C is what some tests send; a shell has what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        forking.offer()
    # What numba compiles lives on: to look through all of it again and again takes a quarter of
    # the time.
    gc.set_threshold(50_000, 50, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Have one process more than cores: a quarter of the time a test waits for something."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of what garbage is looked for in."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before pytest looks at -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ``make test-extras`` runs, and those of ``make check``."""
    for item in items:
        if EXTRAS & set(getattr(item, "fixturenames", ())):
            item.add_marker("extras")
        elif tests_units(item):
            item.add_marker("unit")


def tests_units(item: pytest.Item) -> bool:
    """Say whether a test is of a module that starts no process and takes few seconds."""
    if not isinstance(item, pytest.Function) or item.path.stem in LONG:
        return False
    return not any(
        value is subprocess or getattr(value, "__module__", "") == "commands"
        for value in vars(item.module).values()
    )


@pytest.fixture(scope="session", autouse=True)
def forked() -> None:
    """Spare the tests the warm-up of the zygotes that compile; tests/sandbox has them start it."""
    fork_zygotes()
    copy_stores()


@pytest.fixture(scope="session")
def data() -> Path:
    """Small instances written by hand."""
    return ROOT / "tests" / "data"


@pytest.fixture(scope="session")
def optuna() -> None:
    """Skips where the packages of the extra are missing."""
    for library in ("optuna", "hydra_plugins.hydra_optuna_sweeper"):
        pytest.importorskip(library, reason=f"{library} is missing: pip install 'specahd[optuna]'")


@pytest.fixture(scope="session")
def litellm() -> None:
    """Skips where the package of the extra is missing."""
    pytest.importorskip("litellm", reason="litellm is missing: pip install 'specahd[litellm]'")


@pytest.fixture(scope="session")
def public() -> Path:
    """The downloaded public instances; skips where they are missing."""
    folder = Path(os.environ.get("SPECAHD_PUBLIC", ROOT.parent / "shared" / "public"))
    if not (folder / "bks.csv").is_file():
        pytest.skip(f"no public instances in {folder}; set SPECAHD_PUBLIC to their folder")
    return folder


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return what makes a folder once for the processes of all tests; who writes takes a copy."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def once(name: str, make: Callable[[Path], None]) -> Path:
        folder, whole = base / "shared" / name, base / "shared" / f"{name}.whole"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                whole.touch()
        return folder

    return once


@pytest.fixture(scope="session")
def api_run(shared) -> Path:
    """Pools, and a run of four programs that the Python API made of them."""
    from specahd import api

    def train(place: Path) -> None:
        pools = {"lower_train": 2, "upper_train": 2, "selection": 2, "validation": 2}
        budget = api.Budget(4, rounds=1, **pools)
        api.train("cvrp", budget=budget, out=place / "run", pools=place / "pools")

    return shared("api_run", train)


@pytest.fixture(scope="session")
def small_runs(shared) -> Path:
    """Two runs with one seed, by one worker in an interpreter of its own and by two."""

    def train(place: Path) -> None:
        for workers in (1, 2):
            options = [f"executor.workers={workers}", f"hydra.run.dir=run{workers}"]
            done = call("train", *SMALL, *options, cwd=place, cold=workers == 1)
            (place / f"run{workers}.txt").write_text(done.stdout)

    return shared("small_runs", train)
