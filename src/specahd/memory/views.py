"""Three deterministic views of a program: its syntax, its tokens, the words of its idea.

A view is a multiset of features: short texts with their counts. They are read only from
the program's canonical source or from its design sentence. No view depends on the
names of local variables. A number is replaced with its bin, so a small change of a
constant rarely changes a view, and a large one does.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

from specahd.core.program import Program
from specahd.memory.normal_form import Node, bin_number, local_names, normal_form

Features = Counter[str]
View = Callable[[Program], Features]

LENGTH = 3
"""Largest number of nodes of a syntax path."""

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\d.]*(?:e[+-]?\d+)?|[^\w\s()\[\]{},:.;]+")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def syntax(program: Program) -> Features:
    """Return the downward paths of one to ``LENGTH`` nodes in the normal form of the source."""
    paths: Features = Counter()
    for statement in normal_form(program.source):
        _descend(statement, (), paths)
    return paths


def tokens(program: Program) -> Features:
    """Return the identifiers, operators and binned numbers of the source.

    Local variables, brackets and punctuation are left out; order does not count.
    """
    names = local_names(program.source)
    # The first line is the same for all programs of a contract.
    _, _, body = program.source.partition("\n")
    return Counter(_token(text) for text in _TOKEN.findall(body) if text not in names)


def idea(program: Program) -> Features:
    """Return the words and binned numbers of the design sentence, alone and in pairs."""
    words = [_token(word) for word in _WORD.findall(program.idea.lower())]
    return Counter([*words, *(f"{word} {after}" for word, after in pairwise(words))])


VIEWS: Mapping[str, View] = {"syntax": syntax, "tokens": tokens, "idea": idea}
"""Every view by its name; the fused similarity is the mean over them."""


def _descend(node: Node, above: tuple[str, ...], paths: Features) -> None:
    path = (*above[1 - LENGTH :], f"{node.edge}:{node.label}")
    for start in range(len(path)):
        paths["/".join(path[start:])] += 1
    for child in node.children:
        _descend(child, path, paths)


def _token(text: str) -> str:
    """Return the text; if it is a number, return its bin."""
    if not text[0].isdigit():
        return text
    try:
        return bin_number(int(text) if text.isdecimal() else float(text))
    except ValueError:
        # For example a version number in a sentence, such as 1.2.3.
        return text
