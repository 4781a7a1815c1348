"""Programs that a problem's vocabularies make, as its tests run them."""

import math
from functools import cache

import numpy as np

from offered import contract_of
from specahd.core.seeding import generator
from specahd.llm.grammar import Grammar

DRAWN = 50
"""So many are taken as they are drawn."""
SEARCHED = 500
"""Among so many, one is taken for each rule of the vocabulary that none before has."""


@cache
def trees(problem, level):
    """Return the derivations of fresh programs, in which every rule occurs that is in use."""
    grammar = Grammar(contract_of(problem, level).vocabulary)
    taken, seen = [], set()
    for index in range(SEARCHED):
        tree = grammar.draw_program(generator(index, "samples"))
        rules = {id(node.rule) for _, node in tree.walk()}
        if index < DRAWN or not rules <= seen:
            taken.append(tree)
            seen |= rules
    return taken


@cache
def samples(problem, level):
    """Return the sources of these programs."""
    contract = contract_of(problem, level)
    grammar = Grammar(contract.vocabulary)
    return [
        grammar.source(tree, contract.name, contract.arguments) for tree in trees(problem, level)
    ]


def defined(contract, source):
    """Return a program as a function."""
    scope = {"np": np, "math": math}
    exec(compile(source, "candidate", "exec"), scope)
    return scope[contract.name]
