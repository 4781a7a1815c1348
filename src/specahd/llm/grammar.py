"""Typed derivation trees over a contract's vocabulary: draw, write and recover them.

A tree lists the productions of a program. It can be written as Python source and as
English, and recovered from the source alone, because a production's template can be
matched against the syntax tree of a program.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from specahd.core.vocabulary import Constant, Production, Vocabulary
from specahd.llm import templates
from specahd.llm.templates import Number
from specahd.programs.parsed import function_of

Rule = Production | Constant
Path = tuple[int, ...]
"""The path to a subtree: the index of the child at each step from the root."""

MAX_DEPTH = 7
FRESH_DEPTH = 4
"""Largest depth of fresh programs. They begin simple; variation may make them more complex."""
MAX_SIZE = 40


@dataclass(frozen=True, slots=True)
class Tree:
    """A derivation: a production with its children, or a constant with its value."""

    rule: Rule
    children: tuple["Tree", ...] = ()
    value: Number = 0

    @property
    def makes(self) -> str:
        """The type of the derived expression."""
        return self.rule.makes

    @property
    def size(self) -> int:
        """Number of productions and constants in the tree."""
        return 1 + sum(child.size for child in self.children)

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, "Tree"]]:
        """Yield every subtree with its path, root first."""
        yield path, self
        for position, child in enumerate(self.children):
            yield from child.walk((*path, position))

    def replace_at(self, path: Path, new: "Tree") -> "Tree":
        """Return the tree with ``new`` at ``path``."""
        if not path:
            return new
        head, *rest = path
        children = list(self.children)
        children[head] = children[head].replace_at(tuple(rest), new)
        return Tree(self.rule, tuple(children))


_Memory = dict[tuple[str, int], Tree | None]


def rounded(value: float, constant: Constant) -> Number:
    """Return the value clipped to the constant's range, to 3 significant digits."""
    value = min(max(float(value), constant.low), constant.high)
    return round(value) if constant.integer else float(f"{value:.3g}")


