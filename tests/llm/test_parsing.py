import ast

import numpy as np
import pytest

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.core.vocabulary import Vocabulary
from specahd.llm.parsing import MAX_LENGTH, ParseError, parse_reply


def choose(nodes: list[int], limit: int) -> int:
    """Choose a node."""
    return min(nodes)


CONTRACT = Contract.of(
    choose,
    level=Level.LOWER,
    idea="The least.",
    task="Choose.",
    runner=np.sort,
    vocabulary=Vocabulary((), ()),
)
BODY = "def choose(nodes, limit):\n    return min(nodes)\n"
GOOD = "{Take the least.}\n" + BODY

ACCEPTED = {
    "plain": GOOD,
    "fenced": "{Take the least.}\n```python\n" + BODY + "```\n",
    "fenced, never closed": "{Take the least.}\n```python\n" + BODY,
    "tildes": "{Take the least.}\n~~~\n" + BODY + "~~~\n",
    "chatty": "Sure! Here it is:\n\n{Take the least.}\n\n```py\n"
    + BODY
    + "```\nHope this helps = a lot.",
    "chatty without fences": "Sure!\n{Take the least.}\n\n"
    + BODY
    + "\nThis takes the least node.\n",
    "all in one fence": "```\n{Take the least.}\n" + BODY + "```",
    "idea in a fence of its own": "```\n{Take the least.}\n```\n```python\n" + BODY + "```",
    "idea last": "```python\n" + BODY + "```\n{Take the least.}",
    "idea over two lines": "{Take\n  the least.}\n" + BODY,
    "thoughts": "<think>{Hm} def choose(): ...\n```python\n1\n```\n</think>" + GOOD,
    "thoughts cut at the front": "{Hm}\ndef f(): pass\n</think>\n" + GOOD,
    "carriage returns": GOOD.replace("\n", "\r\n"),
    "imports": GOOD.replace("def", "import numpy as np\nimport math\n\ndef"),
    "imports in the body": GOOD.replace("    return", "    import math\n    return"),
    "annotations": GOOD.replace("(nodes, limit)", "(nodes: list[int], limit: 'int') -> int"),
    "docstring": GOOD.replace("    return", '    """Least {node}."""\n    return'),
    "comments": GOOD.replace("    return", "    # least\n    return"),
    "signature over lines": GOOD.replace("(nodes, limit)", "(\n    nodes,\n    limit,\n)"),
}
REJECTED = {
    "empty": ("", "Expected a function"),
    "no function": ("{Take the least.}\nmin(nodes)", "Expected a function"),
    "no idea": (BODY, "Expected one design sentence"),
    "no idea, but a dictionary": (BODY.replace("min(nodes)", "{1: 2}[1]"), "Expected one design"),
    "empty idea": ("{  }\n" + BODY, "is empty"),
    "two ideas": ("{One.} {Two.}\n" + BODY, "got 2"),
    "idea only in a comment": (BODY.replace("    return", "    # {Least.}\n    return"), "got 0"),
    "idea only in a thought": ("<think>{Least.}</think>\n" + BODY, "got 0"),
    "all in a thought": ("<think>" + GOOD, "Expected a function"),
    "another name": (GOOD.replace("choose", "chose"), "a function choose, got chose"),
    "another argument": (GOOD.replace("limit", "bound"), "Expected arguments"),
    "another order": (GOOD.replace("nodes, limit", "limit, nodes"), "Expected arguments"),
    "a missing argument": (GOOD.replace(", limit", ""), "Expected arguments"),
    "default": (GOOD.replace("limit)", "limit=3)"), "without defaults"),
    "star": (GOOD.replace("limit)", "limit, *rest)"), "without defaults"),
    "double star": (GOOD.replace("limit)", "limit, **rest)"), "without defaults"),
    "keyword only": (GOOD.replace("limit)", "*, limit)"), "without defaults"),
    "positional only": (GOOD.replace("limit)", "limit, /)"), "without defaults"),
    "decorator": (GOOD.replace("def", "@staticmethod\ndef"), "no decorator"),
    "async": (GOOD.replace("def", "async def"), "a plain function"),
    "class": (GOOD.replace("def", "class A: pass\ndef"), "got 2 statements"),
    "lambda": ("{Least.}\nchoose = lambda nodes, limit: 1", "a plain function"),
    "second function": (GOOD + "\ndef helper(a):\n    return a\n", "got 2 statements"),
    "second function first": (GOOD.replace("def", "def f(a):\n    return a\ndef"), "got 2 statem"),
    "two blocks": (f"{{Least.}}\n```\n{BODY}```\nor\n```\n{BODY}```", "one block"),
    "constant before": (GOOD.replace("def", "LEAST = 1\ndef"), "got 2 statements"),
    "constant after": (GOOD + "LEAST = 1\n", "got 2 statements"),
    "call after, fenced": ("{Least.}\n```\n" + BODY + "choose([1], 2)\n```", "got 2 statements"),
    "other import": (GOOD.replace("def", "import os\ndef"), "no import but"),
    "other import within": (
        GOOD.replace("    return", "    import os\n    return"),
        "no import but",
    ),
    "import from": (GOOD.replace("def", "from math import sqrt\ndef"), "no import but"),
    "import under another name": (GOOD.replace("def", "import numpy as xp\ndef"), "no import but"),
    "plain numpy": (GOOD.replace("def", "import numpy\ndef"), "no import but"),
    "syntax error": (GOOD.replace("min(nodes)", "min(nodes"), "not Python"),
    "null byte": (GOOD.replace("min", "m\0in"), "not Python"),
    "surrogate": (GOOD.replace("the least", "\ud800"), "not Python"),
    "too deep": (GOOD.replace("min(nodes)", "-" * 50_000 + "1"), "not Python"),
    "too long": (GOOD + " " * MAX_LENGTH, "more than"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_surrounds_an_answer_is_discarded(name):
    assert parse_reply(ACCEPTED[name], CONTRACT) == (BODY, "Take the least.")


@pytest.mark.parametrize("name", REJECTED)
def test_anything_else_fails_and_says_why(name):
    text, reason = REJECTED[name]
    with pytest.raises(ParseError, match=reason):
        parse_reply(text, CONTRACT)


def test_a_body_of_nothing_but_imports_stays_python():
    text = GOOD.replace("return min(nodes)", "if nodes:\n        import math\n    return 1")
    source, _ = parse_reply(text, CONTRACT)
    assert source == "def choose(nodes, limit):\n    if nodes:\n        pass\n    return 1\n"


def test_nested_braces_are_one_idea():
    _, idea = parse_reply("{Least $x_{ij}$.}\n" + BODY, CONTRACT)
    assert idea == "Least $x_{ij}$."


def test_the_seed_parses_as_written():
    source, _ = parse_reply("{The least.}\n" + CONTRACT.document, CONTRACT)
    assert source == CONTRACT.seed.source
    assert ast.parse(source)
