"""``python -m specahd.report``: one summary of stored runs, in Markdown and in HTML.

The report's directory (``hydra.run.dir``) receives ``report.md``, ``report.html`` (which
needs no other file), ``convergence.svg``, ``convergence/*.csv`` and ``metrics/*.json``. Equal
rows give equal bytes. No language model is needed, and no search.
"""

import sys
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command, run_directory
from specahd.core.folders import whole, write_whole
from specahd.reporting.summary import DRAWING, Summary, summarise
from specahd.runs.files import CHECKPOINT
from specahd.runs.reading import read_runs
from specahd.tracking.lineage import tag_checkpoints
from specahd.tracking.store import Store


def report(config: DictConfig) -> None:
    """Read the runs, write their report, and tell MLflow what DVC calls their checkpoints."""
    folder = Path(config.runs)
    runs = read_runs(folder, Path(config.evaluations) if config.evaluations else None)
    directory = run_directory()
    _write(summarise(runs), directory)
    sys.stdout.write(f"{len(runs)} runs of {folder}: {directory / 'report.html'}\n")
    uri = config.tracking.get("uri")
    if uri is not None:
        store = Store(uri, Path(config.tracking.artifacts), config.tracking.experiment)
        checkpoints = [folder / run.name / CHECKPOINT for run in runs]
        sys.stderr.write(tag_checkpoints(store, Path.cwd(), checkpoints))


def _write(summary: Summary, directory: Path) -> None:
    for name, text in (
        ("report.md", summary.document.markdown()),
        ("report.html", summary.document.html()),
        (DRAWING, summary.drawing + "\n"),
    ):
        write_whole(directory / name, text)
    for folder, ending, texts in (
        ("convergence", "csv", summary.curves),
        ("metrics", "json", summary.metrics),
    ):
        with whole(directory / folder) as made:
            for name, text in texts.items():
                (made / f"{name}.{ending}").write_text(text, encoding="utf-8")


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(report, "report")


if __name__ == "__main__":
    sys.exit(main())
