"""The comparison of methods, with one instead of ten: its sweep, its table and its references."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

from commands import TINY, call
from offered import PROBLEMS
from specahd.config import CONF_DIR
from specahd.config.schemas import register_schemas
from specahd.core import journal

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parent.parent
STAGES = ROOT / "benchmarks" / "comparison"

METHOD = """
_target_: specahd.design.single.Single
_partial_: true
policy:
  _target_: specahd.methods.eoh.EoH
  _partial_: true
  population: 4
"""
SWEEP = [
    *("experiment=comparison", "problem=cvrp", "tracking=none", "hydra/launcher=basic"),
    *(option for option in TINY if option != "budget=smoke"),
]
DIRECTORY = Path("runs", "comparison", "cvrp-offline-table")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Return a place with one method more, and the words that let Hydra find it."""
    place = tmp_path_factory.mktemp("comparison")
    for group, name, text in (
        ("method", "single", METHOD),
        # Two values, of which one is out of range.
        ("experiment", "wrong", "# @package _global_\nhydra:\n  sweeper:\n    params:\n"
         "      search.beta: 0.5,7\n"),
    ):  # fmt: skip
        (place / "conf" / group).mkdir(parents=True)
        (place / "conf" / group / f"{name}.yaml").write_text(text)
    return place, f"hydra.searchpath=[file://{place}/conf]"


def sweep(searched, *arguments):
    place, words = searched
    return call("train", words, *SWEEP, "-m", "method=specahd,single", *arguments, cwd=place)


@pytest.fixture(scope="module")
def swept(searched):
    """Two of its jobs, and what the command said."""
    return searched[0], sweep(searched, "seed=0").stdout


def test_each_method_has_its_task_and_all_have_one_budget(swept):
    place, said = swept
    assert "sweep: 2 complete, 0 partial, 0 failed" in said
    assert "method=specahd" in said
    configs = {
        path.parent.name: yaml.safe_load(path.read_text())
        for path in (place / DIRECTORY).glob("*/config.yaml")
    }
    assert {name: config["problem"]["repair"] for name, config in configs.items()} == {
        "cvrp-specahd-seed0": "append",
        "cvrp-single-seed0": "construct",
    }
    # A call of one is a region, of the other a whole instance.
    seconds = {name: config["limits"].pop("lower_call") for name, config in configs.items()}
    assert seconds == {"cvrp-specahd-seed0": 1, "cvrp-single-seed0": 60}
    for part in ("budget", "limits", "pools"):
        first, second = (config[part] for config in configs.values())
        assert first == second


def test_the_same_command_goes_on_where_it_broke_off(swept, searched):
    place, _ = swept
    done, broken = (place / DIRECTORY / f"cvrp-{name}-seed0" for name in ("specahd", "single"))
    before = (done / "wal.jsonl").stat().st_mtime_ns
    whole = (broken / "validation.jsonl").read_bytes()
    for name in ("validation.jsonl", "validation-timings.jsonl"):
        (broken / name).unlink()
    said = sweep(searched, "seed=0").stdout
    assert "cvrp-specahd-seed0 is complete already" in said
    assert "sweep: 2 complete" in said
    assert (done / "wal.jsonl").stat().st_mtime_ns == before
    assert (broken / "validation.jsonl").read_bytes() == whole


def test_what_an_experiment_sweeps_is_checked_before_anything_begins(searched, tmp_path):
    done = call(
        "train", searched[1], "experiment=wrong", "-m", "tracking=none", cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert "search.beta" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def swept_by_default():
    conf = yaml.safe_load((CONF_DIR / "experiment" / "comparison.yaml").read_text())
    params = conf["hydra"]["sweeper"]["params"]
    return params["method"].split(","), [int(seed) for seed in params["seed"].split(",")]


def test_the_experiment_asks_for_both_forms_of_specahd_and_ten_methods_over_three_seeds():
    methods, seeds = swept_by_default()
    assert methods[0] == "specahd"
    assert methods[1] == "specahd_one_pass"
    assert len(set(methods)) == 12
    assert seeds == [0, 1, 2]


@pytest.mark.parametrize("method", swept_by_default()[0])
def test_every_method_of_it_takes_the_engine_task(method):
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        words = ["experiment=comparison", f"method={method}", "problem.repair=insertion"]
        config = compose("train", words)
    assert config.problem.repair == "insertion"
    assert config.budget.programs == 60


def test_the_pipeline_of_the_comparison_asks_for_the_same():
    params = yaml.safe_load((STAGES / "params.yaml").read_text())
    assert (params["methods"], params["seeds"]) == swept_by_default()
    assert sorted(params["problems"]) == PROBLEMS


def test_its_stages_depend_on_the_code_that_those_of_the_pipeline_do():
    ours, others = (
        yaml.safe_load((place / "dvc.yaml").read_text())["stages"] for place in (STAGES, ROOT)
    )
    for stage in ("train", "report"):
        code = {path for path in others[stage]["deps"] if path.startswith("src/")}
        # A tracker changes no result.
        assert code - {"src/specahd/tracking"} <= set(ours[stage]["deps"])


def test_solvers_in_the_same_seconds_solve_what_the_methods_did(swept):
    place, _ = swept
    script = STAGES / "references.py"
    done = subprocess.run(
        [sys.executable, script, "runs/comparison", "references"],
        cwd=place, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = list(journal.read_records(place / DIRECTORY / "cvrp-single-seed0" / "validation.jsonl"))
    found = {
        path.parent.name: list(journal.read_records(path))
        for path in place.glob("references/cvrp/*/rows.jsonl")
    }
    assert sorted(found) == ["nearest", "pyvrp", "savings"]
    for theirs in found.values():
        assert [row["instance"] for row in theirs] == [row["instance"] for row in rows]
        assert [row["baseline_cost"] for row in theirs] == [row["baseline_cost"] for row in rows]
    assert all(row["improvement"] == 0 for row in found["nearest"])
    assert all(row["improvement"] > 0 for row in found["savings"])


def test_tables_stand_between_the_marks_of_the_document():
    results = load(STAGES / "results.py")
    document = "a\n<!-- begin: A -->\nold\n<!-- end: A -->\nb <!-- begin: B --><!-- end: B -->"
    report = "# T\n\n## How to read it\n\nSo.\n\n## cvrp\n\n| x |\n\n## tsp\n\n| y |\n"
    assert results.filled(document, "A", report) == (
        "a\n<!-- begin: A -->\n\n### cvrp\n\n| x |\n\n### tsp\n\n| y |\n\n<!-- end: A -->\n"
        "b <!-- begin: B --><!-- end: B -->"
    )
    with pytest.raises(SystemExit, match="marks of C"):
        results.filled(document, "C", report)
    for name in "ABCD":
        assert results.filled(results.DOCUMENT.read_text(), name, report).count("| y |") == 1


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
