"""The programs of a run's checkpoint: their roles, and the scores that chose them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path

from msgspec import Struct

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.plain import parse_json, read_bytes
from specahd.repair.checksums import MANIFEST
from specahd.repair.manifest import Manifest
from specahd.runs.configuration import read_configuration
from specahd.runs.files import CHECKPOINT, CONFIG, JOURNAL
from specahd.runs.reading import read_measurements
from specahd.runs.records import Measured, Round, journal_type

_LIMIT = 4 << 20


class _Scale(Struct):
    """The parameters β and q of J."""

    beta: float
    repertoire_size: int


class _Configuration(Struct):
    search: _Scale


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
        manifest: Manifest = parse_json(read_bytes(folder / MANIFEST, _LIMIT), Manifest)
        uppers, lower = manifest.turns, manifest.repertoire
        roles = [
            *(_places("upper", uppers) if len(uppers) > 1 else ["upper"]),
            *_places("lower", lower),
        ]
        chosen = _find_round(directory, *([each.id for each in level] for level in (uppers, lower)))
        scores: dict[str, float | None] = {}
        if chosen:
            known = _read_round(directory, chosen)
            scores = {uppers[0].id: chosen.utility, **_repertoire_gains(directory, chosen, known)}
            scores |= _marginal_utilities(chosen, known)
        return [
            Frozen(program.id, role, scores.get(program.id), program.idea, text.decode())
            for program, role in zip(manifest.programs, roles, strict=True)
            for text in [read_bytes(folder / "programs" / f"{program.id}.py", _LIMIT)]
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
    """Return the marginal utility of each upper program of a round."""
    import numpy as np

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


def _read_round(directory: Path, chosen: Round) -> dict[str, Measured]:
    """Read the measurements of a round's programs."""
    return {
        record.program: record
        for record in read_measurements(directory)
        if record.round == chosen.round
    }


def _repertoire_gains(
    directory: Path, chosen: Round, known: Mapping[str, Measured]
) -> dict[str, float]:
    """Return the known increase of J by each program of a round's repertoire."""
    # Imported here, because importing NumPy is slow and only a finished run needs it.
    import numpy as np

    from specahd.repair.repertoire import objective
    from specahd.repair.responses import Response

    repertoire = chosen.repertoire
    search = read_configuration(directory / CONFIG, _Configuration)["search"]
    rows = {
        program: [
            Response(outcome, before, merged).score
            for outcome, before, merged in zip(
                record.outcomes or (), record.cost_before, record.cost_merged, strict=True
            )
        ]
        for program, record in known.items()
        if program in repertoire
    }
    lengths = {len(row) for row in rows.values()}
    if rows.keys() != set(repertoire) or len(lengths) != 1 or 0 in lengths:
        return {}
    scores = np.array([rows[program] for program in repertoire])
    values = [
        objective(scores, range(count), beta=search["beta"], budget=search["repertoire_size"])
        for count in range(len(repertoire) + 1)
    ]
    return dict(zip(repertoire, (b - a for a, b in pairwise(values)), strict=True))
