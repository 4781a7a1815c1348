"""The programs that a run froze into its checkpoint: their roles, and what chose each."""

from collections.abc import Mapping
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
    "repertoire": [NAME],
    "utility": float | None,
    "selection": float | None,
    "selection_failed": int,
}
_UNMEASURED = {"utility": None, "selection": None, "selection_failed": 0}
"""What the record of a round leaves out."""
_SEARCH: Shape = {"search": {"beta": float, "repertoire_size": int}}
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
        ``upper``, or ``lower 1 of 3``: its place in the repertoire, in greedy order.
    score
        What chose it in the round that the checkpoint is of: an upper program's mean
        U − λΩ, by how much a lower program increased J. None if that is not known, as
        of a program that no search of the run chose.
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
        upper, lower = manifest["upper"], manifest["repertoire"]
        roles = ["upper", *(f"lower {place} of {len(lower)}" for place in range(1, len(lower) + 1))]
        chosen = _round(directory, upper["id"], [program["id"] for program in lower])
        scores = {upper["id"]: chosen["utility"], **_gains(directory, chosen)} if chosen else {}
        return [
            Frozen(program["id"], role, scores.get(program["id"]), program["idea"], text.decode())
            for program, role in zip([upper, *lower], roles, strict=True)
            for text in [content(folder / "programs" / f"{program['id']}.py", _LIMIT)]
        ]
    except (FileError, ValueError):
        return []


def _round(directory: Path, upper: str, repertoire: list[str]) -> Record | None:
    """Return the record of the round that a checkpoint is of: of equal ones, the first best."""
    records = ({**_UNMEASURED, **record} for record in journal.read(directory / JOURNAL))
    rounds = [
        record
        for record in records
        if record.get("record") == "round"
        and misfit(record, _ROUND) is None
        and (record["upper"], record["repertoire"]) == (upper, repertoire)
    ]

    def rank(record: Record) -> tuple[int, float]:
        selection = record["selection"]
        return -record["selection_failed"], -inf if selection is None else selection

    return max(rounds, key=rank, default=None)


def _gains(directory: Path, chosen: Record) -> dict[str, float]:
    """Return by how much each program of a round's repertoire increased J, as far as is known."""
    # NumPy takes a while to import, and only who ends a run needs it.
    import numpy as np

    from specahd.repair.repertoire import objective
    from specahd.repair.responses import Response

    repertoire = chosen["repertoire"]
    search = read_configuration(directory / CONFIG, _SEARCH)["search"]
    rows: dict[str, list[float]] = {}
    for record in journal.read(directory / RESPONSES):
        program = str(record.get("sample", record.get("carried")))
        ours = program in repertoire and record.get("round") == chosen["round"]
        if ours and misfit(record, _RESPONSES) is None:
            columns = (record[name] for name in _RESPONSES)
            rows[program] = [
                Response(Outcome(outcome), before, merged).score
                for outcome, before, merged in zip(*columns, strict=True)
            ]
    lengths = {len(row) for row in rows.values()}
    if rows.keys() != set(repertoire) or len(lengths) != 1 or 0 in lengths:
        return {}
    scores = np.array([rows[program] for program in repertoire])
    values = [
        objective(scores, range(count), beta=search["beta"], budget=search["repertoire_size"])
        for count in range(len(repertoire) + 1)
    ]
    return dict(zip(repertoire, (b - a for a, b in pairwise(values)), strict=True))
