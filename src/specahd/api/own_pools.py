"""Pools of one's own instances: files are read as ``solve`` reads them, and split."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from yaml import YAMLError, safe_load

from specahd.api.instance_files import listed_files
from specahd.api.problems import ProblemInstance, Source, make_problem, read
from specahd.config import find_file
from specahd.core.errors import ConfigError, FileError
from specahd.core.settings import POOLS_SEED, Pools, TableOptions
from specahd.routing import pools as on_disk
from specahd.routing.base import POOLS, AnyProblem
from specahd.routing.formats.kinds import identify
from specahd.routing.formats.text import digest, read_text
from specahd.routing.verification import files

_OPTION = re.compile(rf"(?<![\w.])({'|'.join(each.name for each in fields(TableOptions))})(?==)")
"""An option of tables in a message, which has the name that it has in ``solve``."""


def pool_folder(problem: AnyProblem, pools: Pools, group: str = "pools.") -> Path:
    """Return the folder of the pools of a training, which are prepared if they are missing.

    Parameters
    ----------
    group
        What precedes the names of options of tables in messages.

    Raises
    ------
    FileError
        A file of ``pools.files`` cannot be read, or ``pools.dir`` is taken.
    ConfigError
        The pools were made with another seed or problem, there are too few files, or an option
        does not fit them.
    """
    if pools.files is None:
        return on_disk.prepare_pools(problem, pools)
    folder = Path(pools.places[0])
    if len(pools.places) == 1 and (folder / on_disk.MANIFEST).is_file():
        made_for = on_disk.read_manifest(folder).get("problem")
        if made_for != problem.name:
            raise ConfigError(f"{folder} holds pools of {made_for}, not of {problem.name}.")
        return folder
    try:
        found = list(read_files(pools.places, pools, problem))
        return on_disk.split_pools(problem, [each for each, _ in found], pools)
    except (FileError, ConfigError) as error:
        raise type(error)(_OPTION.sub(rf"{group}\1", str(error))) from None


def read_files(
    places: Iterable[str], options: TableOptions, problem: AnyProblem | None = None
) -> Iterator[tuple[on_disk.Source, AnyProblem]]:
    """Yield the instances of files, and of all files below folders, with their common problem.

    Hidden files, solutions, and the file of ``options.matrix`` are left out of folders. Where
    ``options.matrix`` is a folder, the distances of a table are in its file of the same name.

    Parameters
    ----------
    problem
        None: that of the first file.

    Raises
    ------
    FileError
        A file cannot be read, or is no instance of the problem.
    ConfigError
        An option does not fit a file.
    """
    given = {each.name: getattr(options, each.name) for each in fields(TableOptions)}
    matrix = None if options.matrix is None else Path(options.matrix)
    keep = partial(_may_be_instance, matrix=matrix)
    for path, folder in listed_files(map(find_file, places), keep, "instance"):
        if matrix is not None and matrix.is_dir():
            given["matrix"] = _matrix_of(path, matrix)
        found = read(path, problem, **given)
        problem = found.problem
        file = path.relative_to(folder).as_posix()
        yield on_disk.Source(found.data, file, digest(path)), problem


def first_problem(places: Iterable[str], options: Mapping[str, str]) -> str | None:
    """Return the name of the problem of the first file; None if it cannot be read.

    Parameters
    ----------
    options
        Options of tables, as texts.
    """
    with suppress(FileError, ConfigError, YAMLError):
        stated = TableOptions(**{name: safe_load(value) for name, value in options.items()})
        return next(read_files(places, stated))[1].name
    return None


def _may_be_instance(path: Path, matrix: Path | None) -> bool:
    if matrix is not None and path.resolve().is_relative_to(matrix.resolve()):
        return False
    kind = identify(read_text(path))
    return kind is None or not kind.solution


def _matrix_of(path: Path, folder: Path) -> Path:
    """Return the file of a folder that has a table's name, with any ending."""
    found = [each for each in files(folder) if each.stem == path.stem]
    if len(found) != 1:
        raise FileError(
            f"{folder} holds {len(found)} files named {path.stem}, expected one, with the "
            f"distances of {path}."
        )
    return found[0]


