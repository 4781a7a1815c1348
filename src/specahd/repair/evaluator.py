"""A trusted worker process: runs programs in its sandbox, then merges, checks and scores."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

import numpy as np

from specahd.core.program import Outcome, Program, Tier
from specahd.core.seeding import generator
from specahd.core.settings import Accept, CallLimits, Penalty
from specahd.core.sums import sequential_sum
from specahd.engine.improver import STEP_REPAIRS, SandboxedEngine
from specahd.engine.insertion import seed_of
from specahd.engine.orders import Work
from specahd.repair.cases import Case, Incumbent, Incumbents
from specahd.repair.episodes import Annealing, Episode, run_episode
from specahd.repair.merge import checked_merge
from specahd.repair.passes import Propose, Rebuild, repair_case
from specahd.repair.racing import Race, stopped
from specahd.repair.responses import RepairTask, Response, task_key
from specahd.repair.searching import search_case
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.base import AnyProblem, IntArray, Region
from specahd.sandbox.calls import Call, Launch, Result, SessionLimits
from specahd.sandbox.session import Sandbox, Session
from specahd.sandbox.shared_arrays import SharedArrays

TIMEOUTS = 3
"""Timeouts of a lower candidate without an answer between them, after which it ends."""
REBUILT_BYTES = 64 << 20
"""Bytes of the results of rebuilds that a worker keeps."""


@dataclass(frozen=True, slots=True)
class LowerResult:
    """The result of a lower candidate on every task of a round, and the tier in which it ran.

    After :data:`TIMEOUTS` in a row its remaining tasks count as timeouts. Where a search
    calls it, its first failure ends it and counts as a failed launch. If it was stopped after
    ``tried`` tasks, there are no responses.
    """

    launched: bool
    tier: Tier
    outcome: Outcome
    detail: str
    responses: tuple[Response, ...]
    tried: int | None = None


@dataclass(frozen=True, slots=True)
class UpperResult:
    """The result of an upper candidate in the frozen pipeline on the training instances.

    ``utilities`` and ``penalties`` (U and λΩ by instance) and ``regions`` (the mean
    descriptor of the regions that were repaired, to 6 digits; None if there was
    none) end at the first instance on which the candidate failed. If it was stopped after
    ``tried`` instances, they are empty. ``work`` is what its searches did together, None if there
    was none.
    """

    outcome: Outcome
    detail: str
    utilities: tuple[float, ...]
    penalties: tuple[float, ...]
    regions: tuple[tuple[float, ...] | None, ...]
    tried: int | None = None
    work: Work | None = None

    @property
    def scores(self) -> tuple[float, ...]:
        """U - λΩ by instance."""
        pairs = zip(self.utilities, self.penalties, strict=True)
        return tuple(utility - penalty for utility, penalty in pairs)

    @property
    def score(self) -> float:
        """Mean U - λΩ."""
        total = sequential_sum(self.utilities) - sequential_sum(self.penalties)
        return total / max(1, len(self.utilities))


class Evaluator:
    """Evaluates programs on the run's cases.

    Parameters
    ----------
    cases, shared
        The run's cases and their shared block, index by index.
    """

    def __init__(
        self,
        problem: AnyProblem,
        cases: Sequence[Case],
        shared: SharedArrays,
        limits: CallLimits,
    ) -> None:
        self._problem = problem
        self._cases = cases
        self._shared = shared
        self._limits = limits
        self._operator = problem.operator
        contracts = (self._operator.selector.contract, self._operator.contract)
        self._contracts = {contract.id: contract for contract in contracts}
        runners: dict[Tier, list[str]] = {tier: [] for tier in Tier}
        for contract in contracts:
            runners[contract.tier].append(contract.runner)
        self._sandbox = Sandbox(shared, runners[Tier.INTERPRETED], compiled=runners[Tier.COMPILED])
        self._repertoire: tuple[str, Session] | None = None
        self._rebuilt = _Rebuilt(REBUILT_BYTES)
        # Of compiled upper programs, which take longer than a call, and of whom else is with them.
        self._proposer: tuple[tuple[Program, ...], str, Session] | None = None

    def close(self) -> None:
        """End every child and the zygote."""
        for kept in (self._repertoire, self._proposer):
            if kept is not None:
                kept[-1].close()
        self._sandbox.close()

    def respond(
        self, program: Program, tasks: Sequence[RepairTask], race: Race | None = None
    ) -> LowerResult:
        """Measure a lower program on every task (one row of the dense table).

        Parameters
        ----------
        race
            The race that may stop it before its last task.
        """
        tier = self._contracts[program.contract].tier
        limits = SessionLimits(
            self._limits.lower_call, self._limits.candidate, self._limits.memory_bytes, TIMEOUTS
        )
        with self._session([program], limits) as session:
            if session.launched is not Outcome.OK:
                return LowerResult(False, tier, session.launched, session.detail, ())
            pairs: list[tuple[Response, str]] = []
            order = range(len(tasks)) if race is None else race.order
            for begin, end in pairwise([0, *(race.checks if race else ()), len(tasks)]):
                if race and race.ends(np.array([one.score for one, _ in pairs])):
                    break
                for response, detail in self._answers(
                    program, session, [tasks[place] for place in order[begin:end]]
                ):
                    if response.outcome is not Outcome.OK and self._operator.repairs_per_customer:
                        # Its failure would end a search, and the results of other programs in it.
                        return LowerResult(False, tier, response.outcome, detail, ())
                    pairs.append((response, detail))
            given_up = session.given_up(0)
        outcome, detail = _summary(pairs)
        if (tried := len(pairs)) < len(tasks):
            if outcome is not Outcome.OK:
                return LowerResult(False, tier, outcome, given_up or detail, ())
            words = stopped(tried, len(tasks), "tasks")
            return LowerResult(True, tier, Outcome.STOPPED, words, (), tried)
        responses = [pairs[place][0] for place in np.argsort(order)]
        return LowerResult(True, tier, outcome, given_up or detail, tuple(responses))

    def _answers(
        self, program: Program, session: Session, tasks: Sequence[RepairTask]
    ) -> Iterator[tuple[Response, str]]:
        """Yield the response to each task, and a sentence about its failure."""
        cases = [task.incumbent.as_case(self._problem, self._cases) for task in tasks]
        calls = []
        for task, case in zip(tasks, cases, strict=True):
            operator = self._operator.at(case.progress).of(program)
            inputs = operator.inputs(case.instance, case.baseline, task.region)
            seconds = self._limits.for_region(len(task.region.nodes))
            calls.append(Call(0, task.case, inputs, seconds=seconds))
        for case, task, result in zip(cases, tasks, session.call_many(calls), strict=True):
            yield self._response(case, task.region, result), result.detail

    def _response(self, case: Case, region: Region, result: Result) -> Response:
        if result.outcome is not Outcome.OK:
            return Response(result.outcome, case.cost, None)
        merge = checked_merge(
            self._problem,
            case.instance,
            case.baseline,
            case.cost,
            region,
            result.output,
            Accept.FEASIBLE,
        )
        return Response(merge.outcome, case.cost, merge.merged_cost, result.fallbacks)

    def expose(self, uppers: Sequence[Program], incumbents: Incumbents) -> list[RepairTask]:
        """Return the tasks that upper programs expose on some solutions.

        A solution on which a program fails exposes no tasks. Only the first of equal tasks counts.
        """
        tasks: dict[str, RepairTask] = {}
        with self._upper(uppers) as session:
            for incumbent in incumbents:
                case = incumbent.as_case(self._problem, self._cases)
                selector = self._operator.at(case.progress).selector
                inputs = selector.inputs(case.instance, case.baseline)
                for number in range(len(uppers)):
                    result = self._propose(session, number, incumbent.case)(inputs)
                    if result.outcome is not Outcome.OK:
                        continue
                    validation = selector.validate(case.instance, case.baseline, result.output)
                    for region in validation.regions:
                        task = self._task(incumbent, case, region)
                        tasks.setdefault(task.key, task)
        return list(tasks.values())

    def _task(self, incumbent: Incumbent, case: Case, region: Region) -> RepairTask:
        descriptor = self._problem.describe(case.instance, case.baseline, region)
        solution = incumbent.solution
        key = task_key(case.instance.name, self._operator.identity(region), solution)
        return RepairTask(key, incumbent.case, region, tuple(descriptor.tolist()), solution)

    def utility(
        self,
        program: Program,
        system: RepairSystem,
        incumbents: Incumbents,
        penalty: Penalty,
        race: Race | None = None,
    ) -> UpperResult:
        """Score an upper program by the complete frozen pipeline; stop where it fails.

        Parameters
        ----------
        race
            The race that may stop it before its last incumbent.
        """
        utilities: list[float] = []
        penalties: list[float] = []
        regions: list[tuple[float, ...] | None] = []
        works: list[Work] = []
        ended, detail = Outcome.OK, ""
        order = range(len(incumbents)) if race is None else race.order
        system = replace(system, repairs=self._operator.repairs_per_customer)
        with self._upper([program], system) as session:
            for incumbent in (incumbents[place] for place in order):
                tried = len(utilities)
                if race and race.ends(np.array(utilities), np.array(penalties)):
                    words = stopped(tried, len(incumbents), "instances")
                    return UpperResult(Outcome.STOPPED, words, (), (), (), tried)
                repair = self._repair([program], session, system, incumbent)
                if repair.outcome not in (Outcome.OK, Outcome.EMPTY_REGIONS):
                    where = self._cases[incumbent.case].instance.name
                    detail = f"{where}: {repair.detail}"
                    ended = repair.outcome
                    break
                utilities.append(repair.improvement)
                penalties.append(repair.penalty(penalty))
                regions.append(_mean_descriptor(repair))
                works += [repair.work] if repair.work else []
        if ended is Outcome.OK:
            places = np.argsort(order).tolist()
            utilities = [utilities[place] for place in places]
            penalties = [penalties[place] for place in places]
            regions = [regions[place] for place in places]
        work = Work(*map(sum, zip(*works, strict=True))) if works else None
        scores = tuple(utilities), tuple(penalties), tuple(regions)
        return UpperResult(ended, detail, *scores, work=work)

    def repair(self, uppers: Sequence[Program], system: RepairSystem, case: int) -> Repair:
        """Run the frozen pipeline on one case."""
        with self._upper(uppers, system) as session:
            return self._repair(uppers, session, system, Incumbent(case))

    def episode(
        self,
        uppers: Sequence[Program],
        system: RepairSystem,
        case: int,
        annealing: Annealing,
        path: Sequence[int | str],
    ) -> Episode:
        """Reward pairs of upper programs and members of the repertoire in a search on one case.

        Parameters
        ----------
        path
            Seed and names of the generator that draws (:func:`specahd.core.seeding.generator`).
        """
        seed, *names = path
        with self._upper(uppers, system) as session:
            proposers = [self._propose(session, number, case) for number in range(len(uppers))]
            return run_episode(
                self._problem,
                self._cases[case],
                proposers,
                self._rebuild(system, case),
                len(system.repertoire),
                annealing,
                generator(int(seed), *names),
            )

    def _repair(
        self,
        uppers: Sequence[Program],
        session: Session,
        system: RepairSystem,
        incumbent: Incumbent,
    ) -> Repair:
        problem, operator, index = self._problem, self._operator, incumbent.case
        case = incumbent.as_case(problem, self._cases)
        upper = 0 if system.choice is None else system.choice.choose(case.describe(problem))

        def passes() -> Repair:
            proposers = {
                program.id: self._propose(session, number, index)
                for number, program in enumerate(uppers)
            }
            seconds = self._limits.instance or inf
            rebuild = self._rebuild(system, index)
            return repair_case(problem, case, system, proposers, rebuild, seconds)

        def start() -> SandboxedEngine:
            varied = np.array(system.seed, np.int64)
            seed = seed_of(*problem.flat(case.instance, case.baseline), varied)
            near = self._shared.arrays(index)["neighbour_distances"]
            lowers = len(system.repertoire)
            engine = SandboxedEngine(session, problem, case.instance, near, lowers, seed, index)
            engine.start(case.baseline, given=case.given)
            engine.upper, engine.step_repairs = upper, STEP_REPAIRS
            return engine

        def search() -> Repair:
            repair = search_case(problem, operator, case, system, start)
            if system.choice is None:
                return repair
            named = tuple(replace(step, upper=uppers[upper].id) for step in repair.steps)
            return replace(repair, steps=named)

        return operator.repair(passes, search)

    def _propose(self, session: Session, upper: int, case: int) -> Propose:
        def propose(inputs: tuple[IntArray, ...]) -> Result:
            if session.launched is not Outcome.OK:
                return Result(session.launched, (), session.detail, 0.0)
            return session.call(Call(upper, case, inputs))

        return propose

    def _rebuild(self, system: RepairSystem, case: int) -> Rebuild:
        # A frozen repertoire is launched once and serves every candidate it scores.
        if self._repertoire is None or self._repertoire[0] != system.key:
            if self._repertoire is not None:
                self._repertoire[1].close()
            limits = SessionLimits(self._limits.lower_call, None, self._limits.memory_bytes)
            self._repertoire = system.key, self._session(system.repertoire, limits)
        repertoire = self._repertoire[1]

        def rebuild(
            members: Sequence[int], inputs: tuple[IntArray, ...], nodes: int
        ) -> Sequence[Result]:
            seconds = self._limits.for_region(nodes)
            calls = {
                _Rebuilt.key(system.repertoire[member], case, inputs): Call(
                    member, case, inputs, seconds=seconds
                )
                for member in members
            }
            return self._rebuilt.get(calls, repertoire.call_many)

        return rebuild

    def _upper(
        self, uppers: Sequence[Program], system: RepairSystem | None = None
    ) -> AbstractContextManager[Session]:
        """Return a session of upper programs; one of compiled programs stays open for reuse.

        Parameters
        ----------
        system
            The system whose repertoire a search needs in the same process.
        """
        limits = SessionLimits(self._limits.upper_call, None, self._limits.memory_bytes)
        if self._operator.selector.contract.tier is Tier.INTERPRETED:
            return self._session(uppers, limits)
        programs, key = tuple(uppers), "" if system is None else system.key
        if self._proposer is None or self._proposer[:2] != (programs, key):
            if self._proposer is not None:
                self._proposer[-1].close()
            lowers = () if system is None else system.repertoire
            self._proposer = programs, key, self._session([*programs, *lowers], limits)
        return nullcontext(self._proposer[-1])

    def _session(self, programs: Sequence[Program], limits: SessionLimits) -> Session:
        return self._sandbox.session([self._launch(program) for program in programs], limits)

    def _launch(self, program: Program) -> Launch:
        contract = self._contracts[program.contract]
        return Launch(program.source, contract.name, contract.runner)


class _Rebuilt:
    """The results of rebuilds, by program, instance and inputs, on which alone they depend.

    Later passes, other upper programs and the selection pool need many of them again. Those that
    were not needed for longest are dropped.

    Parameters
    ----------
    room
        Largest number of bytes kept.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._results: dict[bytes, Result] = {}

    @staticmethod
    def key(program: Program, case: int, inputs: tuple[IntArray, ...]) -> bytes:
        """Return the key of a call."""
        digest = hashlib.sha256(f"{program.id} {case}\n{program.source}".encode())
        for array in inputs:
            digest.update(f"\n{len(array)} ".encode())
            digest.update(array.tobytes())
        return digest.digest()

    def get(
        self, calls: Mapping[bytes, Call], make: Callable[[Sequence[Call]], Iterable[Result]]
    ) -> list[Result]:
        """Return the results of calls by their keys; make those that are not known, at once."""
        found = {key: self._results.pop(key) for key in calls if key in self._results}
        missing = [key for key in calls if key not in found]
        made = dict(zip(missing, make([calls[key] for key in missing]), strict=True))
        self._room -= sum(map(_bytes, made.values()))
        results = found | made
        self._results |= results
        while self._room < 0:
            self._room += _bytes(self._results.pop(next(iter(self._results))))
        return [results[key] for key in calls]


_ENTRY_BYTES = 1000
"""Bytes of a result without its arrays."""


def _bytes(result: Result) -> int:
    return _ENTRY_BYTES + sum(array.nbytes for array in result.output)


def _mean_descriptor(repair: Repair) -> tuple[float, ...] | None:
    # A search goes on if its upper program sometimes names no group.
    described = [step.descriptor for step in repair.steps if step.descriptor]
    if not described:
        return None
    mean = np.mean(described, axis=0)
    return tuple(float(f"{value:.6g}") for value in mean)


def _summary(pairs: Sequence[tuple[Response, str]]) -> tuple[Outcome, str]:
    """Return ok if any task was answered, else the most frequent failure and one of its details."""
    counts: dict[Outcome, int] = {}
    details: dict[Outcome, str] = {}
    for response, detail in pairs:
        counts[response.outcome] = counts.get(response.outcome, 0) + 1
        details.setdefault(response.outcome, detail)
    if not counts or Outcome.OK in counts:
        return Outcome.OK, ""
    outcome = max(counts, key=lambda outcome: counts[outcome])
    return outcome, details[outcome]
