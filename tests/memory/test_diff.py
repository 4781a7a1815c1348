"""What a program has otherwise than another, told in one line."""

import ast
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from specahd.core.program import Level, Program
from specahd.llm.grammar import Grammar
from specahd.memory.diff import CODE, IDEA, PIECE, are_related, changed_parts, describe_child
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import contracts

CONTRACTS = contracts(CVRP().operator)


def function(*lines):
    return "\n    ".join(["def f(a, b):", *lines]) + "\n"


BEFORE = function("c = a + 2.0 * b", "if a > b:", "    c = -c", "return c")


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("c = a + 2.0 * b", "as before"),
        ("c = a + 2.5 * b", "`2.0 * b` became `2.5 * b`"),
        ("c = a + 2.0 * (a * b)", "`b` became `a * b`"),
        ("c = a - 2.0 * b", "`a + 2.0 * b` became `a - 2.0 * b`"),
        ("c = max(a, b)", "`a + 2.0 * b` became `max(a, b)`"),
    ],
)
def test_the_smallest_part_of_a_line_that_changed_is_told(first, told):
    assert changed_parts(BEFORE, function(first, "if a > b:", "    c = -c", "return c")) == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["c = a + 2.0 * b", "if a >= b:", "    c = -c", "    d = 1", "return c"],
            "`a > b` became `a >= b`; new `d = 1`",
        ),
        (["c = a + 2.0 * b", "return c"], "gone `if a > b: c = -c`"),
        (
            ["d = max(a, b)", "c = a + 2.0 * b", "return c * d"],
            "`c` became `c * d`; new `d = max(a, b)`; gone `if a > b: c = -c`",
        ),
        (["return c"], "gone `c = a + 2.0 * b`; gone `if a > b: c = -c`"),
    ],
)
def test_replaced_parts_are_told_then_new_and_lost_ones(lines, told):
    assert changed_parts(BEFORE, function(*lines)) == told


def test_no_piece_is_told_of_a_function_that_was_rewritten():
    lines = [f"x{number} = np.{'sqrt' * 5}(a + {number})" for number in range(40)]
    rewritten = function(*lines, "return a")
    assert changed_parts(BEFORE, rewritten) == ""
    child = Program("x", Level.LOWER, rewritten, "Take roots.", "m1", contract="append")
    assert describe_child(child, replace(child, source=BEFORE)) == "Take roots."
    few = changed_parts(BEFORE, function(*lines[:6], BEFORE.split("\n", 1)[1].strip()))
    assert few.count("new `") == 6
    assert len(few) <= CODE


def test_programs_that_share_half_of_their_lines_are_kin():
    one = Program("x", Level.LOWER, BEFORE, "", "m1", contract="append")
    half = replace(one, source=function("c = a + 2.0 * b", "d = 1", "e = 2", "return c"))
    other = replace(one, source=function("c = a + 2.0 * b", "d = 1", "e = 2", "return d"))
    assert are_related(one, one)
    assert are_related(one, half)
    assert not are_related(one, other)


def test_a_long_piece_is_cut():
    told = changed_parts(BEFORE, function(f"c = max({', '.join(['a'] * 400)})", "return c"))
    change, _ = told.split("; gone")
    assert change.startswith("`a + 2.0 * b` became `max(a, a, ")
    assert change.endswith(" ...`")
    assert len(change) == len("`a + 2.0 * b` became ``") + PIECE


def test_a_rambling_idea_is_cut_and_stands_in_one_line():
    child = Program(
        "x", Level.LOWER, BEFORE, "Near customers\nfirst. " * 400, "m1", contract="append"
    )
    told = describe_child(child, replace(child, idea="An idea."))
    assert "\n" not in told
    assert told.startswith("Near customers first. Near")
    assert told.endswith(" ... Code: as before.")
    assert len(told) <= IDEA + len(" Code: as before.")


@pytest.mark.parametrize("level", list(Level))
def test_any_two_programs_have_a_short_difference_which_none_has_to_itself(level):
    contract = CONTRACTS[level]
    grammar = Grammar(contract.vocabulary)
    sources = [
        grammar.source(
            grammar.draw_program(np.random.default_rng(seed)), contract.name, contract.arguments
        )
        for seed in range(20)
    ]
    for one, other in pairwise(sources):
        told = changed_parts(one, other)
        assert (told == "as before") == (ast.dump(ast.parse(one)) == ast.dump(ast.parse(other)))
        assert "\n" not in told
        assert len(told) <= CODE
        assert changed_parts(one, one) == "as before"
