"""Tuning: the constants of one program of a checkpoint, by racing on the pools of training.

Models choose structures well and constants badly. Optuna proposes constants, each proposal runs in
the frozen system of the checkpoint as it is deployed, and ends early if it would not be the best.
Every proposal meets the same instances and the same draws as the program itself. The best ones are
measured again on the selection pool, which chooses, and the choice on the validation pool.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import inf
from pathlib import Path
from shutil import rmtree
from statistics import fmean
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from msgspec.structs import replace as altered

from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.own_pools import pool_folder, read_pool
from specahd.checkpoint.frozen import Checkpoint, freeze
from specahd.core.compilation import listening
from specahd.core.errors import ConfigError
from specahd.core.events import Observer, PythonWarnings
from specahd.core.extras import require
from specahd.core.journal import JournalFile, read_records, write_json
from specahd.core.program import Program
from specahd.core.seeding import generator
from specahd.core.settings import Pools, TuneOptions
from specahd.programs.constants import Constant, constants, rounded, with_constants
from specahd.programs.guard import guard
from specahd.repair.execution import Execution, run_frozen
from specahd.repair.racing import Race
from specahd.repair.system import RepairSystem
from specahd.reporting.ranking import mean_interval
from specahd.routing.base import contracts
from specahd.routing.pools import definition_hash
from specahd.runs.files import CHECKPOINT, POOLS
from specahd.sandbox.executor import Executor

TRIALS, RESULT = "trials.jsonl", "tuning.json"
FINALISTS = 4
"""Number of proposals that are measured again on the selection pool."""


@dataclass(frozen=True)
class Tuning:
    """The result of a tuning.

    Parameters
    ----------
    program
        The program whose constants were tuned.
    before, after
        Its constants, and those of the tuned program; equal if none was better.
    evaluations, stopped, failed
        Number of proposals, of those that ended early, and of those whose program failed.
    untuned, tuned
        Improvement over the baseline by instance, of the pools ``selection`` and ``validation``.
    checkpoint
        The directory of the checkpoint with the tuned program; None if none was better.
    """

    program: str
    before: Sequence[float]
    after: Sequence[float]
    evaluations: int
    stopped: int
    failed: int
    untuned: Mapping[str, Sequence[float]]
    tuned: Mapping[str, Sequence[float]]
    checkpoint: Path | None

    def gain(self, pool: str) -> tuple[float, float]:
        """Return the mean difference of the improvements, and half of its 95% interval."""
        return mean_interval(np.subtract(self.tuned[pool], self.untuned[pool]).tolist())


class _Trial(Struct, frozen=True):
    """A line of ``trials.jsonl``: constants, and improvements in the order of the race.

    Fewer improvements than instances: the proposal was stopped; none: its program failed.
    """

    trial: int
    constants: list[float]
    scores: list[float]
    detail: str = ""


def tune(
    checkpoint: str | Path,
    program: str | None = None,
    evaluations: int = 60,
    instances: int = 32,
    seed: int = 0,
    out: str | Path = "tuned",
    pools: str | Path | Pools = "pools",
    *,
    execution: Execution | None = None,
    observer: Observer | None = None,
) -> Tuning:
    """Tune the constants of a program of a checkpoint; no language model is asked.

    The same arguments with the same ``out`` go on where a tuning broke off. ``evaluations`` may
    then be larger.

    Parameters
    ----------
    checkpoint
        The directory of a checkpoint, or of its run.
    program
        The ``id`` of the program; None: the first upper program.
    evaluations
        Number of proposals, the program itself among them, at least 2.
    instances
        Largest number of instances of each pool, at least 2.
    seed
        Seed of the proposals, at least 0.
    out
        A directory that receives the proposals, the result, and the tuned ``checkpoint``.
    pools
        Directory of the instance pools, which are written there if they are missing; or the options
        of the command, with a seed or with files of your own.
    execution
        As for :func:`specahd.api.load`.
    observer
        Receives the progress.

    Raises
    ------
    ConfigError
        An argument is out of range, the checkpoint has no such program, the program has no constant
        to tune, ``out`` holds another tuning, or Optuna is not installed.
    FileError
        The checkpoint or the pools cannot be read, or ``out`` cannot be written.

    Examples
    --------
    >>> from specahd import api
    >>> found = api.tune(checkpoint, evaluations=3, instances=2)  # doctest: +SKIP
    """
    require("optuna", "Tuning")
    options = TuneOptions(evaluations, instances, seed)
    observer = observer or PythonWarnings()
    loaded = load(checkpoint, execution=execution, observer=observer)
    work = _Work(loaded, program, options, Path(out), observer)
    with listening(observer.on_compile):
        given = pools if isinstance(pools, Pools) else Pools(str(pools))
        return work.run(pool_folder(loaded.problem, given))


class _Work:
    """A tuning in progress."""

    def __init__(
        self,
        loaded: LoadedCheckpoint,
        program: str | None,
        options: TuneOptions,
        out: Path,
        observer: Observer,
    ) -> None:
        self._loaded, self._options, self._out, self._observer = loaded, options, out, observer
        programs = {each.id: each for each in loaded.frozen.programs}
        name = loaded.frozen.upper.id if program is None else program
        if name not in programs:
            raise ConfigError(f"Expected program to be one of {', '.join(programs)}, got {name}.")
        self._parent = programs[name]
        self._constants = constants(self._parent.source)
        if not self._constants:
            raise ConfigError(f"{name} has no constant that can be tuned; name another program.")
        self._system = loaded.system()
        self._failures = 0

    def run(self, folder: Path) -> Tuning:
        """Propose, choose, and measure the choice."""
        loaded, parent, options = self._loaded, self._parent, self._options
        names = (f"{parent.level}_train", *POOLS)
        read = [read_pool(loaded.problem, pool, folder, count=options.instances) for pool in names]
        cases = loaded.cases([one for part in read for one in part], observer=self._observer)
        ends = np.cumsum([0, *map(len, read)]).tolist()
        places = {name: range(*bounds) for name, bounds in zip(names, pairwise(ends), strict=True)}
        order = generator(options.seed, "race").permutation(len(read[0])).tolist()
        identity = {
            "record": "tuning",
            "checkpoint": loaded.digest,
            "program": parent.id,
            "instances": options.instances,
            "pools": [definition_hash(loaded.problem.dumps(one.data)) for one in read[0]],
            "seed": options.seed,
        }
        with closing(loaded.execution.start(loaded.problem, cases)) as executor:
            trials = list(self._trials(executor, order, identity))
            full = [each for each in trials if len(each.scores) == len(order)]
            ranked = sorted(full[1:], key=lambda each: -fmean(each.scores))[:FINALISTS]
            self._observer.on_phase("selection pool", (1 + len(ranked)) * len(places["selection"]))
            scores = [
                self._scores(executor, each, places["selection"]) for each in (full[0], *ranked)
            ]
            best = max(range(len(scores)), key=lambda one: fmean(scores[one]))
            chosen = [full[0], *ranked][best]
            self._observer.on_phase("validation pool", 2 * len(places["validation"]))
            unseen = [
                self._scores(executor, each, places["validation"]) for each in (full[0], chosen)
            ]
        found = Tuning(
            parent.id,
            full[0].constants,
            chosen.constants,
            len(trials),
            sum(0 < len(each.scores) < len(order) for each in trials),
            sum(not each.scores for each in trials),
            dict(zip(POOLS, (scores[0], unseen[0]), strict=True)),
            dict(zip(POOLS, (scores[best], unseen[1]), strict=True)),
            self._out / CHECKPOINT if best else None,
        )
        # One that fewer proposals chose would be stale.
        rmtree(self._out / CHECKPOINT, ignore_errors=True)
        if found.checkpoint is not None:
            freeze(self._tuned(chosen.constants), found.checkpoint)
        record = {name: getattr(found, name) for name in Tuning.__dataclass_fields__}
        write_json(self._out / RESULT, record | {"checkpoint": best > 0})
        return found

    def _trials(
        self, executor: Executor, order: Sequence[int], identity: Mapping[str, Any]
    ) -> Iterator[_Trial]:
        """Yield the proposals, the first of which is the program itself."""
        self._out.mkdir(parents=True, exist_ok=True)
        path = self._out / TRIALS
        known = list(read_records(path)) if path.exists() else []
        if known and known[0] != identity:
            raise ConfigError(f"{self._out} holds another tuning; name another out.")
        measured = [_Trial(**{"detail": "", **each}) for each in known[1:]]
        self._observer.on_phase(f"constants of {self._parent.id}", self._options.evaluations)
        best: list[float] = []
        with closing(JournalFile(path, sync=True, repeat=bool(known))) as journal:
            journal.claim()
            journal.append(identity)
            first: list[float] = []
            for number, (values, tell) in enumerate(self._proposals()):
                if number < len(measured):
                    trial = altered(measured[number], constants=values)
                else:
                    trial = self._race(executor, number, values, order, best)
                journal.append(asdict(trial))
                scores = trial.scores
                first = first or scores
                if not first:
                    raise ConfigError(f"{self._parent.id} fails on the pool: {trial.detail}")
                # To the program itself, on the same instances.
                tell(fmean(np.subtract(scores, first[: len(scores)])) if scores else None)
                if len(scores) == len(order) and fmean(scores) > fmean(best or [-inf]):
                    best = scores
                self._observer.on_step()
                yield trial

    def _proposals(self) -> Iterator[tuple[list[float], Any]]:
        """Yield constants by Optuna, and what tells it their value; None: the program failed."""
        import optuna

        logging.getLogger("optuna").setLevel(logging.WARNING)
        with _without_warnings():
            sampler = optuna.samplers.TPESampler(seed=self._options.seed, multivariate=True)
            study = optuna.create_study(sampler=sampler, direction="maximize")
            study.enqueue_trial({str(n): one.value for n, one in enumerate(self._constants)})
        for _ in range(self._options.evaluations):
            with _without_warnings():
                trial = study.ask()
                values = [_suggest(trial, str(n), one) for n, one in enumerate(self._constants)]
            yield values, partial(_tell, study, trial)

    def _race(
        self,
        executor: Executor,
        number: int,
        values: Sequence[float],
        order: Sequence[int],
        best: Sequence[float],
    ) -> _Trial:
        """Measure a proposal in the order of the race, until it would not be the best."""
        trial = _Trial(number, list(values), [])
        program = self._program(values)
        contract = contracts(self._loaded.problem.operator)[program.level]
        objection = guard(program.source, contract.name, contract.arguments)
        if objection is not None:
            return altered(trial, detail=objection)
        # The race numbers tasks as `best` is ordered.
        race = Race.to_beat(best, range(len(order))) if best else None
        scores: list[float] = []
        for begin, end in pairwise([0, *(race.checks if race else ()), len(order)]):
            repairs = run_frozen(executor, *self._pipeline(values), order[begin:end])
            failed = [each.detail or str(each.outcome) for each in repairs if each.failed]
            if failed:
                return altered(trial, detail=failed[0])
            scores += [each.improvement for each in repairs]
            if race and race.ends(np.array(scores)):
                break
        return altered(trial, scores=scores)

    def _scores(self, executor: Executor, trial: _Trial, cases: Sequence[int]) -> list[float]:
        """Return the improvement of a proposal on each case, 0 where its program fails."""
        step = self._observer.on_step
        repairs = run_frozen(executor, *self._pipeline(trial.constants), cases, step)
        return [each.improvement for each in repairs]

    def _pipeline(self, values: Sequence[float]) -> tuple[tuple[Program, ...], RepairSystem]:
        """Return the upper programs and the repair system with the constants."""
        frozen, program = self._loaded.frozen, self._program(values)
        repertoire = self._with(program, frozen.repertoire)
        # Workers keep programs by this key.
        key = f"tuned {program.source}" if repertoire != frozen.repertoire else self._system.key
        return self._with(program, frozen.uppers), replace(
            self._system, key=key, repertoire=repertoire
        )

    def _program(self, values: Sequence[float]) -> Program:
        parent = self._parent
        if list(values) == [each.value for each in self._constants]:
            return parent
        source = with_constants(parent.source, values)
        name = f"{parent.id}-tuned"
        return replace(parent, id=name, source=source, operator="tuned", parents=(parent.id,))

    def _with(self, program: Program, programs: Sequence[Program]) -> tuple[Program, ...]:
        return tuple(program if each.id == self._parent.id else each for each in programs)

    def _tuned(self, values: Sequence[float]) -> Checkpoint:
        """Return the checkpoint with the constants; the archive has its parent's responses."""
        frozen, program = self._loaded.frozen, self._program(values)
        archive = frozen.archive.copy()
        archive.responses = {
            (task, program.id if name == self._parent.id else name): response
            for (task, name), response in archive.responses.items()
        }
        return replace(
            frozen,
            uppers=self._with(program, frozen.uppers),
            repertoire=self._with(program, frozen.repertoire),
            archive=archive,
        )


def _suggest(trial: Any, name: str, constant: Constant) -> float:
    suggest = trial.suggest_int if constant.whole else trial.suggest_float
    value: float = suggest(name, constant.low, constant.high, log=True)
    return value if constant.whole or value == constant.value else rounded(value)


def _tell(study: Any, trial: Any, value: float | None) -> None:
    import optuna

    with _without_warnings():
        if value is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, value)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Pass over Optuna's warnings that its sampler or its queue are new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
