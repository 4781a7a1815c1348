import ast
import time
import warnings

import numpy as np
import pytest

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.core.proposer import Reply
from specahd.core.vocabulary import Vocabulary
from specahd.llm.parsing import (
    MAX_LENGTH,
    MAX_TEXT,
    ParseError,
    Useless,
    parse_program,
    parse_reply,
    parse_text,
)
from specahd.programs.guard import guard


def choose(nodes: list[int], limit: int) -> int:
    """Choose a node."""
    return min(nodes)


CONTRACT = Contract.of(
    choose,
    id="append",
    level=Level.LOWER,
    idea="The least.",
    task="Choose.",
    runner=np.sort,
    vocabulary=Vocabulary((), ()),
)
BODY = "def choose(nodes, limit):\n    return min(nodes)\n"
GOOD = "{Take the least.}\n" + BODY
FENCED = "```python\n" + BODY + "```\n"

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
    "thoughts": "<think>{Hm} def choose(): ...\n```python\n1\n```\n</think>" + GOOD,
    "thoughts cut at the front": "{Hm}\ndef f(): pass\n</think>\n" + GOOD,
    "carriage returns": GOOD.replace("\n", "\r\n"),
    "imports": GOOD.replace("def", "import numpy as np\nimport math\n\ndef"),
    "imports in the body": GOOD.replace("    return", "    import math\n    return"),
    "annotations": GOOD.replace("(nodes, limit)", "(nodes: list[int], limit: 'int') -> int"),
    "docstring": GOOD.replace("    return", '    """Least {node}."""\n    return'),
    "comments": GOOD.replace("    return", "    # least\n    return"),
    "signature over lines": GOOD.replace("(nodes, limit)", "(\n    nodes,\n    limit,\n)"),
    "carriage returns alone": GOOD.replace("\n", "\r"),
    "byte order mark": "\ufeff" + BODY + "\n{Take the least.}",
    "tabs": GOOD.replace("    return", "\treturn"),
    "longer marks": f"{{Take the least.}}\n````python\n{BODY}````",
    "a fence with attributes": f"{{Take the least.}}\n``` python title=answer\n{BODY}```",
    "indented marks": f"1. {{Take the least.}}\n\n   ```python\n{BODY}   ```\n",
    "other marks between": f"{{Take the least.}}\n```\n{BODY}```\n~~~\nchoose([1], 2)\n~~~\n",
    "several blocks": f"```text\nPlan: take it.\n```\n{{Take the least.}}\n{FENCED}```\n1\n```\n",
    "fence in a fence": f"````markdown\n{{Take the least.}}\n{FENCED}````",
    "fence in an equal fence": f"```markdown\n{{Take the least.}}\n{FENCED}```",
    "fence in a docstring": "{Take the least.}\n"
    + FENCED.replace("    return", '    """Least.\n\n    ```\n    1\n    ```\n    """\n    return'),
    "marks after words": f"{{Take the least.}} Code: ```python\n{BODY}```\n",
    "idea in a comment above": FENCED.replace("def", "# {Take the least.}\ndef"),
    "idea in a comment below": FENCED.replace("\n```", "\n# {Take the least.}\n```"),
    "idea in a comment below imports": FENCED.replace(
        "def", "import numpy as np\n\n# Idea: {Take the least.}\ndef"
    ),
    "idea in a comment, unfenced": "import math\n# {Take the least.}\n" + BODY,
    "idea below in the fence": FENCED.replace("\n```", "\n\n{Take the least.}\n```"),
    "braces in a comment of the code": GOOD.replace("    return", "    # {1: {2}}\n    return"),
    "two thoughts": "<think>{A}</think>{Take the least.}<think>def f(): 1\n</think>\n" + BODY,
    "a thought in a thought": "<think>a <think> b\n{C}</think>" + GOOD,
    "thoughts by another name": "<thinking>{Hm}</thinking>\n" + GOOD,
    "thoughts behind others, whose opening mark is cut off": "{A}<think>{B}</think>{C}</think>"
    + GOOD,
    "a thought that is never closed, below": GOOD + "<think>{Or the greatest?}",
    **{
        f"thoughts between {before} and {after}": f"{before}{{Hm}}\n{FENCED}</no>\n{after}{GOOD}"
        for before, after in (
            ("<think>", "</think>"),
            ("<thinking>\n", "</thinking>"),
            ("<thought>", "</thought>"),
            ("<Thoughts>", "</Thoughts>"),
            ("<reasoning>", "</reasoning>"),
            ("<seed:think>", "</seed:think>"),
            ("[THINK]", "[/THINK]"),
            ("◁think▷", "◁/think▷"),
            ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
            ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
            (
                "<|channel|>analysis<|message|>",
                "<|end|><|start|>assistant<|channel|>final<|message|>",
            ),
            (
                "<|channel|>commentary to=f <|constrain|>json<|message|>",
                "<|channel|>final<|message|>",
            ),
            ("analysisWe think. ", "assistantfinal"),
            # Some servers cut off the opening mark.
            ("", "</thought>"),
            ("", "[/THINK]"),
            ("", "<|channel|>final<|message|>"),
            # Other marks within thoughts are part of them.
            ("<think>", "</reasoning>{No}[THINK] </think>"),
        )
    },
    "a turn's last token": "<|channel|>final<|message|>{Take the least.}\n"
    + f"{FENCED[:-1]}<|return|>",
    "an opening mark alone": "<think>\n" + GOOD,
    "a closing mark alone, below": GOOD + "</think>\n",
    "all in thoughts": f"[THINK]{GOOD}[/THINK]",
    "a long thought": f"<think>{'Hm. ' * MAX_LENGTH}</think>{GOOD}",
    "comments in another script": GOOD.replace("    return", "    # → 最小\n    return"),
    "zero width around": "\u200b\n" + GOOD + "\u200b",
    "one line": "{Take the least.}\ndef choose(nodes, limit): return min(nodes)",
    "semicolon": GOOD.replace("    return", "    import math; return"),
}
REJECTED = {
    "empty": ("", "Expected a function"),
    "no function": ("{Take the least.}\nmin(nodes)", "Expected a function"),
    "no idea": (BODY, "Expected one design sentence"),
    "no idea, but a dictionary": (BODY.replace("min(nodes)", "{1: 2}[1]"), "Expected one design"),
    "two ideas": ("{One.} {Two.}\n" + BODY, "got 2"),
    "idea only in a comment": (BODY.replace("    return", "    # {Least.}\n    return"), "got 0"),
    "idea only in a thought": ("<think>{Least.}</think>\n" + BODY, "got 0"),
    "another name": (GOOD.replace("choose", "chose"), "a function choose, got chose"),
    "another argument": (GOOD.replace("limit", "bound"), "Expected arguments"),
    "another order": (GOOD.replace("nodes, limit", "limit, nodes"), "Expected arguments"),
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
    "syntax error": (GOOD.replace("min(nodes)", "min(nodes"), "not Python"),
    "null byte": (GOOD.replace("min", "m\0in"), "not Python"),
    "surrogate": (GOOD.replace("the least", "\ud800"), "not Python"),
    "too deep": (GOOD.replace("min(nodes)", "-" * 50_000 + "1"), "not Python"),
    "too long": (GOOD + " " * MAX_LENGTH, "more than"),
    "an idea without words": (GOOD.replace("Take the least.", "..."), "is empty"),
    "an idea without an end": (GOOD.replace("}", ""), "got 0"),
    "braces in the prose as well": (GOOD + "\nIt is {fast}.", "got 2"),
    "idea in the docstring": (BODY.replace("    r", '    """{Least.}"""\n    r'), "got 0"),
    "ideas without and within": (
        "{Least.}\n" + FENCED.replace("def", "# {Least.}\ndef"),
        "got 2",
    ),
    "zero width in the code": (GOOD.replace("min", "m\u200bin"), "not Python"),
    "zero width before the function": (GOOD.replace("def", "\u200bdef"), "Expected a function"),
    "mixed indentation": (
        GOOD.replace("    return", "    if limit:\n\treturn 1\n    return"),
        "not Python",
    ),
    "an indented function": (
        "{Least.}\n```\n" + BODY.replace("def", "  def") + "```",
        "not Python",
    ),
    "a function outside the block": (GOOD + "\nBetter:\n" + FENCED, "another outside"),
    "prose in the block": (f"{{Least.}}\n```\n{BODY}This is it.\n```", "not Python"),
    "an async function in a block": ("{Least.}\n" + FENCED.replace("def", "async def"), "plain"),
    "a thought that is never closed, above": ("{Least.}<think>\n" + BODY, "Expected a function"),
    "only a call": ("{Least.}\n```python\nchoose([1], 2)\n```", "Expected a function"),
    "a page": ("<!DOCTYPE html><html><body>{503}</body></html>", "Expected a function"),
    "a truncated function": ("{Least.}\n```python\ndef choose(nodes, lim", "not Python"),
}
WITHIN = {
    "nested function": ("def f():\n        return 1", "nested functions"),
    "nested asynchronous function": ("async def f():\n        return 1", "asynchronous"),
    "class": ("class A:\n        pass", "classes"),
    "exception": ("raise ValueError", "raise"),
    "another script": ("x = '最小'", "ASCII"),
}
"""What parses, because it is one function, and is the guard's to refuse."""


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


