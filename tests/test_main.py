"""``specahd`` and ``python -m specahd``: the commands, each with its line."""

import subprocess
import sys
import tomllib
from pathlib import Path

from commands import run
from specahd import __main__, __version__
from specahd.config import CONF_DIR

ROOT = Path(__file__).parent.parent


def test_every_command_is_listed_with_one_line(capsys):
    assert __main__.main([]) == 0
    listed = capsys.readouterr().out
    for path in CONF_DIR.glob("*.yaml"):
        [line] = [line for line in listed.splitlines() if line.split()[:1] == [path.stem]]
        assert len(line) <= 100
        assert len(line.split()) > 3
    for words in (["--help"], ["help"], ["-h"]):
        assert __main__.main(words) == 0
        assert capsys.readouterr().out == listed


def test_every_command_can_be_run():
    for name in __main__.commands():
        source = (ROOT / "src" / "specahd" / f"{name}.py").read_text()
        assert "def main() -> int:" in source, name


def test_the_version_is_that_of_the_project(capsys):
    assert __main__.main(["--version"]) == 0
    assert capsys.readouterr().out == f"specahd {__version__}\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert project["scripts"] == {"specahd": "specahd.__main__:main"}


def test_a_word_that_is_no_command_is_refused_in_one_sentence(capsys):
    done = run("specahd", "solve-all", cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    [sentence] = done.stderr.splitlines()
    assert "train" in sentence
    assert "'solve-all'" in sentence
    assert __main__.main(["slove"]) == 2
    assert capsys.readouterr().err.endswith(" Did you mean specahd solve?\n")


def test_a_command_gets_its_words_and_gives_its_status(tmp_path):
    done = run("specahd", "train", "problem=cvrp", "--cfg", "job", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "_target_: specahd.problems.cvrp.problem.CVRP" in done.stdout
    done = run("specahd", "evaluate", "checkpoint=nothing", "pool=validation", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("No checkpoint at nothing")
    assert list(tmp_path.iterdir()) == []


def test_listing_imports_no_command():
    code = (
        "import sys; from specahd.__main__ import main; main([])\n"
        "print({'hydra', 'numpy', 'specahd.train'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()", done.stderr
