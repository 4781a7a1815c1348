"""The description of a training in MLflow: results, how to evaluate, and what it learned."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import indent, wrap

from specahd.runs.files import CHECKPOINT, POOLS, rows_file
from specahd.runs.rows import means, read_rows
from specahd.tracking.frozen import Frozen

NOTE = "mlflow.note.content"
"""The tag that MLflow shows as a run's description, in Markdown."""
# Longer lines of code would push the list of the run's candidates out of the page.
_WIDTH = 100


def write_note(
    directory: Path, programs: Sequence[Frozen], run_id: str, uri: str, limit: int
) -> str:
    """Return the note of a run that has ended, cut to ``limit`` characters.

    Programs stand last, the upper one first. For those whose sources would make the note
    too long it says where they are.

    Parameters
    ----------
    programs
        What the run's checkpoint holds.
    run_id, uri
        Where MLflow has the run.
    """
    begin = _results(directory) + (_commands(directory, run_id, uri) if programs else "")
    told = [_program(program) for program in programs]
    for count in range(len(programs), -1, -1):
        left = ", ".join(program.id for program in programs[count:])
        end = f"The sources of {left} are in `{CHECKPOINT}/programs/`.\n" if left else ""
        text = begin + "".join(told[:count]) + end
        if len(text) <= limit:
            return text
    return begin[:limit]


def _results(directory: Path) -> str:
    """Return the means over the pools, nothing if none was evaluated."""
    lines = []
    for pool in POOLS:
        rows = read_rows(directory / rows_file(pool))
        found = means(rows)
        if found.measures():
            # No table: the UI sets its columns without a space between.
            lines.append(
                f"- {pool} ({found.rows}): {rows[0].baseline} {found.baseline_cost:,.1f}, "
                f"repaired {found.cost:,.1f}, improvement {100 * found.improvement:+.2f}%\n"
            )
    return "".join([*lines, "\n"]) if lines else ""


def _commands(directory: Path, run_id: str, uri: str) -> str:
    place = f"runs:/{run_id}/{CHECKPOINT}"
    return (
        f"The checkpoint is in `{directory.resolve() / CHECKPOINT}`, and among the artifacts. "
        "To evaluate it, or to download its folder:\n\n"
        f"    python -m specahd.evaluate checkpoint={place} \\\n"
        f"        pool=validation tracking.uri={uri}\n"
        f"    MLFLOW_TRACKING_URI={uri} \\\n"
        f"        mlflow artifacts download -u {place} -d .\n\n"
    )


def _program(program: Frozen) -> str:
    """Return a program as a part of a note.

    Idea and source are a model's words, which nothing of Markdown may be made of: all of
    it is code.
    """
    score = "" if program.score is None else f", score {program.score:.4g}"
    lines = wrap(f"# {' '.join(program.idea.split())}", _WIDTH, subsequent_indent="# ")
    for line in program.source.strip().splitlines():
        lines += wrap(line, _WIDTH, subsequent_indent="        ") or [""]
    code = indent("\n".join(lines), "    ")
    return f"**{program.id}**, {program.role}{score}:\n\n{code}\n\n"