def split_instances(problem: AnyProblem, instances: Sequence[Source], pools: Pools) -> Path:
    """Write pools of instances, or of files with their instances; return their folder.

    Raises
    ------
    ConfigError
        There are too few instances, or one is of another problem.
    FileError
        A file cannot be read.
    """
    sources = []
    for each in instances:
        if isinstance(each, ProblemInstance):
            if each.problem.name != problem.name:
                raise ConfigError(
                    f"Expected instances of {problem.name}, got {each.name} of {each.problem.name}."
                )
            sources.append(on_disk.Source(each.data))
        else:
            sources += [one for one, _ in read_files([str(each)], pools, problem)]
    return on_disk.split_pools(problem, sources, pools)


def describe_pools(problem: AnyProblem, folder: Path) -> list[str]:
    """Return what pools hold, in a line for each, and one for all of one's own instances."""
    lines = [
        f"{folder / pool}: {_describe(on_disk.read_pool(problem, folder, pool))}" for pool in POOLS
    ]
    sources = on_disk.read_manifest(folder).get("sources")
    if sources is None:
        return lines
    groups = {each["name"]: each["group"] for each in sources}
    equal, near = len(sources) - len(groups), len(groups) - len(set(groups.values()))
    return [
        *lines,
        f"{len(sources)} instances: {equal} left out as equal to another, "
        f"{near} near copies of another, in the same pool.",
    ]


def _describe(instances: Sequence[Any]) -> str:
    parts = [f"{len(instances)} instances of {_range([each.size for each in instances])} stops"]
    # As many stops as have room in a vehicle, on average.
    loads = [
        each.size / max(1.0, each.demands.sum() / each.capacity)
        for each in instances
        if getattr(each, "demands", np.zeros(1)).any()
    ]
    widths = []
    for windows in (getattr(each, "windows", None) for each in instances):
        if windows is not None:
            day = max(windows.due[0] - windows.ready[0], 1e-9)
            widths.append(100 * np.median(np.minimum(windows.due - windows.ready, day)[1:]) / day)
    spreads = [
        each.spread / getattr(each, "parts", 1) for each in instances if hasattr(each, "spread")
    ]
    parts += [f"{_range(loads)} in a full vehicle"] if loads else []
    parts += [f"windows of {_range(widths)}% of the day"] if widths else []
    parts += [f"{_range(spreads)} from their centre"] if spreads else []
    return ", ".join(parts)


def _range(values: Sequence[float]) -> str:
    least, most = (f"{value:,.3g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def read_pool(
    problem: AnyProblem | str,
    pool: str,
    directory: str | Path = "pools",
    seed: int = POOLS_SEED,
    count: int | None = None,
) -> list[ProblemInstance]:
    """Read a pool; generate the pools of the problem first if they are missing.

    Parameters
    ----------
    pool
        ``lower_train``, ``upper_train``, ``selection``, ``validation`` or ``confirmation``.
    directory
        The directory of the pools, or the folder of pools of one's own instances.
    seed
        The seed that the pools are generated with.
    count
        Number of instances, the same ones at every call; None: all instances.

    Raises
    ------
    ConfigError
        There is no such pool, or the existing pools were made with another seed.
    FileError
        A file of the pools is missing or altered.

    Examples
    --------
    >>> from specahd import api
    >>> [instance.size for instance in api.read_pool("cvrp", "validation", pools, count=2)]
    [200, 200]
    """
    resolved = make_problem(problem) if isinstance(problem, str) else problem
    own = (Path(directory) / on_disk.MANIFEST).is_file()
    wanted = Pools(files=str(directory)) if own else Pools(str(directory), seed)
    folder = pool_folder(resolved, wanted)
    found = on_disk.read_pool(resolved, folder, pool, count=count)
    return [ProblemInstance(resolved, data) for data in found]
