"""``python -m specahd.report``: one summary of stored runs, in Markdown and in HTML.

The report's directory (``hydra.run.dir``) receives ``report.md``, ``report.html`` (which
needs no other file), ``report.tex`` and ``tables/*.csv`` (the tables alone), ``convergence.svg``,
``convergence/*.csv`` and ``metrics/*.json``. Equal rows give equal bytes. Runs of several methods
are compared first: which is better, and by how much; with seconds, and other solvers if
``references`` names some. ``methods.md`` is that part alone. ``audit=RUN`` writes nothing, but
repeats a run and says whether all that it states follows from its files. No language model is
needed, and no search.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command, run_directory
from specahd.core.errors import FileError
from specahd.core.folders import atomic_folder, write_atomically
from specahd.reporting.document import Document
from specahd.reporting.methods import Reference, comparison_tables, is_comparison
from specahd.reporting.summary import DRAWING, Summary, summarise
from specahd.runs.audit import audit
from specahd.runs.files import CHECKPOINT, row_timings_file, rows_file
from specahd.runs.reading import Run, read_runs, read_spending
from specahd.runs.rows import read_rows, read_seconds
from specahd.tracking.provenance import tag_checkpoints
from specahd.tracking.store import Store

METHODS = "methods.md"


def report(config: DictConfig) -> None:
    """Read the runs, write their report, and tell MLflow what DVC calls their checkpoints."""
    if config.audit is not None:
        with suppress(OSError):
            # Hydra makes it, and nothing is written there.
            run_directory().rmdir()
        sys.stdout.write(f"{audit(Path(config.audit))}\n")
        return
    folder = Path(config.runs)
    runs = read_runs(folder, Path(config.evaluations) if config.evaluations else None)
    directory = run_directory()
    summary = summarise(runs)
    if is_comparison(runs):
        compared = _compared(config, folder, runs)
        write_atomically(directory / METHODS, compared.markdown())
        sections = [*compared.sections, *summary.document.sections]
        summary = replace(summary, document=replace(summary.document, sections=sections))
    else:
        (directory / METHODS).unlink(missing_ok=True)
    _write(summary, directory)
    sys.stdout.write(f"{len(runs)} runs of {folder}: {directory / 'report.html'}\n")
    uri = config.tracking.get("uri")
    if uri is not None:
        store = Store(uri, Path(config.tracking.artifacts), config.tracking.experiment)
        checkpoints = [folder / run.name / CHECKPOINT for run in runs]
        sys.stderr.write(tag_checkpoints(store, Path.cwd(), checkpoints))


def _compared(config: DictConfig, folder: Path, runs: Sequence[Run]) -> Document:
    seconds = {
        run.name: read_seconds(
            folder / run.name / row_timings_file("validation")
            if config.evaluations is None
            else Path(config.evaluations) / run.name / row_timings_file("rows")
        )
        for run in runs
    }
    references: dict[str, list[Reference]] = defaultdict(list)
    if config.references is not None:
        for path in sorted(Path(config.references).glob(f"*/*/{rows_file('rows')}")):
            took = read_seconds(path.with_name(row_timings_file("rows")))
            solver = Reference(path.parent.name, read_rows(path), took)
            references[path.parent.parent.name].append(solver)
        if not references:
            raise FileError(f"{config.references} holds no <problem>/<solver>/{rows_file('rows')}.")
    spending = {run.name: read_spending(folder / run.name) for run in runs}
    return comparison_tables(runs, seconds, references, spending)


def _write(summary: Summary, directory: Path) -> None:
    for name, text in (
        ("report.md", summary.document.markdown()),
        ("report.html", summary.document.html()),
        ("report.tex", summary.document.latex()),
        (DRAWING, summary.drawing + "\n"),
    ):
        write_atomically(directory / name, text)
    tables = {table.name: table.csv() for table in summary.document.tables()}
    for folder, ending, texts in (
        ("tables", "csv", tables),
        ("convergence", "csv", summary.curves),
        ("metrics", "json", summary.metrics),
    ):
        with atomic_folder(directory / folder) as made:
            for name, text in texts.items():
                (made / f"{name}.{ending}").write_text(text, encoding="utf-8")


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(report, "report", extra="plot")


if __name__ == "__main__":
    sys.exit(main())