def test_the_seed_parses_as_written():
    source, _ = parse_reply("{The least.}\n" + CONTRACT.document, CONTRACT)
    assert source == CONTRACT.seed.source
    assert ast.parse(source)


def test_latex_and_line_breaks_are_part_of_an_idea():
    text = "{Least $\\frac{c_{ij}}{q}$ \n over \\{ij\\},\tthen sort.}\n" + BODY
    _, idea = parse_reply(text, CONTRACT)
    assert idea == "Least $\\frac{c_{ij}}{q}$ over \\{ij\\}, then sort."


def test_braces_in_the_code_are_no_ideas():
    body = BODY.replace("min(nodes)", "{1: {2}}[limit]  # {3}")
    source, idea = parse_reply("{Look up.}\n" + body, CONTRACT)
    assert (source, idea) == (body.replace("  # {3}", ""), "Look up.")


@pytest.mark.parametrize("body", ['"""Only words."""', "import math", "pass", "limit: int"])
def test_a_function_without_statements_is_one(body):
    source, _ = parse_reply(GOOD.replace("return min(nodes)", body), CONTRACT)
    assert source == "def choose(nodes, limit):\n    pass\n"


@pytest.mark.parametrize(
    ("reply", "said", "kind"),
    [
        (
            Reply(GOOD[:-3], finish_reason="length"),
            r"^The reply is truncated at the token limit \(finish_reason=length\): The code is not",
            Useless.TRUNCATED,
        ),
        (
            Reply("", finish_reason="tool_calls", provider="p"),
            r"^The reply is empty \(finish_reason=tool_calls\)\.$",
            Useless.EMPTY,
        ),
        (
            Reply("<think>" + GOOD, finish_reason="length"),
            r"^The reply is truncated .*: It has nothing but thoughts\.$",
            Useless.TRUNCATED,
        ),
        (Reply("<think>{A}</think> ", provider="p"), r"^The reply is empty\.$", Useless.EMPTY),
        # As in the journals of earlier versions.
        (Reply(""), r"^Expected a function, got none\.$", Useless.NO_CODE),
        (Reply("Sorry.", finish_reason="stop"), r"^Expected a function", Useless.NO_CODE),
        (Reply(GOOD.replace("choose", "chose"), finish_reason="stop"), "got chose", None),
    ],
    ids=range(7),
)
def test_an_error_says_how_the_reply_ended(reply, said, kind):
    with pytest.raises(ParseError, match=said) as refused:
        parse_program(reply, CONTRACT)
    assert refused.value.kind == kind


