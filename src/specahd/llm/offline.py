"""A proposer that needs no language model: program synthesis on the contract's vocabulary.

It answers the same requests as a model does, with the same kind of text, and
like a model it knows nothing but the request: a parent is only its source, and
is read back into a derivation tree before it is varied. The same holds for the
programs of skill records, which weigh the variations (:mod:`specahd.llm.guidance`).
"""

from functools import partial

import numpy as np

from specahd.core.contract import Contract, Reply, Request
from specahd.core.errors import ConfigError
from specahd.core.seeding import generator
from specahd.llm.grammar import Grammar, Tree
from specahd.llm.guidance import guided, learn
from specahd.llm.variation import cross, dissimilar, restructure, retune, simplify

TRIES = 20


class OfflineProposer:
    """Answers every request from its contract's vocabulary.

    The same request always gets the same reply.
    """

    def __init__(self) -> None:
        # A vocabulary has no hash; the grammar that is kept keeps its id taken.
        self._grammars: dict[int, Grammar] = {}

    def preflight(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Have nothing to give up."""

    def propose(self, request: Request) -> Reply:
        """Write a program that differs from its parents, and the idea behind it."""
        contract = request.contract
        grammar = self._grammar(contract)
        rng = generator(request.seed, "offline", str(request.level), request.round, request.index)
        sources = {parent.program.source for parent in request.parents}
        # A parent that the vocabulary cannot derive has nothing to vary.
        trees = [grammar.recover(parent.program.source) for parent in request.parents]
        parents = [tree for tree in trees if tree is not None]
        lessons = learn(grammar, request) if parents else []
        # A child must not repeat a parent; where variation runs dry, a fresh sample steps in.
        for operator in [request.operator] * TRIES + ["i1"] * TRIES:
            draw = partial(_vary, grammar, operator, parents, rng)
            if lessons and operator == request.operator:
                tree = guided(draw, parents[0], lessons, rng, grafts=operator == "m1")
            else:
                tree = draw()
            source = grammar.source(tree, contract.name, contract.arguments)
            if source not in sources:
                break
        return Reply(text=f"{{{grammar.idea(tree)}}}\n```python\n{source}```\n")

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


def _vary(grammar: Grammar, operator: str, parents: list[Tree], rng: np.random.Generator) -> Tree:
    if operator == "i1" or not parents:
        return grammar.fresh(rng)
    if operator == "e1":
        return dissimilar(grammar, parents, rng)
    first, *others = parents
    if operator == "e2" and others:
        return cross(first, others[0], rng)
    varied = None
    if operator == "m2":
        varied = retune(first, rng)
    elif operator == "m3":
        varied = simplify(grammar, first, rng)
    # A program without numbers or without anything to spare changes its form instead.
    return varied or restructure(grammar, first, rng)
