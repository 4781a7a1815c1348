"""Checkpoints that are ready to repair: loaded, verified, with a sandbox for their programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specahd.api.incumbents import Incumbent, incumbent_case
from specahd.api.problems import ProblemInstance, Source, checkpoint_problem
from specahd.api.solutions import Repaired
from specahd.checkpoint.frozen import Checkpoint, thaw
from specahd.checkpoint.manifest import digest, located
from specahd.config import find_file
from specahd.core.errors import ConfigError
from specahd.core.events import Observer, PythonWarnings
from specahd.core.folders import display_path
from specahd.core.repair_options import AS_TRAINED, RepairOptions
from specahd.core.settings import FROZEN_LIMITS
from specahd.repair.cases import Case, make_cases
from specahd.repair.execution import Execution, run_frozen
from specahd.repair.passes import single_pass
from specahd.repair.system import RepairSystem
from specahd.routing.base import AnyProblem
from specahd.runs.files import unfinished_run


@dataclass(frozen=True)
class LoadedCheckpoint:
    """A checkpoint whose programs can run on this machine; :func:`load` makes it.

    Parameters
    ----------
    frozen
        The checkpoint as training froze it.
    problem
        The problem of the checkpoint, with the options of its training.
    execution
        Options of the execution of its programs.
    sandbox
        By layer, ``enforced`` or the reason why this host lacks it.
    digest
        The hash of the checkpoint's content.
    """

    frozen: Checkpoint
    problem: AnyProblem
    execution: Execution
    sandbox: Mapping[str, str]
    digest: str

    def repair(
        self,
        instance: Source,
        incumbent: Incumbent | None = None,
        *,
        accept: str | None = None,
        passes: int | None = None,
        tries: int | None = None,
    ) -> Repaired:
        """Repair a solution of one instance.

        Parameters
        ----------
        instance
            An instance of the checkpoint's problem, or its file.
        incumbent
            The solution to repair, as in :func:`specahd.api.solve`; None: that of the baseline
            solver.
        accept
            ``improving`` or ``feasible``; None: as the checkpoint was trained.
        passes
            Largest number of passes over the solution, at least 1; None: as trained.
        tries
            Number of programs that rebuild a region, at least 1; None: as trained.

        Raises
        ------
        FileError
            A file cannot be read, or the incumbent does not solve the instance.
        ConfigError
            The instance belongs to another problem, or an option is out of range.
        NotEnoughMemory
            The instance's arrays would not fit into memory.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.load(checkpoint).repair("tests/data/tiny.vrp")
        >>> solution.cost <= solution.incumbent_cost
        True
        >>> given = api.load(checkpoint).repair("tests/data/tiny.vrp", "tests/data/tiny.sol")
        >>> given.incumbent_cost
        206.0
        """
        [case] = self.cases([instance], incumbent)
        return self.repair_cases([case], RepairOptions(accept, passes, tries))[0]

    def cases(
        self,
        instances: Sequence[Source],
        incumbent: Incumbent | None = None,
        observer: Observer | None = None,
    ) -> list[Case]:
        """Return the instances with the solutions to repair.

        Parameters
        ----------
        incumbent
            The solution of the only instance, as in :func:`specahd.api.solve`; None: run the
            baseline solver.

        Raises
        ------
        FileError, ConfigError, NotEnoughMemory
            As in :meth:`repair`.
        """
        given = [self.data(instance) for instance in instances]
        if incumbent is None:
            observer = observer or Observer()
            # Announced here, after all files were read: an unreadable file begins no phase.
            observer.on_phase(f"baseline {self.problem.baseline_name}", len(given))
            return make_cases(self.problem, given, observer.on_step)
        if len(given) != 1:
            raise ConfigError(f"Expected one instance with an incumbent, got {len(given)}.")
        return [incumbent_case(self.problem, given[0], incumbent)]

    def system(self, asked: RepairOptions = AS_TRAINED) -> RepairSystem:
        """Return the checkpoint's repair system, with the options of ``asked``."""
        where = single_pass(self.problem, portfolio=self.frozen.portfolio)
        for name, value in (("passes", asked.passes), ("tries", asked.tries)):
            if where is not None and (value or 1) > 1:
                raise ConfigError(f"Expected {name}=1 {where}, got {value}.")
        return self.frozen.system(asked)

    def repair_cases(
        self, cases: Sequence[Case], asked: RepairOptions = AS_TRAINED
    ) -> list[Repaired]:
        """Repair solutions of several instances at once, in order."""
        system = self.system(asked)
        if not cases:
            return []
        executor = self.execution.start(self.problem, cases)
        try:
            repairs = run_frozen(executor, self.frozen.uppers, system, range(len(cases)))
        finally:
            executor.close()
        return [
            Repaired.of(self.problem, case, repair)
            for case, repair in zip(cases, repairs, strict=True)
        ]

    def data(self, instance: Source) -> Any:
        """Return an instance in the problem's own type.

        Raises
        ------
        FileError
            The file cannot be read.
        ConfigError
            The instance belongs to another problem.
        """
        if not isinstance(instance, ProblemInstance):
            return self.problem.read(Path(find_file(instance)))
        if instance.problem.name != self.problem.name:
            raise ConfigError(
                f"{instance.name} is an instance of {instance.problem.name}, and the checkpoint "
                f"one of {self.problem.name}."
            )
        return instance.data


def load(
    checkpoint: str | Path,
    *,
    problem: AnyProblem | None = None,
    baseline: str | None = None,
    execution: Execution | None = None,
    observer: Observer | None = None,
) -> LoadedCheckpoint:
    """Load the checkpoint that a training run froze, and verify every byte.

    Parameters
    ----------
    checkpoint
        The directory of the checkpoint, ``RUN/checkpoint``, or that of its run.
    problem
        The problem, made as for training. A problem of your own must be given, because a checkpoint
        names no code. None: the problem of ``conf/problem`` with the checkpoint's settings.
    baseline
        The solver whose solutions are repaired; None: as in training.
    execution
        Options of the execution of programs; None: two sandboxed processes on this machine.
    observer
        Receives a warning for each sandbox layer that this host lacks, and one if the run of the
        checkpoint has not ended; None: Python warnings.

    Raises
    ------
    CheckpointError
        There is no checkpoint, it is incomplete or altered, or its programs are refused.
    ConfigError
        The problem has no such baseline, both a problem and a baseline are given, ``conf/`` has
        no such problem, or this host lacks what ``execution`` requires.

    Examples
    --------
    >>> from specahd import api
    >>> loaded = api.load(checkpoint)
    >>> loaded.problem.name, loaded.problem.baseline_name
    ('cvrp', 'nearest')
    """
    place = located(Path(checkpoint))
    frozen = thaw(place)
    if problem is None:
        problem = checkpoint_problem(frozen, baseline)
    elif baseline is not None:
        raise ConfigError("Expected a problem, whose baseline is its own, or a baseline, not both.")
    else:
        frozen.admit(problem)
    chosen = execution or Execution(limits=FROZEN_LIMITS)
    observer = observer or PythonWarnings()
    if (run := unfinished_run(place)) is not None:
        observer.on_warning(
            f"{display_path(run)} has not ended: it may still replace this checkpoint."
        )
    layers = chosen.inspect(observer)
    return LoadedCheckpoint(frozen, problem, chosen, layers, digest(place))
