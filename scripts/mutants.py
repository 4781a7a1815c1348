"""Breaks a module in one place after the other, and lists the changes that its tests do not notice.

    .venv/bin/python scripts/mutants.py src/specahd/core/journal.py [TESTS ...] [--every N]

The places are found in the syntax tree: comparisons, ``and`` and ``or``, ``not``, plus and minus,
numbers, guard clauses (an ``if`` that only raises, returns, breaks or continues) and calls whose
value nobody takes. TESTS are the files ``test_MODULE.py`` in ``tests/PACKAGE`` and in the folders
above it, or ``tests/PACKAGE`` without such a file, unless they are named. The sources are changed
in a temporary copy, with a virtual environment of its own, so that every process that a test starts
imports the copy. The exit status is 1 if a mutant survives.
"""

import argparse
import ast
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

OPTIONS = ["-x", "-q", "--disable-warnings", "-pno:cacheprovider", "-oaddopts="]
_PAIRS = (
    *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn),
    *(ast.Is, ast.IsNot, ast.And, ast.Or, ast.Add, ast.Sub),
)
SWAPPED: dict[type, type] = {
    **dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)),
    **dict(zip(_PAIRS[1::2], _PAIRS[::2], strict=True)),
}
NOT_EXECUTED = ("annotation", "returns", "decorator_list")


class Mutant(NamedTuple):
    """One change of a text: the line, the piece, what stands in its place, and the new text."""

    line: int
    old: str
    new: str
    text: str


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are executed, in order; nothing inside f-strings and annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in NOT_EXECUTED or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from executed(child)


def changed(node: ast.AST) -> str | None:
    """Return the source that takes the place of a node, None where it is left alone."""
    match node:
        case ast.Compare(left, [operator, *others], values) if type(operator) in SWAPPED:
            other = ast.Compare(left, [SWAPPED[type(operator)](), *others], values)
        case ast.BoolOp(operator, values):
            other = ast.BoolOp(SWAPPED[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in SWAPPED:
            other = ast.BinOp(left, SWAPPED[type(operator)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            other = operand
        case ast.Constant(value) if type(value) in (int, float):
            other = ast.Constant(value + 1)
        case ast.If(body=[ast.Raise() | ast.Return() | ast.Break() | ast.Continue()], orelse=[]):
            return "pass"
        case ast.Expr(ast.Call()):
            return "pass"
        case _:
            return None
    return f"({ast.unparse(other)})"


def mutants(text: str) -> list[Mutant]:
    """Return all mutants of a module's text, in the order of its lines."""
    # The syntax tree counts columns in bytes.
    lines = text.encode().splitlines(keepends=True)
    before = [sum(map(len, lines[:number])) for number in range(len(lines))]
    found = []
    for node in executed(ast.parse(text)):
        new = changed(node)
        if new is not None:
            start = before[node.lineno - 1] + node.col_offset
            end = before[node.end_lineno - 1] + node.end_col_offset
            code = text.encode()
            old = " ".join(code[start:end].decode().split())
            whole = (code[:start] + new.encode() + code[end:]).decode()
            ast.parse(whole)
            found.append(Mutant(node.lineno, old, new, whole))
    return sorted(found, key=lambda mutant: mutant.line)


def tests_of(root: Path, module: Path) -> list[str]:
    """Return the tests that a module has by its name, those for all its siblings included."""
    package = Path("tests", *module.relative_to(root / "src").parts[1:-1])
    files = [folder / f"test_{module.stem}.py" for folder in (package, *package.parents[:-2])]
    return [str(file) for file in files if (root / file).exists()] or [str(package)]


def make_copy(folder: Path, root: Path) -> Path:
    """Copy what tests read and make an interpreter that imports the copy; return it."""
    # The sandbox reads the copy as another user. What numba has compiled comes along.
    folder.chmod(0o755)
    shutil.copytree(root / "src", folder / "src")
    for path in root.iterdir():
        if path.name not in ("src", ".venv"):
            (folder / path.name).symlink_to(path)
    venv.create(folder / ".copy", symlinks=True)
    [packages] = (folder / ".copy" / "lib").glob("python*/site-packages")
    # Not the files in them that would bring the sources themselves.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "copy.pth").write_text("\n".join([str(folder / "src"), *libraries]) + "\n")
    return folder / ".copy" / "bin" / "python"


def passes(tests: Sequence[str], log: Path, seconds: float) -> bool:
    """Run tests in a fork of this process; tests that never end do not pass."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        with log.open("wb") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
        status = 70
        try:
            import pytest

            status = int(pytest.main([*OPTIONS, *tests]))
        finally:
            sys.stdout.flush()
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def examine(copy: Path, root: Path, given: argparse.Namespace) -> int:
    """Run the tests on every mutant of the copy, list the survivors, return the exit status."""
    for library in given.warm.split(","):
        import_module(library)
    os.chdir(root)
    path = copy / given.module.relative_to(root)
    tests = given.tests or tests_of(root, given.module)
    text, log = path.read_text(), copy / "log.txt"
    began = time.monotonic()
    if not passes(tests, log, 3600):
        print(f"{log.read_text()}\nThe tests fail on the unchanged sources.")
        return 2
    seconds = 10 + 5 * (time.monotonic() - began)
    tried = mutants(text)[:: given.every]
    survivors = 0
    for mutant in tried:
        # Written now, it is newer than all that was compiled from it.
        path.write_text(mutant.text)
        if passes(tests, log, seconds):
            survivors += 1
            print(f"{path.name}:{mutant.line}: {mutant.old} -> {mutant.new}", flush=True)
    print(f"{len(tried) - survivors} of {len(tried)} mutants caught by {' '.join(tests)}")
    return int(survivors > 0)


def main() -> int:
    """Make the copy and examine the module in its interpreter; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=lambda word: Path(word).resolve())
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="try each Nth mutant only")
    parser.add_argument("--warm", default="pytest,numba,hydra.utils,hypothesis.extra.numpy")
    parser.add_argument("--copy", type=Path, help=argparse.SUPPRESS)
    given, root = parser.parse_args(), Path.cwd()
    if given.copy:
        return examine(given.copy, root, given)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        python = make_copy(Path(name), root)
        # To look for plugins is half of the time that a mutant takes.
        told = ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        environment = {**os.environ, **dict.fromkeys(told, "1")}
        environment.pop("PYTHONPATH", None)
        command = [python, __file__, *sys.argv[1:], "--copy", name]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
