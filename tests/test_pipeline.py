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

from specahd.tracking.provenance import dvc_hashes

ROOT = Path(__file__).parent.parent
DVC = Path(sys.executable).with_name("dvc")
SMALL = (
    "budget.programs=4 budget.rounds=1 budget.lower_train=3 budget.upper_train=2 "
    "budget.selection=2 budget.validation=4 tracking=none"
)
BACK = re.compile(r"^\$ (git checkout .* && dvc checkout .*)$", re.MULTILINE)
PARTS = ("src", "conf", ".dvc", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml", "data.dvc")


class Copy:
    """A clone with neither cache nor remote, in which ``python`` runs its own code."""

    def __init__(self, place):
        self.place = place
        for part in (*PARTS, "benchmarks/public", "benchmarks/comparison"):
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
        # Of 60 instances, which programs that plan take minutes for.
        with (place / "conf" / "evaluate.yaml").open("a") as file:
            file.write("count: 4\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments):
        return self.run("git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=state")

    def dvc(self, *arguments):
        return self.run(str(DVC), *arguments)

    def run(self, *command):
        return run(self.place, *command)

    @property
    def lock(self):
        return (self.place / "dvc.lock").read_text()


def run(place, *command):
    """Run a command in a clone; return what it said."""
    env = {
        **os.environ,
        "PATH": f"{DVC.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(place / "src"),
        "DVC_SITE_CACHE_DIR": str(place.parent / "site"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def outdated(repository, place):
    """Return the stages whose code or options differ from those of the committed lock."""
    run(repository, "git", "clone", "--quiet", str(repository), str(place))
    found = []
    for stage, changes in json.loads(run(place, str(DVC), "status", "--json", "dvc.yaml")).items():
        told = [each for each in changes if isinstance(each, str)]
        deps = [each.get("changed deps", {}) for each in changes if isinstance(each, dict)]
        # A clone has nothing yet of what other stages make.
        if told or [name for each in deps for name in each if not name.startswith("pipeline/")]:
            found.append(stage)
    return found


def ran(said):
    return set(re.findall(r"^Running stage '(.*)'", said, flags=re.MULTILINE))


# One test, since each part goes on from the state that the one before it left.
@pytest.mark.integration
@pytest.mark.skipif(not DVC.exists(), reason=f"DVC is not installed: no {DVC}")
@pytest.mark.parametrize("experiment", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_fresh_clone_is_reproduced_and_experimented_with(tmp_path, experiment):
    copy = Copy(tmp_path / "clone")
    copy.dvc("repro")
    # All that is new is the lock, which a release has; DVC refuses one that git ignores.
    assert copy.git("status", "--short", "--untracked-files=all") == "?? dvc.lock\n"
    copy.commit()
    assert outdated(copy.place, tmp_path / "other") == []
    assert_whole(copy)
    assert_shown_offline_on_a_screen(copy)
    assert_nothing_to_do(copy)
    assert_equal_bytes_when_forced(copy)
    assert_one_problem_would_run_again(copy)
    assert_gone_back_as_documented(copy)
    if experiment:
        assert_one_problem_changes_alone(copy)


def assert_whole(copy):
    report = copy.place / "pipeline" / "report"
    assert {"report.md", "report.html", "convergence.svg"} <= {p.name for p in report.iterdir()}
    metrics = {path.stem: json.loads(path.read_text()) for path in report.glob("metrics/*.json")}
    assert {name: found["runs"] for name, found in metrics.items()} == {"cvrp": 1, "tsp": 1}


def assert_shown_offline_on_a_screen(copy):
    lines = copy.dvc("metrics", "show").splitlines()
    assert len(lines) == 3
    # "sdvrp" and "vrptw" have a letter more.
    assert max(len(line.rstrip()) for line in lines) < 80
    copy.dvc("plots", "show")
    page = (copy.place / "dvc_plots/index.html").read_text()
    assert "convergence.svg" in page
    assert "://" not in page
    assert copy.git("status", "--short") == ""


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


def assert_one_problem_would_run_again(copy):
    path = copy.place / "conf" / "problem" / "tsp.yaml"
    text = path.read_text()
    path.write_text(re.sub(r"^max_size: .*$", "max_size: 20", text, flags=re.MULTILINE))
    assert path.read_text() != text
    assert set(json.loads(copy.dvc("status", "--json", "dvc.yaml"))) == {
        "prepare@tsp", "train@tsp-0", "evaluate@tsp-0",
    }  # fmt: skip
    path.write_text(text)


def assert_gone_back_as_documented(copy):
    [command] = BACK.findall((ROOT / "docs" / "how-to" / "pipeline.md").read_text())
    # What an experiment leaves changed, of each kind.
    for name in ("params.yaml", "conf/problem/tsp.yaml", "dvc.lock"):
        with (copy.place / name).open("a") as file:
            file.write("# changed\n")
    report = copy.place / "pipeline" / "report" / "report.md"
    before = report.read_bytes()
    report.unlink()
    copy.run("bash", "-c", command)
    assert copy.git("status", "--short") == ""
    assert report.read_bytes() == before


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
    [(name, difference)] = json.loads(copy.dvc("metrics", "diff", "--json")).items()
    assert name == "pipeline/report/metrics/tsp.json"
    assert difference.keys() == {"selection", "validation"}
    plots = json.loads(copy.dvc("plots", "diff", "HEAD", "--json"))
    assert [name for name in plots["data"] if name.endswith("convergence.svg")]


# No commit but the last of a release passes, so `make test` leaves it out.
@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no git checkout")
def test_the_lock_of_a_release_is_that_of_its_code(tmp_path):
    assert outdated(ROOT, tmp_path / "clone") == [], "dvc repro, and commit dvc.lock"


@pytest.mark.parametrize("path", ["pipeline/report/metrics/cvrp.json", "dvc_plots/index.html"])
def test_what_dvc_makes_is_ignored_by_git(path):
    done = subprocess.run(["git", "check-ignore", "--quiet", path], cwd=ROOT, check=False)
    if done.returncode == 128:
        pytest.skip("this is no git checkout")
    assert done.returncode == 0


def test_no_stage_on_public_data_is_in_the_pipeline():
    pipeline, public = (
        yaml.safe_load((ROOT / place / "dvc.yaml").read_text())["stages"]
        for place in (".", "benchmarks/public")
    )
    assert not [name for name, stage in pipeline.items() if re.search(r"\bdata\b", str(stage))]
    assert "data" in public["verify"]["deps"]


@pytest.mark.parametrize("stage", ["train", "evaluate"])
def test_a_stage_depends_on_all_code_that_its_command_imports(stage):
    # A tracker changes no result, nor do the pages that it makes.
    rooms = {"specahd.tracking", "specahd.reporting"}
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
