"""The programs of a run: those of its checkpoint, and all of them as a family."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf
from pathlib import Path

import numpy as np
from msgspec import Struct, structs

from specahd.checkpoint.manifest import read_manifest, read_source
from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.program import Level, Outcome
from specahd.repair.repertoire import objective
from specahd.repair.responses import Response
from specahd.runs.configuration import RunConfiguration
from specahd.runs.files import CHECKPOINT, JOURNAL, REPLIES, TIMINGS
from specahd.runs.reading import read_measurements
from specahd.runs.records import Measured, Round, Sample, Timing, journal_type


@dataclass(frozen=True, slots=True)
class Frozen:
    """One program of a checkpoint.

    Parameters
    ----------
    role
        ``upper``, or ``upper 1 of 2`` and ``lower 1 of 3``: its place, in greedy order.
    score
        Score that chose it in the checkpoint's round: the mean U − λΩ of an upper program, of
        several the increase over the ones before; the increase of J by a lower program. None if
        unknown, for example for a program that no search of the run chose.
    """

    id: str
    role: str
    score: float | None
    idea: str
    source: str


def read_frozen_programs(directory: Path) -> list[Frozen]:
    """Return the programs of a run's checkpoint, the upper one first.

    The list is empty if there is no checkpoint or it is invalid. The reason is not reported here,
    because loading the checkpoint reports it.
    """
    folder = directory / CHECKPOINT
    try:
        manifest = read_manifest(folder)
        uppers, lower = manifest.turns, manifest.repertoire
        roles = [
            *(_places("upper", uppers) if len(uppers) > 1 else ["upper"]),
            *_places("lower", lower),
        ]
        chosen = _find_round(directory, *([each.id for each in level] for level in (uppers, lower)))
        scores: dict[str, float | None] = {}
        if chosen:
            known = {
                record.program: record
                for record in read_measurements(directory)
                if record.round == chosen.round
            }
            scores = {uppers[0].id: chosen.utility, **_repertoire_gains(directory, chosen, known)}
            scores |= _marginal_utilities(chosen, known)
        return [
            Frozen(each.id, role, scores.get(each.id), each.idea, read_source(folder, each.id))
            for each, role in zip(manifest.programs, roles, strict=True)
        ]
    except (FileError, ValueError):
        return []


def _places(level: str, programs: Sequence[object]) -> list[str]:
    return [f"{level} {place} of {len(programs)}" for place in range(1, len(programs) + 1)]


def _find_round(directory: Path, uppers: list[str], repertoire: list[str]) -> Round | None:
    """Return the record of the round that the checkpoint comes from: the first of the best."""
    rounds = [
        record
        for record in journal.read_records(directory / JOURNAL, journal_type)
        if isinstance(record, Round) and (record.chosen, record.repertoire) == (uppers, repertoire)
    ]

    def rank(record: Round) -> tuple[int, float]:
        return -record.selection_failed, -inf if record.selection is None else record.selection

    return max(rounds, key=rank, default=None)


def _marginal_utilities(chosen: Round, known: Mapping[str, Measured]) -> dict[str, float]:
    rows = {name: row for name, row in known.items() if name in chosen.uppers}
    measured = {name for name, row in rows.items() if row.utilities}
    if not chosen.uppers or measured != set(chosen.uppers):
        return {}
    added, envelope = {}, np.zeros(len(rows[chosen.upper].utilities))
    for program in chosen.uppers:
        best = np.maximum(envelope, rows[program].utilities)
        added[program] = float((best - envelope).mean() - np.mean(rows[program].penalties))
        envelope = best
    return added


def _repertoire_gains(
    directory: Path, chosen: Round, known: Mapping[str, Measured]
) -> dict[str, float]:
    """Return the increase of J by each program of a round's repertoire; empty if not known."""
    repertoire = chosen.repertoire
    search = RunConfiguration.read(directory).search
    rows = {name: _responses(record) for name, record in known.items() if name in repertoire}
    lengths = {len(row) for row in rows.values()}
    if rows.keys() != set(repertoire) or len(lengths) != 1 or 0 in lengths:
        return {}
    scores = np.array([rows[program] for program in repertoire])
    values = [
        objective(scores, range(count), beta=search.beta, budget=search.repertoire_size)
        for count in range(len(repertoire) + 1)
    ]
    return dict(zip(repertoire, (b - a for a, b in pairwise(values)), strict=True))


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


class Member(Sample, frozen=True, kw_only=True):
    """One program of a run: its record in the journal, and what other files add.

    Parameters
    ----------
    operator, parents, detail, score, idea, source, reply
        As in the journal; records of earlier versions lack them.
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

    operator: str = ""
    parents: tuple[str, ...] = ()
    detail: str = ""
    score: float | None = None
    idea: str | None = None
    source: str | None = None
    reply: str = ""
    ticket: int = 0
    gain: float | None = None
    generation: int = 0
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
                found[parent].append(member.sample)
        return found


def read_family(directory: Path) -> Family:
    """Read the programs of a run, which may still be in progress.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    journaled = journal.read_records(directory / JOURNAL, lambda each: journal_type(each, Member))
    records = list(journaled)
    samples = [record for record in records if isinstance(record, Member)]
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
        members[each.sample] = structs.replace(
            each,
            ticket=ticket,
            gain=_gain(each, measured),
            generation=1 + max((members[name].generation for name in each.parents), default=0),
            tokens=reply.tokens if reply else 0,
            cost=reply.cost if reply else 0.0,
            seconds=timing.commit if timing else None,
            role=frozen[each.sample].role if each.sample in frozen else "",
        )
    return Family(members, rounds, [each for name, each in replies.items() if name not in known])


def _founder(name: str, frozen: Frozen | None) -> Member:
    """Return a program that the search began with; its source, if known, is the checkpoint's."""
    level = Level.UPPER if name.startswith(Level.UPPER) else Level.LOWER
    founder = Member(sample=name, level=level, round=0, outcome=Outcome.OK, best=None)
    if frozen is None:
        return founder
    return structs.replace(founder, idea=frozen.idea, source=frozen.source, role=frozen.role)


def _mean_scores(directory: Path) -> dict[tuple[int, str], float]:
    """Return the mean score, or the mean of U − λΩ, by round and program."""
    found = {}
    for record in read_measurements(directory):
        if record.utilities:
            scores = [a - b for a, b in zip(record.utilities, record.penalties, strict=True)]
        else:
            scores = _responses(record)
        if scores:
            found[record.round, record.program] = fsum(scores) / len(scores)
    return found


def _responses(record: Measured) -> list[float]:
    return [
        Response(outcome, before, merged).score
        for outcome, before, merged in zip(
            record.outcomes or (), record.cost_before, record.cost_merged, strict=True
        )
    ]


def _gain(sample: Member, measured: Mapping[tuple[int, str], float]) -> float | None:
    own = measured.get((sample.round, sample.sample))
    origins = sample.parents or [f"{sample.level}-seed"]
    before = [measured[sample.round, name] for name in origins if (sample.round, name) in measured]
    return None if own is None or not before else own - max(before)
