"""A proposer that needs no language model: program synthesis on the contract's vocabulary.

It answers the same requests as a model, with the same kind of text, and uses only the
request. A parent is given as source; its derivation tree is recovered before it is
varied. Where there is none, the program keeps its form and its numbers are varied. The
trees of the programs of skill records weight the variations (:mod:`specahd.llm.guidance`).
The operator's treatment determines the variation; instructions are not read. A requested
text states the scores.
"""

import textwrap
from collections.abc import Collection
from functools import partial
from itertools import pairwise

import numpy as np

from specahd.core.contract import Contract, Request, Treatment
from specahd.core.errors import ConfigError
from specahd.core.proposer import Reply
from specahd.core.seeding import generator
from specahd.core.tariff import FREE, Tariff
from specahd.llm.grammar import Grammar, Tree
from specahd.llm.guidance import choose_guided, measured_changes
from specahd.llm.variation import (
    cross,
    dissimilar,
    restructure,
    retune,
    retune_source,
    simplify,
)
from specahd.programs.constants import constants

TRIES = 20
_NUMBERS = ", with the numbers "
_MAX_IDEA = 300
"""Longest idea that a text quotes, in characters."""


class OfflineProposer:
    """Answers every request from its contract's vocabulary.

    The same request always gets the same reply.
    """

    def __init__(self) -> None:
        # A vocabulary has no hash; the stored grammar keeps the vocabulary's id in use.
        self._grammars: dict[int, Grammar] = {}

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Check that programs can be composed for each contract.

        Raises
        ------
        ConfigError
            A contract has no vocabulary.
        """
        for contract in contracts:
            self._grammar(contract)

    def tariff(self, request: Request | None = None) -> Tariff:
        return FREE

    def close(self) -> None:
        """Do nothing."""

    def propose(self, request: Request) -> Reply:
        """Return a program that differs from its parents and its idea, or a text if requested."""
        if request.operator.wants_text:
            return Reply(_text(request))
        contract = request.contract
        grammar = self._grammar(contract)
        rng = generator(request.seed, "offline", str(request.level), request.round, request.index)
        sources = {parent.program.source for parent in request.parents}
        trees = [grammar.recover(parent.program.source) for parent in request.parents]
        parents = [tree for tree in trees if tree is not None]
        treatment = request.operator.treatment
        if trees and trees[0] is None and treatment is not Treatment.FRESH:
            first = request.parents[0].program
            for _ in range(TRIES):
                retuned = retune_source(first.source, rng)
                if retuned is None:
                    break
                if retuned not in sources:
                    return _reply(_idea_with_numbers(first.idea, retuned), retuned)
        changes = measured_changes(grammar, request) if parents else []
        draw = partial(_vary, grammar, treatment, parents, rng)
        # A child must not repeat a parent; if variation finds none, a fresh sample is drawn.
        for attempt in range(2 * TRIES):
            if attempt >= TRIES or not parents:
                tree = grammar.draw_program(rng)
            elif changes:
                grafts = treatment is Treatment.RESTRUCTURE
                tree = choose_guided(draw, parents[0], changes, rng, grafts=grafts)
            else:
                tree = draw()
            source = grammar.source(tree, contract.name, contract.arguments)
            if source not in sources:
                break
        return _reply(grammar.idea(tree), source)

    def _grammar(self, contract: Contract) -> Grammar:
        vocabulary = contract.vocabulary
        if vocabulary is None:
            raise ConfigError(
                f"llm=offline composes programs from a vocabulary, and the contract {contract.id} "
                "has none; choose a language model."
            )
        if id(vocabulary) not in self._grammars:
            self._grammars[id(vocabulary)] = Grammar(vocabulary)
        return self._grammars[id(vocabulary)]


def _reply(idea: str, source: str) -> Reply:
    return Reply(text=f"{{{idea}}}\n```python\n{source}```\n")


def _idea_with_numbers(idea: str, source: str) -> str:
    """Return the idea of a program with the numbers of its source in place of earlier ones."""
    numbers = ", ".join(f"{constant.value:g}" for constant in constants(source))
    return f"{idea.partition(_NUMBERS)[0].rstrip('.')}{_NUMBERS}{numbers}."


def _vary(
    grammar: Grammar, treatment: Treatment, parents: list[Tree], rng: np.random.Generator
) -> Tree:
    if treatment is Treatment.FRESH:
        return dissimilar(grammar, parents, rng)
    first, *others = parents
    if treatment is Treatment.COMBINE and others:
        return cross(first, others[0], rng)
    varied = None
    if treatment is Treatment.RETUNE:
        varied = retune(first, rng)
    elif treatment is Treatment.SIMPLIFY:
        varied = simplify(grammar, first, rng)
    # A program without numbers, or too small to simplify, is restructured instead.
    return varied or restructure(grammar, first, rng)


def _text(request: Request) -> str:
    """Compare the scores of the shown programs, numbered as in prompts, or of the round."""
    parents = list({parent.program.id: parent for parent in request.parents}.values())
    if not parents:
        best, example = request.context.best, request.context.example
        marks = (("The best program so far", best), ("The example", example))
        known = [f"{whose} scores {_points(mark)} %." for whose, mark in marks if mark is not None]
        return " ".join(known) or "No program is shown."
    ranked = sorted(enumerate(parents, start=1), key=lambda entry: -entry[1].score)
    sentences = [
        f"Program {better} scores {_points(one.score - other.score)} points more than "
        f"program {worse}."
        for (better, one), (worse, other) in pairwise(ranked)
        if one.score > other.score
    ]
    best, parent = ranked[0]
    idea = textwrap.shorten(parent.program.idea, _MAX_IDEA, placeholder=" ...")
    sentences.append(f"The idea of program {best}, which scores {_points(parent.score)} %: {idea}")
    return " ".join(sentences)


def _points(score: float) -> str:
    # Adding 0 makes a negative zero positive.
    return f"{round(100 * score, 3) + 0.0:.3f}"
