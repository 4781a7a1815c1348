"""Tables of ablations and routing studies, from stored rows alone."""

import pytest

from run_directories import lines, row, sample, write_run
from specahd.core.errors import FileError
from specahd.reporting.studies import ablation_section, routing_section
from specahd.runs.reading import read_runs


def test_ablations_stand_by_protocol_with_runs_and_completion(tmp_path):
    for level, variant, seed, cost in [
        ("lower", "none", 0, 90.0), ("lower", "none", 1, 92.0), ("lower", "no_skills", 0, 95.0),
        ("upper", "none", 0, 80.0),
    ]:  # fmt: skip
        skills = ["s"] if variant == "none" else []
        told = [
            sample("lower", 1, 0.1) | {"skills": skills},
            sample("lower", 1, 0.1, "duplicate") | {"skills": skills},
        ]
        write_run(
            tmp_path / f"{level}-{variant}-{seed}", seed=seed, programs=2, samples=told,
            choices={"ablation": variant, "memory": "structural"}, validation=[row("a", 9, cost)],
            options={"search": {"levels": level}},
        )  # fmt: skip
    write_run(
        tmp_path / "partial", seed=1, programs=2, samples=[sample("lower", 1, 0.1)],
        choices={"ablation": "no_skills", "memory": "structural"},
        options={"search": {"levels": "lower"}},
    )  # fmt: skip
    runs = read_runs(tmp_path)
    seconds = {"lower-none-0": {"a": 2.0}, "lower-none-1": {"a": 3.0}}
    section = ablation_section(runs, seconds)
    # The upper search has nothing to be compared with.
    _, told, table = section.parts
    assert told == "The lower search alone."
    head = ["cvrp", "complete", "structural"]
    assert table.rows == [
        [*head, "+9.00%", "1.41", "10.00, 8.00", "+2.00%", "2", "4", "2/2", "2.5"],
        ["cvrp", "no_skills", *head[2:], "+5.00%", "–", "5.00", "+2.00%", "1", "0", "1/2", "–"],
    ]
    assert ablation_section([run for run in runs if "none" in run.name], seconds) is None


def test_routing_and_growth_come_from_the_study(tmp_path):
    path = tmp_path / "study.jsonl"
    policy = {
        "record": "policy", "policy": "random", "regions": 4, "response": 0.755, "gain": -1.5,
        "regret": 4.0, "hits": 48.0, "deviation": {"response": 0.025, "hits": 3.0},
    }  # fmt: skip
    growth = {"record": "growth", "regions": 4, "members": 2, "response": 0.9, "regret": 1.0}
    lines(path, [{"task": "t", "nodes": [1]}, policy, {**growth, "coverage": 61.25}])
    section = routing_section({"tsp-0": path, "gone": tmp_path / "gone.jsonl"})
    _, routing, _, grown = section.parts
    assert routing.rows == [
        ["tsp-0", "random", "4", "0.7550 ± 0.0250", "-1.500", "4.000", "48.00 ± 3.00"]
    ]
    assert grown.rows == [["tsp-0", "2", "0.9000", "1.000", "61.25"]]
    lines(path, [{"task": "t"}])
    assert routing_section({"tsp-0": path}) is None


def test_a_study_that_nobody_wrote_is_refused(tmp_path):
    lines(tmp_path / "study.jsonl", [{"record": "policy", "gain": "much"}])
    with pytest.raises(FileError, match="line 1"):
        routing_section({"x": tmp_path / "study.jsonl"})
