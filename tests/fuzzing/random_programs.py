"""Random programs of the allowed language, for a contract's signature.

Not sensible programs, which the offline proposer writes, but ones that try what the tiers may
see differently: shapes that do not fit, indices out of range, divisors of zero, integers too
large, functions with odd arguments. Most of their values have the kinds that numba can compile.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from memory_templates import BLOCKS, HOLDERS
from program_templates import CHANGES, CHOICES, EXPRESSIONS, FOLDS, ODD_ANSWERS
from scalar_templates import KEYWORDS
from template_words import COMMON_WORDS, WORDS

from specahd.programs.guard import guard
from specahd.programs.language import BUILTINS, LINALG, MATH, METHODS, NUMPY

_HOLE = re.compile(r"\{(\w+)(?::(\w+))?\}")
_PLACE = re.compile(r"\$(\d)")
_MISFIT = 0.008
"""How often a value of any kind stands where one kind is expected."""
_PLAIN = 0.6
"""Share of programs without rare templates: what is rare keeps numba from compiling the rest."""
_COMMON = 1.0
"""The least weight of a template that is not rare."""
_CONSTANTS = {
    "int": ["0", "1", "2", "3", "-1"],
    "real": ["0.0", "1.0", "0.5", "-2.5"],
    "truth": ["True", "False"],
    "reals": ["{matrix}[0]", "{matrix}[-1]"],
    "mask": ["({ints} > 1)"],
    "list": ["[1, 2, 3]"],
}
_LOOPED = ("ints", "reals", "mask", "matrix", "list")
_EVERY = [
    *(f"np.{name}" for name in sorted(NUMPY)),
    *(f"math.{name}" for name in sorted(MATH)),
    *(f"np.linalg.{name}" for name in sorted(LINALG)),
    *sorted(BUILTINS),
]


def random_program(rng: np.random.Generator, name: str, kinds: Mapping[str, str]) -> str:
    """Draw a program that the guard lets pass.

    Parameters
    ----------
    name, kinds
        Its name, and the kind of each of its arguments.
    """
    while True:
        source = _Draft(rng, kinds).program(name)
        if guard(source, name, list(kinds)) is None:
            return source


class _Draft:
    """One program while it is written: its lines, and the kinds of its variables."""

    def __init__(self, rng: np.random.Generator, kinds: Mapping[str, str]) -> None:
        self._rng = rng
        self._plain = rng.random() < _PLAIN
        self._words = WORDS | COMMON_WORDS if self._plain else WORDS
        self._arguments = dict(kinds)
        self._scope = dict(kinds)
        self._lines: list[str] = []
        self._names = 0

    def program(self, name: str) -> str:
        self._lines.append(f"def {name}({', '.join(self._arguments)}):")
        for _ in range(self._rng.integers(1, 6)):
            self._statement(1, 2)
        self._write(1, f"return {self._answer()}")
        return "\n".join(self._lines) + "\n"

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _one_of(self, values: Sequence[str]) -> str:
        return values[self._rng.integers(len(values))]

    def _weighted(self, table: Sequence[tuple[float, str]]) -> str:
        weights = np.array([weight for weight, _ in table])
        if self._plain and weights.max() >= _COMMON:
            weights[weights < _COMMON] = 0.0
        return table[self._rng.choice(len(table), p=weights / weights.sum())][1]

    def _write(self, depth: int, line: str) -> None:
        # What is given is read-only: most of it is copied, so that it may be changed.
        given = self._arguments.get(line.partition(" = ")[2])
        if given in _LOOPED and self._chance(0.8):
            line = f"{line}.copy()"
        self._lines.append("    " * depth + line)

    def _new(self, kind: str) -> str:
        self._names += 1
        name = f"v{self._names}"
        self._scope[name] = kind
        return name

    # Expressions

    def _filled(self, template: str, depth: int, own: str = "") -> str:
        labels = {"own": own}

        def fill(hole: re.Match[str]) -> str:
            kind, label = hole.groups()
            if kind in labels:
                return labels[kind]
            if kind in self._words:
                text = self._one_of(self._words[kind])
            # What is repeated is a name wherever one will do.
            else:
                text = self._value(kind, 0 if label else depth - 1)
            if label:
                labels[label] = text
            return text

        return _HOLE.sub(fill, template)

    def _value(self, kind: str, depth: int) -> str:
        kind = self._one_of(CHOICES[kind]) if kind in CHOICES else kind
        if not self._plain and self._chance(_MISFIT):
            kind = self._one_of(CHOICES["any"])
        known = [name for name, its in self._scope.items() if its == kind]
        if depth <= 0 or self._chance(0.3):
            constants = _CONSTANTS.get(kind, [])
            if known and (not constants or self._chance(0.75)):
                # What was made last is what matters to the answer.
                weights = np.arange(1.0, len(known) + 1)
                return known[self._rng.choice(len(known), p=weights / weights.sum())]
            if constants:
                return self._filled(self._one_of(constants), depth)
        return self._filled(self._weighted(EXPRESSIONS[kind]), depth)

    def _wild(self) -> str:
        """Call anything that programs may name, with arguments of any kind."""
        if self._chance(0.3):
            callee = f"{self._value('any', 1)}.{self._one_of(sorted(METHODS))}"
        else:
            callee = self._one_of(_EVERY)
        arguments = [self._value("any", 1) for _ in range(self._rng.integers(0, 4))]
        if self._chance(0.3):
            arguments.append(self._filled(self._weighted(KEYWORDS), 1))
        return f"{callee}({', '.join(arguments)})"

    def _answer(self) -> str:
        if self._chance(0.05):
            return self._filled(self._weighted(ODD_ANSWERS), 2)
        names = [name for name in self._scope if name not in self._arguments]
        chosen = names[-3:] or list(self._arguments)
        return " + ".join(
            self._filled(self._weighted(FOLDS[self._scope[name]]), 1, name) for name in chosen
        )

    # Statements

    def _statement(self, depth: int, nesting: int) -> None:
        makers = [self._assign, self._change, self._several, self._alias, self._call]
        weights = [5.0, 5.0, 1.0, *((0.0, 0.0) if self._plain else (0.6, 1.0))]
        if nesting > 0:
            makers += [self._branch, self._loop, self._while, self._early]
            weights += [1.2, 1.5, 0.5, 0.6]
        share = np.array(weights)
        maker = makers[self._rng.choice(len(makers), p=share / share.sum())]
        maker(depth, nesting)

    def _block(self, depth: int, nesting: int) -> None:
        before = dict(self._scope)
        for _ in range(self._rng.integers(1, 3)):
            self._statement(depth, nesting - 1)
        # What a block defines may be undefined after it; rarely that is tried out.
        if not self._chance(0.1):
            self._scope = before

    def _assign(self, depth: int, _: int) -> None:
        kinds = [*CHOICES["any"], *HOLDERS]
        share = np.array([3, 3, 0.7, 3, 5, 1.5, 2, 1, 0.8, 0.8, 0.1, 0.1])
        kind = kinds[self._rng.choice(len(kinds), p=share / share.sum())]
        value = self._value(kind, 3)
        own = [name for name, its in self._scope.items() if name not in self._arguments]
        if own and self._chance(0.1):
            name = self._one_of(own)
            self._scope[name] = kind
        else:
            name = self._new(kind)
        self._write(depth, f"{name} = {value}")

    def _change(self, depth: int, nesting: int) -> None:
        own = [name for name in self._scope if name not in self._arguments]
        if self._chance(0.05):
            own = list(self._arguments)
        if not own:
            self._assign(depth, nesting)
            return
        name = self._one_of(own)
        template = self._weighted(CHANGES[self._scope[name]])
        self._write(depth, self._filled(template, 2, name))

    def _several(self, depth: int, _: int) -> None:
        """Write statements that belong together."""
        kinds, *lines = self._weighted(BLOCKS).splitlines()
        first = self._names
        self._names += kinds.count(" ") + 1
        for line in self._filled(textwrap.dedent("\n".join(lines)), 1).splitlines():
            code = line.lstrip()
            written = _PLACE.sub(lambda place: f"v{first + int(place[1])}", code)
            self._write(depth + (len(line) - len(code)) // 4, written)
        for place, kind in enumerate(kinds.split(), 1):
            if kind != "drop":
                self._scope[f"v{first + place}"] = kind

    def _alias(self, depth: int, _: int) -> None:
        """Give a function another name and call that."""
        self._names += 1
        alias = f"f{self._names}"
        lines, kind = [
            ([f"{alias} = np.{{binary}}", f"{alias}({{reals}}, {{reals}})"], "reals"),
            ([f"{alias} = np.{{binary}}", f"{alias}({{reals}}, {{reals}}, {{reals}})"], "reals"),
            ([f"{alias} = np.{{elementwise}}", f"{alias}({{reals}}, {{array}})"], "reals"),
            ([f"{alias} = np.{{reduction}}", f"{alias}({{reals}})"], "real"),
            ([f"{alias} = lambda x: x {{arithmetic}} {{number}}", f"{alias}({{reals}})"], "reals"),
            ([f"{alias} = lambda x, y: max(x, y)", f"{alias}({{int}}, {{int}})"], "int"),
            ([f"{alias} = {{reals}}.reshape", f"{alias}({{size}})"], "reals"),
        ][self._rng.integers(7)]
        self._write(depth, self._filled(lines[0], 1))
        value = self._filled(lines[1], 2)
        self._write(depth, f"{self._new(kind)} = {value}")

    def _call(self, depth: int, _: int) -> None:
        value = self._wild()
        kind = self._one_of(CHOICES["any"])
        self._write(depth, f"{self._new(kind)} = {value}")

    def _branch(self, depth: int, nesting: int) -> None:
        self._write(depth, f"if {self._value('truth', 2)}:")
        self._block(depth + 1, nesting)
        if self._chance(0.5):
            self._write(depth, "else:")
            self._block(depth + 1, nesting)

    def _loop(self, depth: int, nesting: int) -> None:
        before = dict(self._scope)
        element = {
            "ints": "int",
            "reals": "real",
            "mask": "truth",
            "matrix": "reals",
            "list": "int",
        }
        kinds = [self._one_of(_LOOPED) for _ in range(2)]
        values = [self._value(kind, 1) for kind in kinds]
        shape = self._rng.integers(4)
        if shape == 0:
            head = f"{self._new('int')} in range({self._filled('len({array})', 1)})"
        elif shape == 1:
            head = f"{self._new(element[kinds[0]])} in {values[0]}"
        elif shape == 2:
            head = f"{self._new('int')}, {self._new(element[kinds[0]])} in enumerate({values[0]})"
        else:
            names = ", ".join(self._new(element[kind]) for kind in kinds)
            head = f"{names} in zip({', '.join(values)})"
        self._write(depth, f"for {head}:")
        self._block(depth + 1, nesting)
        if self._chance(0.2):
            self._write(depth + 1, f"if {self._value('truth', 1)}:")
            self._write(depth + 2, self._one_of(["break", "continue"]))
        self._scope = {name: self._scope[name] for name in before if name in self._scope}

    def _while(self, depth: int, nesting: int) -> None:
        # Not among the variables that other statements change: the loop has to end.
        self._names += 1
        count = f"n{self._names}"
        self._write(depth, f"{count} = 0")
        self._write(depth, f"while {count} < {self._one_of(WORDS['size'])}:")
        self._write(depth + 1, f"{count} += 1")
        self._block(depth + 1, nesting)

    def _early(self, depth: int, _: int) -> None:
        self._write(depth, f"if {self._value('truth', 2)}:")
        answers = [self._value("int", 2), "None"]
        self._write(depth + 1, f"return {self._one_of(answers)}")
