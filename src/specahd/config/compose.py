"""From configuration to the objects that several doors need."""

from collections.abc import Sequence

from hydra.utils import instantiate
from omegaconf import DictConfig

from specahd.repair.cases import Case, make_arena
from specahd.repair.evaluator import CallLimits, Evaluator
from specahd.routing.base import AnyProblem
from specahd.sandbox.executor import Executor


def start_executor(config: DictConfig, problem: AnyProblem, cases: Sequence[Case]) -> Executor:
    """Put the cases into one shared block and start the workers that evaluate programs on them."""
    arena = make_arena(problem, cases)
    limits = CallLimits(
        config.limits.upper_call,
        config.limits.lower_call,
        config.limits.candidate,
        int(config.limits.memory_gb * 2**30),
    )
    executor: Executor = instantiate(config.executor)(
        start=lambda: Evaluator(problem, cases, arena, limits)
    )
    return executor
