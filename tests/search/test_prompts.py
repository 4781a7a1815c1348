"""What a language model is told: golden files of every prompt, and claims that hold.

After a wanted change of words: SPECAHD_GOLDEN=write pytest tests/search/test_prompts.py
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from sample_requests import CONTEXTS, CONTRACTS, MADE, records, request, shown

from offered import PROBLEMS
from specahd.core.contract import Context, Operator, Parent, Treatment
from specahd.core.program import Level
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import OPERATORS
from specahd.programs.guard import guard
from specahd.search.prompts import MAX_IDEA, idea_and_code, render

GOLDEN = Path(__file__).parent / "golden"
CASES = [(problem, level, operator) for problem, level in CONTRACTS for operator in OPERATORS]


@pytest.mark.parametrize(
    ("problem", "level", "operator"), CASES, ids=["-".join(case) for case in CASES]
)
def test_the_whole_prompt(problem, level, operator):
    contract = CONTRACTS[problem, level]
    told = records(contract, MADE[problem].descriptor_names) if OPERATORS[operator].skills else ()
    context = CONTEXTS[level]
    prompt = render(request(contract, operator, skills=told, context=context))
    path = GOLDEN / f"{problem}-{level}-{operator}.txt"
    if os.environ.get("SPECAHD_GOLDEN") == "write":
        path.write_text(prompt, encoding="utf-8")
    assert prompt == path.read_text(encoding="utf-8")
    assert prompt.isascii()
    assert not re.search(r"[ \t]\n|\n\n\n|\{parents\}|(lower|upper)-\d|-seed", prompt)
    assert len(prompt.split()) < 1600


def test_no_golden_file_is_left_over():
    assert {path.stem for path in GOLDEN.iterdir()} == {"-".join(case) for case in CASES}


def test_what_all_requests_of_a_level_share_comes_first(contract):
    prompts = [render(request(contract, operator)) for operator in OPERATORS]
    shared = prompts[0][: prompts[0].index(OPERATORS["i1"].instruction)]
    assert all(prompt.startswith(shared) for prompt in prompts)
    assert contract.task in shared
    assert contract.document in shared
    assert "Rules:" in shared


def test_an_answer_in_the_form_asked_for_is_one_program(contract):
    prompt = render(request(contract, "i1"))
    form = prompt[prompt.index("{The idea") :].replace("...", "return []")
    source, idea = parse_reply(form, contract)
    assert idea == "The idea in one sentence."
    assert guard(source, contract.name, contract.arguments) is None


def test_an_operator_may_ask_for_an_analysis_before_the_idea(either):
    asked = request(either, "m1")
    plain = render(asked)
    operator = replace(asked.operator, analysis="first its weaknesses in square brackets")
    prompt = render(replace(asked, operator=operator))
    assert "in exactly this form: first its weaknesses in square brackets, then one" in prompt
    assert "in exactly this form: one sentence in braces" in plain
    form = prompt[prompt.index("{The idea") :].replace("...", "return []")
    reply = f"[It is weak where demand = 0.\nx = 1 would not help.]\n{form}"
    assert parse_reply(reply, either)[1] == "The idea in one sentence."


def test_the_programs_of_the_golden_files_may_run(contract):
    assert guard(shown(contract).source, contract.name, contract.arguments) is None


def test_a_program_drawn_twice_is_shown_once(either):
    parent = Parent(either.seed, 0.01)
    prompt = render(replace(request(either, "e2"), parents=(parent, parent)))
    assert "Program 1, score" in prompt
    assert "Program 2, score" not in prompt
    assert "the core of program 1." in prompt


@pytest.mark.parametrize(
    ("operator", "score", "example", "best", "wasted"),
    [
        ("m2", 0.009, 0.01, 0.05, True),
        ("m3", 0.009, 0.01, 0.05, True),
        ("m2", 0.010, 0.01, 0.05, False),
        ("m2", 0.024, None, 0.05, True),
        ("m3", 0.026, None, 0.05, False),
        ("m2", 0.001, None, None, False),
        ("m1", 0.001, 0.01, 0.05, False),
    ],
)
def test_a_weak_program_is_not_to_be_refined(operator, score, example, best, wasted):
    contract = CONTRACTS["cvrp", Level.LOWER]
    context = Context(example=example, best=best)
    asked = replace(
        request(contract, operator, context=context), parents=(Parent(shown(contract), score),)
    )
    prompt = render(asked)
    instruction = OPERATORS[operator].instruction.replace("{parents}", "program 1")
    assert (instruction in prompt) is not wasted
    assert ("write a program that decides in a better way." in prompt) is wasted


@pytest.mark.parametrize(
    ("score", "text"),
    [(0.0, "0.000 %"), (-1e-9, "0.000 %"), (-0.0051, "-0.510 %"), (1.0, "100.000 %")],
)
def test_scores_are_percentages(score, text):
    contract = CONTRACTS["cvrp", Level.UPPER]
    parents = (Parent(contract.seed, score),)
    assert f", score {text}." in render(replace(request(contract, "m1"), parents=parents))


def test_a_rambling_idea_does_not_fill_later_prompts():
    contract = CONTRACTS["cvrp", Level.LOWER]
    rambler = replace(contract.seed, idea="Near customers first. " * 4000)
    prompt = render(replace(request(contract, "m1"), parents=(Parent(rambler, 0.01),)))
    [idea] = re.findall(r"Its idea: (.*)", prompt)
    assert idea.endswith(" ...")
    assert len(idea) <= MAX_IDEA


REFLECT = Operator("reflect", "Say why {parents} differ.", 2, Treatment.DESCRIBE)


def test_a_request_for_a_text_asks_for_no_program(either):
    prompt = render(replace(request(either, "e1"), operator=REFLECT))
    assert either.task in prompt
    assert "Program 2, score 0.421 %." in prompt
    assert "Rules:" not in prompt
    assert "Answer in exactly this form" not in prompt
    assert prompt.endswith(
        "Say why programs 1 and 2 differ.\n\nAnswer with plain text only: no program, no code.\n"
    )


def test_hints_stand_between_programs_and_instruction(either):
    hints = "Near customers {first} were better."
    with_them = render(request(either, "m1", hints=hints))
    assert with_them.replace(hints + "\n\n", "") == render(request(either, "m1"))
    places = [with_them.index(part) for part in ("Program 1, score", hints, "Modify the structure")]
    assert places == sorted(places)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_prompt_promises_no_gain_where_a_loss_may_stay(problem):
    contract = CONTRACTS[problem, Level.UPPER]
    improving, feasible = (
        " ".join(render(request(each, "i1")).split())
        for each in (contract, contract.accepting_worse())
    )
    told, dearer = (" ".join(each.split()) for each in (contract.document, contract.dearer))
    assert told in improving
    assert feasible == improving.replace(told, dearer)
    # Nothing but whether a rebuilt part stays is said otherwise.
    differing = re.compile("(stays only if|stays even if|stays if).*?(?= Parameters)")
    assert differing.sub("", told) == differing.sub("", dearer)
    assert "only if" in told.split("Parameters")[0]
    assert not re.search(
        "only if|cheaper|shorter", feasible.split("Parameters")[0].split("def ")[1]
    )


def test_a_contract_that_promises_no_gain_stays_as_it_is(either):
    assert replace(either, dearer="").accepting_worse() == replace(either, dearer="")


def test_a_view_of_a_program_stands_in_place_of_its_idea_and_code(either):
    asked = request(either, "e2")
    plain = render(asked)
    first, *others = (parent.program for parent in asked.parents)
    views = ("Half of it is gone.", *(idea_and_code(one.idea, one.source) for one in others))
    prompt = render(asked, views)
    assert prompt == plain.replace(idea_and_code(first.idea, first.source), views[0])
    assert "Half of it is gone." in prompt
    twice = render(replace(asked, parents=asked.parents[:1] * 2), ("Seen.", "Seen."))
    assert twice.count("Seen.") == 1
