"""Selection of instance files: those of a public set or of a folder, or single files."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from specahd.core.errors import ConfigError, FileError
from specahd.routing import best_known
from specahd.routing.base import AnyProblem
from specahd.routing.formats import kinds
from specahd.routing.formats.text import read_text
from specahd.routing.verification import files


def public_set(problem: AnyProblem, name: str, public: Path) -> list[Path]:
    """Return the instance files of a public set of a problem, in the order of their paths.

    Parameters
    ----------
    name
        The name of one of the problem's sets, or of a folder inside one: ``sdvrp/SET-1``.
    public
        The folder of all public sets, which contains ``bks.csv``.

    Raises
    ------
    ConfigError
        The problem has no such set.
    FileError
        The folder does not hold the public sets, or it lacks this one.
    """
    known = [one.name for one in problem.public_sets]
    parts = Path(name).parts
    if not known or parts[:1] not in [(one,) for one in known] or ".." in parts:
        choices = ", ".join(known) or "none"
        raise ConfigError(
            f"Expected set to be one of {choices} (the public sets of {problem.name}), or a "
            f"folder inside one, got {name!r}."
        )
    if not (public / best_known.FILE).is_file():
        raise FileError(
            f"{public} holds no public sets: expected a folder with {best_known.FILE}; name it "
            "with public=DIR or SPECAHD_PUBLIC, or let specahd fetch fill it."
        )
    if not (public / name).is_dir():
        raise FileError(f"{public} lacks {name}: expected a folder of that name.")
    return instance_files(problem, [public / name])


def instance_files(problem: AnyProblem, given: Iterable[str | Path]) -> list[Path]:
    """Return the given files; replace a folder by the files below it that the problem reads.

    Raises
    ------
    FileError
        A folder has no instance of the problem, or a file occurs twice.
    """
    found = listed_files(given, partial(_is_instance, problem), f"instance of {problem.name}")
    return [path for path, _ in found]


def listed_files(
    given: Iterable[str | Path], keep: Callable[[Path], bool], what: str
) -> list[tuple[Path, Path]]:
    """Return files, and the files below folders that are kept, each with the folder that has it.

    ``what`` is what a folder without a file to keep lacks, for the message.

    Raises
    ------
    FileError
        A folder has no file to keep, or a file occurs twice.
    """
    found: list[tuple[Path, Path]] = []
    for place in map(Path, given):
        inside = [path for path in files(place) if keep(path)] if place.is_dir() else []
        if place.is_dir() and not inside:
            raise FileError(f"{place} holds no {what}.")
        found += [(path, place) for path in inside] or [(place, place.parent)]
    places = Counter(path.resolve() for path, _ in found)
    for path, _ in found:
        if places[path.resolve()] > 1:
            raise FileError(f"{path} is named twice, expected every file once.")
    return found


def with_distinct_names(instances: Sequence[Any], places: Sequence[Path | None]) -> list[Any]:
    """Return the instances; those of equal NAME are renamed to the name of their file.

    Raises
    ------
    FileError
        Two instances still have the same name, so rows and solutions would be ambiguous.
    """
    count = Counter(one.name for one in instances)
    renamed = [
        replace(one, name=place.stem) if count[one.name] > 1 and place is not None else one
        for one, place in zip(instances, places, strict=True)
    ]
    for name, again in Counter(one.name for one in renamed).items():
        if again > 1:
            raise FileError(f"{again} instances have the NAME {name}, expected every name once.")
    return renamed


def _is_instance(problem: AnyProblem, path: Path) -> bool:
    """Return whether a file seems to be an instance of the problem, without validating it."""
    try:
        kind = kinds.identify(read_text(path))
    except FileError:
        kind = None
    if kind is None:
        return path.suffix.lower() == problem.suffix
    return kind.type in problem.types and not kind.solution
