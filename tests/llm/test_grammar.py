"""A grammar recovers trees from programs and writes them back, and templates write numbers."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.core.vocabulary import Constant, Production, Vocabulary
from specahd.llm import templates
from specahd.llm.grammar import Grammar, rounded

TOY = Vocabulary(
    productions=(
        Production(
            "program",
            "unused = 1\nused = x + 1\nfor i in x:\n    inner = i\n    deep = LEFT\n"
            "return deep * used",
            "{LEFT}",
            {"LEFT": "term"},
        ),
        Production("program", "return LEFT + LEFT", "twice {LEFT}", {"LEFT": "term"}),
        Production("term", "inner", "it"),
        Production("term", "A - B", "{A} less {B}", {"A": "term", "B": "number"}),
    ),
    constants=(Constant("number", -2.0, 2.0),),
)


def toy(body):
    return "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def test_unused_lines_are_dropped_and_not_missed():
    grammar = Grammar(TOY)
    source = toy(
        "used = x + 1\nfor i in x:\n    inner = i\n    deep = inner - -0.5\nreturn deep * used"
    )
    tree = grammar.recover(source)
    assert [node.value for _, node in tree.walk() if isinstance(node.rule, Constant)] == [-0.5]
    assert grammar.source(tree, "f", ("x",)) == source
    assert grammar.idea(tree) == "It less -0.5."


@pytest.mark.parametrize(
    "body",
    [
        "return inner + inner - 1",
        "return inner - 1 + inner",
        "return inner - True + (inner - True)",
        "return inner + inner\nreturn 1",
        "for i in x:\n    inner = i\n    deep = inner\nreturn deep * used",
        "used = x + 2\nfor i in x:\n    inner = i\n    deep = inner\nreturn deep * used",
    ],
)
def test_what_no_production_derives_is_not_recovered(body):
    assert Grammar(TOY).recover(toy(body)) is None


def test_a_hole_that_stands_twice_is_filled_alike():
    tree = Grammar(TOY).recover(toy("return inner - 1.5 + (inner - 1.5)"))
    assert [child.value for _, child in tree.walk()] == [0, 0, 0, 1.5]


def test_a_hole_that_nothing_fills_is_refused():
    lost = Production("program", "return A", "{A}", {"A": "nothing"})
    with pytest.raises(ValueError, match="Nothing makes a nothing"):
        Grammar(Vocabulary((lost,), ()))


@given(st.floats(-1e6, 1e6))
def test_numbers_keep_three_digits_and_their_range(value):
    held = rounded(value, Constant("a", -50.0, 70.0))
    assert -50 <= held <= 70
    assert held == float(f"{held:.3g}")
    assert abs(held - min(max(value, -50), 70)) <= 0.005 * abs(value) + 1e-300
    assert isinstance(rounded(value, Constant("a", 1, 9, integer=True)), int)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9))
def test_a_number_reads_back(value):
    expression = ast.fix_missing_locations(ast.Expression(templates.number_expression(value)))
    again = ast.parse(ast.unparse(expression), mode="eval").body
    assert templates.read_number(again) == value
