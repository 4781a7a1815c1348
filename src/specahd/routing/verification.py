"""Verification of all files below a folder: read each, and check each solution's stated cost.

A file ``bks.csv`` in the folder is optional. It holds the best-known values of public
sets, which lie in subfolders with their names.
"""

import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from specahd.core.errors import FileError, FileWarning
from specahd.routing.base import AnyProblem
from specahd.routing.best_known import FILE, Row, read_table, row_of
from specahd.routing.formats import kinds
from specahd.routing.formats.text import read_text

PRECISION = 0.01
"""Tolerance of costs, which are published with two decimals; rounded ones differ by more."""
# Beginning of the note in bks.csv on a solution file that does not have the cost it states.
_SHIPPED_WRONG = "shipped .sol"
_SOLUTIONS = (".sol", ".tour")

Variants = Mapping[str, AnyProblem]
"""One problem in each of its conventions, by name of the convention, the default first."""


class Status(StrEnum):
    """The result of the verification of a file."""

    READ = "read"
    CHECKED = "solutions checked"
    MISMATCH = "mismatches"
    REFUSED = "refused"
    KNOWN = "known to be wrong"
    UNCHECKED = "without an instance"
    OTHER = "other files"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a file, with a sentence that begins with its name."""

    group: str
    status: Status
    sentence: str

    @property
    def wrong(self) -> bool:
        """Whether the file is faulty."""
        return self.status in (Status.MISMATCH, Status.REFUSED)


class Tally(Counter[Status]):
    """The number of files of one folder by result."""

    def line(self, name: str) -> str:
        """Return the counts in words; every solution that was compared counts as checked."""
        compared = sum(self[key] for key in (Status.CHECKED, Status.MISMATCH, Status.KNOWN))
        return (
            f"{name:14}{self[Status.READ]:5} read{compared:5} solutions checked"
            f"{self[Status.MISMATCH]:4} mismatches{self[Status.REFUSED]:4} refused"
        )


def tallies(findings: Iterable[Finding]) -> dict[str, Tally]:
    """Count findings by group, in the order in which groups first occur."""
    counts: defaultdict[str, Tally] = defaultdict(Tally)
    for finding in findings:
        counts[finding.group][finding.status] += 1
    return dict(counts)


def files(folder: Path) -> list[Path]:
    """Return the files that :func:`verify` reads: all below a folder that are not hidden.

    Raises
    ------
    FileError
        ``folder`` is not a folder.
    """
    if not folder.is_dir():
        raise FileError(f"{folder} is no folder.")
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted(
        path
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def verify(
    problems: Mapping[str, Variants],
    folder: Path,
    paths: Sequence[Path],
    step: Callable[[], None] = lambda: None,
    own: Variants | None = None,
) -> Iterator[Finding]:
    """Yield the kind of every file, and whether every solution has the cost that it states.

    A solution belongs to the instance of its name; of several, to that in the nearest
    folder. It matches if it is feasible and has the cost that its file states, or else
    bks.csv, in any convention of the problem. A mismatch that bks.csv notes is reported
    as known.

    Parameters
    ----------
    problems
        The problems by name.
    paths
        The files of the folder.
    step
        Called after each file.
    own
        A problem of the user's own. Files with the endings of its instances and solutions are its
        own, whatever their texts.

    Raises
    ------
    FileError
        bks.csv is not a table of values.
    """
    if own is not None:
        problems = {_default(own).name: own, **problems}
    published = read_table(folder / FILE) if (folder / FILE).exists() else []
    instances: dict[Path, Variants] = {}
    solutions: list[Path] = []
    for path in paths:
        solution, reader = _reader(path, problems, own)
        if solution:
            solutions.append(path)
        elif reader is not None:
            instances[path] = reader
        else:
            # Tables of stops are not read, because they need options for what they leave open.
            step()
            sentence = f"{path}: neither an instance nor a solution"
            yield Finding(_group(path, folder), Status.OTHER, sentence)
    belonging = _pairs(solutions, instances)
    for path, variants in instances.items():
        group = _group(path, folder)
        default = _default(variants)
        public = next((one for one in default.public_sets if one.name == group), None)
        row = row_of(public, path.stem, published) if public is not None else None
        places = belonging.pop(path, [])
        step()
        for _ in places:
            step()
        if public is not None and path.stem in public.borrowed:
            places = [*places, folder / public.borrowed[path.stem]]
        for status, sentence in _instance(variants, path, places, row):
            yield Finding(group, status, sentence)
    for path in belonging.pop(None, []):
        step()
        yield Finding(_group(path, folder), *_lone(problems, path))


def _default(variants: Variants) -> AnyProblem:
    return next(iter(variants.values()))


def _reader(
    path: Path, problems: Mapping[str, Variants], own: Variants | None
) -> tuple[bool, Variants | None]:
    """Return whether a file is a solution, and else who reads it, by its text or its name."""
    ending = path.suffix.lower()
    if own is not None and ending == _default(own).suffix:
        return False, own
    if own is not None and ending in _default(own).endings:
        return True, None
    kind = None
    # The later read of the file reports the reason.
    with suppress(FileError):
        kind = kinds.identify(read_text(path))
    if kind is not None:
        # The user's own problem comes first, and may read what another one is for.
        readers = (
            one for one in reversed([*problems.values()]) if kind.type in _default(one).types
        )
        return kind.solution, next(readers, None)
    # LKH uses the ending .vrptw for .vrp.
    read = [one for one in problems.values() if ending.startswith(_default(one).suffix)]
    return ending in _SOLUTIONS, next(iter(read), None)


def _group(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).parts
    return parts[0] if len(parts) > 1 else "."


def _pairs(solutions: list[Path], instances: Iterable[Path]) -> dict[Path | None, list[Path]]:
    """Return the solutions of each instance, and under None those without an instance."""
    by_stem: defaultdict[str, list[Path]] = defaultdict(list)
    for path in instances:
        by_stem[path.stem.lower()].append(path)
    pairs: defaultdict[Path | None, list[Path]] = defaultdict(list)
    for path in solutions:
        name, candidates = path.name.lower(), list[Path]()
        # a280.opt.tour belongs to a280.
        while "." in name and not candidates:
            name = name.rpartition(".")[0]
            candidates = by_stem.get(name, [])
        steps = [len(Path(os.path.relpath(one.parent, path.parent)).parts) for one in candidates]
        for candidate, count in zip(candidates, steps, strict=True):
            if count == min(steps):
                pairs[candidate].append(path)
        if not candidates:
            pairs[None].append(path)
    return pairs


def _instance(
    variants: Variants, path: Path, places: Sequence[Path], row: Row | None
) -> Iterator[tuple[Status, str]]:
    """Yield the result of an instance, and of each of its solutions."""
    problem = _default(variants)
    try:
        with warnings.catch_warnings(record=True, action="always", category=FileWarning) as doubts:
            instance = problem.read(path)
    except FileError as error:
        yield Status.REFUSED, str(error)
        for place in places:
            yield Status.UNCHECKED, f"{place}: its instance {path.name} is refused"
        return
    doubt = " (nothing in the file tells whether it is whole)" if doubts else ""
    yield Status.READ, f"{path}: read, {problem.name} of size {instance.size}{doubt}"
    for place in filter(Path.exists, places):
        status, sentence = _solution(problem, path, place, row)
        for name, other in variants.items():
            if status is Status.MISMATCH and other is not problem:
                again, words = _solution(other, path, place, row)
                if again is Status.CHECKED:
                    status, sentence = again, f"{words} with problem.convention={name}"
        yield status, sentence


def _solution(problem: AnyProblem, path: Path, place: Path, row: Row | None) -> tuple[Status, str]:
    try:
        with warnings.catch_warnings(action="ignore", category=FileWarning):
            instance = problem.read(path)
        solution, stated = problem.read_solution(place, instance)
    except FileError as error:
        return Status.REFUSED, str(error)
    known = row is not None and row["note"].startswith(_SHIPPED_WRONG)
    wrong = Status.KNOWN if known else Status.MISMATCH
    expected = stated
    if expected is None and row is not None:
        expected = _value(row)
    violations = problem.check(instance, solution)
    if violations:
        return wrong, f"{place}: does not solve {path.name}: {violations[0].detail}"
    cost = problem.cost(instance, solution)
    if expected is None:
        return Status.CHECKED, f"{place}: solves {path.name}, it costs {cost:.10g}, none is stated"
    if abs(cost - expected) < PRECISION:
        return Status.CHECKED, f"{place}: solves {path.name}, it costs {cost:.10g} as stated"
    return wrong, f"{place}: it costs {cost:.10g}, published is {expected:.10g}"


def _lone(problems: Mapping[str, Variants], path: Path) -> tuple[Status, str]:
    """Return the result of a solution without an instance, which can only be read."""
    refusals = []
    for problem in map(_default, problems.values()):
        try:
            problem.read_solution(path)
        except FileError as error:
            refusals.append(str(error))
    if len(refusals) == len(problems):
        return Status.REFUSED, refusals[0]
    return Status.UNCHECKED, f"{path}: a solution without an instance of its name"


def _value(row: Row) -> float | None:
    try:
        return float(row["verified_cost"] or row["bks"])
    except ValueError:
        return None
