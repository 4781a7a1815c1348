"""The table of mutants fits the sources, and the tests kill all of them."""

import ast
import subprocess
import sys
from functools import cache

import pytest
from mutant_table import MUTANTS
from mutate import ROOT, mutated

AT_LEAST = 60


def test_the_table_is_large_enough_and_names_each_mutant_once():
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
    assert len(MUTANTS) >= AT_LEAST


@pytest.mark.parametrize("file", sorted({mutant.file for mutant in MUTANTS}))
def test_every_fragment_occurs_once_and_every_mutant_is_a_program(file):
    text = (ROOT / file).read_text()
    for mutant in MUTANTS:
        if mutant.file == file:
            changed = mutated(text, mutant)
            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutant


@cache
def decorators_of(file):
    """Return the tests of a file by name, with what decorates them."""
    tree = ast.parse((ROOT / file).read_text())
    return {
        node.name: [ast.unparse(decorator) for decorator in node.decorator_list]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize("test", sorted({test for mutant in MUTANTS for test in mutant.tests}))
def test_every_test_exists_and_make_test_runs_it(test):
    file, _, name = test.partition("::")
    decorators = decorators_of(file)[name]
    assert not any("slow" in decorator for decorator in decorators)
    assert "pytestmark" not in (ROOT / file).read_text()


@pytest.mark.slow
def test_every_mutant_is_killed():
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "mutants" / "mutate.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
