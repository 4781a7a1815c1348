"""Execution of programs: the executor and the sandbox, shared by training and repair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from specahd.core.errors import ConfigError
from specahd.core.events import Observer
from specahd.core.settings import CallLimits, Confinement
from specahd.repair.cases import Case, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.routing.base import AnyProblem
from specahd.runs.files import SANDBOX, write_json
from specahd.sandbox.client import inspect_host
from specahd.sandbox.confinement import ENFORCED
from specahd.sandbox.executor import Executor, LocalExecutor


@dataclass(frozen=True)
class Execution(Confinement):
    """Options of the execution of programs.

    Parameters
    ----------
    executor
        An executor class with its own options; ``start`` and ``shared`` are given to it later.
    limits
        Limits of one call of a program.
    require
        ``available``: run also where the host lacks a layer of the sandbox; ``strict``: do not.

    Raises
    ------
    ConfigError
        ``require`` is neither.
    """

    executor: "partial[Any]" = field(default_factory=lambda: partial(LocalExecutor, workers=2))
    limits: CallLimits = field(default_factory=CallLimits)

    def inspect(self, observer: Observer) -> Mapping[str, str]:
        """Check the executor's needs and the sandbox's layers on this host.

        Parameters
        ----------
        observer
            Receives a warning for each layer that the host lacks.

        Returns
        -------
        Mapping
            By layer, ``enforced`` or why the host lacks it.

        Raises
        ------
        ConfigError
            This machine lacks a library of the executor, or a layer that is required.
        """
        kind: Any = self.executor.func
        kind.require()
        status = inspect_host()
        self.admit(status, observer)
        return status

    def admit(self, status: Mapping[str, str], observer: Observer) -> None:
        """Warn of missing layers of the sandbox, or refuse to run without them.

        Parameters
        ----------
        status
            As :meth:`inspect` returns it.

        Raises
        ------
        ConfigError
            A required layer is missing.
        """
        lacking = [f"{layer} ({why})" for layer, why in sorted(status.items()) if why != ENFORCED]
        if lacking and self.require == "strict":
            raise ConfigError(f"sandbox.require=strict, and this host lacks {', '.join(lacking)}.")
        if lacking:
            observer.on_warning(
                f"Programs run without {', '.join(lacking)}; the guard, a process of their own "
                "and time limits remain (sandbox.require=strict refuses to run so)."
            )

    def start(self, problem: AnyProblem, cases: Sequence[Case]) -> Executor:
        """Put the cases into one shared block and start the workers that run programs on them."""
        shared = share_arrays(problem, cases)
        # Not a closure: an executor may send it to other machines, so it must be picklable.
        start = partial(Evaluator, problem, cases, limits=self.limits)
        executor: Executor = self.executor(start=start, shared=shared)
        return executor


def save_sandbox(status: Mapping[str, str], directory: Path) -> None:
    """Write the result of :meth:`Execution.inspect` to ``sandbox.json`` in the directory."""
    write_json(directory / SANDBOX, status)
