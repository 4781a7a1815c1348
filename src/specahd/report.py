"""``python -m specahd.report``: one summary of stored runs, in Markdown and in HTML.

The report's directory (``hydra.run.dir``) receives ``report.md``, ``report.html`` (which
needs no other file), ``report.tex`` and ``tables/*.csv`` (the tables alone), figures (SVG and
PNG), ``convergence/*.csv`` and ``metrics/*.json``, and in ``pages`` two pages on each run that
counts: the lineage of its programs, and the course of its search. Equal rows give equal bytes. If
the runs have several methods or settings, the report begins with a comparison: which is better, by
how much, the seconds, and the solvers of ``references``. ``methods.md`` holds that part alone, and
``rows.parquet`` the rows that it stands on, from which ``rows=FILE`` makes it again.
``sets`` adds evaluations of public sets. ``audit=RUN`` writes nothing: it repeats a run and checks
that its results follow from its files. A report needs no language model and runs no search.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command, run_directory, searchpath_words
from specahd.config.process import write_lines
from specahd.config.reconstruction import command_of
from specahd.config.targets import check_targets
from specahd.core.errors import FileError
from specahd.core.folders import atomic_folder, write_atomically
from specahd.evaluation.files import STUDY
from specahd.reporting.aggregates import apply_labels, read_labels
from specahd.reporting.collected import ROWS, Collected, collect, read_table, write_table
from specahd.reporting.document import Document, Section
from specahd.reporting.methods import comparison_tables, is_comparison
from specahd.reporting.named import named_sections
from specahd.reporting.pages import PAGES, programs_section, write_pages
from specahd.reporting.studies import ablation_section, routing_section
from specahd.reporting.summary import Summary, summarise
from specahd.runs.audit import audit
from specahd.runs.files import CHECKPOINT
from specahd.runs.reading import choose_runs, name_passed_over, read_runs
from specahd.tracking.reports import log_report
from specahd.tracking.store import Store

METHODS = "methods.md"


def report(config: DictConfig) -> None:
    """Read the runs, write their report, and log it to MLflow."""
    check_targets(config)
    if config.audit is not None:
        with suppress(OSError):
            # Hydra creates the directory, and an audit writes nothing there.
            run_directory().rmdir()
        write_lines(audit(Path(config.audit), searchpath_words()))
        return
    directory = run_directory()
    if config.rows is not None:
        collected = read_table(Path(config.rows))
        document = _compared(config, collected, directory)
        if document is None:
            raise FileError(f"{config.rows} has rows of one setting; a comparison needs two.")
        _write(Summary(document, {}, {}), directory)
        write_lines(f"{len(collected.runs)} runs of {config.rows}: {directory / 'report.html'}")
        return
    folder = Path(config.runs)
    evaluations, references = (
        Path(place) if place else None for place in (config.evaluations, config.references)
    )
    runs = read_runs(folder, evaluations)
    passed_over = name_passed_over(folder, runs)
    public_sets = list(named_sections(Path(config.sets) if config.sets else None))
    labels = read_labels(Path(config.labels)) if config.labels else []
    runs, renamed = apply_labels(runs, labels)
    collected = collect(folder, runs, evaluations, references, command_of)
    ablations = ablation_section(runs, collected.seconds)
    # A report of one setting has no times, so that equal rows give equal bytes.
    timed = ablations is not None or is_comparison(runs)
    summary = summarise(runs, passed_over, collected.seconds if timed else {})
    compared = _compared(config, collected, directory)
    before: Sequence[Section] = compared.sections if compared else ()
    chosen = choose_runs(runs)
    routing, programs = routing_section(_studies(config)), programs_section(folder, chosen)
    after = [*public_sets, ablations, routing, programs, renamed]
    sections = [*before, *summary.document.sections, *filter(None, after)]
    summary = replace(summary, document=replace(summary.document, sections=sections))
    write_pages(folder, chosen, directory / PAGES)
    _write(summary, directory)
    write_lines(f"{len(runs)} runs of {folder}: {directory / 'report.html'}")
    uri = config.tracking.get("uri")
    if uri is not None:
        store = Store(uri, Path(config.tracking.artifacts), config.tracking.experiment)
        checkpoints = [folder / run.name / CHECKPOINT for run in runs]
        sys.stderr.write(log_report(store, Path.cwd(), directory, checkpoints))


def _compared(config: DictConfig, collected: Collected, directory: Path) -> Document | None:
    """Compare the runs if they are of several kinds, and write the rows that this stands on."""
    if not is_comparison(collected.runs):
        for name in (METHODS, ROWS):
            (directory / name).unlink(missing_ok=True)
        return None
    document = comparison_tables(
        collected.runs,
        collected.seconds,
        collected.references,
        collected.spending,
        collected.baseline_seconds,
        pairs=config.pairs,
    )
    write_atomically(directory / METHODS, document.markdown())
    write_table(collected, directory / ROWS)
    return document


def _studies(config: DictConfig) -> dict[str, Path]:
    if config.evaluations is None:
        return {}
    place = Path(config.evaluations)
    found = sorted(place.rglob(STUDY))
    return {path.parent.relative_to(place).as_posix(): path for path in found}


def _write(summary: Summary, directory: Path) -> None:
    for name, text in (
        ("report.md", summary.document.markdown()),
        ("report.html", summary.document.html()),
        ("report.tex", summary.document.latex()),
    ):
        write_atomically(directory / name, text)
    for figure in summary.document.figures():
        figure.write(directory)
    tables = {table.name: table.csv() for table in summary.document.tables()}
    for folder, ending, texts in (
        ("tables", "csv", tables),
        ("convergence", "csv", summary.curves),
        ("metrics", "json", summary.metrics),
    ):
        with atomic_folder(directory / folder) as staging:
            for name, text in texts.items():
                (staging / f"{name}.{ending}").write_text(text, encoding="utf-8")


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(report, "report", extra="plot")


if __name__ == "__main__":
    sys.exit(main())
