"""The offline proposer: the programs that it composes and varies, and the texts that it writes."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from client_setup import CONTRACTS, contracts
from hypothesis import given, settings
from hypothesis import strategies as st

from specahd.core.contract import Context, Operator, Parent, Request, Treatment
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Program
from specahd.core.seeding import generator
from specahd.core.vocabulary import Constant
from specahd.llm.grammar import MAX_SIZE, Grammar
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.llm.variation import cross, dissimilar, restructure, retune, simplify
from specahd.methods.eoh import OPERATORS
from specahd.problems.vrptw.problem import VRPTW
from specahd.programs.constants import constants

VARIATIONS = ("e1", "e2", "m1", "m2", "m3")
LEVELS = pytest.mark.parametrize("level", list(Level))
GRAMMARS = {level: Grammar(CONTRACTS[level].vocabulary) for level in Level}


def sample(level, index):
    return GRAMMARS[level].draw_program(generator(index, "sample"))


def written(level, tree):
    return GRAMMARS[level].source(tree, CONTRACTS[level].name, CONTRACTS[level].arguments)


def parent(level, index):
    source = written(level, sample(level, index))
    return Parent(
        Program(f"{level}-0-{index:04d}", level, source, "An idea.", "i1", contract="append"), 0.0
    )


def request(level, operator, index=0, seed=0, parents=()):
    return Request(CONTRACTS[level], seed, level, 1, index, OPERATORS[operator], tuple(parents))


def answer(asked):
    text = OfflineProposer().propose(asked).text
    return parse_reply(text, asked.contract)


def skeleton(tree):
    return tuple(id(node.rule) for _, node in tree.walk())


def values(tree):
    return [node.value for _, node in tree.walk() if isinstance(node.rule, Constant)]


def distance(first, second):
    """From 0, the same productions under the same productions, to 1, none in common."""
    left, right = (
        Counter(
            (id(node.rule), id(child.rule)) for _, node in tree.walk() for child in node.children
        )
        for tree in (first, second)
    )
    return 1 - (left & right).total() / max((left | right).total(), 1)


def kinds(tree):
    return {id(node.rule) for _, node in tree.walk()}


# The proposer


@LEVELS
@pytest.mark.parametrize("operator", ["i1", *VARIATIONS])
def test_the_same_request_gets_the_same_reply(level, operator):
    asked = request(level, operator, parents=() if operator == "i1" else [parent(level, 1)] * 2)
    once = OfflineProposer()
    assert once.propose(asked) == once.propose(asked) == OfflineProposer().propose(asked)


@LEVELS
def test_seed_round_and_index_name_the_sample(level):
    asked = [
        request(level, "i1"),
        request(level, "i1", index=1),
        request(level, "i1", seed=1),
        Request(CONTRACTS[level], 0, level, 2, 0, OPERATORS["i1"]),
    ]
    assert len({answer(each)[0] for each in asked}) == 4


@LEVELS
@pytest.mark.parametrize("operator", VARIATIONS)
@settings(max_examples=10, deadline=None)
@given(first=st.integers(0, 500), second=st.integers(0, 500), index=st.integers(0, 1000))
def test_a_child_is_no_copy_of_a_parent_and_can_be_a_parent(level, operator, first, second, index):
    parents = [parent(level, first), parent(level, second)]
    source, idea = answer(request(level, operator, index, parents=parents))
    assert source not in {each.program.source for each in parents}
    assert idea.endswith(".")
    tree = GRAMMARS[level].recover(source)
    assert tree is not None
    assert tree.size <= MAX_SIZE
    assert GRAMMARS[level].idea(tree) == idea
    assert written(level, tree) == source


@LEVELS
@pytest.mark.parametrize("operator", VARIATIONS)
@pytest.mark.parametrize("source", ["def f(x):\n    return x + 1\n", "def f(", "x = 1"])
def test_a_parent_of_another_hand_is_survived(level, operator, source):
    stranger = Parent(Program("x", level, source, "Strange.", "i1", contract="append"), 1.0)
    alone, _ = answer(request(level, operator, parents=[stranger, stranger]))
    mixed, _ = answer(request(level, operator, parents=[stranger, parent(level, 3)]))
    assert GRAMMARS[level].recover(alone) is not None
    assert GRAMMARS[level].recover(mixed) is not None


NUMBER = re.compile(r"\b[0-9][0-9.e+-]*")
BY_HAND = [
    pytest.param(contract, program, id=f"{contract.id}-{program.id}")
    for contract in (*CONTRACTS.values(), *contracts(VRPTW().operator).values())
    for program in contract.varied
]


@pytest.mark.parametrize(("contract", "program"), BY_HAND)
def test_a_program_unlike_one_by_hand_is_fresh(contract, program):
    asked = Request(contract, 0, contract.level, 1, 0, OPERATORS["e1"], (Parent(program, 0.0),))
    assert Grammar(contract.vocabulary).recover(answer(asked)[0]) is not None


@pytest.mark.parametrize("operator", ["e2", "m1", "m2", "m3"])
@pytest.mark.parametrize(("contract", "program"), BY_HAND)
def test_a_program_by_hand_is_varied(operator, contract, program):
    parents = (Parent(program, 0.0),)
    asked = Request(contract, 0, contract.level, 1, 0, OPERATORS[operator], parents)
    source, idea = answer(asked)
    assert source != program.source
    derived = Grammar(contract.vocabulary).recover(program.source) is not None
    if not derived and constants(program.source):
        assert NUMBER.sub("", source) == NUMBER.sub("", program.source)
        numbers = ", ".join(f"{constant.value:g}" for constant in constants(source))
        assert idea == f"{program.idea[:-1]}, with the numbers {numbers}."
        again, later = answer(
            replace(asked, parents=(Parent(replace(program, idea=idea, source=source), 0.0),))
        )
        assert again not in (source, program.source)
        assert later.count("with the numbers") == 1


def test_the_lower_programs_by_hand_can_be_derived():
    lower = CONTRACTS[Level.LOWER]
    assert all(GRAMMARS[Level.LOWER].recover(program.source) for program in lower.varied)
    drawn = {id(node.rule) for i in range(300) for _, node in sample(Level.LOWER, i).walk()}
    rare = [rule for rule in lower.vocabulary.productions if not rule.weight]
    assert rare
    assert not drawn & {id(rule) for rule in rare}


# The operators


@LEVELS
def test_e1_builds_on_another_backbone_with_parts_of_a_parent(level):
    reused = 0
    for index in range(100):
        parents = [sample(level, 2 * index), sample(level, 2 * index + 1)]
        child = dissimilar(GRAMMARS[level], parents, generator(index, "e1"))
        assert child.rule not in [each.rule for each in parents]
        reused += any(part in each.children for part in child.children for each in parents)
    assert reused > 70


@LEVELS
def test_e2_joins_material_of_both_parents(level):
    joined = 0
    for index in range(100):
        first, second = sample(level, 2 * index), sample(level, 2 * index + 1)
        child = cross(first, second, generator(index, "e2"))
        assert kinds(child) <= kinds(first) | kinds(second)
        assert child.rule is first.rule
        joined += child not in (first, second)
    assert joined > 75


@LEVELS
def test_m1_changes_the_form(level):
    changed = 0
    for index in range(100):
        tree = sample(level, index)
        child = restructure(GRAMMARS[level], tree, generator(index, "m1"))
        changed += skeleton(child) != skeleton(tree)
    assert changed > 75


@LEVELS
@given(index=st.integers(0, 10_000))
def test_m2_changes_numbers_and_nothing_else(level, index):
    tree = sample(level, index)
    child = retune(tree, generator(index, "m2"))
    if child is None:
        assert values(tree) == []
        return
    assert skeleton(child) == skeleton(tree)
    assert values(child) != values(tree)
    for _, node in child.walk():
        if isinstance(node.rule, Constant):
            assert node.rule.low <= node.value <= node.rule.high
            assert isinstance(node.value, int) == node.rule.integer


@LEVELS
@given(index=st.integers(0, 10_000))
def test_m3_makes_a_program_of_the_same_material_smaller(level, index):
    grammar = GRAMMARS[level]
    tree = sample(level, index)
    child = simplify(grammar, tree, generator(index, "m3"))
    if child is None:
        for _, node in tree.walk():
            assert all(part.makes != node.makes for below, part in node.walk() if below)
        return
    assert child.size < tree.size
    assert len(kinds(child) - kinds(tree)) <= 1


@LEVELS
def test_small_changes_are_small_steps(level):
    steps = {operator: [] for operator in ("m2", "m3", "m1", "i1")}
    for index in range(100):
        tree, rng = sample(level, index), generator(index, "step")
        grammar = GRAMMARS[level]
        children = {
            "m2": retune(tree, rng) or tree,
            "m3": simplify(grammar, tree, rng) or tree,
            "m1": restructure(grammar, tree, rng),
            "i1": grammar.draw_program(rng),
        }
        for operator, child in children.items():
            steps[operator].append(distance(tree, child))
    means = {operator: np.mean(each) for operator, each in steps.items()}
    assert means["m2"] == 0
    assert 0 < means["m3"] < 0.75 * means["i1"]
    assert 0 < means["m1"] < 0.75 * means["i1"]


# Texts


DESCRIBE = Operator("reflect", "Say why.", 2, Treatment.DESCRIBE)


def text(*parents):
    asked = Request(CONTRACTS[Level.LOWER], 0, Level.LOWER, 1, 0, DESCRIBE, parents)
    return OfflineProposer().propose(asked).text


def test_a_text_states_the_scores_of_the_programs_shown():
    worse, better = (
        replace(parent(Level.LOWER, index), score=score)
        for index, score in ((1, 0.0042), (2, 0.0123))
    )
    better = replace(better, program=replace(better.program, idea="Near ones first."))
    assert text(worse, better) == (
        "Program 2 scores 0.810 points more than program 1. "
        "The idea of program 2, which scores 1.230 %: Near ones first."
    )
    assert text(worse, worse) == "The idea of program 1, which scores 0.420 %: An idea."
    assert text(replace(worse, score=-1e-9)).startswith("The idea of program 1, which scores 0.000")
    assert text() == "No program is shown."


def test_a_text_without_programs_states_the_scores_of_the_round():
    asked = Request(CONTRACTS[Level.LOWER], 0, Level.LOWER, 1, 0, DESCRIBE)
    told = replace(asked, context=Context(example=0.0042, best=0.0123))
    assert OfflineProposer().propose(told).text == (
        "The best program so far scores 1.230 %. The example scores 0.420 %."
    )


def test_a_contract_without_a_vocabulary_is_refused_before_a_run():
    known = list(CONTRACTS.values())
    OfflineProposer().preflight(known)
    bare = replace(known[1], id="bare", vocabulary=None)
    with pytest.raises(ConfigError, match="the contract bare has none; choose a language model"):
        OfflineProposer().preflight([known[0], bare])
