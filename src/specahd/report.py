"""``python -m specahd.report``: one summary of stored runs, in Markdown and in HTML.

The report's directory (``hydra.run.dir``) receives ``report.md``, ``report.html`` (which
needs no other file), ``report.tex`` and ``tables/*.csv`` (the tables alone), figures (SVG and
PNG), ``convergence/*.csv`` and ``metrics/*.json``, and in ``pages`` two pages on each run that
counts: the lineage of its programs, and the course of its search. Equal rows give equal bytes. If
the runs have several methods or settings, the report begins with a comparison: which is better, by
how much, the seconds, and the solvers of ``references``. ``methods.md`` holds that part alone.
``sets`` adds evaluations of public sets. ``audit=RUN`` writes nothing: it repeats a run and checks
that its results follow from its files. A report needs no language model and runs no search.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command, run_directory, searchpath_words
from specahd.config.targets import check_targets
from specahd.core.display import visible
from specahd.core.errors import FileError
from specahd.core.folders import atomic_folder, write_atomically
from specahd.evaluation.files import STUDY, row_timings_file, rows_file
from specahd.evaluation.rows import read_baseline_seconds, read_rows, read_seconds
from specahd.reporting.aggregates import apply_labels, read_labels
from specahd.reporting.document import Document, Section
from specahd.reporting.methods import Reference, comparison_tables, is_comparison
from specahd.reporting.named import named_sections
from specahd.reporting.pages import PAGES, programs_section, write_pages
from specahd.reporting.studies import ablation_section, routing_section
from specahd.reporting.summary import Summary, summarise
from specahd.runs.audit import audit
from specahd.runs.files import CHECKPOINT
from specahd.runs.reading import Run, choose_runs, name_passed_over, read_runs, read_spending
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
        sys.stdout.write(f"{audit(Path(config.audit), searchpath_words())}\n")
        return
    folder = Path(config.runs)
    runs = read_runs(folder, Path(config.evaluations) if config.evaluations else None)
    directory = run_directory()
    passed_over = name_passed_over(folder, runs)
    public_sets = list(named_sections(Path(config.sets) if config.sets else None))
    labels = read_labels(Path(config.labels)) if config.labels else []
    runs, renamed = apply_labels(runs, labels)
    seconds = {run.name: read_seconds(_timings(config, folder, run)) for run in runs}
    ablations = ablation_section(runs, seconds)
    # A report of one setting has no times, so that equal rows give equal bytes.
    timed = ablations is not None or is_comparison(runs)
    summary = summarise(runs, passed_over, seconds if timed else {})
    before: list[Section] = []
    if is_comparison(runs):
        compared = _compared(config, folder, runs, seconds)
        write_atomically(directory / METHODS, compared.markdown())
        before += compared.sections
    else:
        (directory / METHODS).unlink(missing_ok=True)
    chosen = choose_runs(runs)
    routing, programs = routing_section(_studies(config)), programs_section(folder, chosen)
    after = [*public_sets, ablations, routing, programs, renamed]
    sections = [*before, *summary.document.sections, *filter(None, after)]
    summary = replace(summary, document=replace(summary.document, sections=sections))
    write_pages(folder, chosen, directory / PAGES)
    _write(summary, directory)
    sys.stdout.write(visible(f"{len(runs)} runs of {folder}: {directory / 'report.html'}") + "\n")
    uri = config.tracking.get("uri")
    if uri is not None:
        store = Store(uri, Path(config.tracking.artifacts), config.tracking.experiment)
        checkpoints = [folder / run.name / CHECKPOINT for run in runs]
        sys.stderr.write(log_report(store, Path.cwd(), directory, checkpoints))


def _timings(config: DictConfig, folder: Path, run: Run) -> Path:
    """Return the file with the seconds of a run's validation rows."""
    if config.evaluations is None:
        return folder / run.name / row_timings_file("validation")
    return Path(config.evaluations) / run.name / row_timings_file("rows")


def _studies(config: DictConfig) -> dict[str, Path]:
    if config.evaluations is None:
        return {}
    place = Path(config.evaluations)
    found = sorted(place.rglob(STUDY))
    return {path.parent.relative_to(place).as_posix(): path for path in found}


def _compared(
    config: DictConfig,
    folder: Path,
    runs: Sequence[Run],
    seconds: Mapping[str, Mapping[str, float]],
) -> Document:
    references: dict[str, list[Reference]] = defaultdict(list)
    if config.references is not None:
        for path in sorted(Path(config.references).glob(f"*/*/{rows_file('rows')}")):
            took = read_seconds(path.with_name(row_timings_file("rows")))
            solver = Reference(path.parent.name, read_rows(path), took)
            references[path.parent.parent.name].append(solver)
        if not references:
            raise FileError(f"{config.references} holds no <problem>/<solver>/{rows_file('rows')}.")
    spending = {run.name: read_spending(folder / run.name) for run in runs}
    baseline = {run.name: read_baseline_seconds(_timings(config, folder, run)) for run in runs}
    return comparison_tables(runs, seconds, references, spending, baseline, pairs=config.pairs)


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
