"""Which runs are of one kind, so that they differ in nothing but their seeds, and its name."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from specahd.runs.configuration import WITHOUT_EFFECT, flat, is_among

_OF_ONE_RUN = (*WITHOUT_EFFECT, "seed", "resume", "pools.dir")
_HEAD = ("problem", "method", "llm", "budget")
_LENGTH = 100


@dataclass(frozen=True, slots=True, order=True)
class RunKind:
    """What runs must share to be averaged over their seeds: all that a result depends on.

    ``options`` are the choices by group and the values by dotted name.
    """

    problem: str
    method: str
    llm: str
    budget: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "RunKind":
        """Return the kind of a run that has this configuration."""
        choices: Mapping[str, Any] = config["choices"]
        values = {key: value for key, value in config.items() if key != "choices"}
        # What a choice brings with it stands under its name: budget, budget.programs.
        options = {
            key: value
            for key, value in {**choices, **flat(values)}.items()
            if not is_among(key, _OF_ONE_RUN)
        }
        return cls(
            problem=str(choices["problem"]),
            method=str(choices["method"]),
            llm=str(choices["llm"]),
            budget=str(config["budget"]["name"]),
            options=tuple((key, str(options[key])) for key in sorted(options)),
        )

    def values(self, keys: Iterable[str]) -> list[str]:
        """Return the values of options, None as a word for one that the kind does not have."""
        options = dict(self.options)
        return [str(options.get(key)) for key in keys]


def varying(
    kinds: Iterable[RunKind], told: Callable[[RunKind], tuple[str, ...]] = lambda kind: ()
) -> list[str]:
    """Return the options in which kinds differ that are alike in those before them.

    Choices come first, so that one stands in place of all that it brings.

    Parameters
    ----------
    told
        What is said of a kind already.
    """
    parts = {kind: told(kind) for kind in kinds}
    keys = {key for kind in parts for key, _ in kind.options}
    found = []
    for key in sorted(keys, key=lambda key: ("." in key, key)):
        values = {kind: kind.values([key]) for kind in parts}
        alike: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for kind, said in parts.items():
            alike[said].update(values[kind])
        if any(len(different) > 1 for different in alike.values()):
            found.append(key)
            parts = {kind: (*said, *values[kind]) for kind, said in parts.items()}
    return found


def named(kinds: Iterable[RunKind]) -> dict[RunKind, str]:
    """Name kinds by what tells them apart, as a file may be called; in their order.

    The problem is always told, an option only where kinds with one name so far differ in it.
    """
    ordered = sorted(set(kinds))
    heads = [
        head
        for head in _HEAD
        if head == "problem" or len({getattr(kind, head) for kind in ordered}) > 1
    ]

    def told(kind: RunKind) -> tuple[str, ...]:
        return tuple(getattr(kind, head) for head in heads)

    keys = varying(ordered, told)
    names: dict[RunKind, str] = {}
    for kind in ordered:
        options = [f"{key}={value}" for key, value in zip(keys, kind.values(keys), strict=True)]
        name = re.sub(r"[^\w.=-]+", "_", "-".join([*told(kind), *options]))[:_LENGTH]
        while name in names.values():
            name += "_"
        names[kind] = name
    return names
