"""Tuning as a user meets it: from a checkpoint to one with other constants, and its statement."""

import json
import shutil
from dataclasses import replace
from statistics import fmean

import pytest

from commands import call, tree
from specahd import api
from specahd.api import tuning
from specahd.checkpoint.frozen import freeze, thaw
from specahd.core.errors import ConfigError
from specahd.core.events import Observer

pytestmark = pytest.mark.integration

# The farther from the depot, the sooner, and somewhat too much so.
BAD = """def select_next_node(current_node, depot, unvisited_nodes, rest_capacity, demands, distance_matrix):
    here = distance_matrix[current_node, unvisited_nodes]
    home = distance_matrix[depot, unvisited_nodes]
    return int(unvisited_nodes[np.argmin(here - 1.2 * home)])
"""  # noqa: E501
OPTIONS = {"program": "lower-bad", "evaluations": 6, "instances": 3}


@pytest.fixture(scope="module")
def place(small_runs, tmp_path_factory, optuna):
    """A folder with pools, a checkpoint with a bad constant, and what tuning made of it."""
    folder = tmp_path_factory.mktemp("tuned")
    frozen = thaw(small_runs / "run1" / "checkpoint")
    bad = replace(frozen.repertoire[0], id="lower-bad", source=BAD)
    archive = frozen.archive.copy()
    archive.responses = {
        (task, "lower-bad"): response
        for (task, name), response in archive.responses.items()
        if name == frozen.repertoire[0].id
    }
    freeze(replace(frozen, repertoire=(bad,), archive=archive), folder / "checkpoint")
    shutil.copytree(small_runs / "pools", folder / "pools")
    words = [f"{name}={value}" for name, value in OPTIONS.items()]
    done = call("tune", "checkpoint=checkpoint", *words, "hydra.run.dir=tuned", cwd=folder)
    (folder / "said.txt").write_text(done.stdout)
    return folder


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_bad_constant_becomes_better_and_names_its_parent(place):
    identity, *trials = lines(place / "tuned" / "trials.jsonl")
    assert (identity["program"], len(trials)) == ("lower-bad", 6)
    assert trials[0]["constants"] == [1.2]
    assert all(0.6 <= one["constants"][0] <= 2.4 for one in trials)
    result = json.loads((place / "tuned" / "tuning.json").read_text())
    assert result["before"] == [1.2]
    [program] = thaw(place / "tuned" / "checkpoint").repertoire
    assert (program.id, program.operator, program.parents) == (
        *("lower-bad-tuned", "tuned"),
        ("lower-bad",),
    )
    assert program.source == BAD.replace("1.2", str(result["after"][0]))
    assert fmean(result["tuned"]["selection"]) > fmean(result["untuned"]["selection"])
    said = (place / "said.txt").read_text()
    assert f"constants:  1.2 to {result['after'][0]:g}" in said
    assert "validation (3): " in said


def test_its_gain_is_that_of_pairs_of_instances():
    scores = {"selection": [0.1, 0.2, 0.3]}, {"selection": [0.2, 0.2, 0.5]}
    found = tuning.Tuning("lower-bad", [1.5], [2.0], 2, 0, 0, *scores, None)
    # Student's t of two degrees of freedom, from a table.
    assert found.gain("selection") == pytest.approx((0.1, 4.302653 * 0.1 / 3**0.5))


def test_evaluating_says_the_same_of_both(place):
    result = json.loads((place / "tuned" / "tuning.json").read_text())
    for name, checkpoint in (("untuned", "checkpoint"), ("tuned", "tuned")):
        words = [f"checkpoint={checkpoint}", "pool=validation", "count=3"]
        call("evaluate", *words, f"hydra.run.dir=e-{name}", cwd=place)
        rows = lines(place / f"e-{name}" / "rows.jsonl")
        assert [row["improvement"] for row in rows] == result[name]["validation"]


def test_a_tuning_that_broke_off_goes_on_to_the_same_bytes(place, tmp_path):
    whole = tree(place / "tuned")
    again = tmp_path / "again"
    again.mkdir()
    text = (place / "tuned" / "trials.jsonl").read_text()
    (again / "trials.jsonl").write_text("".join(text.splitlines(keepends=True)[:4]) + '{"trial"')
    words = [f"{name}={value}" for name, value in OPTIONS.items()]
    call(
        "tune", f"checkpoint={place / 'checkpoint'}", *words, f"pools.dir={place / 'pools'}",
        f"hydra.run.dir={again}", "executor.workers=1", cwd=tmp_path,
    )  # fmt: skip
    logs = {path for path in whole if path.suffix == ".log"}
    assert {k: v for k, v in tree(again).items() if k not in logs} == {
        k: v for k, v in whole.items() if k not in logs
    }


def test_what_was_measured_is_not_measured_again(place, tmp_path, monkeypatch):
    shutil.copytree(place / "tuned", tmp_path / "more")
    raced = []
    race = tuning._Work._race
    monkeypatch.setattr(
        tuning._Work, "_race", lambda self, *rest: raced.append(rest[1]) or race(self, *rest)
    )
    given = {**OPTIONS, "evaluations": 7, "pools": place / "pools", "observer": Observer()}
    found = api.tune(place / "checkpoint", out=tmp_path / "more", **given)
    assert raced == [6]
    assert found.evaluations == 7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"program": "lower-2"}, "Expected program to be one of upper-"),
        ({"evaluations": 1}, "Expected evaluations of at least 2, got 1."),
        ({"seed": 1}, "holds another tuning; name another out."),
    ],
)
def test_what_cannot_be_tuned_is_refused(place, options, words):
    given = {**OPTIONS, "pools": place / "pools", "out": place / "tuned", **options}
    with pytest.raises(ConfigError) as info:
        api.tune(place / "checkpoint", **given)
    assert words in str(info.value)
