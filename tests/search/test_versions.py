"""Code-completion prompts: what they show, and what they have to say."""

import ast
import re

from offered import contract_of
from specahd.core.program import Level
from specahd.core.syntax import parse
from specahd.search import prompts
from specahd.search.versions import completion_prompt

CONTRACT = contract_of("cvrp", Level.LOWER)
SOURCES = [
    f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    return {answer}\n"
    for answer in ("depot", "int(unvisited_nodes[0])")
]


def code(prompt):
    return re.findall(r"```python\n(.*?)```", prompt, re.DOTALL)[0]


def test_versions_ascend_and_the_last_is_a_head():
    functions = parse(code(completion_prompt(CONTRACT, SOURCES))).body
    assert [one.name for one in functions] == [f"{CONTRACT.name}_v{n}" for n in range(3)]
    bodies = [[ast.unparse(line) for line in one.body[1:]] for one in functions]
    assert bodies == [["return depot"], ["return int(unvisited_nodes[0])"], []]
    for one in functions:
        assert tuple(argument.arg for argument in one.args.args) == CONTRACT.arguments


def test_the_first_has_the_contract_and_later_ones_what_they_improve():
    text = code(completion_prompt(CONTRACT, SOURCES))
    [template] = parse(CONTRACT.document).body
    first, second, last = parse(text).body
    assert first.body[0].value.value == template.body[0].value.value
    assert second.body[0].value.value == f"Improved version of `{CONTRACT.name}_v0`."
    assert last.body[0].value.value == f"Improved version of `{CONTRACT.name}_v1`."
    assert {ast.unparse(one.returns) for one in (first, second, last, template)} == {
        "int | list[int] | IntArray"
    }


def test_rules_and_the_form_of_an_answer_are_told_and_the_task_is_not():
    prompt = completion_prompt(CONTRACT, SOURCES)
    assert prompts.describe_rules(CONTRACT) in prompt
    assert prompts.answer_format(CONTRACT) in prompt
    assert CONTRACT.task not in prompt
    assert prompts.describe_score(CONTRACT) not in prompt
