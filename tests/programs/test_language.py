"""What numba compiles is a part of what the guard lets pass, and the prompts say no more."""

import builtins
import math

import numpy as np

from specahd.programs import compiler, language, runtime
from specahd.programs.guard import guard


def test_the_compiled_language_is_narrower():
    assert set(language.COMPILED_NUMPY) <= language.NUMPY
    assert set(language.COMPILED_MATH) <= language.MATH
    assert set(language.COMPILED_BUILTINS) <= language.BUILTINS
    methods = {*language.COMPILED_ARRAY_METHODS, *language.COMPILED_LIST_METHODS}
    assert methods | language.COMPILED_ARRAY_ATTRIBUTES <= language.METHODS


def test_prompts_name_every_function_by_its_own_name():
    for module, rules in (
        (np, language.COMPILED_NUMPY),
        (math, language.COMPILED_MATH),
        (builtins, language.COMPILED_BUILTINS),
    ):
        assert [name for name in rules if getattr(module, name).__name__ != name] == []


def test_the_functions_and_methods_that_prompts_name_are_there():
    assert [name for kind in (list, dict, set) for name in dir(kind) if not _known(name)] == []
    [told] = [rule for rule in language.RULES if "(also " in rule]
    named = told.partition("(also ")[2].partition(", @")[0].split(", ")
    assert set(named) <= language.NUMPY | language.METHODS
    line = "    np.add.at(a, b, 1)\n    return np.minimum.accumulate(a @ a) + np.add.reduceat(a, b)"
    assert guard(f"def f(a, b):\n{line}\n", "f", ("a", "b")) is None


def _known(name):
    return name.startswith("_") or name in language.METHODS


def test_every_check_of_a_rule_exists():
    for rule in (
        *compiler.FUNCTIONS.values(),
        *language.COMPILED_ARRAY_METHODS.values(),
        *language.COMPILED_LIST_METHODS.values(),
    ):
        for check in filter(None, (rule.before, rule.after)):
            assert callable(getattr(runtime, check))


def test_what_is_ruled_out_by_name_is_no_syntax_of_a_program():
    for _, kinds in language.RULED_OUT.values():
        assert not any(issubclass(kind, language.NODES) for kind in kinds)
    assert not any(issubclass(kind, language.NODES) for kind in language.REASONS)
