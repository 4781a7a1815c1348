"""Every problem's vocabularies: sound, all of them in use, and read back from what they make."""

import ast
import re

import pytest

from offered import OFFERED, contract_of
from problems.samples import samples, trees
from specahd.core.program import Level
from specahd.core.vocabulary import Constant
from specahd.llm.grammar import MAX_SIZE, Grammar
from specahd.programs.guard import guard

OWN = [(name, level) for name in OFFERED for level in Level if contract_of(name, level).vocabulary]
CONTRACTS = pytest.mark.parametrize(("problem", "level"), OWN)
VOCABULARIES = pytest.mark.parametrize(
    ("problem", "level"),
    {id(contract_of(*one).vocabulary): one for one in reversed(OWN)}.values(),
)
"""Of each vocabulary, the first contract that has it."""


@VOCABULARIES
def test_every_production_is_sound(problem, level):
    vocabulary = contract_of(problem, level).vocabulary
    made = {rule.makes for rule in (*vocabulary.productions, *vocabulary.constants)}
    wanted = {kind for rule in vocabulary.productions for kind in rule.holes.values()}
    assert made == wanted | {vocabulary.root}
    for production in vocabulary.productions:
        names = {
            node.id
            for node in ast.walk(ast.parse(production.template))
            if isinstance(node, ast.Name)
        }
        assert {name for name in names if len(name) > 1 and name.isupper()} == set(production.holes)
        assert set(re.findall(r"\{(\w+)\}", production.phrase)) == set(production.holes)
        assert not re.search(r"[{}]", re.sub(r"\{\w+\}", "", production.phrase))
        assert production.weight >= 0


@VOCABULARIES
def test_every_production_occurs_in_some_sample(problem, level):
    vocabulary = contract_of(problem, level).vocabulary
    drawn = trees(problem, level)
    assert max(tree.size for tree in drawn) <= MAX_SIZE
    seen = {id(node.rule) for tree in drawn for _, node in tree.walk()}
    for rule in (*vocabulary.productions, *vocabulary.constants):
        # Those of programs by hand alone are never drawn.
        assert (id(rule) in seen) == (getattr(rule, "weight", 1.0) > 0), rule


@VOCABULARIES
def test_samples_read_back_pass_the_guard_and_differ(problem, level):
    contract = contract_of(problem, level)
    grammar = Grammar(contract.vocabulary)
    sources = samples(problem, level)
    assert len(set(sources)) > 0.9 * len(sources)
    for source in sources:
        tree = grammar.recover(source)
        assert tree is not None, source
        assert grammar.source(tree, contract.name, contract.arguments) == source
        assert guard(source, contract.name, contract.arguments) is None, source
        for _, node in tree.walk():
            if isinstance(node.rule, Constant):
                assert node.rule.low <= node.value <= node.rule.high
                assert float(f"{node.value:.3g}") == node.value


@CONTRACTS
def test_what_a_search_begins_with_reads_back(problem, level):
    contract = contract_of(problem, level)
    grammar = Grammar(contract.vocabulary)
    for program in contract.seeds:
        tree = grammar.recover(program.source)
        assert tree is not None, program.id
        assert grammar.source(tree, contract.name, contract.arguments) == program.source
        assert grammar.idea(tree) == program.idea
        assert guard(program.source, contract.name, contract.arguments) is None
