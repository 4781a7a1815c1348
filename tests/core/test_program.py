"""The canonical source of a program."""

import ast

import pytest

from specahd.core.program import canonical_source

PLAIN = "def pick(a):\n    b = a\n    return b\n"
SAYS_NO_MORE = {
    "itself": PLAIN,
    "annotated argument": PLAIN.replace("(a)", "(a: int)"),
    "annotated answer": PLAIN.replace("(a)", "(a) -> int"),
    "annotated name": PLAIN.replace("b = a", "b: int = a"),
    "docstring": PLAIN.replace("    b", "    '''Take it.'''\n    b"),
    "comment": PLAIN.replace("= a", "= (a)  # it"),
}


@pytest.mark.parametrize("text", SAYS_NO_MORE.values(), ids=SAYS_NO_MORE)
def test_what_changes_nothing_is_left_out(text):
    [function] = ast.parse(text).body
    before = ast.dump(function)
    assert canonical_source(function) == PLAIN
    assert ast.dump(function) == before


@pytest.mark.parametrize(
    "value", ["{a: a}", "a[1:2]", "(lambda x: x)(a)", "'a: b' 'c'", "-1e999", "(a, (yield a))"]
)
def test_a_canonical_source_is_its_own(value):
    [function] = ast.parse(PLAIN.replace("= a", f"= {value}")).body
    source = canonical_source(function)
    assert canonical_source(ast.parse(source).body[0]) == source
    assert ast.dump(ast.parse(source).body[0]) == ast.dump(function)
