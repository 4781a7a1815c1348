"""``python -m specahd.report``: one summary of stored runs, in Markdown and in HTML.

The report's directory (``hydra.run.dir``) receives ``report.md``, ``report.html`` (which
needs no other file), ``convergence.svg``, ``convergence/*.csv`` and ``metrics/*.json``. Equal
rows give equal bytes. Of runs of several methods it also receives ``methods.md``, which has
seconds too, and other solvers if ``references`` names some. No language model is needed, and no
search.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command, run_directory
from specahd.core.errors import FileError
from specahd.core.folders import atomic_folder, write_atomically
from specahd.reporting.methods import Reference, comparison_tables, is_comparison
from specahd.reporting.summary import DRAWING, Summary, summarise
from specahd.runs.files import CHECKPOINT, row_timings_file, rows_file
from specahd.runs.reading import Run, read_runs
from specahd.runs.rows import read_rows, read_seconds
from specahd.tracking.provenance import tag_checkpoints
from specahd.tracking.store import Store

METHODS = "methods.md"


def report(config: DictConfig) -> None:
    """Read the runs, write their report, and tell MLflow what DVC calls their checkpoints."""
    folder = Path(config.runs)
    runs = read_runs(folder, Path(config.evaluations) if config.evaluations else None)
    directory = run_directory()
    compared = _compared(config, folder, runs) if is_comparison(runs) else None
    _write(summarise(runs), directory)
    if compared is None:
        (directory / METHODS).unlink(missing_ok=True)
    else:
        write_atomically(directory / METHODS, compared)
    sys.stdout.write(f"{len(runs)} runs of {folder}: {directory / 'report.html'}\n")
    uri = config.tracking.get("uri")
    if uri is not None:
        store = Store(uri, Path(config.tracking.artifacts), config.tracking.experiment)
        checkpoints = [folder / run.name / CHECKPOINT for run in runs]
        sys.stderr.write(tag_checkpoints(store, Path.cwd(), checkpoints))


def _compared(config: DictConfig, folder: Path, runs: Sequence[Run]) -> str:
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
    return comparison_tables(runs, seconds, references).markdown()


def _write(summary: Summary, directory: Path) -> None:
    for name, text in (
        ("report.md", summary.document.markdown()),
        ("report.html", summary.document.html()),
        (DRAWING, summary.drawing + "\n"),
    ):
        write_atomically(directory / name, text)
    for folder, ending, texts in (
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
