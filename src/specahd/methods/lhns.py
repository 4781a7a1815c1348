"""LHNS (Xie et al. 2025): one program, ruined line by line, recreated, accepted by annealing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.program import Outcome
from specahd.core.ranges import check_choice, check_integer, check_range
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.prompts import idea_and_code

KINDS = ("vns", "ils", "ts")
STEP = 0.1
"""By how much more of a program is ruined after a rejection (vns)."""
PATIENCE = 10
"""After how many steps without an improvement a perturbation comes (ils, ts)."""
TABLE = 5
"""The size of the tabu table (ts)."""
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
    """One line of programs, each made of the one before.

    Parameters
    ----------
    ratio
        Which share of the current program's lines is ruined next.
    stagnant
        Steps since the current program last improved, or since a perturbation.
    steps
        The number of received programs.
    repeated
        Whether the last one repeated an earlier program for the first time.
    table
        Programs with the lines that were new in them, of different scores (ts).
    """

    current: Parent | None
    best: Parent | None
    ratio: float
    stagnant: int = 0
    steps: int = 0
    repeated: bool = False
    table: list[tuple[Parent, tuple[str, ...]]] = field(default_factory=list)


class LHNS:
    """Ruin and recreate: lines of the current program are deleted, a model completes it.

    A better program becomes the current one, a worse one with the probability
    :func:`acceptance` at a temperature that falls to zero with the tickets. ``vns`` ruins more
    after each rejection, from ``ratio`` to all lines and round again. ``ils`` has the best
    program modified freely after ten steps without an improvement. ``ts`` puts, after as many,
    the new lines of one of five earlier programs of different scores into the current one.

    One trajectory, as in the original: each step needs the one before, so that it takes a reply's
    time per program whatever ``search.lag`` and ``search.samplers``. With ``trajectories`` of
    k, as many independent ones share the tickets, and the wall time falls by as much; each
    anneals over its own share.

    Deviations from the original:

    - It minimises a positive cost and divides by the current one's. Here the cost of a program is
      1 - score: scores are savings relative to the solution before, none of them negative, so
      that this is the mean share of the cost that remains if what is dearer is not taken. It is
      positive and known of carried programs at both levels; programs that save nothing are equal.
      Where regions are rebuilt in a large solution, scores differ by less than whole solutions
      do; then a smaller ``initial_temperature`` is due.
    - ``ratio`` and ``initial_temperature`` are two constants, as in the original; the port has one
      variable for both, and a sign by which it accepts every worse program.
    - A program that repeats another is asked for once more in the same step, as in the original,
      but takes its ticket, and the temperature falls with tickets.
    - Without a program to begin with (the seed program failed) fresh ones are asked for.
    - Of a round of the coupled search, a trajectory carries its best and its current program
      over, not its table, and begins at the best.
    - Programs are stored without comments, so that none need be removed.

    Parameters
    ----------
    kind
        ``vns``, ``ils`` or ``ts``.
    ratio
        Which share of the lines is ruined at first, in (0, 1].
    initial_temperature
        At which annealing begins, above 0.
    trajectories
        How many, at least 1.
    """

    def __init__(
        self,
        kind: str = "vns",
        ratio: float = 0.1,
        initial_temperature: float = 0.1,
        trajectories: int = 1,
    ) -> None:
        check_choice("method.policy.kind", kind, KINDS)
        check_range("method.policy.ratio", ratio, 0.001, 1)
        check_range("method.policy.initial_temperature", initial_temperature, 1e-9, 1e9)
        check_integer("method.policy.trajectories", trajectories, 1)
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
        """Let the trajectory that is behind the others go on; wait while all are under way."""
        busy = list(self._under_way.values())
        waiting = [one for one in self.trajectories if one not in busy]
        if not waiting:
            return None
        trajectory = min(waiting, key=lambda one: one.steps)
        self._under_way[index] = trajectory
        return self._step(trajectory, rng)

    def _step(self, trajectory: Trajectory, rng: np.random.Generator) -> Query:
        """Return a trajectory's next query, by its kind and its state."""
        current, best = trajectory.current, trajectory.best
        if current is None or best is None:
            return Query(INITIAL)
        if self._kind != "vns" and trajectory.stagnant >= PATIENCE:
            if self._kind == "ils":
                return Query(MODIFY, (best,))
            donors = [
                entry
                for entry in trajectory.table
                # One that only lost lines has none to give.
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
            # The first step is that at the full temperature.
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
        """Ruin more next time, and all again from little once everything was ruined."""
        if self._kind == "vns":
            more = round(trajectory.ratio + STEP, 9)
            trajectory.ratio = min(more, 1.0) if trajectory.ratio < 1.0 else self._ratio


def acceptance(current: float, new: float, temperature: float) -> float:
    """Return the probability of going on with a program that costs no less than the current one.

    Parameters
    ----------
    current, new
        Their costs, smaller is better; the loss is relative to the current one's.
    temperature
        At 0 no loss is accepted.
    """
    loss = (new - current) / max(abs(current), 1e-10)
    return math.exp(-loss / max(temperature, 1e-300))


def ruined(source: str, ratio: float, rng: np.random.Generator) -> tuple[str, int]:
    """Delete lines of a program, drawn with replacement: ``ratio`` of those below its head.

    Returns
    -------
    str
        What is left, no valid program as a rule.
    int
        How many lines were deleted.
    """
    lines = source.splitlines()
    places = [place for place, line in enumerate(lines) if line.strip() and not _head(line)]
    draws = math.ceil(round(ratio * len(places), 9))
    gone = set(rng.choice(places, size=draws).tolist()) if places else set()
    kept = [line for place, line in enumerate(lines) if place not in gone]
    return "\n".join(kept) + "\n", len(gone)


def inserted(source: str, lines: Sequence[str]) -> str:
    """Put lines into a program, before its last one."""
    own = source.rstrip("\n").split("\n")
    return "\n".join([*own[:-1], *lines, own[-1]]) + "\n"


def _head(line: str) -> bool:
    return line.startswith("def ")


def _new_lines(child: Parent, parents: Sequence[Parent]) -> tuple[str, ...]:
    """Return the lines of a program that the one it was made of has not."""
    known = set(parents[0].program.source.splitlines()) if parents else set()
    lines = child.program.source.splitlines()
    return tuple(line for line in lines if line not in known and not _head(line))


def _enter(
    table: list[tuple[Parent, tuple[str, ...]]], child: Parent, lines: tuple[str, ...]
) -> None:
    """Keep the best programs of different scores, in place of the worst if there is no room."""
    if child.score in [parent.score for parent, _ in table]:
        return
    if len(table) < TABLE:
        table.append((child, lines))
        return
    worst = min(range(len(table)), key=lambda place: table[place][0].score)
    if child.score > table[worst][0].score:
        table[worst] = (child, lines)
