"""SpecAHD's rounds: lower search on G's regions, freeze (H, A), upper search, repeat."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isfinite
from typing import Annotated

import numpy as np

from specahd.checkpoint.frozen import Checkpoint
from specahd.core.budget import Budget
from specahd.core.contract import Contract
from specahd.core.errors import CheckpointError, ConfigError, RunFailed
from specahd.core.events import Observer, RoundEnd
from specahd.core.options import Option
from specahd.core.plain import to_tuples
from specahd.core.program import Level, Program
from specahd.core.seeding import generator
from specahd.core.settings import Accept, CallLimits, Settings
from specahd.design import facts
from specahd.design.candidates import Candidate, best_candidate, ranked_candidates
from specahd.design.facts import Facts
from specahd.design.lower import LowerSearch
from specahd.design.makers import check_maker
from specahd.design.upper import UpperSearch
from specahd.repair.cases import Case, Incumbent
from specahd.repair.execution import expose, run_frozen
from specahd.repair.racing import Race, rungs
from specahd.repair.responses import RepairTask, task_key
from specahd.repair.router import ResponseArchive, Utilities
from specahd.repair.system import Repair, RepairSystem, mean_improvement
from specahd.routing.base import AnyProblem, Region, contracts
from specahd.runs.journal import Journal
from specahd.runs.records import Task
from specahd.sandbox.executor import Executor
from specahd.search.base import SearchMethod
from specahd.search.engine import Engine
from specahd.search.replay import NOT_REPRODUCED


def split_tickets(tickets: int, rounds: int, lower_share: float) -> list[tuple[int, int]]:
    """Split tickets over rounds and levels by largest remainder; earlier slots win ties.

    Returns
    -------
    list of (lower, upper)
        One pair per round; they sum to ``tickets``.
    """
    shares = [lower_share, 1.0 - lower_share] * rounds
    exact = [tickets * share / rounds for share in shares]
    counts = [int(value) for value in exact]
    # Rounded so that equal remainders compare equal.
    by_remainder = sorted(range(len(exact)), key=lambda slot: round(counts[slot] - exact[slot], 9))
    for slot in by_remainder[: tickets - sum(counts)]:
        counts[slot] += 1
    return list(zip(counts[::2], counts[1::2], strict=True))


class Coupled:
    """Alternation of the two searches under one budget, with one candidate a round.

    If regions are whole instances, the lower level gets all tickets.

    Parameters
    ----------
    policy
        Factory of a search method; each level gets a method of its own.
    lower, upper
        Factory for one level, if that level has another method.
    pools
        Indices of the cases of ``lower_train``, ``upper_train`` and ``selection``.
    budget
        How the tickets are split over rounds and levels.
    given
        The checkpoint with the repertoire to keep, for ``levels=upper``; or, with
        ``search.initial_programs``, the one with whose programs the search begins.
    cases, limits
        The run's cases and the limits of programs, for the facts in prompts.
    """

    judged_singly = False
    """Value of ``judged_singly`` for :class:`specahd.design.lower.LowerSearch`."""

    def __init__(
        self,
        *,
        problem: AnyProblem,
        engine: Engine,
        executor: Executor,
        policy: Callable[[], SearchMethod],
        pools: Mapping[str, Sequence[int]],
        budget: Budget,
        settings: Settings,
        journal: Journal,
        observer: Observer,
        given: Checkpoint | None = None,
        lower: Callable[[], SearchMethod] | None = None,
        upper: Callable[[], SearchMethod] | None = None,
        cases: Sequence[Case] = (),
        limits: CallLimits | None = None,
    ) -> None:
        self._covered: float | None = None
        self._served: list[str] = []
        self._facts = Facts(problem, cases, limits or CallLimits())
        self._cases = cases
        # Of the last round with upper programs: what each saved, and the solutions.
        self._saved: Mapping[str, tuple[float, ...]] = {}
        self._described: tuple[tuple[float, ...], ...] = ()
        self._problem = problem
        self._engine = engine
        self._executor = executor
        own = {Level.LOWER: lower, Level.UPPER: upper}
        self._methods = {level: (own[level] or policy)() for level in Level}
        self._pools = pools
        self._budget = budget
        if problem.operator.whole:
            settings = replace(settings, levels="lower")
        self._settings = settings
        self._journal = journal
        self._observer = observer
        self._contracts = contracts_of(problem, settings, given)
        if settings.accept != Accept.IMPROVING:
            self._contracts[Level.UPPER] = self._contracts[Level.UPPER].accepting_worse()
        seeds = self._contracts[Level.UPPER].seeds
        in_turn = settings.uppers > 1 and not self._chosen
        self._uppers = seeds[: settings.uppers] if in_turn else seeds[-1:]
        given = given if settings.repertoire else None
        self._repertoire: tuple[Program, ...] = given.repertoire if given else ()
        self._archive = given.archive if given else ResponseArchive(problem.descriptor_names)
        self._portfolio = given.portfolio if given else False
        self._lower: LowerSearch | None = None
        self._members: dict[Level, list[Program]] = {
            level: list(contract.seeds) for level, contract in self._contracts.items()
        }

    @staticmethod
    def check(
        *,
        policy: Callable[[], SearchMethod],
        lower: Annotated[
            Callable[[], SearchMethod] | None,
            Option("another method for the lower level, in the form of policy"),
        ] = None,
        upper: Annotated[
            Callable[[], SearchMethod] | None,
            Option("another method for the upper level, in the form of policy"),
        ] = None,
    ) -> None:
        """Refuse options out of range, before any work is done."""
        for option, make in (("policy", policy), ("lower", lower), ("upper", upper)):
            if make is not None:
                check_maker(f"method.{option}", make)

    @staticmethod
    def admit(problem: AnyProblem, settings: Settings) -> None:
        """Refuse a problem or options of the search that these rounds are not for; here none.

        Raises
        ------
        ConfigError
            The message is one sentence.
        """

    def rounds(self) -> Iterator[Candidate]:
        """Run round after round, yielding the candidate of each."""
        for number in range(1, self._budget.rounds + 1):
            yield self.run_round(number)
            if self._engine.stopped is not None:
                return

    def draft(self) -> Candidate | None:
        """Return the unscored candidate of an interrupted run, None if it measured nothing."""
        archive, repertoire = self._archive.copy(), self._repertoire
        if self._lower is not None and self._lower.method.members:
            self._lower.table.keep(member.program.id for member in self._lower.method.members)
            archive.extend(self._lower.table)
            repertoire = tuple(self._lower.repertoire())
        if not repertoire:
            return None
        frozen = 0, self._uppers, repertoire, archive, float("nan")
        utilities = self._utilities(self._uppers)
        return Candidate(*frozen, portfolio=self._portfolio, utilities=utilities)

    def quota(self, number: int) -> tuple[int, int]:
        """Return the (lower, upper) tickets of a round."""
        share = {"lower": 1.0, "upper": 0.0}.get(self._settings.levels, self._budget.lower_share)
        return split_tickets(self._engine.ledger.total, self._budget.rounds, share)[number - 1]

    def run_round(self, number: int) -> Candidate:
        """Run one round: G → R_G → S → (H, A) → G, and score it on the selection pool."""
        due_before = sum(sum(self.quota(earlier)) for earlier in range(1, number))
        carried = due_before - self._engine.ledger.read().tickets
        lower_tickets, upper_tickets = self.quota(number)
        measures: dict[str, float] = {}
        if self._settings.levels != "upper":
            lower_tickets += carried
            spent = self._lower_round(number, lower_tickets, measures)
            carried = lower_tickets - spent
        system = self._freeze(number)
        finalists = [self._uppers]
        if self._settings.levels != "lower":
            tickets = upper_tickets + carried
            finalists = self._upper_round(number, tickets, system, measures) or finalists
        return self._end_round(number, system, finalists, measures)

    def _end_round(
        self,
        number: int,
        system: RepairSystem,
        finalists: Sequence[tuple[Program, ...]],
        measures: dict[str, float],
    ) -> Candidate:
        """Select the round's candidate, and record the end of the round."""
        chosen, stopped = self._select(number, system, finalists)
        self._uppers = chosen.uppers
        if isfinite(chosen.selection):
            measures["selection"] = chosen.selection
        if chosen.failed:
            measures["selection_failed"] = chosen.failed
        if stopped:
            measures["finalists_stopped"] = stopped
        self._journal.samples.append(
            {
                "record": "round",
                "round": number,
                "upper": chosen.upper.id,
                **({"uppers": chosen.names} if self._settings.uppers > 1 else {}),
                "repertoire": [program.id for program in self._repertoire],
                "archive": len(self._archive.tasks),
                "selection": None,
                **measures,
            }
        )
        self._observer.on_round(RoundEnd(number, measures))
        return chosen

    def _lower_round(self, number: int, tickets: int, measures: dict[str, float]) -> int:
        tasks, exposed = self._tasks(number)
        measures |= {"exposed": exposed, "tasks": len(tasks)}
        if not tasks:
            # n_t = 0: the previous lower state stays (the paper, section 4.5).
            if not self._repertoire:
                self._repertoire = tuple(self._members[Level.LOWER][:1])
            return 0
        search = self._lower_search(number, tasks, judged_singly=self.judged_singly)
        self._observer.on_phase(f"round {number}: {len(tasks)} repair tasks", 0)
        self._engine.carry_over(search, self._members[Level.LOWER], tickets)
        self._lower = search
        spent = self._engine.run(search, tickets)
        # A method may keep no program; then the previous programs stay.
        kept = [member.program for member in search.method.members]
        self._members[Level.LOWER] = kept or self._members[Level.LOWER]
        self._repertoire = tuple(
            search.repertoire() or self._repertoire or self._members[Level.LOWER][:1]
        )
        self._served = search.served()
        search.table.keep(program.id for program in self._members[Level.LOWER])
        self._archive.extend(search.table)
        self._lower = None
        measures |= {"J": search.best(), "repertoire_size": len(self._repertoire)}
        return spent

    def _lower_search(
        self, number: int, tasks: Sequence[RepairTask], *, judged_singly: bool
    ) -> LowerSearch:
        """Return a round of the lower level on some tasks."""
        return LowerSearch(
            number=number,
            contract=self._contracts[Level.LOWER],
            method=self._methods[Level.LOWER],
            tasks=tasks,
            executor=self._executor,
            settings=self._settings,
            coordinates=self._problem.descriptor_names,
            known=self._facts.lower(tasks),
            portfolio=self._portfolio,
            judged_singly=judged_singly,
            order=self._race_order(number, Level.LOWER, len(tasks)),
        )

    def _tasks(self, number: int) -> tuple[list[RepairTask], int]:
        """Return G's regions on the lower-train pool, subsampled to B_L, and their full number."""
        known = self._engine.replay.tasks.get(number)
        if known is None:
            incumbents = self._incumbents(number, "lower_train", last=number - 1)
            tasks = expose(self._executor, self._uppers, incumbents)
        else:
            tasks = [recorded_task(task) for task in known.tasks]
            if not all(map(self._may_be_exposed, tasks)):
                raise RunFailed(NOT_REPRODUCED)
        self._journal.responses.append({"round": number, "tasks": [t.record() for t in tasks]})
        if self._settings.uppers == 1:
            # Regions of several programs overlap.
            self._covered = self._facts.covered(tasks, self._pools["lower_train"])
        limit = max(1, self._settings.cells // self._methods[Level.LOWER].size)
        if len(tasks) <= limit:
            return tasks, len(tasks)
        rng = generator(self._engine.seed, "tasks", number)
        kept = sorted(rng.choice(len(tasks), size=limit, replace=False).tolist())
        return [tasks[index] for index in kept], len(tasks)

    def _incumbents(self, number: int, pool: str, *, last: int) -> list[Incumbent]:
        """Return the incumbents of a pool for the training of a round.

        Parameters
        ----------
        last
            Round of the repair system that makes some of them; workers cache programs by it.
        """
        cases = self._pools[pool]
        found = list(map(Incumbent, cases))
        if number == 1 or self._settings.incumbents == "baseline":
            return found
        system = replace(self._freeze(last), passes=len(self._uppers))
        self._observer.on_phase(f"round {number}: solutions to train on", len(cases))
        repairs = run_frozen(self._executor, self._uppers, system, cases, self._observer.on_step)
        return found + [
            Incumbent(case, repair.solution)
            for case, repair in zip(cases, repairs, strict=True)
            if repair.cost < repair.baseline_cost
        ]

    def _race_order(self, number: int, purpose: str, tasks: int) -> list[int] | None:
        """Return the order in which candidates try the tasks of a race, None if there is none."""
        if not self._settings.racing or self.judged_singly or self._portfolio:
            return None
        rng = generator(self._engine.seed, "race", purpose, number)
        order: list[int] = rng.permutation(tasks).tolist()
        return order

    def _may_be_exposed(self, task: RepairTask) -> bool:
        """Return whether a recorded task can belong to the pool."""
        instance, _, _ = task.key.rpartition("#")
        identity = self._problem.operator.identity(task.region)
        return (
            task.key == task_key(instance, identity, task.solution)
            and task.case in self._pools["lower_train"]
            and len(task.descriptor) == len(self._problem.descriptor_names)
        )

    def _freeze(self, number: int) -> RepairSystem:
        settings, names = self._settings, [program.id for program in self._repertoire]
        router = self._archive.router(names, n_neighbors=settings.neighbours)
        frozen = f"round-{number}", self._repertoire, router, Accept(settings.accept)
        return RepairSystem(*frozen, self._portfolio, settings.passes, settings.tries)

    def _upper_round(
        self, number: int, tickets: int, system: RepairSystem, measures: dict[str, float]
    ) -> list[tuple[Program, ...]]:
        """Search for upper programs, and return the sets from which selection chooses."""
        settings = self._settings
        incumbents = self._incumbents(number, "upper_train", last=number)
        search = UpperSearch(
            number=number,
            contract=self._contracts[Level.UPPER],
            method=self._methods[Level.UPPER],
            system=replace(
                system,
                # Marginal gains are only defined on the same incumbents.
                passes=1 if settings.uppers > 1 else system.passes,
                # What was kept is measured again with the random numbers of this round.
                seed=(number,) if settings.halving else (),
            ),
            incumbents=incumbents,
            executor=self._executor,
            penalty=settings.penalty,
            uppers=settings.uppers,
            chosen=self._chosen,
            coordinates=self._problem.descriptor_names,
            known=[
                *self._facts.upper(
                    self._pools["upper_train"],
                    system.repertoire,
                    self._covered,
                    len(incumbents) - len(self._pools["upper_train"]),
                ),
                *facts.turn_facts(settings.uppers, settings.passes, chosen=self._chosen),
                *self._served,
            ],
            judged_singly=self.judged_singly,
            order=self._race_order(number, Level.UPPER, len(incumbents)),
        )
        self._engine.carry_over(search, self._members[Level.UPPER], tickets)
        self._engine.run(search, tickets)
        members = search.method.members
        if not members:
            return []
        self._members[Level.UPPER] = [member.program for member in members]
        if self._chosen:
            cases = [one.as_case(self._problem, self._cases) for one in incumbents]
            self._described = tuple(tuple(one.describe(self._problem).tolist()) for one in cases)
            self._saved = search.saved()
        finalists = search.finalists(settings.finalists)
        self._uppers = finalists[0]
        measures["utility"] = members[0].score
        return finalists

    def _select(
        self, number: int, system: RepairSystem, finalists: Sequence[tuple[Program, ...]]
    ) -> tuple[Candidate, int]:
        """Return the round's candidate, with the finalist that does best on the selection pool.

        With ``halving``, the others leave rung by rung. Random numbers are those of the rung, of
        the last one those of an evaluation.

        Its score is the mean improvement over the instances on which G did not fail, nan if none.

        Returns
        -------
        Candidate, int
            The candidate, and the number of finalists that were stopped before the last instance
            or rung.
        """

        def candidate(uppers: tuple[Program, ...], selection: float, failed: int) -> Candidate:
            frozen = self._repertoire, self._archive.copy()
            portfolio, utilities = self._portfolio, self._utilities(uppers)
            return Candidate(number, uppers, *frozen, selection, failed, portfolio, utilities)

        known = self._engine.replay.selection.get(number)
        if known is not None:
            for uppers in finalists:
                if [program.id for program in uppers] == known[0]:
                    return candidate(uppers, *known[1:3]), known[3]
            raise RunFailed(NOT_REPRODUCED)
        cases = self._pools["selection"]
        meetings = self._rungs(len(finalists))
        searches = len(cases) * sum(count for count, _ in meetings)
        self._observer.on_phase(f"round {number}: selection pool", searches)
        order = self._race_order(number, "selection", len(cases))
        results: dict[tuple[Program, ...], list[Repair]] = {}

        def measured(
            uppers: tuple[Program, ...], system: RepairSystem, race: Race | None = None
        ) -> Candidate | None:
            utilities = self._utilities(uppers)
            if utilities is not None:
                system = replace(system, choice=utilities.router(self._settings.neighbours))
            repairs = self._race_finalist(uppers, system, cases, race)
            if repairs is None:
                return None
            results[uppers] = repairs
            failed = sum(repair.failed for repair in repairs)
            return candidate(uppers, mean_improvement(repairs), failed)

        left = list(finalists)
        for (_, length), (kept, _) in pairwise(meetings):
            rung = replace(system, repairs=length, seed=(number, length))
            ranked = ranked_candidates(list(filter(None, (measured(one, rung) for one in left))))
            left = [each.uppers for each in ranked[:kept]]
        candidates: list[Candidate] = []
        for uppers in left:
            race = None
            if order is not None and candidates:
                best = best_candidate(candidates)
                if not best.failed:
                    improvements = [repair.improvement for repair in results[best.uppers]]
                    race = Race.to_beat(improvements, order)
            if (found := measured(uppers, system, race)) is not None:
                candidates.append(found)
        return best_candidate(candidates), len(finalists) - len(candidates)

    @property
    def _chosen(self) -> bool:
        """Whether several upper programs are kept, of which one is chosen for each instance."""
        return self._settings.uppers > 1 and self._problem.operator.repairs_per_customer > 0

    def _utilities(self, uppers: Sequence[Program]) -> Utilities | None:
        """Return by what one of several upper programs is chosen; None if there is no choice."""
        if len(uppers) == 1 or not self._saved:
            return None
        return Utilities(self._described, tuple(self._saved[program.id] for program in uppers))

    def _rungs(self, finalists: int) -> list[tuple[int, int]]:
        """Return how many finalists meet in searches of which length, in order."""
        operator = self._problem.operator
        lengths = operator.repairs_per_customer, operator.final_repairs_per_customer
        return rungs(finalists, *lengths) if self._settings.halving else [(finalists, 0)]

    def _race_finalist(
        self,
        uppers: Sequence[Program],
        system: RepairSystem,
        cases: Sequence[int],
        race: Race | None,
    ) -> list[Repair] | None:
        """Return a finalist's repair of each case, None if the race stopped it."""
        run = partial(run_frozen, self._executor, uppers, system, step=self._observer.on_step)
        if race is None:
            return run(cases)
        repairs: list[Repair] = []
        for begin, end in pairwise([0, *race.checks, len(cases)]):
            repairs += run([cases[place] for place in race.order[begin:end]])
            scores = np.array([repair.improvement for repair in repairs])
            if any(repair.failed for repair in repairs) or race.ends(scores):
                return None
        return [repairs[place] for place in np.argsort(race.order)]


def recorded_task(record: Task) -> RepairTask:
    """Return the task of a :meth:`~specahd.repair.responses.RepairTask.record`."""
    region, descriptor = Region(tuple(record.nodes)), tuple(record.descriptor)
    return RepairTask(record.key, record.case, region, descriptor, to_tuples(record.solution))


def contracts_of(
    problem: AnyProblem, settings: Settings, given: Checkpoint | None
) -> dict[Level, Contract]:
    """Return the contract of each level, with the programs that its search begins with.

    Raises
    ------
    ConfigError
        ``search.initial_programs`` has no programs for this problem's operator.
    """
    found = contracts(problem.operator, varied=settings.seeds == "varied")
    if settings.initial_programs is None or given is None:
        return found
    for level, contract in found.items():
        if (settings.initial_levels or Level.LOWER) in ("both", level):
            try:
                found[level] = replace(contract, others=given.initial_programs(contract))
            except CheckpointError as error:
                place = settings.initial_programs
                raise ConfigError(f"search.initial_programs={place}: {error}") from None
    return found
