"""LHNS (Xie et al. 2025): ruin and recreate of one program, with simulated annealing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.core.program import Outcome
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.prompts import idea_and_code

KINDS = ("vns", "ils", "ts")
STEP = 0.1
"""Increase of the ruined share of a program after a rejection (vns)."""
PATIENCE = 10
"""Number of steps without an improvement before a perturbation (ils, ts)."""
TABLE = 5
"""Size of the tabu table (ts)."""
INITIAL = Operator("i1", "Write a program of your own.")
RUIN = Operator(
    "rr",
    "Lines of {parents} are missing. Review what is left, and add lines, so that a complete "
    "program with a higher score comes out.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)
MODIFY = Operator(
    "p1",
    "Modify {parents}, as much as you think is right, to lead the search elsewhere.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)
INTEGRATE = Operator(
    "p2",
    "Lines of program 2 were put into program 1, before its last line. Rearrange and rewrite it, "
    "so that it follows the ideas of {parents} together.",
    parents=2,
    treatment=Treatment.COMBINE,
)


@dataclass(eq=False)
class Trajectory:
    """State of a sequence of programs, each made from the one before.

    Parameters
    ----------
    ratio
        Share of the current program's lines that the next step deletes.
    stagnant
        Number of steps since the last improvement or perturbation.
    steps
        Number of received programs.
    repeated
        Whether the last program was a duplicate, and the one before it was not.
    table
        Programs of different scores, each with the lines that it added to its parent (ts).
    """

    current: Parent | None
    best: Parent | None
    ratio: float
    stagnant: int = 0
    steps: int = 0
    repeated: bool = False
    table: list[tuple[Parent, tuple[str, ...]]] = field(default_factory=list)


class LHNS:
    """Ruin and recreate: the method deletes lines of the current program, a model completes it.

    A better program becomes the current one. A worse one does with the probability
    :func:`acceptance`, at a temperature that falls to zero with the tickets. ``vns`` deletes
    more after each rejection, from ``ratio`` to all lines, then from ``ratio`` again. After ten
    steps without an improvement, ``ils`` asks for a free modification of the best program, and
    ``ts`` inserts the new lines of one of five earlier programs into the current one.

    By default there is one trajectory, as in the original. Each step needs the result of the step
    before, so the time per program is that of a reply, whatever ``search.lag`` and
    ``search.samplers`` are. k independent ``trajectories`` share the tickets and divide the wall
    time by k; each anneals over its own share.

    Deviations from the original:

    - The original minimises a positive cost; a loss is relative to the current cost. Here the cost
      of a program is 1 - score. Scores are savings relative to the solution before, never
      negative, so this is the mean share of the cost that remains if dearer solutions are
      rejected. It is positive, and defined for carried programs at both levels. Scores of regions
      in a large solution differ less; use a smaller ``initial_temperature`` for them.
    - ``ratio`` and ``initial_temperature`` are two constants, as in the original. The port has one
      variable for both, and a sign that makes it accept every worse program.
    - After a duplicate the same step is asked once more, as in the original. But the duplicate
      uses a ticket, and the temperature falls with the tickets.
    - If there is no program to begin with (the seed program failed), fresh ones are requested.
    - Between rounds of the coupled search a trajectory keeps its best and its current program,
      but not its table. It begins at the best.
    - Programs are stored without comments, so that none have to be removed.
    """

    @checked("method.policy.")
    def __init__(
        self,
        kind: Annotated[
            str, Option("how it goes on after rejections: vns, ils or ts", choices=KINDS)
        ] = "vns",
        ratio: Annotated[
            float, Option("share of the lines that is deleted at first, 0.001 to 1", 0.001, 1)
        ] = 0.1,
        initial_temperature: Annotated[
            float, Option("at which annealing begins, above 0", 1e-9, 1e9)
        ] = 0.1,
        trajectories: Annotated[
            int, Option("independent ones that share the programs, at least 1", 1)
        ] = 1,
    ) -> None:
        self.size = 2 * trajectories
        self.trajectories: list[Trajectory] = []
        self._kind = kind
        self._ratio = ratio
        self._initial = initial_temperature
        self._count = trajectories
        self._steps = 1.0
        self._under_way: dict[int, Trajectory] = {}

    @property
    def members(self) -> Sequence[Parent]:
        """The best and the current program of each trajectory."""
        found = {
            parent.program.id: parent
            for one in self.trajectories
            for parent in (one.best, one.current)
            if parent is not None
        }
        return sorted(found.values(), key=lambda parent: -parent.score)

    def begin(self, start: RoundStart) -> None:
        """Begin the trajectories at the programs carried over, the best first."""
        carried = sorted(start.carried, key=lambda parent: -parent.score)
        places = [
            carried[number % len(carried)] if carried else None for number in range(self._count)
        ]
        self.trajectories = [Trajectory(place, place, self._ratio) for place in places]
        self._steps = max(1.0, start.tickets / self._count)
        self._under_way.clear()

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return the next query of the trajectory with fewest steps; None if all are under way."""
        busy = list(self._under_way.values())
        waiting = [one for one in self.trajectories if one not in busy]
        if not waiting:
            return None
        trajectory = min(waiting, key=lambda one: one.steps)
        self._under_way[index] = trajectory
        return self._step(trajectory, rng)

    def _step(self, trajectory: Trajectory, rng: np.random.Generator) -> Query:
        """Return a trajectory's next query, which depends on the kind and the state."""
        current, best = trajectory.current, trajectory.best
        if current is None or best is None:
            return Query(INITIAL)
        if self._kind != "vns" and trajectory.stagnant >= PATIENCE:
            if self._kind == "ils":
                return Query(MODIFY, (best,))
            donors = [
                entry
                for entry in trajectory.table
                # A program that only lost lines has no new lines.
                if entry[1] and entry[0].program.id != current.program.id
            ]
            if donors:
                other, lines = donors[rng.integers(len(donors))]
                view = idea_and_code(current.program.idea, inserted(current.program.source, lines))
                views = (view, idea_and_code(other.program.idea, "\n".join(lines)))
                return Query(INTEGRATE, (current, other), views=views)
        source, removed = ruined(current.program.source, trajectory.ratio, rng)
        lost = "1 of its lines was" if removed == 1 else f"{removed} of its lines were"
        view = f"{idea_and_code(current.program.idea, source)}\n\n{lost} removed."
        return Query(RUIN, (current,), views=(view,))

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Accept the program or reject it."""
        trajectory = self._under_way.pop(sample.request.index)
        trajectory.steps += 1
        current = trajectory.current
        same = sample.retained and current is not None and sample.score == current.score
        repeats = sample.outcome is Outcome.DUPLICATE or same
        trajectory.repeated = repeats and not trajectory.repeated
        if trajectory.repeated:
            return
        if sample.request.operator in (MODIFY, INTEGRATE):
            trajectory.stagnant = 0
        if not sample.retained:
            self._reject(trajectory)
            trajectory.stagnant += 1
            return
        child = sample.parent
        if self._kind == "ts":
            _enter(trajectory.table, child, _new_lines(child, sample.request.parents))
        if current is None or child.score > current.score:
            trajectory.stagnant = 0
            accepted = True
        else:
            trajectory.stagnant += 1
            # The first step has the full temperature.
            passed = min(1.0, (trajectory.steps - 1) / self._steps)
            temperature = self._initial * (1 - passed)
            chance = acceptance(1 - current.score, 1 - child.score, temperature)
            accepted = rng.random() < chance
        if not accepted:
            self._reject(trajectory)
            return
        trajectory.current = child
        trajectory.ratio = self._ratio
        if trajectory.best is None or child.score > trajectory.best.score:
            trajectory.best = child

    def _reject(self, trajectory: Trajectory) -> None:
        """Increase the share of deleted lines (vns); after a share of 1, restart from ``ratio``."""
        if self._kind == "vns":
            more = round(trajectory.ratio + STEP, 9)
            trajectory.ratio = min(more, 1.0) if trajectory.ratio < 1.0 else self._ratio


def acceptance(current: float, new: float, temperature: float) -> float:
    """Return the probability of accepting a program that costs no less than the current one.

    Parameters
    ----------
    current, new
        Costs of the current and the new program; the loss is relative to the current cost.
    temperature
        The temperature; at 0 no loss is accepted.
    """
    loss = (new - current) / max(abs(current), 1e-10)
    return math.exp(-loss / max(temperature, 1e-300))


def ruined(source: str, ratio: float, rng: np.random.Generator) -> tuple[str, int]:
    """Delete a share ``ratio`` of a program's lines below its head, drawn with replacement.

    Returns
    -------
    str
        The remaining lines, usually not a valid program.
    int
        Number of deleted lines.
    """
    lines = source.splitlines()
    places = [place for place, line in enumerate(lines) if line.strip() and not _head(line)]
    draws = math.ceil(round(ratio * len(places), 9))
    gone = set(rng.choice(places, size=draws).tolist()) if places else set()
    kept = [line for place, line in enumerate(lines) if place not in gone]
    return "\n".join(kept) + "\n", len(gone)


def inserted(source: str, lines: Sequence[str]) -> str:
    """Return a program with lines inserted before its last line."""
    own = source.rstrip("\n").split("\n")
    return "\n".join([*own[:-1], *lines, own[-1]]) + "\n"


def _head(line: str) -> bool:
    return line.startswith("def ")


def _new_lines(child: Parent, parents: Sequence[Parent]) -> tuple[str, ...]:
    """Return the lines of a program that its first parent does not have."""
    known = set(parents[0].program.source.splitlines()) if parents else set()
    lines = child.program.source.splitlines()
    return tuple(line for line in lines if line not in known and not _head(line))


def _enter(
    table: list[tuple[Parent, tuple[str, ...]]], child: Parent, lines: tuple[str, ...]
) -> None:
    """Add a program of a new score to the table; if the table is full, replace the worst."""
    if child.score in [parent.score for parent, _ in table]:
        return
    if len(table) < TABLE:
        table.append((child, lines))
        return
    worst = min(range(len(table)), key=lambda place: table[place][0].score)
    if child.score > table[worst][0].score:
        table[worst] = (child, lines)
