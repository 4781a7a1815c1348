"""The programs that a run froze into its checkpoint: their roles, and what chose each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.journal import Record
from specahd.core.plain import NAME, Shape, content, misfit, parse_json
from specahd.core.program import Outcome
from specahd.runs.configuration import read_configuration
from specahd.runs.files import CHECKPOINT, CONFIG, JOURNAL, RESPONSES

_LIMIT = 4 << 20
_PROGRAM: Shape = {"id": NAME, "idea": str}
_MANIFEST: Shape = {"upper": _PROGRAM, "repertoire": [_PROGRAM]}
_ROUND: Shape = {
    "round": int,
    "upper": NAME,
    "uppers": ([NAME], None),
    "repertoire": [NAME],
    "utility": float | None,
    "selection": float | None,
    "selection_failed": int,
}
_UNMEASURED = {"utility": None, "selection": None, "selection_failed": 0, "uppers": None}
"""What the record of a round leaves out."""
_SEARCH: Shape = {"search": {"beta": float, "repertoire_size": int}}
_UTILITIES: Mapping[str, Shape] = {"utilities": [float], "penalties": [float]}
_RESPONSES: Mapping[str, Shape] = {
    "outcomes": [Outcome],
    "cost_before": [float],
    "cost_merged": [float | None],
}


@dataclass(frozen=True, slots=True)
class Frozen:
    """One program of a checkpoint.

    Parameters
    ----------
    role
        ``upper``, or ``upper 1 of 2`` and ``lower 1 of 3``: its place, in greedy order.
    score
        What chose it in the round that the checkpoint is of: an upper program's mean
        U − λΩ, of several what it added to those before, by how much a lower program increased
        J. None if that is not known, as of a program that no search of the run chose.
    """

    id: str
    role: str
    score: float | None
    idea: str
    source: str


def read_frozen(directory: Path) -> list[Frozen]:
    """Return the programs of a run's checkpoint, the upper one first.

    There are none if there is no checkpoint, or what is there is not one: whoever loads it
    is told why.
    """
    folder = directory / CHECKPOINT
    try:
        manifest = parse_json(content(folder / "manifest.json", _LIMIT))
        if misfit(manifest, _MANIFEST) is not None:
            return []
        uppers, lower = manifest.get("uppers", [manifest["upper"]]), manifest["repertoire"]
        if misfit(uppers, [_PROGRAM]) is not None:
            return []
        roles = [
            *(_places("upper", uppers) if len(uppers) > 1 else ["upper"]),
            *_places("lower", lower),
        ]
        chosen = _round(directory, *([each["id"] for each in level] for level in (uppers, lower)))
        scores: dict[str, float] = {}
        if chosen:
            scores = {uppers[0]["id"]: chosen["utility"], **_gains(directory, chosen)}
            scores |= _added(directory, chosen)
        return [
            Frozen(program["id"], role, scores.get(program["id"]), program["idea"], text.decode())
            for program, role in zip([*uppers, *lower], roles, strict=True)
            for text in [content(folder / "programs" / f"{program['id']}.py", _LIMIT)]
        ]
    except (FileError, ValueError):
        return []


def _places(level: str, programs: Sequence[object]) -> list[str]:
    return [f"{level} {place} of {len(programs)}" for place in range(1, len(programs) + 1)]


def _round(directory: Path, uppers: list[str], repertoire: list[str]) -> Record | None:
    """Return the record of the round that a checkpoint is of: of equal ones, the first best."""
    records = ({**_UNMEASURED, **record} for record in journal.read(directory / JOURNAL))
    rounds = [
        record
        for record in records
        if record.get("record") == "round"
        and misfit(record, _ROUND) is None
        and (record["uppers"] or [record["upper"]], record["repertoire"]) == (uppers, repertoire)
    ]

    def rank(record: Record) -> tuple[int, float]:
        selection = record["selection"]
        return -record["selection_failed"], -inf if selection is None else selection

    return max(rounds, key=rank, default=None)


def _added(directory: Path, chosen: Record) -> dict[str, float]:
    """Return what each of several upper programs of a round added to those before it."""
    import numpy as np

    uppers = chosen["uppers"] or []
    rows = _measured(directory, chosen, uppers, _UTILITIES)
    if not uppers or rows.keys() != set(uppers):
        return {}
    added, envelope = {}, np.zeros(len(rows[uppers[0]]["utilities"]))
    for program in uppers:
        best = np.maximum(envelope, rows[program]["utilities"])
        added[program] = float((best - envelope).mean() - np.mean(rows[program]["penalties"]))
        envelope = best
    return added


def _measured(
    directory: Path, chosen: Record, programs: Sequence[str], shape: Shape
) -> dict[str, Record]:
    """Return what was measured of programs in a round, as far as it is of a shape."""
    found: dict[str, Record] = {}
    for record in journal.read(directory / RESPONSES):
        program = str(record.get("sample", record.get("carried")))
        ours = program in programs and record.get("round") == chosen["round"]
        if ours and misfit(record, shape) is None:
            found[program] = record
    return found


def _gains(directory: Path, chosen: Record) -> dict[str, float]:
    """Return by how much each program of a round's repertoire increased J, as far as is known."""
    # NumPy takes a while to import, and only who ends a run needs it.
    import numpy as np

    from specahd.repair.repertoire import objective
    from specahd.repair.responses import Response

    repertoire = chosen["repertoire"]
    search = read_configuration(directory / CONFIG, _SEARCH)["search"]
    rows = {
        program: [
            Response(Outcome(outcome), before, merged).score
            for outcome, before, merged in zip(*(record[name] for name in _RESPONSES), strict=True)
        ]
        for program, record in _measured(directory, chosen, repertoire, _RESPONSES).items()
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
