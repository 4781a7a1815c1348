"""The DVC pipeline in a copy of the repository: real stages, with the least of budgets."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
import yaml

from specahd.tracking.lineage import dvc_hashes

ROOT = Path(__file__).parent.parent
DVC = Path(sys.executable).with_name("dvc")
SMALL = (
    "budget.programs=4 budget.rounds=1 budget.lower_train=3 budget.upper_train=2 "
    "budget.selection=2 budget.validation=4 tracking=none"
)
PARTS = ("src", "conf", ".dvc", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml", "data.dvc")


class Copy:
    """A clone with neither cache nor remote, in which ``python`` runs its own code."""

    def __init__(self, place):
        self.place = place
        for part in (*PARTS, "benchmarks/public"):
            target = place / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / part).is_dir():
                # With the caches of numba, whose making takes longer than all else.
                shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("tmp", "cache"))
            else:
                shutil.copy2(ROOT / part, target)
        params = place / "params.yaml"
        chosen = {**yaml.safe_load(params.read_text()), "problems": ["tsp", "cvrp"], "seeds": [0]}
        params.write_text(yaml.safe_dump({**chosen, "options": SMALL}))
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments):
        self.run("git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=state")

    def dvc(self, *arguments):
        return self.run(str(DVC), *arguments)

    def run(self, *command):
        env = {
            **os.environ,
            "PATH": f"{DVC.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.place / "src"),
            "DVC_SITE_CACHE_DIR": str(self.place.parent / "site"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        }  # fmt: skip
        done = subprocess.run(
            command, cwd=self.place, env=env, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def lock(self):
        return (self.place / "dvc.lock").read_text()


def ran(said):
    return set(re.findall(r"^Running stage '(.*)'", said, flags=re.MULTILINE))


# One test, since each part goes on from the state that the one before it left.
@pytest.mark.skipif(not DVC.exists(), reason=f"DVC is not installed: no {DVC}")
def test_a_fresh_clone_is_reproduced_and_experimented_with(tmp_path):
    copy = Copy(tmp_path / "clone")
    copy.dvc("repro")
    copy.commit()
    assert_whole(copy)
    assert_nothing_to_do(copy)
    assert_equal_bytes_when_forced(copy)
    assert_one_problem_changes_alone(copy)


def assert_whole(copy):
    report = copy.place / "pipeline" / "report"
    assert {"report.md", "report.html", "convergence.svg"} <= {p.name for p in report.iterdir()}
    metrics = json.loads((report / "metrics.json").read_text())
    assert {name: found["programs"] for name, found in metrics.items()} == {"cvrp": 4, "tsp": 4}


def assert_nothing_to_do(copy):
    before = copy.lock
    # What Python and numba keep beside the code is not the code.
    (copy.place / "src/specahd/core/__pycache__").mkdir(exist_ok=True)
    (copy.place / "src/specahd/core/__pycache__/x.cpython-311.pyc").write_bytes(b"x")
    (copy.place / "src/specahd/routing/x.1.nbi").write_bytes(b"x")
    said = copy.dvc("repro")
    assert "up to date" in said
    assert ran(said) == set()
    assert copy.lock == before


def assert_equal_bytes_when_forced(copy):
    before = copy.lock
    assert ran(copy.dvc("repro", "--force", "--single-item", "train@cvrp-0")) == {"train@cvrp-0"}
    assert copy.lock == before
    # Times and whatever else a run leaves beside its outs do not ask for another report.
    assert "up to date" in copy.dvc("status", "report")


def assert_one_problem_changes_alone(copy):
    before = dvc_hashes(copy.place)
    said = copy.dvc("exp", "run", "--set-param", "conf/problem/tsp.yaml:max_size=20")
    assert ran(said) == {"prepare@tsp", "train@tsp-0", "evaluate@tsp-0", "report"}
    config = yaml.safe_load((copy.place / "pipeline/runs/tsp-seed0/config.yaml").read_text())
    assert config["problem"]["max_size"] == 20
    after = dvc_hashes(copy.place)
    changed = {path for path in before if before[path] != after[path]}
    assert "pipeline/runs/tsp-seed0/checkpoint" in changed
    assert not [path for path in changed if "cvrp" in path]
    [difference] = json.loads(copy.dvc("metrics", "diff", "--json")).values()
    assert {name.partition(".")[0] for name in difference} == {"tsp"}
    plots = json.loads(copy.dvc("plots", "diff", "HEAD", "--json"))
    assert any(name.endswith("tsp-lower.csv") for name in plots["data"])


def test_no_stage_on_public_data_is_in_the_pipeline():
    pipeline, public = (
        yaml.safe_load((ROOT / place / "dvc.yaml").read_text())["stages"]
        for place in (".", "benchmarks/public")
    )
    assert not [name for name, stage in pipeline.items() if re.search(r"\bdata\b", str(stage))]
    assert "data" in public["verify"]["deps"]


@pytest.mark.parametrize("stage", ["train", "evaluate"])
def test_a_stage_depends_on_all_code_that_its_command_imports(stage):
    # A tracker changes no result.
    rooms = {"specahd.tracking"}
    declared = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"][stage]["deps"]
    rooms |= {
        path.removesuffix(".py").removeprefix("src/").replace("/", ".")
        for path in declared
        if path.startswith("src/") and "${" not in path
    }
    graph = grimp.build_graph("specahd", cache_dir=None)
    reached = {f"specahd.{stage}", *graph.find_upstream_modules(f"specahd.{stage}")} - {"specahd"}
    assert [
        module
        for module in sorted(reached)
        if not f"{module}.".startswith(tuple(f"{room}." for room in rooms))
    ] == []
