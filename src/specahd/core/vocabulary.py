"""Vocabularies: typed grammars from which programs can be composed without a language model."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_PLAN = re.compile(r"return np\.array\((.*)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Production:
    """One rule of a vocabulary: a piece of source with typed holes.

    Parameters
    ----------
    makes
        The type of what it makes, for example ``vector``. The vocabulary's
        ``root`` type makes whole function bodies (statements); every other
        type makes expressions.
    template
        Python source in which each hole is a name in capitals. A program that answers with a plan
        ends in ``return np.array(…)``.
    phrase
        The same in English for the design sentence, each hole in braces:
        ``"{A} minus {B}"``.
    holes
        Type of each hole, a production's or a constant's.
    weight
        Relative frequency in fresh samples; 0: in programs by hand and in variations alone.
    """

    makes: str
    template: str
    phrase: str
    holes: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Constant:
    """A numeric terminal: a number in [low, high].

    ``log`` draws it log-uniformly (``low`` above 0); ``integer`` rounds it.
    """

    makes: str
    low: float
    high: float
    log: bool = False
    integer: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A typed grammar over a contract's arguments."""

    productions: tuple[Production, ...]
    constants: tuple[Constant, ...]
    root: str = "program"

    def of_single_actions(self) -> "Vocabulary":
        """Return the vocabulary whose programs answer with the first action of their plan."""
        productions = (
            replace(each, template=_PLAN.sub(r"return np.array(\1)[0].tolist()", each.template))
            for each in self.productions
        )
        return replace(self, productions=tuple(productions))


def rule(makes: str, template: str, phrase: str, weight: float = 1.0) -> Production:
    """Return a production whose holes are the words in capitals, which name their types.

    ``WEIGHT`` is a hole of type ``weight``. A second hole of one type bears a
    number: ``SCORE`` and ``SCORE2`` are both of type ``score``.
    """
    words = re.findall(r"\b[A-Z]{2,}[0-9]?\b", template)
    holes = {word: word.rstrip("0123456789").lower() for word in words}
    return Production(makes, template, phrase, holes, weight)


def body(phrase: str, weight: float, *parts: str) -> Production:
    """Return a production of the root type from blocks of statements.

    Blocks keep their indentation relative to each other.
    """
    template = textwrap.dedent("\n".join(part.strip("\n").rstrip() for part in parts))
    return rule("program", template, phrase, weight)


def body_of(
    function: Callable[..., Any], phrase: str, weight: float, holes: Mapping[str, str]
) -> Production:
    """Return a production of the root type from the body of a function.

    Parameters
    ----------
    holes
        What stands in place of a passage of the body as ``ast.unparse`` writes it; every passage
        occurs.
    """
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    statements = definition.body[1:] if ast.get_docstring(definition) else definition.body
    text = "\n".join(map(ast.unparse, statements))
    for passage, hole in holes.items():
        if passage not in text:
            raise ValueError(f"{function.__name__} does not say {passage!r}.")
        text = text.replace(passage, hole)
    return body(phrase, weight, text)
