"""The README shows what its commands print."""

import re
import shlex
from pathlib import Path

from test_commands import call

ROOT = Path(__file__).parent.parent
LAST = "selection chose the checkpoint"


def shown(text):
    """Return the lines of a training's summary that are the same wherever it runs."""
    lines = [line.rstrip() for line in text.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("cvrp: the checkpoint of"))
    last = next(i for i, line in enumerate(lines) if line.startswith(LAST))
    return lines[first : last + 1]


def test_the_demo_ends_as_the_readme_says(tmp_path):
    arguments = re.search(r"^ARGS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    done = call("train", *shlex.split(arguments), "tracking=none", cwd=tmp_path)
    assert shown(done.stdout) == shown((ROOT / "README.md").read_text())
