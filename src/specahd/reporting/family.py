"""The programs of a run as a family: parents, operators and gains."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path

from msgspec import Struct

from specahd.core import journal
from specahd.core.program import Level, Outcome
from specahd.repair.responses import Response
from specahd.reporting.frozen import Frozen, read_frozen_programs
from specahd.runs.files import JOURNAL, REPLIES, TIMINGS
from specahd.runs.reading import read_measurements
from specahd.runs.records import Round, Sample, Timing, journal_type


class _Program(Sample, frozen=True, kw_only=True):
    """A program in the journal; earlier versions lack the fields with a default."""

    operator: str = ""
    parents: tuple[str, ...] = ()
    detail: str = ""
    score: float | None = None
    idea: str | None = None
    source: str | None = None
    reply: str = ""


class Reply(Struct, frozen=True):
    """Tokens and cost of a request."""

    sample: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Number of tokens of the prompt and the reply together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Member:
    """One program of a run.

    Parameters
    ----------
    ticket
        Its number among all requested programs, from 1; 0 if the search began with it.
    gain
        Its mean score minus that of its best parent (without parents: of the seed program), both as
        measured in the round of the program. None if either was not measured there.
    generation
        The length of the longest line of ancestors.
    tokens, cost, seconds
        Use of its request; the seconds end when the program was committed.
    role
        Its role in the checkpoint; empty if the checkpoint does not contain it.
    """

    id: str
    level: Level
    round: int = 0
    ticket: int = 0
    operator: str = ""
    outcome: Outcome = Outcome.OK
    detail: str = ""
    parents: Sequence[str] = ()
    score: float | None = None
    best: float | None = None
    gain: float | None = None
    generation: int = 0
    idea: str = ""
    source: str = ""
    reply: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """All programs of a run, in order of their tickets, and its rounds."""

    members: Mapping[str, Member]
    rounds: Sequence[Round]
    auxiliary: Sequence[Reply] = ()

    def of(self, level: Level) -> list[Member]:
        """Return the programs of a level."""
        return [member for member in self.members.values() if member.level is level]

    def requested(self) -> list[Member]:
        """Return the programs that were asked for, in order of their tickets."""
        return [member for member in self.members.values() if member.ticket]

    def children(self) -> Mapping[str, list[str]]:
        """Return the children of each program that has any."""
        found = defaultdict(list)
        for member in self.members.values():
            for parent in dict.fromkeys(member.parents):
                found[parent].append(member.id)
        return found


def read_family(directory: Path) -> Family:
    """Read the programs of a run, which may still be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    journaled = journal.read_records(directory / JOURNAL, lambda each: journal_type(each, _Program))
    records = list(journaled)
    samples = [record for record in records if isinstance(record, _Program)]
    rounds = [record for record in records if isinstance(record, Round)]
    replies = {each.sample: each for each in journal.read_records(directory / REPLIES, Reply)}
    timings = {each.sample: each for each in journal.read_records(directory / TIMINGS, Timing)}
    measured = _mean_scores(directory)
    frozen = {program.id: program for program in read_frozen_programs(directory)}
    members: dict[str, Member] = {}
    known = {each.sample for each in samples}
    for name in dict.fromkeys(
        [*(name for _, name in measured), *(parent for each in samples for parent in each.parents)]
    ):
        if name not in known:
            members[name] = _founder(name, frozen.get(name))
    for ticket, each in enumerate(samples, 1):
        reply, timing = replies.get(each.sample), timings.get(each.sample)
        members[each.sample] = Member(
            id=each.sample,
            level=each.level,
            round=each.round,
            ticket=ticket,
            operator=each.operator,
            outcome=each.outcome,
            detail=each.detail,
            parents=each.parents,
            score=each.score,
            best=each.best,
            gain=_gain(each, measured),
            generation=1 + max((members[name].generation for name in each.parents), default=0),
            idea=each.idea or "",
            source=each.source or "",
            reply=each.reply,
            tokens=reply.tokens if reply else 0,
            cost=reply.cost if reply else 0.0,
            seconds=timing.commit if timing else None,
            role=frozen[each.sample].role if each.sample in frozen else "",
        )
    return Family(members, rounds, [each for name, each in replies.items() if name not in known])


def _founder(name: str, frozen: Frozen | None) -> Member:
    """Return a program that the search began with; its source, if known, is the checkpoint's."""
    level = Level.UPPER if name.startswith(Level.UPPER) else Level.LOWER
    if frozen is None:
        return Member(name, level)
    return Member(name, level, idea=frozen.idea, source=frozen.source, role=frozen.role)


def _mean_scores(directory: Path) -> dict[tuple[int, str], float]:
    """Return the mean score, or the mean of U − λΩ, by round and program."""
    found = {}
    for record in read_measurements(directory):
        if record.utilities:
            scores = [a - b for a, b in zip(record.utilities, record.penalties, strict=True)]
        else:
            scores = [
                Response(outcome, before, merged).score
                for outcome, before, merged in zip(
                    record.outcomes or (), record.cost_before, record.cost_merged, strict=True
                )
            ]
        if scores:
            found[record.round, record.program] = fsum(scores) / len(scores)
    return found


def _gain(sample: _Program, measured: Mapping[tuple[int, str], float]) -> float | None:
    own = measured.get((sample.round, sample.sample))
    origins = sample.parents or [f"{sample.level}-seed"]
    before = [measured[sample.round, name] for name in origins if (sample.round, name) in measured]
    return None if own is None or not before else own - max(before)


def outcome_counts(family: Family) -> Counter[Outcome]:
    """Count the outcomes of the requested programs."""
    return Counter(member.outcome for member in family.requested())
