"""What README and tutorials show runs: commands in a console, Python, and the files between them.

A block that cannot run here says why in a comment above it: ``needs:`` (a key, a cluster, a
server …), ``run by:`` (what runs it), ``slow:`` (``make test-slow`` runs it), ``file:`` (its text
is written to that file, for the commands behind it).
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import textstat

from commands import run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- (needs|run by|slow|file): ([^\n]*?) -->\n)?^```([^\n]*)\n(.*?)^```$", re.M | re.S
)
ELSEWHERE = ("needs", "run by")
# Of a clone, what commands name; all else they write.
CLONE = ("benchmarks", "cassettes", "conf", "docs", "src", "tests")
# The guide to methods shows a class and its file, which tests/contracts/test_methods.py run.
TRIED = {"add-a-method"}
# Seconds of a command: a sweep of a minute takes several on a busy machine.
PATIENCE = 3000
KNOWN = ("specahd", "python", "cmp", "export")


def blocks(page):
    """Return of each block its mark, what the mark says, its language and its text."""
    return [match.groups() for match in BLOCK.finditer(page.read_text())]


def commands(text):
    """Return the commands of a block, each in words."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ")]


def run_page(page, folder, *, slow):
    """Run what a page shows, from top to bottom; slow blocks if asked. Return how many ran."""
    for name in CLONE:
        (folder / name).symlink_to(ROOT / name)
    scope, environment, ran = {}, {}, 0
    for mark, said, language, text in blocks(page):
        if mark == "file":
            path = folder / said
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif mark in ELSEWHERE or (mark == "slow" and ("hours" in said or not slow)):
            continue
        elif language == "python" and "import" in text:
            exec(compile(text, str(page), "exec"), scope)
            ran += 1
        elif language == "console":
            for words in commands(text):
                ran += run_words(words, folder, environment)
    return ran


def run_words(words, folder, environment):
    if words[0] == ".":  # the environment of the tests stands for the one that is activated
        return 0
    expanded = [word.replace("$PWD", str(folder)) for word in words]
    if words[0] == "export":
        name, _, value = words[1].partition("=")
        environment[name] = str(folder / value) if name == "PYTHONPATH" else value
        return 0
    assert words[0] in KNOWN, f"{words[0]}: mark its block, or let the test know it"
    # A second of search shows as much as ten.
    expanded = [re.sub(r"^time_limit=\d+$", "time_limit=1", word) for word in expanded]
    if words[:2] == ["python", "-m"]:
        done = run(words[2], *expanded[3:], cwd=folder, env=environment, timeout=PATIENCE)
    elif words[0] == "specahd":
        module = f"specahd.{words[1]}"
        done = run(module, *expanded[2:], cwd=folder, env=environment, timeout=PATIENCE)
    else:
        expanded[0] = sys.executable if words[0] == "python" else words[0]
        where = {**os.environ, **environment}
        done = subprocess.run(
            expanded, cwd=folder, env=where, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
    return 1


def cheap(page):
    """Say whether a page has a block that runs, and none that is slow before it."""
    return any(
        mark not in (*ELSEWHERE, "slow", "file") and language in ("console", "python")
        for mark, _, language, _ in blocks(page)
    )


CHEAP = [page for page in PAGES if cheap(page)]


@pytest.mark.integration
@pytest.mark.parametrize("page", CHEAP, ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch):
    if page.stem in TRIED:
        pytest.skip("tests/contracts/test_methods.py runs it")
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path, slow=False) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(mark == "slow" for mark, *_ in blocks(page))],
    ids=lambda page: page.stem,
)
def test_what_takes_minutes_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path, slow=True)


def test_every_command_is_run_or_says_why_not():
    for page in PAGES:
        if page.stem in TRIED:
            continue
        for mark, said, language, text in blocks(page):
            if language == "console" and mark is None:
                assert {words[0] for words in commands(text)} <= {*KNOWN, "."}, (page.name, text)
            assert mark is None or said


def test_the_readme_shows_a_program_that_is_in_the_checkpoint_that_ships():
    [shown] = re.findall(r"```python\n(def .*?)```", (ROOT / "README.md").read_text(), re.S)
    shipped = ROOT / "src" / "specahd" / "checkpoints" / "cvrp" / "programs" / "lower-1-0001.py"
    assert shown == shipped.read_text()


def test_the_readme_is_short_and_its_words_come_first():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    text = "\n".join(lines)
    for word in ("region", "upper program", "lower program", "repertoire", "router", "checkpoint"):
        assert f"| {word} |" in text


def prose(page):
    """Return a page's sentences: no code, table, heading, picture or address."""
    text = re.sub(r"<!--.*?-->|^``` ?.*?^```$", "", page.read_text(), flags=re.S | re.M)
    lines = ["" if line.startswith(("|", "#", "![")) else line for line in text.splitlines()]
    text = re.sub(r"^ *(?:[-*]|\d+\.) ", "\n", "\n".join(lines), flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "name", text))
    # A paragraph or an item ends a sentence, whatever mark it has.
    return re.sub(r"[.:;,]?\s*\n\s*\n", ".\n\n", text.replace("*", ""))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_first_pages_are_easy_to_read(page):
    assert textstat.flesch_reading_ease(prose(page)) > 50
    words = [len(each.split()) for each in re.split(r"(?<=[.!?])\s", prose(page)) if each.strip()]
    assert sum(words) / len(words) <= 15


def test_the_diagrams_are_those_of_the_script(tmp_path):
    """The layers are drawn from the contract of the linter."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "diagrams.py", tmp_path], check=False)
    assert done.returncode == 0
    for drawn in tmp_path.iterdir():
        assert drawn.read_text() == (ROOT / "docs" / "pictures" / drawn.name).read_text()


def test_the_shell_completes_as_the_page_says():
    page = (ROOT / "docs" / "how-to" / "install.md").read_text()
    [function] = re.findall(r"^```bash\n(.*?)```$", page, re.S | re.M)
    asked = 'COMP_LINE="specahd train problem="; _specahd; echo ${COMPREPLY[*]}'
    where = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", function + asked], env=where, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"problem={name}" for name in ("cvrp", "sdvrp", "tsp", "vrptw")]


def test_links_between_pages_lead_somewhere():
    """Without mkdocs, which ``make docs`` asks for more."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s#]+)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_modules_that_pages_name_are_there():
    package = ROOT / "src" / "specahd"
    named = [
        (page.name, name)
        for page in (ROOT / "docs").rglob("*.md")
        for name in re.findall(r"`(\w+/\w[\w/]*\w)(?:\.py)?`", page.read_text())
        if (package / name.partition("/")[0]).is_dir() and "NAME" not in name
    ]
    assert len(named) > 50
    for page, name in named:
        assert (package / name).is_dir() or (package / f"{name}.py").is_file(), (page, name)
