"""Variation of derivation trees: the changes of a program for an operator's treatment."""

from typing import TypeVar

import numpy as np

from specahd.core.vocabulary import Constant, Production
from specahd.llm.grammar import FRESH_DEPTH, MAX_DEPTH, MAX_SIZE, Grammar, Tree, rounded
from specahd.programs.constants import constants, with_constants

Rng = np.random.Generator
T = TypeVar("T")


def dissimilar(grammar: Grammar, parents: list[Tree], rng: Rng) -> Tree:
    """Return a tree with parts of one parent, and if possible a root production that none has."""
    backbones = grammar.rules(grammar.vocabulary.root)
    taken = [parent.rule for parent in parents]
    untaken = [rule for rule in backbones if all(rule is not one for one in taken)] or backbones
    tree = grammar.draw_with_rule(_pick(untaken, rng), rng, FRESH_DEPTH)
    return _adopt(tree, list(_pick(parents, rng).children))


def cross(first: Tree, second: Tree, rng: Rng) -> Tree:
    """Return the first program with parts of the second.

    If both have the same root production, they may be mixed position by position.
    Otherwise one part of the first is replaced with a part of the second, or
    wrapped in a term of it.
    """
    if first.rule is second.rule and rng.random() < 0.4:
        return _mix(first, second, rng)
    offers: dict[str, list[Tree]] = {}
    for path, node in second.walk():
        if path:
            offers.setdefault(node.makes, []).append(node)
    places = [(path, node) for path, node in first.walk() if path and node.makes in offers]
    if not places:
        return first
    # Numbers are exchanged only if the programs have no other type in common.
    parts = [(path, node) for path, node in places if isinstance(node.rule, Production)]
    places = parts or places
    path, node = _choose_smallest(places, [node.size for _, node in places], rng)
    part = _pick(offers[node.makes], rng)
    terms = [offer for offer in offers[node.makes] if _is_chain(offer)]
    if terms and rng.random() < 0.6:
        # A term is a production around a part of its own type, for example A + 2 * B around A.
        term = _pick(terms, rng)
        part = Tree(term.rule, tuple(_with_first(term.children, node)))
    child = first.replace_at(path, part)
    return child if child.size <= MAX_SIZE else first


def graft(tree: Tree, part: Tree, rng: Rng) -> Tree | None:
    """Replace a subtree of the part's type with the part, or wrap it; None if there is no place."""
    places = [(path, node) for path, node in tree.walk() if path and node.makes == part.makes]
    if not places:
        return None
    path, node = _choose_smallest(places, [node.size for _, node in places], rng)
    if _is_chain(part):
        part = Tree(part.rule, tuple(_with_first(part.children, node)))
    child = tree.replace_at(path, part)
    return child if child.size <= MAX_SIZE else None


def _is_chain(tree: Tree) -> bool:
    return any(child.makes == tree.makes for child in tree.children)


def _with_first(children: tuple[Tree, ...], new: Tree) -> list[Tree]:
    """Return the children, with the first one of the new tree's type replaced by it."""
    position = next(i for i, child in enumerate(children) if child.makes == new.makes)
    return [*children[:position], new, *children[position + 1 :]]


def _mix(first: Tree, second: Tree, rng: Rng) -> Tree:
    if first.rule is not second.rule:
        return first if rng.random() < 0.5 else second
    if isinstance(first.rule, Constant):
        middle = (first.value + second.value) / 2
        value = (first.value, second.value, rounded(middle, first.rule))[rng.integers(3)]
        return Tree(first.rule, value=value)
    pairs = zip(first.children, second.children, strict=True)
    return Tree(first.rule, tuple(_mix(left, right, rng) for left, right in pairs))


def restructure(grammar: Grammar, tree: Tree, rng: Rng) -> Tree:
    """Replace one part with a fresh part or another production, or wrap it in a production."""
    places = [(path, node) for path, node in tree.walk() if isinstance(node.rule, Production)]
    path, node = _choose_smallest(places, [node.size for _, node in places], rng)
    depth = max(2, min(MAX_DEPTH - len(path), 3))
    choice = rng.random()
    if choice < 0.35 and path:
        new = grammar.draw_part(node.makes, rng, depth)
    elif choice < 0.65:
        new = _wrap(grammar, node, rng, depth)
    else:
        new = _recast(grammar, node, rng, depth)
    child = tree.replace_at(path, new)
    return child if child.size <= MAX_SIZE else tree


