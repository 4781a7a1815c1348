"""What must never be in the repository."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

import griffe
import grimp
import pytest

from specahd.config.files import choices

ROOT = Path(__file__).parent.parent
# Long random words after what keys begin with, or after a name that says so.
KEYS = re.compile(
    rb"sk-(?!canary)[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}"
    rb"|(?i:api[_-]?key|secret|token)[\"']?\s*[:=]\s*[\"'](?!sk-canary)[A-Za-z0-9+/_.-]{24,}[\"']"
)
HERE = re.compile(rb"/work/(?:main|shared)\b|/r[o]ot/")


@pytest.fixture(scope="module")
def tracked():
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / name.decode() for name in done.stdout.split(b"\0") if name]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths if path.exists()}


def test_the_patterns_find_what_they_look_for():
    assert KEYS.search(b"key = sk-" + b"a1" * 16)
    assert KEYS.search(b'API_KEY: "' + b"0123456789" * 3 + b'"')
    assert not KEYS.search(b"api_key_env: DEEPSEEK_API_KEY")
    assert HERE.search(b"/".join([b"", b"work", b"main", b"x"]))


def test_no_key_is_in_the_repository(tracked):
    assert [name for name, content in tracked.items() if KEYS.search(content)] == []


def test_no_path_of_one_machine_is_in_the_repository(tracked):
    assert [name for name, content in tracked.items() if HERE.search(content)] == []


def test_no_registry_and_no_public_instance_is_in_the_repository(tracked):
    pinned = [name for name in tracked if name in ("constraints.txt", "pyproject.toml", "Makefile")]
    for name in pinned:
        assert b"://" not in tracked[name] or b"index-url" not in tracked[name]
    public = {"X-n101-k25.vrp", "a280.tsp", "C101.txt", "c1_2_1.txt", "SD1.txt", "bks.csv"}
    assert not public & {Path(name).name for name in tracked}
    assert not [name for name in tracked if name.startswith(("mlruns/", "runs/", "pools/"))]


def test_every_name_of_the_glossary_is_in_the_code():
    page = (ROOT / "docs" / "explanation" / "method.md").read_text()
    glossary = page.partition("## The symbols of the paper")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in glossary.splitlines() if line.startswith("| ")]
    names = [name for row in rows for name in re.findall("`(.+?)`", row[2])]
    assert len(names) > len(rows) > 20
    for name in names:
        resolve_name(f"specahd.{name}")


def test_pages_and_notes_that_files_name_exist(tracked):
    named = re.compile(rb"\bdocs/[\w/.-]+\.md\b|\bbenchmarks/notes/[\w.-]*\w")
    suffixes = (".py", ".yaml", ".md", "Makefile")
    # The changelog also names pages of earlier versions.
    texts = {name: text for name, text in tracked.items() if name.endswith(suffixes)}
    del texts["CHANGELOG.md"]
    places = {(name, page.decode()) for name, text in texts.items() for page in named.findall(text)}
    assert len(places) > 20
    known = {*tracked, *(name.removesuffix(".md") for name in tracked)}
    assert sorted((name, page) for name, page in places if page not in known) == []


def test_parameters_that_docstrings_describe_exist(caplog):
    def parse(module):
        for member in module.members.values():
            if not member.is_alias:
                if member.is_function and member.docstring:
                    assert member.docstring.parsed
                parse(member)

    parse(griffe.load("specahd", search_paths=[ROOT / "src"], docstring_parser="numpy"))
    messages = [record.getMessage() for record in caplog.records]
    assert [each for each in messages if "does not appear in the function signature" in each] == []


def code_without_prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names of a source, and its texts but docstrings and sentences, with their lines."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                each.value.value = None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Of a sentence only what an option is set to.
            words = re.findall(r"\bproblem=(\w+)", node.value)
            yield from ((node.lineno, word) for word in words)
            yield from [] if " " in node.value else [(node.lineno, node.value)]
        for field in ("id", "attr", "name", "arg", "module"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield node.lineno, name


def offenders(pattern: str, *apart: str) -> list[str]:
    """Return the lines of src, but for some folders, in whose code a pattern occurs."""
    sources = ROOT / "src" / "specahd"
    return [
        f"{path.relative_to(sources)}:{line} {word}"
        for path in sorted(sources.rglob("*.py"))
        if path.relative_to(sources).parts[0] not in apart
        for line, word in code_without_prose(path.read_text())
        if re.search(pattern, word)
    ]


def test_only_its_own_folder_names_a_problem():
    """TYPEs of files, in capitals, are words of TSPLIB and VRPLIB."""
    names = "|".join(choices("problem"))
    alone = rf"(?<![^\W_])({names})(?![^\W_])"
    assert offenders(alone, "problems", "checkpoints") == []
    found = {word for _, word in code_without_prose("def f(tsp):\n    'tsp'\n    return 'a_cvrp'")}
    assert {word for word in found if re.search(alone, word)} == {"tsp", "a_cvrp"}


def test_nobody_asks_for_the_kind_of_an_operator():
    sources = ROOT / "src" / "specahd"
    asked = [
        f"{path.relative_to(sources)}:{node.lineno}"
        for path in sorted(sources.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("isinstance", "issubclass")
        and "Operator" in ast.unparse(node.args[1])
    ]
    assert asked == []


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("specahd")
    left = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # What imports nothing that is left is in no circle.
    while done := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in done:
            del left[module]
    assert left == {}
