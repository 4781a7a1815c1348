"""Skill records in a run: made of what was measured, borne by later requests, the same again."""

import signal
import time

import numpy as np
import pytest

from commands import TINY, call, start, tree
from specahd.core import journal
from specahd.memory.skills import SIDE
from specahd.methods.eoh import OPERATORS
from specahd.routing.kernels.descriptors import GROUP_NAMES

pytestmark = pytest.mark.integration

LEARNING = [
    "budget=smoke",
    "budget.programs=48",
    "budget.rounds=2",
    "budget.lower_train=16",
    "budget.upper_train=16",
    "budget.selection=3",
    "budget.validation=3",
    "method.policy.population=3",
    "search.lag=2",
    "tracking=none",
    "hydra.run.dir=run",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("learning")
    call("train", *LEARNING, "executor.workers=2", cwd=place)
    return place


def lines(place, name):
    return list(journal.read_records(place / "run" / f"{name}.jsonl"))


def skills(place):
    return [record for record in lines(place, "journal") if record.get("record") == "skill"]


def scores(entry):
    """Return the scores that a line of responses.jsonl stands for; None if it has none."""
    if "utilities" in entry:
        if entry["outcome"] != "ok":
            return None
        return [
            one - other for one, other in zip(entry["utilities"], entry["penalties"], strict=True)
        ]
    if "outcomes" not in entry:
        return None
    return [
        0.0 if merged is None else max(0.0, before - merged) / before
        for before, merged in zip(entry["cost_before"], entry["cost_merged"], strict=True)
    ]


def level(identifier):
    return identifier.split("-")[0]


def test_every_record_follows_from_the_measurements_alone(place):
    measured = {}
    described = {}
    for entry in lines(place, "responses"):
        if "tasks" in entry:
            described[entry["round"]] = [task["descriptor"] for task in entry["tasks"]]
        elif (found := scores(entry)) is not None:
            identifier = entry["sample"] if "sample" in entry else entry["carried"]
            measured[entry["round"], identifier] = entry, found
    samples = {r["sample"]: r for r in lines(place, "journal") if "sample" in r}
    versions = {}
    for record in skills(place):
        child, parent = record["program"], record["parent"]
        assert parent == samples[child]["parents"][0]
        together = [r for r in (1, 2) if {(r, child), (r, parent)} <= measured.keys()]
        number = together[record["version"] - 1]
        versions.setdefault(child, []).append(record["version"])
        entry, ours = measured[number, child]
        _, theirs = measured[number, parent]
        differences = np.array(ours) - np.array(theirs)
        assert record["tasks"] == len(differences)
        assert record["better"] == (differences > 1e-9).sum()
        assert record["worse"] == (differences < -1e-9).sum()
        assert record["gain"] == pytest.approx(differences.mean(), rel=1e-9, abs=1e-15)
        if level(child) == "lower":
            descriptors = np.array(described[number])
            failures = [name for name in entry["outcomes"] if name != "ok"]
        else:
            descriptors = np.array(
                [mean or [np.nan] * len(GROUP_NAMES) for mean in entry["regions"]]
            )
            failures = ["empty_regions" for mean in entry["regions"] if mean is None]
        assert record["failures"] == {name: failures.count(name) for name in set(failures)}
        for stated, kind in (("helped", differences > 1e-9), ("failed", differences < -1e-9)):
            for name, effect in record[stated].items():
                column = descriptors[:, GROUP_NAMES.index(name)]
                inside, outside = (column[each & np.isfinite(column)] for each in (kind, ~kind))
                assert min(len(inside), len(outside)) >= SIDE
                spread = np.nanstd(column, ddof=1)
                assert (inside.mean() - outside.mean()) / spread == pytest.approx(
                    effect, abs=0.0051
                )
    assert versions
    # Every child that was measured beside its parent has a record of each such round.
    for child, sample in samples.items():
        if sample["parents"]:
            pair = {child, sample["parents"][0]}
            rounds = [r for r in (1, 2) if {(r, one) for one in pair} <= measured.keys()]
            assert len(versions.get(child, [])) == len(rounds)
    assert any(record["version"] == 2 for record in skills(place))
    assert any(record["helped"] or record["failed"] for record in skills(place))


def test_requests_bear_records_that_were_there_before(place):
    asked = {record["sample"]: record["request"] for record in lines(place, "wal")}
    history = lines(place, "journal")
    written = {r["id"]: place for place, r in enumerate(history) if r.get("record") == "skill"}
    told = 0
    for position, record in enumerate(history):
        if "sample" not in record:
            continue
        assert record["skills"] == asked[record["sample"]]["skills"]
        assert len(record["skills"]) <= 3
        assert not record["skills"] or OPERATORS[record["operator"]].skills
        for identifier in record["skills"]:
            assert written[identifier] < position
            assert level(identifier) == record["level"]
        own = [one for one in record["skills"] if one.split("/")[0] == record["parents"][0]]
        assert own in ([], record["skills"][:1])
        told += bool(record["skills"])
    assert told >= 8


def test_another_number_of_workers_and_a_kill_give_the_same_bytes(place, tmp_path):
    process = start("specahd.train", *LEARNING, "executor.workers=1", cwd=tmp_path, cold=True)
    written = tmp_path / "run" / "journal.jsonl"
    while sum(bool(record.get("skills")) for record in journal.read_records(written)) <= 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(list(journal.read_records(written))) < len(lines(place, "journal"))
    call("train", "resume=run", cwd=tmp_path)
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (place / "run" / name).read_bytes()
    ours, theirs = (tree(home / "run" / "checkpoint") for home in (tmp_path, place))
    assert ours == theirs


def test_track_passes_over_skill_records(place):
    done = call("track", "run=run", cwd=place)
    assert "run: 48 programs, complete" in done.stdout


def test_no_skills_leaves_no_record(tmp_path):
    small = [*TINY, "budget.programs=12", "tracking=none", "hydra.run.dir=run"]
    call("train", *small, "ablation=no_skills", cwd=tmp_path)
    records = lines(tmp_path, "journal")
    assert {record.get("record") for record in records} == {None, "round"}
    assert all(record["skills"] == [] for record in records if "sample" in record)
