"""Breaks one line after the other in a copy of the sources, and says whether a test notices.

    .venv/bin/python tests/mutants/mutate.py [--jobs N] [WORD ...]

Words choose the mutants whose file, lines or tests contain one of them. The exit status is 1 if
a mutant survives, or its tests fail without it. The copy lies in a temporary folder with a virtual
environment of its own, so that every process that a test starts imports the copy, too, also
one without ``PYTHONPATH``, as the sandbox is. Each mutant runs in a fork of a process that has
imported the large libraries already.
"""

import argparse
import compileall
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
"""A mutant whose tests take longer has shown nothing."""
LIBRARIES = (
    "hydra.utils",
    "hypothesis.extra.numpy",
    "numba",
    "omegaconf",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pytest",
    "scipy.sparse",
    "sklearn.feature_extraction",
)
OPTIONS = (
    "-x",
    "-q",
    "--no-header",
    "--disable-warnings",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
)


def say(text: str) -> None:
    """Write a line at once, in one piece."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def in_one_line(fragment: str) -> str:
    """Return a fragment without its line breaks."""
    return " ".join(fragment.split())


def mutated(text: str, mutant: Mutant) -> str:
    """Return the text of a mutant's file with the one fragment replaced.

    Raises
    ------
    ValueError
        The fragment does not occur exactly once, or is replaced by itself.
    """
    if text.count(mutant.old) != 1 or mutant.old == mutant.new:
        raise ValueError(
            f"{mutant.file}: expected the line once, found it {text.count(mutant.old)} times: "
            f"{mutant.old}"
        )
    return text.replace(mutant.old, mutant.new)


def make_copy(folder: Path, sources: Path) -> Path:
    """Copy the sources and make an interpreter that imports them; return the interpreter."""
    # The sandbox reads the copy as another user.
    folder.mkdir(mode=0o755)
    # What numba has compiled comes along.
    shutil.copytree(sources, folder / "src")
    (folder / "conf").symlink_to(ROOT / "conf")
    compileall.compile_dir(folder / "src", quiet=2)
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    [packages] = (folder / "venv" / "lib").glob("python*/site-packages")
    # Not the files in them that would bring the sources themselves.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "copy.pth").write_text("\n".join([str(folder / "src"), *libraries]) + "\n")
    told = subprocess.run(
        [python, "-P", "-c", "import specahd; print(specahd.__file__)"],
        env={}, cwd="/", check=True, capture_output=True, text=True,
    )  # fmt: skip
    if not told.stdout.startswith(str(folder)):
        raise RuntimeError(f"The copy is not imported, but {told.stdout.strip()}.")
    return python


def run_tests(tests: Iterable[str], log: Path) -> int | None:
    """Run tests in a fork of this process; return pytest's exit status, None if they never end."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        with log.open("wb") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
        status = 70
        try:
            import pytest

            status = int(pytest.main([*OPTIONS, *tests]))
        finally:
            sys.stdout.flush()
            os._exit(status)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def serve(folder: Path) -> None:
    """Run the mutants of the numbers on standard input, or the tests named there, line by line."""
    for library in LIBRARIES:
        import_module(library)
    assert "specahd" not in sys.modules
    os.chdir(ROOT)
    for line in sys.stdin:
        order = json.loads(line)
        log = folder / "log.txt"
        began = time.monotonic()
        if isinstance(order, list):
            status = run_tests(order, log)
        else:
            mutant = MUTANTS[order]
            path = folder / mutant.file
            stat, text = path.stat(), path.read_text()
            path.write_text(mutated(text, mutant))
            # A moment of its own: Python takes what it has compiled for current by the second.
            moment = stat.st_mtime + 10 * (order + 1)
            kept = list(path.parent.glob(f"__pycache__/{path.stem}.*.nbi"))
            if not kept:
                os.utime(path, (stat.st_atime, moment))
            # One that is compiled is newer than all loops, which are forgotten then, and again.
            status = run_tests(mutant.tests, log)
            path.write_text(text)
            restored = stat.st_mtime if not kept else time.time() + 1.0
            os.utime(path, (stat.st_atime, restored))
        said = log.read_text(errors="replace")[-4000:]
        seconds = time.monotonic() - began
        say(json.dumps({"status": status, "seconds": seconds, "said": said}))


class Copy:
    """A copy of the sources, and the process that tests it."""

    def __init__(self, folder: Path, sources: Path) -> None:
        python = make_copy(folder, sources)
        environment = {
            **os.environ,
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Half of the time that a mutant takes.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [python, __file__, "--serve", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, order: int | list[str]) -> tuple[str, float, str]:
        """Return what became of a mutant, how long that took, and what pytest said.

        Parameters
        ----------
        order
            The number of a mutant, or tests to be run on the unchanged copy.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        status = answer["status"]
        # Any other status: the tests could not be run, which shows nothing.
        fate = {0: "survived", 1: "killed", None: "never ends"}.get(status, f"broken ({status})")
        return fate, answer["seconds"], answer["said"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def chosen(words: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the mutants that contain one of some words; of all if there is none."""
    for number, mutant in enumerate(MUTANTS):
        text = " ".join([mutant.file, mutant.old, mutant.new, *mutant.tests])
        if not words or any(word in text for word in words):
            yield number


def run(words: Sequence[str], jobs: int) -> int:
    """Run the chosen mutants, tell each one's fate, and return the exit status."""
    for mutant in MUTANTS:
        mutated((ROOT / mutant.file).read_text(), mutant)
    began = time.monotonic()
    numbers = list(chosen(words))
    if not numbers:
        say(f"No mutant has any of these words: {' '.join(words)}.")
        return 1
    copies: list[Copy] = []
    fates: dict[int, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            copies.append(Copy(folder / "0", ROOT / "src"))
            tests = sorted({test for number in numbers for test in MUTANTS[number].tests})
            fate, _, said = copies[0].ask(tests)
            if fate != "survived":
                say(f"{said}\nThe tests fail on the unchanged sources: {fate}.")
                return 1
            # By now numba has compiled what the tests need.
            copies += [Copy(folder / str(job), folder / "0" / "src") for job in range(1, jobs)]
            waiting = iter(numbers)

            def work(copy: Copy) -> None:
                # Both threads draw from one iterator, under the interpreter's lock.
                for number in waiting:
                    fates[number], seconds, said = copy.ask(number)
                    mutant = MUTANTS[number]
                    told = [
                        f"{fates[number]} {seconds:.1f} s {mutant.file}: {in_one_line(mutant.new)}"
                    ]
                    if fates[number] != "killed":
                        told += [
                            f"    was {in_one_line(mutant.old)}",
                            f"    {' '.join(mutant.tests)}",
                        ]
                    if fates[number] not in ("killed", "survived"):
                        told.append(said)
                    say("\n".join(told))

            with ThreadPoolExecutor(jobs) as threads:
                list(threads.map(work, copies))
        finally:
            for copy in copies:
                copy.close()
    killed = sum(fate == "killed" for fate in fates.values())
    say(f"{killed} of {len(numbers)} killed in {time.monotonic() - began:.0f} s")
    return int(killed < len(numbers))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
    else:
        sys.exit(run(given.words, given.jobs))