def test_a_program_counts_although_the_reply_was_cut_behind_it():
    cut = Reply(FENCED + "{Take the least.} In oth", finish_reason="length")
    assert parse_program(cut, CONTRACT) == (BODY, "Take the least.")


@pytest.mark.parametrize("name", WITHIN)
def test_what_a_function_may_not_hold_is_for_the_guard_to_say(name):
    statement, rule = WITHIN[name]
    text = GOOD.replace("    return", f"    {statement}\n    return")
    source, _ = parse_reply(text, CONTRACT)
    assert rule in guard(source, CONTRACT.name, CONTRACT.arguments)


def test_warnings_of_python_are_no_failures():
    text = GOOD.replace("    return", '    """Matches \\d."""\n    return')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_reply(text, CONTRACT) == (BODY, "Take the least.")


FLOODS = {
    "thoughts opened": "<think>" * 150_000,
    "channels opened": "<|channel|>analysis" * 50_000,
    "channels of spaces": ("<|channel|>analysis" + " " * 200) * 4_000,
    "thoughts closed": "</think>" * 130_000,
    "thoughts both": "<think></think>" * 70_000,
    "fences": "```\n" * (MAX_LENGTH // 4),
    "one long fence": "`" * (MAX_LENGTH - 1) + "x",
    "braces opened": "def f(\n" + "{" * (MAX_LENGTH - 8),
    "braces both": GOOD + "{}" * (MAX_LENGTH // 2 - 100),
    "words": "a" * MAX_LENGTH,
    "spaces": "from" + " " * (MAX_LENGTH - 4),
    "definitions": "def f():\n" * (MAX_LENGTH // 9),
    "brackets": GOOD.replace("min(nodes)", "(" * (MAX_LENGTH - 100)),
    "a sum": GOOD.replace("min(nodes)", "1" + "+1" * (MAX_LENGTH // 2 - 100)),
    "calls": GOOD.replace("min(nodes)", "f" + "()" * (MAX_LENGTH // 2 - 100)),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_refused_in_no_time(name):
    before = time.process_time()
    with pytest.raises(ParseError):
        parse_reply(FLOODS[name], CONTRACT)
    # Quadratic work would take many seconds.
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (" Near ones first.\r\nThen far ones.\n", "Near ones first.\nThen far ones."),
        ("<think>Hm, {x}?</think>Near ones.", "Near ones."),
        ("\ufeffNear\0ones.\ud800", "Near ones."),
        ("", ""),
        ("...\n```\n", ""),
        ("<think>cut short", ""),
        ("[THINK]Hm.[/THINK]Near ones.<|return|>", "Near ones."),
        ("a" * (MAX_TEXT + 1), "a" * MAX_TEXT),
    ],
    ids=range(8),
)
def test_a_text_is_what_later_prompts_can_bear(reply, text):
    assert parse_text(reply) == text
    text.encode()
