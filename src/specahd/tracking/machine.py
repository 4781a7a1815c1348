"""On which machine, with which versions and at which commit a run was made."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from specahd.core.environment import named
from specahd.runs.files import MACHINE, write_json

_STAGE = "DVC_STAGE"
# Those that can change a result or how long it takes.
_PACKAGES = ("specahd", "numpy", "numba", "scipy", "pyvrp", "httpx2", "mlflow")


def save_machine(directory: Path) -> None:
    """Write ``machine.json``: ``machine.*``, ``version.*`` and, in a repository, ``commit``.

    Of a run that DVC started, ``dvc.stage`` is the stage, as ``train@cvrp-0``.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = {
        "machine.host": platform.node(),
        "machine.system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "machine.cpus": str(len(os.sched_getaffinity(0))),
        "machine.memory_gb": f"{memory:.1f}",
        "version.python": platform.python_version(),
        **{f"version.{name}": number for name in _PACKAGES if (number := _version(name))},
    }
    commit = _git("rev-parse", "HEAD")
    if _STAGE in os.environ:
        facts["dvc.stage"] = os.environ[_STAGE]
    if commit:
        facts["commit"] = commit
        facts["commit.clean"] = "no" if _git("status", "--porcelain", "-uno") else "yes"
    write_json(directory / MACHINE, facts)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _git(*arguments: str) -> str:
    """Return what git says of the working directory, nothing if it says no."""
    try:
        answer = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            env=named(),
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
