"""Rounds in which both levels evolve together, judged by what their pairs earn (G-LNS)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from specahd.core.contract import Parent
from specahd.core.errors import ConfigError, RunFailed
from specahd.core.options import Option, checked
from specahd.core.program import Level
from specahd.core.settings import Settings
from specahd.core.sums import sequential_sum
from specahd.design.candidates import Candidate
from specahd.design.coupled import Coupled
from specahd.design.lower import LowerSearch
from specahd.design.upper import UpperSearch
from specahd.repair.cases import Incumbent
from specahd.repair.episodes import Annealing, Episode
from specahd.repair.passes import single_pass
from specahd.repair.system import RepairSystem
from specahd.routing.base import AnyProblem, FloatArray
from specahd.search.base import Pairing, RoundStart, SearchMethod
from specahd.search.replay import NOT_REPRODUCED


class Pairs(Coupled):
    """Two populations whose pairs search together; a program is worth what its pairs earn.

    A round begins with episodes (:func:`specahd.repair.episodes.run_episode`): searches from the
    baseline solutions of ``upper_train``, in which every step draws an upper and a lower
    program. What a pair earns is summed over all of them. Then each level drops its worst programs
    and requests others, the upper level first. Rounds follow until the tickets are spent; those of
    the budget are ignored. The last populations are the checkpoint, repaired with in the passes
    of ``search``, whose archive is measured on regions of the last upper programs.

    Deviations from G-LNS (arXiv 2602.08253), of which we had the abstract, others' accounts and
    the released code (github.com/ZBoyn/G-LNS, commit ea834aa):

    - Programs follow the contracts of this project: they draw nothing at random, an upper program
      proposes disjoint regions, and a lower one rebuilds a region. A step takes one of the regions
      at random, so that a pair that returns does not repeat itself. There an operator takes a fifth
      of the customers out, and the other inserts them.
    - One episode of each instance in a round, not ten, so that evaluations stay comparable with
      those of other methods at equal tickets. Weights begin anew on each instance, not in each
      episode of all.
    - The temperature is a share of the solution's cost. There it is 100 at first, where solutions
      of the unit square cost ten to thirty, so that nearly all steps are accepted.
    - A new program is measured when it arrives, as with all methods: a lower one on the regions of
      the programs that the search began with, an upper one in a pass of the current lower
      programs. This score is in prompts and the journal, and decides nothing; there a program is
      tried on three random instances.
    - The result is deployed in the frozen pipeline, as that of every method: upper programs take
      turns, a router names lower ones, and what is dearer is not accepted. There it is the adaptive
      search of the episodes.

    Parameters
    ----------
    policy
        Factory of a method that leaves vacancies (:class:`specahd.search.base.RoundStart`).
    parts
        Further arguments of :class:`specahd.design.coupled.Coupled`.
    """

    def __init__(
        self,
        *,
        policy: Callable[[], SearchMethod],
        episodes: int = 1,
        iterations: int = 100,
        temperature: float = 0.01,
        **parts: Any,
    ) -> None:
        super().__init__(policy=policy, **parts)
        self._episodes = episodes
        self._annealing = Annealing(iterations, temperature)
        self._parents: dict[Level, list[Parent]] = {}

    @staticmethod
    @checked("method.")
    def check(
        *,
        episodes: Annotated[
            int, Option("searches of an instance that reward pairs, in a round", 1)
        ] = 1,
        iterations: Annotated[int, Option("steps of such a search, each by one pair", 1)] = 100,
        temperature: Annotated[
            float, Option("first temperature of its annealing, as a share of the cost", 0)
        ] = 0.01,
        **others: Annotated[Any, Coupled.check],
    ) -> None:
        """Refuse options out of range, before any work is done."""
        Coupled.check(**others)

    @staticmethod
    def admit(problem: AnyProblem, settings: Settings) -> None:
        """Refuse a problem whose regions are not rebuilt one by one, one level alone, or races."""
        reason = single_pass(problem, portfolio=False)
        if reason is not None:
            raise ConfigError(f"Expected problem.repair=append for pairs of programs {reason}.")
        if settings.levels != "both":
            raise ConfigError(
                f"Expected search.levels=both for pairs of programs, got {settings.levels}."
            )
        if settings.racing:
            raise ConfigError("Expected search.racing=false for pairs of programs, got true.")

    def rounds(self) -> Iterator[Candidate]:
        """Run round after round, and yield the candidate of the last."""
        number = 1
        self._measure_first()
        rewards = self._reward(number)
        while self._engine.stopped is None and self._evolve(number, rewards):
            number += 1
            rewards = self._reward(number)
        for level, sums in ((Level.UPPER, rewards.sum(axis=1)), (Level.LOWER, rewards.sum(axis=0))):
            order = np.argsort(-sums, kind="stable").tolist()
            self._keep(level, [self._parents[level][row] for row in order])
        yield self._conclude(number + 1)

    def _measure_first(self) -> None:
        """Measure the programs that the search begins with."""
        self._uppers = tuple(self._members[Level.UPPER])
        self._lower = self._on_regions(1)
        for level in (Level.LOWER, Level.UPPER):
            search = self._search(level, 1)
            self._engine.carry_over(search, self._members[level], 0)
            self._adopt(level, search)

    def _search(self, level: Level, number: int) -> LowerSearch | UpperSearch:
        """Return a round of a level, with the other level as it is."""
        if level is Level.LOWER:
            # Its tasks stay the same, so programs of earlier rounds need no other measurement.
            assert self._lower is not None
            self._lower.round = number
            return self._lower
        cases = self._pools["upper_train"]
        return UpperSearch(
            number=number,
            contract=self._contracts[level],
            method=self._methods[level],
            system=replace(self._freeze(number), passes=1),
            incumbents=[Incumbent(case) for case in cases],
            executor=self._executor,
            penalty=self._settings.penalty,
            coordinates=self._problem.descriptor_names,
            known=self._facts.upper(cases, self._repertoire, None),
            judged_singly=True,
        )

    def _on_regions(self, number: int) -> LowerSearch:
        """Return a round of the lower level on the regions of the current upper programs."""
        tasks, _ = self._tasks(number)
        if not tasks:
            raise RunFailed("The upper programs propose no region on the pool lower_train.")
        return self._lower_search(number, tasks, judged_singly=True)

    def _freeze(self, number: int) -> RepairSystem:
        system = super()._freeze(number)
        # Within a round the repertoire changes.
        names = [program.id for program in system.repertoire]
        return replace(system, key=" ".join([system.key, *names]))

    def _reward(self, number: int) -> FloatArray:
        """Return what the pairs earn in the episodes of a round, by upper and lower program."""
        uppers = [program.id for program in self._uppers]
        lowers = [program.id for program in self._repertoire]
        known = self._engine.replay.rewards.get(number)
        if known is not None:
            rewards, improvement = np.array(known.rewards), known.improvement
            shape = len(uppers), len(lowers)
            if (known.uppers, known.lowers, rewards.shape) != (uppers, lowers, shape):
                raise RunFailed(NOT_REPRODUCED)
        else:
            found = self._run_episodes(number)
            rewards = np.zeros((len(uppers), len(lowers)))
            for one in found:
                rewards += np.array(one.rewards)
            improvement = sequential_sum([one.improvement for one in found]) / len(found)
        self._journal.samples.append(
            {
                "record": "rewards",
                "round": number,
                "uppers": uppers,
                "lowers": lowers,
                "rewards": rewards.tolist(),
                "improvement": improvement,
            }
        )
        return rewards

    def _run_episodes(self, number: int) -> list[Episode]:
        system, cases = self._freeze(number), self._pools["upper_train"]
        self._observer.on_phase(f"round {number}: pairs", len(cases) * self._episodes)
        jobs = [
            self._executor.submit(
                "episode",
                self._uppers,
                system,
                case,
                self._annealing,
                (self._engine.seed, "episode", number, case, episode),
            )
            for episode in range(self._episodes)
            for case in cases
        ]
        found = []
        for job in jobs:
            found.append(job.result())
            self._observer.on_step()
        return found

    def _evolve(self, number: int, rewards: FloatArray) -> bool:
        """Drop the worst programs and request others; return whether any was requested."""
        carried = {level: tuple(self._parents[level]) for level in Level}
        companions: dict[int, Parent] = {}
        spent = 0
        for level, other, earned in (
            (Level.UPPER, Level.LOWER, rewards),
            (Level.LOWER, Level.UPPER, rewards.T),
        ):
            left = self._engine.ledger.left
            if not left:
                break
            search = self._search(level, number)
            method = search.method
            pairing = Pairing(earned, carried[other], companions)
            method.begin(RoundStart(search.contract, left, carried[level], search.rank, pairing))
            spent += self._engine.run(search, method.size - len(method.members))
            prefix = f"{level}-{number}-"
            companions = {
                int(name.removeprefix(prefix)): parent
                for parent in method.members
                if (name := parent.program.id).startswith(prefix)
            }
            self._adopt(level, search)
        return spent > 0

    def _adopt(self, level: Level, search: LowerSearch | UpperSearch) -> None:
        """Make the method's members the population, unless it keeps none."""
        members = list(search.method.members)
        if isinstance(search, LowerSearch):
            self._archive.extend(search.table)
        if members:
            self._keep(level, members)
        elif level not in self._parents:
            self._keep(level, [Parent(one, 0.0) for one in self._members[level][:1]])

    def _keep(self, level: Level, members: list[Parent]) -> None:
        programs = tuple(member.program for member in members)
        self._parents[level] = members
        self._members[level] = list(programs)
        if level is Level.UPPER:
            self._uppers = programs
        else:
            self._repertoire = programs

    def _conclude(self, number: int) -> Candidate:
        """Measure the lower programs on the regions of the last upper programs, and select."""
        settings = self._settings
        self._uppers = self._uppers[: settings.uppers]
        self._repertoire = self._repertoire[: settings.repertoire_size]
        search = self._on_regions(number)
        self._engine.carry_over(search, self._repertoire, 0)
        self._archive.extend(search.table)
        self._lower = None
        return self._end_round(number, self._freeze(number), [self._uppers], {})