class Grammar:
    """A vocabulary with an index of its rules and a cache of recovered trees.

    Raises
    ------
    ValueError
        A hole has a type without a derivation of finite depth.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._rules: dict[str, list[Rule]] = {}
        every: tuple[Rule, ...] = (*vocabulary.productions, *vocabulary.constants)
        for rule in every:
            self._rules.setdefault(rule.makes, []).append(rule)
        self._depths = self._least_depths()
        # Cached, because parents and the programs of skill records occur in many requests.
        self._recovered: dict[str, Tree | None] = {}
        for production in vocabulary.productions:
            if missing := [kind for kind in production.holes.values() if kind not in self._depths]:
                raise ValueError(f"Nothing makes a {missing[0]} for {production.template!r}.")

    def _least_depths(self) -> dict[str, int]:
        depths: dict[str, int] = {}
        while True:
            before = dict(depths)
            for kind, rules in self._rules.items():
                known = [d for rule in rules if (d := _depth(rule, before)) is not None]
                if known:
                    depths[kind] = min(known)
            if depths == before:
                return depths

    def rules(self, kind: str) -> list[Rule]:
        """Return the productions and constants of type ``kind``."""
        return self._rules[kind]

    # Drawing

    def draw_program(self, rng: np.random.Generator) -> Tree:
        """Draw a whole program of at most ``MAX_SIZE`` nodes, by the vocabulary's weights."""
        while True:
            tree = self.draw_part(self.vocabulary.root, rng, FRESH_DEPTH, weighted=True)
            if tree.size <= MAX_SIZE:
                return tree

    def draw_part(
        self, kind: str, rng: np.random.Generator, depth: int, *, weighted: bool = False
    ) -> Tree:
        """Draw a tree of a type, of at most ``depth`` levels if the type allows that.

        If ``weighted`` is false, all productions are equally likely, so that
        variation also uses productions that are rare in fresh programs.
        """
        depth = max(depth, self._depths[kind])
        rules = [rule for rule in self._rules[kind] if (_depth(rule, self._depths) or 0) <= depth]
        weights = np.array([_weight(rule) if weighted else 1.0 for rule in rules])
        rule = rules[rng.choice(len(rules), p=weights / weights.sum())]
        return self.draw_with_rule(rule, rng, depth, weighted=weighted)

    def draw_with_rule(
        self,
        rule: Rule,
        rng: np.random.Generator,
        depth: int,
        *,
        weighted: bool = False,
    ) -> Tree:
        """Draw a tree that begins with ``rule``."""
        if isinstance(rule, Production):
            kinds = rule.holes.values()
            return Tree(
                rule,
                tuple(self.draw_part(kind, rng, depth - 1, weighted=weighted) for kind in kinds),
            )
        if rule.log:
            value = np.exp(rng.uniform(np.log(rule.low), np.log(rule.high)))
        else:
            value = rng.uniform(rule.low, rule.high)
        return Tree(rule, value=rounded(value, rule))

    # Writing

    def source(self, tree: Tree, name: str, arguments: tuple[str, ...]) -> str:
        """Return the function of a complete tree, without unused lines."""
        assert isinstance(tree.rule, Production)
        names = templates.droppable_names(tree.rule.template, tree.rule.holes)
        named = [ast.arg(argument) for argument in arguments]
        given = ast.arguments([], named, None, [], [], None, [])
        function = ast.FunctionDef(name, given, _source_tree(tree), [], lineno=1)
        return templates.drop_unused(ast.unparse(function), names) + "\n"

    def idea(self, tree: Tree) -> str:
        """Return the tree as an English sentence."""
        sentence = _phrase(tree)
        return f"{sentence[0].upper()}{sentence[1:]}."

    # Reading

    def recover(self, source: str) -> Tree | None:
        """Return a tree that derives a canonical ``source``; None if there is no such tree."""
        if source not in self._recovered:
            self._recovered[source] = self._recover(source)
        return self._recovered[source]

    def _recover(self, source: str) -> Tree | None:
        try:
            function = function_of(source)
        except (SyntaxError, ValueError):
            return None
        tree = self._read(self.vocabulary.root, function.body, {})
        if tree is None:
            return None
        # Matching accepts missing lines; the source must have every line that the tree needs.
        arguments = tuple(argument.arg for argument in function.args.args)
        return tree if self.source(tree, function.name, arguments) == source else None

    def _read(self, kind: str, node: Any, memory: _Memory) -> Tree | None:
        key = kind, id(node)
        if key not in memory:
            trees = (self._match(rule, node, memory) for rule in self._rules[kind])
            memory[key] = next((tree for tree in trees if tree is not None), None)
        return memory[key]

    def _match(self, rule: Rule, node: Any, memory: _Memory) -> Tree | None:
        if isinstance(rule, Constant):
            value = templates.read_number(node)
            return None if value is None else Tree(rule, value=value)
        found = templates.match(rule.template, node, rule.holes)
        if found is None:
            return None
        children = []
        for hole, kind in rule.holes.items():
            child = self._read(kind, found[hole], memory)
            if child is None:
                return None
            children.append(child)
        return Tree(rule, tuple(children))


def _weight(rule: Rule) -> float:
    return rule.weight if isinstance(rule, Production) else 1.0


def _depth(rule: Rule, depths: Mapping[str, int]) -> int | None:
    if isinstance(rule, Constant) or not rule.holes:
        return 1
    if any(kind not in depths for kind in rule.holes.values()):
        return None
    return 1 + max(depths[kind] for kind in rule.holes.values())


def _phrase(tree: Tree) -> str:
    if isinstance(tree.rule, Constant):
        return f"{tree.value:g}"
    parts = zip(tree.rule.holes, tree.children, strict=True)
    return tree.rule.phrase.format(**{hole: _phrase(child) for hole, child in parts})


def _source_tree(tree: Tree) -> Any:
    if isinstance(tree.rule, Constant):
        return templates.number_expression(tree.value)
    parts = zip(tree.rule.holes, tree.children, strict=True)
    # Each place gets a new tree: ast.unparse handles a tree in two places as one.
    holes = {hole: partial(_source_tree, child) for hole, child in parts}
    return templates.fill_template(templates.parse_template(tree.rule.template), holes)
