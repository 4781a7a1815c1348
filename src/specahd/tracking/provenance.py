"""The provenance of a run: machine, versions, commit, and DVC's hashes of its files."""

import os
import platform
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np
import yaml

from specahd import __version__
from specahd.core.environment import public_variables
from specahd.core.errors import FileError
from specahd.core.journal import write_json
from specahd.runs.files import MACHINE, TRAINING_TIMINGS

_LOCK = "dvc.lock"
_STAGE = "DVC_STAGE"
# Packages that can change a result or its run time.
_PACKAGES = ("numpy", "numba", "scipy", "pyvrp", "openai", "mlflow")


def save_machine(directory: Path) -> None:
    """Write ``machine.json``: ``machine.*``, ``version.*`` and, in a repository, ``commit``.

    ``machine.simd`` are the instruction sets that NumPy uses. With other sets the last bits of
    NumPy's functions differ, so a search may differ too.

    ``dvc.stage`` is the stage of a run that DVC started, for example ``train@cvrp-0``.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = {
        "machine.host": platform.node(),
        "machine.system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "machine.cpus": str(len(os.sched_getaffinity(0))),
        "machine.memory_gb": f"{memory:.1f}",
        "machine.simd": " ".join(np.show_config("dicts")["SIMD Extensions"]["found"]),
        "version.python": platform.python_version(),
        "version.specahd": __version__,
        **{f"version.{name}": version(name) for name in _PACKAGES},
    }
    commit = _git("rev-parse", "HEAD")
    if _STAGE in os.environ:
        facts["dvc.stage"] = os.environ[_STAGE]
    if commit:
        facts["commit"] = commit
        facts["commit.clean"] = "no" if _git("status", "--porcelain", "-uno") else "yes"
    write_json(directory / MACHINE, facts)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and all that it started, as far as they are known.

    A process that has ended counts where the one that started it waited for its end.
    """
    children: dict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        # Others end meanwhile.
        with suppress(OSError):
            # The name, in parentheses, may hold any character.
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            children[int(fields[1])].append(int(path.parent.name))
            ticks[int(path.parent.name)] = sum(map(int, fields[11:15]))
    found = [os.getpid()]
    for process in found:
        found += children[process]
    return sum(ticks.get(process, 0) for process in found) / os.sysconf("SC_CLK_TCK")


def save_cpu_seconds(directory: Path, seconds: float) -> None:
    """Write the CPU seconds of a training."""
    write_json(directory / TRAINING_TIMINGS, {"cpu_seconds": round(seconds, 1)})


def _git(*arguments: str) -> str:
    """Return git's output for the working directory, empty on failure."""
    try:
        answer = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            env=public_variables(),
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def dvc_hashes(root: Path) -> Mapping[str, str]:
    """Return the MD5 that DVC recorded of each out, by its path relative to ``root``.

    The outs are those of the pipeline (``dvc.lock``) and of the ``*.dvc`` files in
    ``root`` itself; a directory's hash ends in ``.dir``. Outs that DVC has not hashed
    are left out. For a folder without DVC the result is empty.

    Raises
    ------
    FileError
        One of these files is not a valid file of DVC.
    """
    files = [path for path in (root / _LOCK, *sorted(root.glob("*.dvc"))) if path.is_file()]
    return {name: md5 for path in files for name, md5 in _read_outs(path)}


def _read_outs(path: Path) -> Iterator[tuple[str, str]]:
    try:
        record = yaml.safe_load(path.read_text(encoding="utf-8"))
        stages = record["stages"].values() if path.name == _LOCK else [record]
        for stage in stages:
            folder = Path(stage.get("wdir", "."))
            for out in stage.get("outs", ()):
                if "md5" in out:
                    yield (folder / out["path"]).as_posix(), str(out["md5"])
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise FileError(f"{path} is not a file of DVC; restore it with git.") from None
