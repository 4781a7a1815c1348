"""The interface of a kind of program, the source of its prompt, its types and its call.

A table has a row for every argument, with the argument's text indented below::

    noise: FloatArray = noise
        Uniform in [0, 1), new in every call, shape (m,).

``FloatArray`` is the type. The expression after ``=`` is the value that a compiled loop passes
(:mod:`specahd.engine.programs`). A row without a text shares the text of the next row.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import cleandoc, getsource
from typing import Any

from specahd.core.program import canonical_source
from specahd.core.syntax import parse

_ROW = re.compile(r"(\w+)(?:: ([^=]+?)(?: = (.+))?)?")


@dataclass(frozen=True, slots=True)
class Body:
    """A program without its list of arguments, which it may all use: a name and statements."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a program.

    Parameters
    ----------
    name
        Its name in programs.
    kind
        Its type: an annotation, or ``IntMatrix`` or ``FloatMatrix`` for an array of two dimensions.
    text
        Its description, with unit and shape; the lines are copied to the docstring unchanged.
    value
        An expression of its value in a compiled loop; empty if the call is written by hand.
    """

    name: str
    kind: str
    text: str
    value: str = ""


Arguments = tuple[Argument, ...]


def arguments(table: str) -> Arguments:
    """Read a table of arguments."""
    rows = []
    for row in re.split(r"\n(?=\S)", cleandoc(table)) if table else ():
        head, _, text = row.partition("\n")
        found = _ROW.fullmatch(head)
        if found is None:
            raise ValueError(f"Expected NAME: TYPE or NAME: TYPE = VALUE, got {head!r}.")
        name, kind, value = found.groups(default="")
        rows.append(Argument(name, kind, textwrap.dedent(text), value))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Interface:
    """The interface of programs of one kind: name, arguments and answer.

    Parameters
    ----------
    name
        The name of the function.
    description
        The docstring before its list of arguments: a line, and paragraphs.
    arguments
        The rows of the table.
    answer
        The annotation of the return value.
    returns
        The docstring's section on the return value.
    notes
        The docstring's last section.
    dearer
        The description for searches that accept rebuilt parts which make the solution dearer;
        empty if ``description`` fits these searches too.
    plans, plan
        The annotation of an answer of several actions in order, and a paragraph of ``returns``
        about it; empty if an answer is one action.
    """

    name: str
    description: str
    arguments: Arguments
    answer: str
    returns: str
    notes: str
    dearer: str = ""
    plans: str = ""
    plan: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments' names in order."""
        return tuple(argument.name for argument in self.arguments)

    def changed(self, table: str = "", *, after: str = "", **texts: str) -> "Interface":
        """Return a modified copy of the interface.

        Parameters
        ----------
        table
            New rows, and rows that replace those of the same name; a name alone keeps the type.
        after
            The argument after which new ones are inserted.
        texts
            New values of other fields.
        """
        rows = {argument.name: argument for argument in arguments(table)}
        kept = []
        for argument in self.arguments:
            row = rows.pop(argument.name, argument)
            kept.append(row if row.kind else replace(argument, text=row.text))
        place = 1 + self.names.index(after) if rows else 0
        return replace(self, arguments=(*kept[:place], *rows.values(), *kept[place:]), **texts)

    def document(self, seed: Callable[..., Any]) -> str:
        """Return the source of the interface with the body of a function, for prompts."""
        entries, names = [], []
        for argument in self.arguments:
            names.append(argument.name)
            if argument.text:
                entries += [", ".join(names), textwrap.indent(argument.text, "    ")]
                names = []
        answer, returns = self.answer, self.returns
        if self.plans:
            answer = f"{answer} | {self.plans}"
            _, _, text = cleandoc(returns).partition("\n")
            plan = textwrap.indent(cleandoc(self.plan), "    ")
            returns = f"\n{answer}\n{text}\n\n{plan}"
        sections = {"Parameters": "\n".join(entries), "Returns": returns, "Notes": self.notes}
        parts = [
            self.description,
            *(f"{title}\n{'-' * len(title)}\n{cleandoc(text)}" for title, text in sections.items()),
        ]
        docstring = textwrap.indent("\n\n".join(map(cleandoc, parts)), "    ").strip()
        signature = "".join(
            f"    {argument.name}: {argument.kind.replace('Matrix', 'Array')},\n"
            for argument in self.arguments
        )
        head = f'def {self.name}(\n{signature}) -> {answer}:\n    """{docstring}\n    """\n'
        return head + _body(seed)

    def source_of(self, function: Callable[..., Any]) -> str:
        """Return the canonical source of a function as a program, with all arguments."""
        return source_as(self.name, self.names, function)


def source_as(name: str, names: Iterable[str], function: Callable[..., Any] | Body) -> str:
    """Return the canonical source of a function or a body with this name and list of arguments.

    Raises
    ------
    ValueError
        The function has an argument that is not in ``names``.
    """
    if isinstance(function, Body):
        source = f"def {function.name}():\n{textwrap.indent(function.text, '    ')}"
    else:
        source = textwrap.dedent(getsource(function))
    [definition] = parse(source).body
    assert isinstance(definition, ast.FunctionDef)
    names = list(names)
    unknown = {argument.arg for argument in definition.args.args}.difference(names)
    if unknown:
        raise ValueError(f"{name} has no arguments {', '.join(sorted(unknown))}.")
    definition.name = name
    definition.args.args = [ast.arg(argument) for argument in names]
    return canonical_source(definition)


def _body(function: Callable[..., Any]) -> str:
    """Return the statements of a function as they are written, without its docstring."""
    source = textwrap.dedent(getsource(function))
    [tree] = parse(source).body
    assert isinstance(tree, ast.FunctionDef)
    first = tree.body[0]
    start = first.end_lineno if ast.get_docstring(tree) else first.lineno - 1
    return "".join(source.splitlines(keepends=True)[start:])
