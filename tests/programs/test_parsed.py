"""A program's text is parsed once, however many read it, and nobody alters its tree."""

import ast

import pytest

from specahd.core.contract import Contract
from specahd.core.program import Level, Program
from specahd.llm.parsing import parse_reply
from specahd.memory.diff import changed_parts
from specahd.memory.novelty import normalised_source
from specahd.memory.views import VIEWS
from specahd.programs.guard import guard
from specahd.programs.language import MAX_SOURCE
from specahd.programs.parsed import KEPT, function_of, parsed, price
from specahd.search.versions import completion_prompt


def seed(near, far):
    """Return the nearest."""
    return near[0]


CONTRACT = Contract.of(
    seed, id="test", level=Level.LOWER, idea="The nearest.", task="Choose.", runner=print
)
SOURCE = (
    "def seed(near, far):\n"
    "    best = near[far > 2]\n"
    "    total = np.argsort(far, kind='stable')\n"
    "    return best[0] + total[0]\n"
)


def read_everywhere(source):
    """Have all that read a candidate's text in this process read it, as a search does."""
    source, idea = parse_reply(f"{{Sorted.}}\n```python\n{source}```\n", CONTRACT)
    assert guard(source, CONTRACT.name, CONTRACT.arguments) is None
    normalised_source(source)
    program = Program("a", Level.LOWER, source, idea, "i1", contract="test")
    for view in VIEWS.values():
        view(program)
    changed_parts(CONTRACT.seed.source, source)
    completion_prompt(CONTRACT, [source])
    price.cache_clear()
    price(source)


def test_a_candidate_is_parsed_once(monkeypatch):
    read_everywhere(SOURCE)  # the seed program is parsed, too
    texts = []
    real = ast.parse
    with monkeypatch.context() as patched:
        patched.setattr(ast, "parse", lambda text: texts.append(text) or real(text))
        read_everywhere(SOURCE.replace("2", "3"))
    assert texts == [SOURCE.replace("2", "3")]


def test_nobody_alters_the_tree():
    read_everywhere(SOURCE)
    before = ast.dump(ast.parse(SOURCE), include_attributes=True)
    assert ast.dump(parsed(SOURCE), include_attributes=True) == before


def test_only_the_last_trees_and_only_those_of_possible_programs_are_kept():
    tree = parsed("x = 1\n")
    assert parsed("x = 1\n") is tree
    for number in range(KEPT):
        parsed(f"y = {number}\n")
    assert parsed("x = 1\n") is not tree
    long = f"x = 1  # {'-' * MAX_SOURCE}\n"
    assert parsed(long) is not parsed(long)


@pytest.mark.parametrize("source", ["x = 1\n", "def f():\n    pass\nx = 1\n", ""])
def test_a_text_that_is_no_function_is_refused(source):
    with pytest.raises(ValueError, match="one function"):
        function_of(source)
