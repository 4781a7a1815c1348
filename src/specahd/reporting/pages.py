"""The part of a report on single runs: links to their pages, and their checkpoints' programs."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from specahd.core.folders import atomic_folder
from specahd.reporting import lineage, progress
from specahd.reporting.aggregates import group_by_kind
from specahd.reporting.document import Code, Figure, Links, Part, Section
from specahd.reporting.frozen import read_frozen_programs
from specahd.reporting.maps import route_map
from specahd.reporting.raster import rasterise
from specahd.runs.reading import Run
from specahd.runs.rows import average_rows

PAGES = "pages"
"""Name of the folder of pages, beside the report."""
_MAKERS = {lineage.PAGE: lineage.lineage_page, progress.PAGE: progress.search_page}


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
        svg, caption = route_map(folder / run.name)
        if svg:
            parts.append(
                Figure(f"routes-{name}.svg", f"{run.name}: {caption}", svg, rasterise(svg))
            )
        for program in read_frozen_programs(folder / run.name):
            score = "" if program.score is None else f", score {program.score:.4g}"
            idea = f": {program.idea}" if program.idea else ""
            parts.append(
                Code(f"{run.name}, {program.role}, {program.id}{score}{idea}", program.source)
            )
    return Section("Runs and programs", parts)


def _rank(run: Run) -> tuple[bool, float]:
    improvement = average_rows(run.selection).improvement
    return run.complete, improvement if isfinite(improvement) else -1.0


def _file(run: Run, page: str) -> str:
    return f"{run.name.replace('/', '_')}-{page}"
