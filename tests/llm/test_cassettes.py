"""The replies of a large language model in ``cassettes/``: they make the run that they made."""

import re
from pathlib import Path

import pytest

from commands import call
from specahd.core import journal

CASSETTES = Path(__file__).parents[2] / "cassettes"
# With this seed the one instance of each pool is small.
FEW = [
    *("seed=128", "budget.programs=16", "budget.rounds=1"),
    *("budget.lower_train=1", "budget.upper_train=1", "budget.selection=1", "budget.validation=1"),
]
# That of the recordings, which today's defaults are not.
SETTING = [
    *("method=specahd_one_pass", "problem.max_regions=8", "problem.max_size=50"),
    *("limits.lower_call=10", "limits.upper_call=120"),
]
# Of every problem, then.
SMOKE = [
    *("budget.lower_train=24", "budget.upper_train=12"),
    *("budget.selection=24", "budget.validation=60"),
]
# What a replay gains today, as the README of the cassettes says, in percent; and how far a machine
# may be from it (VRPTW left its recording on another machine).
GAINS = {"cvrp": (12.59, 5.34), "vrptw": (12.87, 15.10)}
MARGIN = 0.1


def replay(place, problem, *options):
    """Train with the replies, whatever the prompts say today; return what was printed."""
    cassette = CASSETTES / f"{problem}-append-smoke-seed0.jsonl"
    done = call(
        "train", f"problem={problem}", "llm=recorded", f"llm.path={cassette}", "llm.match=sample",
        "budget=smoke", "tracking=none", "hydra.run.dir=run", *SETTING, *options, cwd=place,
    )  # fmt: skip
    assert f"llm.match=sample: {cassette} answers by sample" in done.stderr
    return done.stdout


def samples(place):
    """Return the samples of the run; each must have the reply that was recorded for it."""
    records = [r for r in journal.read_records(place / "run" / "journal.jsonl") if "sample" in r]
    [problem] = (path.name for path in (place / "pools").iterdir() if path.is_dir())
    cassette = CASSETTES / f"{problem}-append-smoke-seed0.jsonl"
    replies = {record["sample"]: record["reply"] for record in journal.read_records(cassette)}
    assert [record["reply"] for record in records] == [replies[r["sample"]] for r in records]
    return records


@pytest.mark.integration
@pytest.mark.parametrize("problem", GAINS)
def test_replies_are_still_programs_that_run(tmp_path, problem):
    replay(tmp_path, problem, *FEW)
    records = samples(tmp_path)
    assert len(records) == 16
    assert [record["sample"] for record in records if record["outcome"] != "ok"] == []
    assert "match: sample" in (tmp_path / "run" / "config.yaml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("problem", GAINS)
def test_a_whole_run_gains_what_the_readme_says(tmp_path, problem):
    printed = replay(tmp_path, problem, *SMOKE)
    assert [record["outcome"] for record in samples(tmp_path)] == ["ok"] * 40
    gains = [float(gain) for gain in re.findall(r"([+-][0-9.]+)%", printed)]
    assert gains == pytest.approx(GAINS[problem], abs=MARGIN)
