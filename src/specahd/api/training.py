"""Training from a script: run a plan with the defaults of the command in a directory."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specahd.api.own_pools import split_instances
from specahd.api.plans import Training, TrainingPlan, run_training
from specahd.api.problems import Source, make_problem, settings_of
from specahd.config import files
from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.events import Observer, PythonWarnings
from specahd.core.extras import require
from specahd.core.program import Level
from specahd.core.proposer import Proposer
from specahd.core.ranges import check_range
from specahd.core.settings import POOLS_SEED, SHARES, Pools, Settings
from specahd.memory.memory import Memory
from specahd.repair.execution import Execution
from specahd.routing.base import AnyProblem
from specahd.runs.files import JOURNAL


def train(
    problem: AnyProblem | str,
    proposer: Proposer | str = "offline",
    method: Callable[..., Any] | str = "specahd",
    budget: Budget | str = "pilot",
    seed: int = 0,
    out: str | Path = "run",
    *,
    settings: Settings | None = None,
    memory: Callable[[], Memory] | str | None = None,
    execution: Execution | None = None,
    pools: str | Path = "pools",
    pools_seed: int = POOLS_SEED,
    instances: Sequence[Source] | None = None,
    shares: Sequence[float] = SHARES,
    resume: bool = False,
    observer: Observer | None = None,
) -> Training:
    """Search for programs and freeze the best into a checkpoint.

    Equal arguments give equal bytes, for any number of workers.

    Parameters
    ----------
    problem, proposer, memory
        An object, or the name of a file of ``conf/problem``, ``conf/llm`` or ``conf/memory``. For
        a memory, pass a factory instead of an object, because each level has its own memory; None:
        the memory that the method's file chooses, else ``structural``.
    method
        The name of a file of ``conf/method`` (docs/reference/methods.md). The class of its search
        method means the same: ``EoH`` is ``"eoh"``, and ``partial(EoH, population=5)`` is it with
        another population. Or what makes rounds: ``partial(Coupled, policy=EoH)`` is the coupled
        search with a search method, which may be your own. What the file sets besides holds where
        nothing is given: ``search`` for ``settings``, and ``problem`` for a name.
    budget
        A :class:`~specahd.core.budget.Budget`, or the name of a file of ``conf/budget``.
    seed
        At least 0.
    out
        The directory of the run.
    settings
        Options of the search, a :class:`~specahd.core.settings.Settings`; the command has them
        under ``search``.
    execution
        Options of the execution of programs; None: two sandboxed processes on this machine.
    pools, pools_seed
        Directory of the instance pools and their seed. Missing pools are written there.
    instances, shares
        Your own instances, or their files and folders, in place of generated ones, and their
        shares for the four pools (docs/how-to/own-instances.md). A table of stops needs its
        options: pass ``api.read(path, capacity=...)``.
    resume
        Resume the interrupted run in ``out``. The other arguments must be the same, except that
        bounds on cost and tokens may be larger. Measurements after its last program are repeated.
    observer
        Receives the progress. An exception that it raises ends the run. None: warnings only, as
        Python issues them.

    Raises
    ------
    ConfigError
        An argument is out of range, ``out`` holds a run and ``resume`` is not set, or a package
        that training needs is not installed.
    RunFailed
        No reply contained a usable program, or the journal cannot be written.
    TransportError
        The model service does not answer.

    Examples
    --------
    >>> from specahd import api
    >>> budget = api.Budget(4, rounds=1, lower_train=2, upper_train=2, selection=2, validation=2)
    >>> run = api.train("cvrp", budget=budget, seed=0, out="run", pools=pools)
    >>> [summary.pool for summary in run.summaries]
    ['selection', 'validation']
    >>> run.load().problem.name
    'cvrp'
    """
    require("train", "Training")
    directory = Path(out)
    present = (directory / JOURNAL).exists()
    if present and not resume:
        raise ConfigError(f"{directory} holds a run already; name another out, or resume it.")
    if resume and not present:
        raise ConfigError(f"{directory} holds no run that could be resumed.")
    observer = observer or PythonWarnings()
    observer.on_prepare()
    check_range("seed", seed, 0)
    resolved = make_problem(problem) if isinstance(problem, str) else problem
    kind = type(resolved)
    target = {"_target_": f"{kind.__module__}.{kind.__qualname__}"}
    chosen = files.method_of(method, target | settings_of(resolved))
    if isinstance(problem, str):
        resolved = make_problem(problem, **chosen.options.get("problem", {}))
    allotted = load_budget(budget, target) if isinstance(budget, str) else budget
    memory = memory or chosen.memory or "structural"
    own = None
    if instances is not None:
        wanted = Pools(str(pools), shares=list(shares))
        own = Pools(files=str(split_instances(resolved, instances, wanted)))
    plan = TrainingPlan(
        problem=resolved,
        proposer=files.make_from("llm", proposer) if isinstance(proposer, str) else proposer,
        method=chosen.rounds,
        memories={
            level: files.make_from("memory", memory) if isinstance(memory, str) else memory()
            for level in Level
        },
        budget=allotted,
        seed=seed,
        settings=settings or Settings(**chosen.options.get("search", {})),
        execution=execution or Execution(),
        pools=own or Pools(str(pools), pools_seed),
    )
    return run_training(plan, directory, observer, repeat=resume, longer=resume)


def load_budget(name: str, problem: Mapping[str, Any]) -> Budget:
    """Return the budget in a file of ``conf/budget`` for a problem.

    Parameters
    ----------
    name
        The file, without its ending.
    problem
        The dotted name of the problem's class as ``_target_``.

    Raises
    ------
    ConfigError
        There is no such file.
    """
    return Budget(**files.suited_options("budget", name, problem))
