"""``python -m specahd.report audit=RUN``: check that a run's results follow from its files.

The run is repeated in a temporary folder, from its replies (``wal.jsonl``) and measurements
(``responses.jsonl``) alone: no model is called, and no program is measured a second time.
Scores, J, U, parents, skills, survivors and the choice of each round must be the same, record
by record. So must the checkpoint's files and the rows of both pools, for which the
checkpoint is evaluated again.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import isclose, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

from specahd.core import journal
from specahd.core.errors import FileError, RunFailed
from specahd.core.journal import describe_difference
from specahd.evaluation.files import rows_file
from specahd.evaluation.rows import average_rows
from specahd.runs import files
from specahd.runs.reading import Run, RunStatus, read_run
from specahd.runs.records import Round, journal_type

_KEPT = (files.CONFIG, files.JOURNAL, files.RESPONSES, files.REPLIES, files.TIMINGS)


def audit(run: Path, options: Sequence[str] = ()) -> str:
    """Repeat a run that has ended; return the checks that passed, in one line.

    Parameters
    ----------
    options
        More words for the command that repeats it.

    Raises
    ------
    FileError
        The directory is not a run, the run has not ended, or another version wrote it.
    RunFailed
        A result differs; the message names the file and its content.
    """
    found = read_run(run)
    if found.status is RunStatus.INTERRUPTED:
        raise FileError(f"{run} has not ended: {rows_file('validation')} is missing.")
    with TemporaryDirectory(prefix="specahd-audit-") as folder:
        copy = Path(folder) / run.resolve().name
        copy.mkdir()
        for name in _KEPT:
            shutil.copy2(run / name, copy)
        _repeat(run, copy, options)
        broken = [*_unselected(found, run), *_broken(run, copy)]
    if broken:
        raise RunFailed("\n".join(broken))
    rows = sum(len(found.rows(pool)) for pool in files.POOLS)
    return (
        f"{run}: {len(found.samples)} programs, the checkpoint and {rows} rows "
        "follow from its replies and measurements."
    )


def _repeat(run: Path, copy: Path, options: Sequence[str]) -> None:
    """Repeat the run in the copy, and write the messages of its process to stderr."""
    nobody = copy.with_name("no-replies.jsonl")
    nobody.touch()
    command = [sys.executable, "-m", "specahd.train", f"resume={copy}", "tracking=none"]
    command += ["llm=recorded", f"llm.path={nobody}", *options]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stderr is not None
        last = ""
        for line in process.stderr:
            last = line.strip().replace(str(copy), str(run)) or last
            sys.stderr.write(line.replace(str(copy), str(run)))
    if process.returncode:
        kind = FileError if process.returncode == 2 else RunFailed
        raise kind(f"{run} could not be repeated.")


def _unselected(found: Run, run: Path) -> Iterator[str]:
    """Yield a message if no round has the mean improvement of the rows of ``selection``.

    The values of the other rounds are not checked: only the chosen checkpoint has rows.
    """
    records = journal.read_records(run / files.JOURNAL, journal_type)
    stated = [each.selection for each in records if isinstance(each, Round)]
    mean = average_rows(found.selection).improvement
    known = [value for value in stated if value is not None]
    if known and isfinite(mean) and not any(isclose(mean, value) for value in known):
        yield (
            f"{run / files.JOURNAL}: no round has the selection {mean:.6f} of "
            f"{rows_file('selection')}."
        )


def _broken(run: Path, copy: Path) -> Iterator[str]:
    """Yield the differences between the run's files and those of its repetition."""
    ours, again = (folder / files.CHECKPOINT for folder in (run, copy))
    names = {
        path.relative_to(folder).as_posix()
        for folder in (ours, again)
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in sorted(names):
        if not (ours / name).is_file():
            yield f"{ours / name} is missing."
        elif not (again / name).is_file():
            yield f"{ours / name} is not reproduced."
        elif (ours / name).read_bytes() != (again / name).read_bytes():
            yield f"{ours / name} is reproduced with other bytes."
    for name in (files.JOURNAL, files.RESPONSES, *map(rows_file, files.POOLS)):
        lines = (folder.joinpath(name).read_bytes().splitlines() for folder in (run, copy))
        for number, (one, other) in enumerate(zip_longest(*lines, fillvalue=b""), 1):
            if one != other:
                where = describe_difference(one, other)
                yield f"{run / name}: line {number} is not reproduced{where}."
                break
