"""Benchmarks are run by hand: what they take from specahd must be there all the same."""

import ast
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def taken(file):
    """Yield each module of specahd and the name in it that a file imports or reads."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("specahd"):
            for alias in node.names:
                yield node.module, alias.name
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module and is_module(module):
                yield module, node.attr


def is_module(name):
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def is_there(module, name):
    return hasattr(importlib.import_module(module), name) or is_module(f"{module}.{name}")


@pytest.mark.parametrize("file", sorted(BENCHMARKS.rglob("*.py")), ids=lambda file: file.stem)
def test_what_a_benchmark_takes_is_there(file):
    assert [pair for pair in taken(file) if not is_there(*pair)] == []
