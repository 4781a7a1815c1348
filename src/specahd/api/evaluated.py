"""Input and output of an evaluation for one instance: its file, its row, its solution."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from specahd import __version__
from specahd.api.checkpoints import LoadedCheckpoint
from specahd.api.instance_files import with_distinct_names
from specahd.api.problems import ProblemInstance, Source, settings_of
from specahd.api.solutions import Repaired
from specahd.core.errors import ConfigError
from specahd.core.folders import safe_file_name
from specahd.repair.cases import Case
from specahd.repair.rows import evaluation_row, region_share
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.best_known import BestKnown, best_known, published_fields
from specahd.routing.pools import definition_hash


@dataclass(frozen=True)
class Given:
    """An instance to evaluate.

    Parameters
    ----------
    data
        The instance in its problem's own type.
    hash
        The hash of its content, independent of its NAME and its file format.
    published
        Its best-known value; None if it is not a file of a public set.
    """

    data: Any
    hash: str
    published: BestKnown | None


def read_given(loaded: LoadedCheckpoint, instances: Sequence[Source]) -> list[Given]:
    """Read the instances of an evaluation.

    Raises
    ------
    FileError
        A file cannot be read, or two instances have the same NAME.
    ConfigError
        There is no instance, or one belongs to another problem.
    """
    if not instances:
        raise ConfigError("Expected at least one instance, got none.")
    problem = loaded.problem
    places = [None if isinstance(one, ProblemInstance) else Path(one) for one in instances]
    read = with_distinct_names([loaded.data(one) for one in instances], places)
    return [
        Given(
            data,
            definition_hash(problem.dumps(data)),
            None if place is None else best_known(problem, data, place),
        )
        for data, place in zip(read, places, strict=True)
    ]


def evaluation_identity(
    loaded: LoadedCheckpoint, system: RepairSystem, start: Case | None, study: str | None
) -> dict[str, Any]:
    """Return all settings that determine the rows of an evaluation, besides the instances.

    Parameters
    ----------
    start
        The only instance with a given solution; None: solutions of the baseline solver.
    """
    given = None
    if start is not None:
        texts = loaded.problem.solution_files(start.source, start.baseline, start.cost)
        given = sha256(f"{start.source}\n{texts['.sol']}".encode()).hexdigest()
    return {
        "checkpoint": loaded.digest,
        "problem": loaded.problem.name,
        "settings": settings_of(loaded.problem),
        "accept": str(system.accept),
        "passes": system.passes,
        "tries": system.tries,
        "incumbent": given,
        "limits": asdict(loaded.execution.limits),
        "study": study,
        "version": __version__,
    }


def frozen_row(loaded: LoadedCheckpoint, one: Given, case: Case, repair: Repair) -> dict[str, Any]:
    """Return an instance's row of an evaluation; equal evaluations give equal rows."""
    row = evaluation_row(loaded.problem, case, repair)
    return {
        **row,
        "checkpoint": loaded.digest,
        "instance_hash": one.hash,
        "region_share": region_share(case, repair),
        **published_fields(one.published, row["cost"], row["baseline_cost"]),
    }


def solution_texts(solution: Repaired) -> dict[str, str]:
    """Return the texts of a solution's files by their names."""
    name = safe_file_name(solution.name, "solution")
    texts = solution.problem.solution_files(name, solution.data, solution.cost)
    return {f"{name}{suffix}": text for suffix, text in texts.items()}
