"""What can be known of the images and of compose.yaml where no Docker engine runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from commands import TINY
from specahd.api.problems import make_problem

ROOT = Path(__file__).parent.parent
DOCKER = ROOT / "docker"
INSTALL = ROOT / "scripts" / "install.sh"
IMAGES = sorted(path.name for path in DOCKER.glob("*.Dockerfile"))
SECRETS = {"POSTGRES_PASSWORD": "canary", "OBJECT_STORE_SECRET": "canary"}
VARIABLE = re.compile(r"\$\{(\w+)(:\?|:-)?[^}]*\}")
PINNED = re.compile(r"[a-z][a-z0-9/.-]*:[\w.-]*\d[\w.-]*@sha256:[0-9a-f]{64}")


def steps(name):
    """Return the instructions of a Dockerfile as (word, rest)."""
    text = (DOCKER / name).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in whole.splitlines() if line]


def last(name, word):
    return [rest for instruction, rest in steps(name) if instruction == word][-1]


@pytest.fixture
def compose():
    return yaml.safe_load((DOCKER / "compose.yaml").read_text())


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_pinned_unprivileged_and_tells_its_health(name):
    bases = [rest.split()[0] for word, rest in steps(name) if word == "FROM"]
    assert len(bases) == 2  # what builds is left behind
    assert len(set(bases)) == 1
    assert PINNED.fullmatch(bases[0])
    final = steps(name)[[word for word, _ in steps(name)].index("FROM", 1) :]
    words = [word for word, _ in final]
    assert "HEALTHCHECK" in words
    assert "USER" in words[: words.index("ENTRYPOINT")]
    user, group = last(name, "USER").split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert not any(word == "ADD" for word, _ in steps(name))
    assert not re.search(r"(?i)(password|secret|token|api_key)\s*=", (DOCKER / name).read_text())


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_made_by_the_script_that_make_uses(name):
    [run] = [rest for word, rest in steps(name) if word == "RUN" and "install.sh" in rest]
    assert "VENV=/opt/specahd scripts/install.sh" in run
    assert ("COPY", "--from=build /opt/specahd /opt/specahd") in steps(name)
    assert "scripts/install.sh --editable $(EXTRAS)" in (ROOT / "Makefile").read_text()


def test_the_image_reads_the_loops_that_its_build_compiled_and_writes_elsewhere():
    environment = dict(re.findall(r"(\w+)=(\S+)", last("trainer.Dockerfile", "ENV")))
    [compiled] = [
        rest for word, rest in steps("trainer.Dockerfile")
        if word == "RUN" and rest.endswith("specahd compile")
    ]  # fmt: skip
    assert f"SPECAHD_CACHE={environment['SPECAHD_CACHE']} " in compiled
    assert environment["SPECAHD_CACHE"].startswith("/opt/specahd/")
    assert environment["HOME"] == "/tmp"


def test_a_stopped_trainer_is_interrupted_and_not_killed():
    assert last("trainer.Dockerfile", "STOPSIGNAL") == "SIGINT"


def test_compose_pins_what_it_pulls_and_refers_to_what_is_there(compose):
    services = compose["services"]
    assert set(services) == {"database", "objects", "bucket", "mlflow", "embed", "trainer"}
    for name, service in services.items():
        if "build" in service:
            build = service["build"]
            assert (DOCKER / build["context"] / build["dockerfile"]).is_file(), name
            assert "no-new-privileges:true" in service["security_opt"]
            assert service["cap_drop"] == ["ALL"]
        else:
            assert PINNED.fullmatch(service["image"]), name
        for other, waits in service.get("depends_on", {}).items():
            checked = services[other].get("healthcheck", {})
            if waits["condition"] == "service_healthy":
                assert "test" in checked, f"{name} waits for {other}, which has no health check"
        for volume in service.get("volumes", ()):
            source = volume.rsplit(":/", 1)[0]
            assert source in compose["volumes"] or source.startswith(("../", "${"))
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), "MLflow asks nobody who they are"
    assert services["embed"]["profiles"] == ["gpu"]
    [device] = services["embed"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]
    assert services["trainer"]["profiles"] == ["train"]


def test_extras_of_the_images_exist(compose):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {"embed", compose["services"]["mlflow"]["build"]["args"]["EXTRAS"]}
    assert wanted <= set(project["optional-dependencies"])
    [server] = wanted - {"embed"}
    assert {re.split(r"[^\w-]", need)[0] for need in project["optional-dependencies"][server]} >= {
        "boto3", "psycopg2-binary",
    }  # fmt: skip


def test_every_variable_is_required_or_has_a_default_and_is_explained():
    text = (DOCKER / "compose.yaml").read_text()
    found = {match[1]: match[2] for match in VARIABLE.finditer(text)}
    assert all(found.values()), found
    assert {name for name, kind in found.items() if kind == ":?"} == set(SECRETS)
    example = (DOCKER / ".env.example").read_text()
    explained = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    assert explained - {"COMPOSE_PROJECT_NAME"} == set(found)
    for name in SECRETS:
        assert re.search(rf"^{name}=$", example, re.MULTILINE), "no secret stands in an example"


def parser():
    """Return the command of a real compose, or skip."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            asked = subprocess.run([*command, "version"], capture_output=True, check=False)
            if asked.returncode == 0:
                return command
    pytest.skip("neither docker compose nor docker-compose is installed (Debian: docker-compose)")


