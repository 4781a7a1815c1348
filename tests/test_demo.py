"""The first tutorial shows what the demo prints."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands import call

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parent.parent
LAST = "selection chose the checkpoint"


def shown(text):
    """Return the lines of a training's summary that are the same wherever it runs."""
    lines = [line.rstrip() for line in text.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("cvrp: the checkpoint of"))
    last = next(i for i, line in enumerate(lines) if line.startswith(LAST))
    return lines[first : last + 1]


def solved(text):
    """Return the solvers in the table at the demo's end, each with its cost."""
    rows = re.findall(r"^│ ([^│]+)│ *([\d,]+) │", text, re.MULTILINE)
    return {name.strip(): int(cost.replace(",", "")) for name, cost in rows}


def test_the_demo_ends_as_the_tutorial_says(tmp_path):
    tutorial = (ROOT / "docs" / "tutorials" / "first-run.md").read_text()
    arguments = re.search(r"^ARGS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    words = shlex.split(arguments.replace("cassettes/", f"{ROOT}/cassettes/"))
    done = call("train", *words, "tracking=none", cwd=tmp_path)
    assert shown(done.stdout) == shown(tutorial)
    ended = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "demo.py", *words],
        cwd=tmp_path,
        env={**os.environ, "DEMO_SECONDS": "0.5"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert list(solved(ended.stdout)) == list(solved(tutorial))
    assert all(37_000 < cost < 48_000 for cost in solved(ended.stdout).values())