def _recast(grammar: Grammar, node: Tree, rng: Rng, depth: int) -> Tree:
    """Return another production of the same type, with as many of the old children as fit."""
    others = [rule for rule in grammar.rules(node.makes) if rule is not node.rule]
    if not others:
        return node
    return _adopt(grammar.draw_with_rule(_pick(others, rng), rng, depth), list(node.children))


def _wrap(grammar: Grammar, node: Tree, rng: Rng, depth: int) -> Tree:
    """Return a production that has the old part as a child."""
    takers = [
        rule
        for rule in grammar.rules(node.makes)
        if isinstance(rule, Production) and node.makes in rule.holes.values()
    ]
    if not takers:
        return _recast(grammar, node, rng, depth)
    return _adopt(grammar.draw_with_rule(_pick(takers, rng), rng, depth), [node])


def _adopt(tree: Tree, orphans: list[Tree]) -> Tree:
    children = list(tree.children)
    for position, child in enumerate(children):
        match = next((orphan for orphan in orphans if orphan.makes == child.makes), None)
        if match is not None:
            orphans.remove(match)
            children[position] = match
    return Tree(tree.rule, tuple(children), tree.value)


def retune(tree: Tree, rng: Rng) -> Tree | None:
    """Change one or several numbers and nothing else; None if there is no number."""
    places = [(path, node) for path, node in tree.walk() if isinstance(node.rule, Constant)]
    if not places:
        return None
    for index in _draw_some(len(places), rng):
        path, node = places[index]
        tree = tree.replace_at(path, _perturb(node, rng))
    return tree


def retune_source(source: str, rng: Rng) -> str | None:
    """Change one or several numbers of a program that no grammar derives; None if it has none.

    The numbers and their ranges are those of :mod:`specahd.programs.constants`.
    """
    try:
        found = constants(source)
    except SyntaxError:
        return None
    if not found:
        return None
    values = [constant.value for constant in found]
    for index in _draw_some(len(found), rng):
        constant = found[index]
        value = float(np.exp(rng.uniform(np.log(constant.low), np.log(constant.high))))
        values[index] = round(value) if constant.whole else float(f"{value:.3g}")
    return with_constants(source, values)


def _draw_some(count: int, rng: Rng) -> list[int]:
    """Draw one of ``count`` indices, or several of them."""
    some = 1 if rng.random() < 0.5 else int(rng.integers(1, count + 1))
    drawn: list[int] = rng.permutation(count)[:some].tolist()
    return drawn


def _perturb(node: Tree, rng: Rng) -> Tree:
    constant = node.rule
    assert isinstance(constant, Constant)
    while True:
        step = rng.normal() * (0.5 if rng.random() < 0.5 else 0.15)
        if constant.log:
            value = rounded(node.value * np.exp(2 * step), constant)
        else:
            value = rounded(node.value + step * (constant.high - constant.low), constant)
        if value != node.value:
            return Tree(constant, value=value)


def simplify(grammar: Grammar, tree: Tree, rng: Rng) -> Tree | None:
    """Return a smaller program; None if there is none.

    A part is replaced with one of its own subtrees of its type, or with a smaller production.
    """
    smaller: list[Tree] = []
    for path, node in tree.walk():
        own = [part for below, part in node.walk() if below and part.makes == node.makes]
        smaller += [tree.replace_at(path, part) for part in own]
        for rule in grammar.rules(node.makes):
            if isinstance(rule, Production) and rule is not node.rule:
                plain = _fit_children(rule, node)
                if plain is not None and plain.size < node.size:
                    smaller.append(tree.replace_at(path, plain))
    return (
        _choose_smallest(smaller, [tree.size - part.size for part in smaller], rng)
        if smaller
        else None
    )


def _fit_children(rule: Production, node: Tree) -> Tree | None:
    """Return the production with the node's children in its holes; None if they do not suffice."""
    spare = list(node.children)
    children = []
    for kind in rule.holes.values():
        match = next((child for child in spare if child.makes == kind), None)
        if match is None:
            return None
        spare.remove(match)
        children.append(match)
    return Tree(rule, tuple(children))


def _choose_smallest(items: list[T], changes: list[int], rng: Rng) -> T:
    """Choose one item; the smaller its change, the likelier."""
    weights = 1 / np.array(changes)
    return items[rng.choice(len(items), p=weights / weights.sum())]


def _pick(items: list[T], rng: Rng) -> T:
    return items[rng.integers(len(items))]
