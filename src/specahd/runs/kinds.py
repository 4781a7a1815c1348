"""Which runs are of one kind, so that they differ in nothing but their seeds, and its name."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specahd.runs.configuration import WITHOUT_EFFECT, flat, is_among

_OF_ONE_RUN = (
    *(*WITHOUT_EFFECT, "seed", "resume", "pools.dir"),
    # Bounds: a run that meets one is partial.
    *("budget.max_cost", "budget.max_tokens"),
    # How a service is reached, and what it costs.
    *("llm.api_key_env", "llm.input_price", "llm.cached_input_price", "llm.output_price"),
    *("llm.requests_per_minute", "llm.tokens_per_minute", "llm.timeout", "llm.attempts"),
    *("llm.backoff", "llm.patience", "llm.stream"),
)
_CLASS = "._target_"
_CALLING = ("_partial_", "_recursive_", "_convert_")
"""How Hydra calls the class of an option, which decides nothing that the class does not."""
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
            if not is_among(key, _OF_ONE_RUN) and key.rpartition(".")[2] not in _CALLING
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

    Choices come first, so that one stands in place of all that it brings; of these the ones that
    every run is told by, since a method brings a memory too.

    Parameters
    ----------
    told
        What is said of a kind already.
    """
    return [key for key, _ in _differences(kinds, told)]


def _differences(
    kinds: Iterable[RunKind], told: Callable[[RunKind], tuple[str, ...]]
) -> Iterator[tuple[str, set[RunKind]]]:
    """Yield the options of :func:`varying`, each with the kinds that it tells from another."""
    parts = {kind: told(kind) for kind in kinds}
    keys = {key for kind in parts for key, _ in kind.options}
    for key in sorted(keys, key=lambda key: ("." in key, key not in _HEAD, key)):
        values = {kind: kind.values([key]) for kind in parts}
        alike: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for kind, said in parts.items():
            alike[said].update(values[kind])
        differ = {kind for kind, said in parts.items() if len(alike[said]) > 1}
        if differ:
            yield key, differ
            parts = {kind: (*said, *values[kind]) for kind, said in parts.items()}


def named(kinds: Iterable[RunKind]) -> dict[RunKind, str]:
    """Name kinds by what tells them apart, as a file may be called; in their order.

    The problem is always told, an option only of those kinds that differ in it and have one name
    so far: with its value, or not at all where it is unset.
    """
    ordered = sorted(set(kinds))
    heads = [
        head
        for head in _HEAD
        if head == "problem" or len({getattr(kind, head) for kind in ordered}) > 1
    ]

    def told(kind: RunKind) -> tuple[str, ...]:
        return tuple(getattr(kind, head) for head in heads)

    differences = list(_differences(ordered, told))
    names: dict[RunKind, str] = {}
    for kind in ordered:
        values = dict(kind.options)
        options = [
            _said(key, values[key])
            for key, differ in differences
            if kind in differ and values.get(key, "None") != "None"
        ]
        name = re.sub(r"[^\w.=-]+", "_", "-".join([*told(kind), *options]))[:_LENGTH]
        while name in names.values():
            name += "_"
        names[kind] = name
    return names


def _said(key: str, value: str) -> str:
    """Return an option and its value; of a class, its own name in place of its module's."""
    if key.endswith(_CLASS):
        return f"{key.removesuffix(_CLASS)}={value.rpartition('.')[2]}"
    return f"{key}={value}"