def test_compose_reads_its_file(tmp_path):
    command = [*parser(), "-f", str(DOCKER / "compose.yaml"), "--profile", "gpu"]
    command += ["--profile", "train", "config"]
    known = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(command, env=known | SECRETS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = yaml.safe_load(done.stdout)
    assert set(read["services"]) >= {"database", "objects", "bucket", "mlflow", "embed", "trainer"}
    assert read["services"]["mlflow"]["environment"]["PGPASSWORD"] == "canary"
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "set it in docker/.env" in done.stderr


def context(folder):
    """Lay out what .dockerignore leaves of this checkout, without what a build made."""
    kept = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    for name in kept:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            junk = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
            shutil.copytree(source, target, ignore=junk)
        else:
            shutil.copy2(source, target)
    return folder


def install(*arguments, script=INSTALL, **environment):
    return subprocess.run(
        [str(script), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def needed(wanted, extra=""):
    """Yield the distributions of this environment that others need, and those that they need."""
    for requirement in map(Requirement, wanted):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found = distribution(requirement.name)
            yield found
            for chosen in requirement.extras or {""}:
                yield from needed(found.requires or (), chosen)


def lay_out(venv):
    """Make an environment with the packages of this one that ours needs, and no other."""
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    [target] = venv.glob("lib/python3*/site-packages")
    found_once = {each.name: each for each in needed(["specahd[train]"]) if each.name != "specahd"}
    for found in found_once.values():
        for file in found.files:
            source, link = Path(file.locate()), target / file
            # Two packages may bring the same one; scripts name the interpreter that they are of.
            if ".." not in file.parts and source.is_file() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                try:
                    link.hardlink_to(source)
                except OSError:  # another disk
                    shutil.copy2(source, link)


# pip compiles what it installs, the programs of checkpoints too.
LOADED = """
from specahd.api.problems import make_problem
from specahd.api.programs import EVOLVED, SHIPPED, programs_for
for name in ("cvrp", "sdvrp", "tsp", "vrptw"):
    assert list((SHIPPED / name / "programs" / "__pycache__").iterdir())
    programs_for(make_problem(name), EVOLVED)
"""


def solves(folder):
    """Yield commands that solve an instance of each problem, as a user does after installing."""
    for name in ("cvrp", "sdvrp", "tsp", "vrptw"):
        problem = make_problem(name)
        path = folder / f"{name}{problem.suffix}"
        path.write_text(problem.dumps(next(problem.generate("validation", 1))))
        yield ["specahd", "solve", path.name, "time_limit=1", "checkpoint=evolved"]
        yield ["specahd", "solve", path.name, "time_limit=1"]


@pytest.mark.integration
@pytest.mark.parametrize("packages", ["laid out", pytest.param("fetched", marks=pytest.mark.slow)])
def test_what_the_image_gets_is_enough_to_install_train_and_be_healthy(tmp_path, packages):
    script = context(tmp_path / "build") / "scripts" / "install.sh"
    venv = tmp_path / "opt"
    if packages == "laid out":
        lay_out(venv)
    extras = last("trainer.Dockerfile", "ARG").partition("=")[2]
    done = install(extras, script=script, VENV=str(venv), PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    # As in the image: another folder, nothing of this checkout, caches beside.
    shutil.rmtree(tmp_path / "build")
    work = tmp_path / "work"
    work.mkdir()
    inside = {"PATH": f"{venv / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    inside["SPECAHD_CACHE"] = str(tmp_path / "loops")
    health = yaml.safe_load(last("trainer.Dockerfile", "HEALTHCHECK").split("CMD ", 1)[1])
    entry = yaml.safe_load(last("trainer.Dockerfile", "ENTRYPOINT"))
    default = yaml.safe_load(last("trainer.Dockerfile", "CMD"))
    for command in (
        *(health, [*entry, *default, *TINY[1:], "hydra.run.dir=run"], ["python", "-c", LOADED]),
        *([] if packages == "laid out" else solves(work)),
    ):
        done = subprocess.run(
            [str(venv / "bin" / command[0]), *command[1:]],
            cwd=work, env=inside, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
    assert (work / "run" / "checkpoint" / "manifest.json").is_file()
    # At the versions of constraints.txt, without what only developers need.
    listed = subprocess.run(
        [venv / "bin" / "python", "-m", "pip", "list", "--format=freeze"],
        capture_output=True, text=True, check=True,
    ).stdout.lower()  # fmt: skip
    installed = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    assert not {"pytest", "ruff", "dvc", "torch"} & set(installed)
    pins = (ROOT / "constraints.txt").read_text().lower().splitlines()
    pinned = dict(line.split("==") for line in pins if "==" in line)
    # A new environment of Python 3.11 brings setuptools; only developers need the pinned one.
    for name in pinned.keys() & installed.keys() - {"setuptools"}:
        assert installed[name] == pinned[name]


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["dev", "ray"], {}, "got 2"),
        (["--upgrade"], {}, "got '--upgrade'"),
        (["dev; id"], {}, "got 'dev; id'"),
        ([], {"PYTHON": "python0"}, "there is no python0"),
        ([], {"PYTHON": "old"}, "expected Python 3.11 or newer"),
    ],
)
def test_the_script_refuses_in_one_sentence_and_makes_nothing(
    tmp_path, arguments, environment, words
):
    old = tmp_path / "bin" / "old"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit\nexit 1\n')
    old.chmod(0o755)
    path = f"{old.parent}:{os.environ['PATH']}"
    done = install(*arguments, **environment, PATH=path, VENV=str(tmp_path / "venv"))
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize("status", [0, 3])
def test_the_script_shows_how_far_it_is_and_ends_as_pip_does(tmp_path, status):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    lines = [f"Collecting name{number}\\n  Downloading it" for number in range(30)]
    lines += [f"Processing /somewhere/name{number}" for number in range(15)]
    said = "\\n".join([*lines, "Installing collected packages: all of them"])
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *--version) exit;; esac\n'
        f'printf "{said}\\n"\necho why >&2\nexit {status}\n'
    )
    python.chmod(0o755)
    done = install("ray,slurm", VENV=str(tmp_path))
    assert (done.returncode, done.stderr) == (status, "why\n")
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Installing specahd[ray,slurm]")
    assert lines == [
        "  20 packages found",
        "  40 packages found",
        "  45 packages found; writing them, a minute or so",
    ]
