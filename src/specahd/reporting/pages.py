"""The part of a report on single runs: links to their pages, and their checkpoints' programs."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from specahd.core import journal
from specahd.core.folders import atomic_folder
from specahd.reporting import lineage, progress
from specahd.reporting.aggregates import group_by_kind
from specahd.reporting.document import Code, Figure, Links, Part, Section
from specahd.reporting.figures import OUTLINES, draw_routes, render
from specahd.reporting.frozen import read_frozen_programs
from specahd.runs.files import ROUTES, rows_file
from specahd.runs.reading import Run
from specahd.runs.records import Routes
from specahd.runs.rows import average_rows

PAGES = "pages"
"""Name of the folder of pages, beside the report."""
_MAKERS = {lineage.PAGE: lineage.lineage_page, progress.PAGE: progress.search_page}


class _Step(Struct):
    nodes: list[int] = []
    accepted: bool = False


class _Row(Struct):
    instance: str
    steps: list[_Step]


def read_routes(directory: Path) -> tuple[dict[str, Any], list[list[int]]] | None:
    """Return the instance that a run stored, as ``draw_routes`` takes it, and its regions.

    The regions are those whose rebuilding was accepted. None if there is nothing to draw: nodes
    have to be points of a plane, numbered from 0, unlike in some own problems.

    Raises
    ------
    FileError
        A file is not what a run writes.
    """
    drawn = next(journal.read_records(directory / ROUTES, Routes), None)
    if drawn is None:
        return None
    known = range(len(drawn.coords))
    nodes = [node for route in (*drawn.before, *drawn.after) for node in route]
    if not nodes or any(len(each) != 2 for each in drawn.coords) or not set(nodes) <= set(known):
        return None
    rows = journal.read_records(directory / rows_file("validation"), _Row)
    steps: list[_Step] = next((row.steps for row in rows if row.instance == drawn.instance), [])
    regions = [[node for node in step.nodes if node in known] for step in steps if step.accepted]
    return structs.asdict(drawn), regions


def write_pages(folder: Path, runs: Sequence[Run], place: Path) -> None:
    """Write both pages of each run, and remove the pages of an earlier report.

    Raises
    ------
    FileError
        A run's file is not what a run writes.
    """
    with atomic_folder(place) as staging:
        for run in runs:
            for name, make in _MAKERS.items():
                path = staging / _file(run, name)
                path.write_text(make(folder / run.name, run.name), encoding="utf-8")


def programs_section(folder: Path, runs: Sequence[Run]) -> Section:
    """Return a section of links to the pages of runs, and sources of their frozen programs."""
    links = [
        (f"{PAGES}/{_file(run, name)}", f"{run.name}: {Path(name).stem}")
        for run in runs
        for name in _MAKERS
    ]
    parts: list[Part] = [
        "Of each run that counts, the lineage of all its programs (source, idea, parents and what "
        "changed) and the course of its search; below, of each kind the programs of the "
        "checkpoint that is best on selection.",
        Links(links),
    ]
    for name, group in group_by_kind(runs).items():
        run = max(group, key=_rank)
        if drawn := read_routes(folder / run.name):
            caption = f"{run.name}: {_caption(*drawn)}"
            parts.append(Figure(f"routes-{name}.svg", caption, *render(draw_routes, *drawn)))
        for program in read_frozen_programs(folder / run.name):
            score = "" if program.score is None else f", score {program.score:.4g}"
            idea = f": {program.idea}" if program.idea else ""
            parts.append(
                Code(f"{run.name}, {program.role}, {program.id}{score}{idea}", program.source)
            )
    return Section("Runs and programs", parts)


def _caption(drawn: dict[str, Any], regions: Sequence[Sequence[int]]) -> str:
    return (
        f"{drawn['instance']}, of validation: in colour the edges that only one of both solutions "
        f"has; dashed the outlines of the regions whose rebuilding was accepted ({len(regions)}"
        + (f", the first {OUTLINES} are drawn)." if len(regions) > OUTLINES else ").")
    )


def _rank(run: Run) -> tuple[bool, float]:
    improvement = average_rows(run.selection).improvement
    return run.complete, improvement if isfinite(improvement) else -1.0


def _file(run: Run, page: str) -> str:
    return f"{run.name.replace('/', '_')}-{page}"
