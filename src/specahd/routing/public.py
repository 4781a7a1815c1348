"""The public benchmark sets on disk: every file read, every published solution checked.

``bks.csv`` in their folder holds the best-known values; a set names the rows that
follow its distance convention.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.base import AnyProblem, PublicSet

BEST_KNOWN = "bks.csv"
# What bks.csv notes of a solution file that is not what it says.
_SHIPPED_WRONG = "shipped .sol"


@dataclass
class Tally:
    """What became of one set."""

    name: str
    read: int = 0
    checked: int = 0
    mismatches: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another set in."""
        self.read += other.read
        self.checked += other.checked
        self.mismatches += other.mismatches
        self.known += other.known

    def __str__(self) -> str:
        counts = f"{self.read:5} read{self.checked:5} solutions checked"
        return f"{self.name:14}{counts}{len(self.mismatches):4} mismatches"


def verify(
    problem: AnyProblem, folder: Path, step: Callable[[], None] = lambda: None
) -> Iterator[Tally]:
    """Read every instance of the problem's public sets and check every published solution.

    A solution matches when it is feasible and costs exactly what its file states,
    or bks.csv where the file states nothing. One that bks.csv itself calls wrong is
    listed as known. ``step`` is called after each instance.

    Raises
    ------
    FileError
        The folder holds no public sets, or a file cannot be read.
    """
    published = _published(folder / BEST_KNOWN)
    for public in problem.public_sets:
        tally = Tally(public.name)
        for path in sorted(folder.glob(public.instances)):
            _verify(problem, folder, public, path, published, tally)
            step()
        if not tally.read:
            raise FileError(f"{folder} holds no file {public.instances} of the set {public.name}.")
        yield tally


def _verify(
    problem: AnyProblem,
    folder: Path,
    public: PublicSet,
    path: Path,
    published: list[dict[str, str]],
    tally: Tally,
) -> None:
    instance = problem.read(path)
    tally.read += 1
    places = [
        path.parent / place.format(stem=path.stem, upper=path.stem.upper())
        for place in public.solutions
    ]
    if path.stem in public.borrowed:
        places.append(folder / public.borrowed[path.stem])
    row = _row(public, path.stem, published)
    for place in filter(Path.is_file, places):
        tally.checked += 1
        solution, stated = problem.read_solution(place)
        violations = problem.check(instance, solution)
        cost = problem.cost(instance, solution) if not violations else None
        expected = stated
        if expected is None and row is not None:
            expected = float(row["verified_cost"] or row["bks"])
        if cost is not None and cost == expected:
            continue
        found = violations[0].detail if violations else f"it costs {cost:.10g}"
        sentence = f"{place}: {found}, published is {expected}"
        noted = row is not None and row["note"].startswith(_SHIPPED_WRONG)
        (tally.known if noted else tally.mismatches).append(sentence)


def _published(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="") as lines:
            return list(csv.DictReader(lines))
    except OSError as error:
        raise FileError(
            f"{path.parent} holds no public sets: cannot read {path.name} ({error.strerror})."
        ) from error


def _row(public: PublicSet, stem: str, published: list[dict[str, str]]) -> Mapping[str, str] | None:
    """Return the row of an instance; files are named in lower or upper case."""
    for row in published:
        same = row["name"].upper() == stem.upper() and row["set"].partition("/")[0] == public.name
        if same and row["convention"].startswith(public.convention):
            return row
    return None
