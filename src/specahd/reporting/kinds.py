"""Which runs are of one kind, so that they differ in nothing but their seeds, and its name."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# What enters into no result, or is the seed's own.
_OWN = (
    *("seed", "record", "resume", "executor", "tracking", "sandbox", "search.samplers"),
    *("pools.dir", "memory.base_url", "memory.api_key_env", "memory.batch", "memory.timeout"),
    *("memory.attempts", "memory.backoff", "memory.patience", "memory.cache"),
)
_HEAD = ("problem", "method", "llm", "budget")
_LENGTH = 100


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """What runs must share to be averaged over their seeds: all that a result depends on.

    ``options`` are the choices by group and the values by dotted name.
    """

    problem: str
    method: str
    llm: str
    budget: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Kind":
        """Return the kind of a run that has this configuration."""
        choices: Mapping[str, Any] = config["choices"]
        values = {key: value for key, value in config.items() if key != "choices"}
        options = {str(key): str(value) for key, value in choices.items()} | dict(_flat(values))
        return cls(
            problem=str(choices["problem"]),
            method=str(choices["method"]),
            llm=str(choices["llm"]),
            budget=str(config["budget"]["name"]),
            options=tuple(sorted(item for item in options.items() if not _is_own(item[0]))),
        )


def named(kinds: Iterable[Kind]) -> dict[Kind, str]:
    """Name kinds by what tells them apart, as a file may be called; in their order.

    The problem is always told, an option only where kinds with one name so far differ in it.
    """
    ordered = sorted(set(kinds))
    told = [
        head
        for head in _HEAD
        if head == "problem" or len({getattr(kind, head) for kind in ordered}) > 1
    ]
    parts = {kind: tuple(getattr(kind, head) for head in told) for kind in ordered}
    options = {kind: dict(kind.options) for kind in ordered}
    keys = {key for of_kind in options.values() for key in of_kind}
    # A choice stands for what it brings with it.
    for key in sorted(keys, key=lambda key: ("." in key, key)):
        values = {kind: str(options[kind].get(key)) for kind in ordered}
        alike: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for kind in ordered:
            alike[parts[kind]].add(values[kind])
        if any(len(found) > 1 for found in alike.values()):
            parts = {kind: (*parts[kind], f"{key}={values[kind]}") for kind in ordered}
    names: dict[Kind, str] = {}
    for kind in ordered:
        name = re.sub(r"[^\w.=-]+", "_", "-".join(parts[kind]))[:_LENGTH]
        while name in names.values():
            name += "_"
        names[kind] = name
    return names


def _is_own(key: str) -> bool:
    return any(key == own or key.startswith(f"{own}.") for own in _OWN)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
