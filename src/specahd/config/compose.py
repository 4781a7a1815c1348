"""From configuration to the objects that several doors need."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from hydra.utils import instantiate
from omegaconf import DictConfig

from specahd.core.errors import ConfigError
from specahd.repair.cases import Case, make_arena
from specahd.repair.evaluator import CallLimits, Evaluator, TierRule
from specahd.routing.base import AnyProblem
from specahd.runs.files import SANDBOX, write_json
from specahd.sandbox.confinement import ENFORCED
from specahd.sandbox.executor import Executor
from specahd.sandbox.keeper import inspect_host


def require_executor(config: DictConfig) -> None:
    """Refuse an executor for which this machine lacks a library, before any work is done.

    Raises
    ------
    ConfigError
        With the command that installs it.
    """
    instantiate(config.executor).func.require()


def start_executor(
    config: DictConfig, problem: AnyProblem, cases: Sequence[Case], tiers: TierRule | None = None
) -> Executor:
    """Put the cases into one shared block and start the workers that evaluate programs on them.

    Parameters
    ----------
    tiers
        Which programs without a tier are compiled; frozen ones have theirs.
    """
    arena = make_arena(problem, cases)
    limits = CallLimits(
        config.limits.upper_call,
        config.limits.lower_call,
        config.limits.candidate,
        int(config.limits.memory_gb * 2**30),
    )
    # Not a closure: what an executor sends to other machines must be picklable.
    start = partial(Evaluator, problem, cases, limits=limits, tiers=tiers)
    executor: Executor = instantiate(config.executor)(start=start, arena=arena)
    return executor


def inspect_sandbox(config: DictConfig) -> Mapping[str, str]:
    """Find out what confines programs on this host, and say on standard error what does not.

    Returns
    -------
    Mapping
        By layer, ``enforced`` or why the host lacks it.

    Raises
    ------
    ConfigError
        A layer lacks and ``sandbox.require`` is strict.
    """
    status = inspect_host()
    lacking = [f"{layer} ({why})" for layer, why in sorted(status.items()) if why != ENFORCED]
    if lacking and config.sandbox.require == "strict":
        raise ConfigError(f"sandbox.require=strict, and this host lacks {', '.join(lacking)}.")
    if lacking:
        sys.stderr.write(
            f"Programs run without {', '.join(lacking)}; the guard, a process of their own and "
            "time limits remain (sandbox.require=strict refuses to run so).\n"
        )
    return status


def save_sandbox(status: Mapping[str, str], directory: Path) -> None:
    """Write what :func:`inspect_sandbox` found to ``sandbox.json`` in the directory."""
    write_json(directory / SANDBOX, status)
