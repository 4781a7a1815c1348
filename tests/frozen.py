"""A checkpoint to be had at once: the seed programs of a problem, frozen as they are."""

from pathlib import Path

from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.checkpoint.frozen import Checkpoint, freeze
from specahd.config import CONF_DIR
from specahd.core.program import Level, Outcome
from specahd.core.settings import Accept
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.router import ResponseArchive
from specahd.routing.base import AnyProblem, Region, contracts


def problem_of(name: str) -> AnyProblem:
    problem: AnyProblem = instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))
    return problem


def seed_checkpoint(name: str) -> Checkpoint:
    problem = problem_of(name)
    lower = contracts(problem.operator)[Level.LOWER].seed
    descriptor = (0.5,) * len(problem.descriptor_names)
    table = ResponseTable([RepairTask("x#0", 0, Region((1, 2, 3)), descriptor)])
    table.add(lower.id, [Response(Outcome.OK, 10.0, 9.0)])
    archive = ResponseArchive(problem.descriptor_names)
    archive.extend(table)
    return Checkpoint(
        problem=name,
        settings={"baseline": problem.baseline_name},
        uppers=(contracts(problem.operator)[Level.UPPER].seed,),
        repertoire=(lower,),
        archive=archive,
        statistics=archive.statistics(),
        accept=Accept.FEASIBLE,
        neighbours=5,
    )


def freeze_seeds(name: str, directory: Path) -> Path:
    freeze(seed_checkpoint(name), directory)
    return directory
