"""The configuration of a training, as the manifest of its checkpoint records it."""

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from numbers import Integral, Real
from typing import Any

from specahd.checkpoint import manifest
from specahd.core.options import effects, stated_options
from specahd.core.settings import RunOptions, Settings
from specahd.routing.formats import text
from specahd.routing.pools import MANIFEST


def provenance(plan: Any) -> dict[str, Any]:
    """Return the options that determine the programs of a :class:`~specahd.api.plans.TrainingPlan`.

    Two plans with equal provenance, and equal replies to their requests, give the same
    checkpoint. The source of the replies is not part of it, because a recording may replace the
    model. Options that only change the speed are not part of it: workers, concurrent requests.

    Returns
    -------
    dict
        ``seed``; ``method`` with all of its options; ``memory`` by level; ``budget``, ``search``
        and ``limits`` with their options; ``pools``: their seed and the SHA-256 of their
        manifest. A given checkpoint is recorded as the SHA-256 of its ``SHA256SUMS``.

    Raises
    ------
    FileError
        The pools have not been prepared.
    """
    described = {
        "budget": asdict(plan.budget),
        "search": asdict(plan.settings),
        "limits": asdict(plan.execution.limits),
    }
    for name in effects(RunOptions):
        group, _, option = name.partition(".")
        described.get(group, {}).pop(option, None)
    plain = Settings()
    for option, stated in stated_options(Settings).items():
        # A training without newer options keeps the provenance of old versions.
        if stated.newer and described["search"][option] == getattr(plain, option):
            del described["search"][option]
    if plan.given is not None:
        option, place = plan.given
        described["search"][option] = manifest.digest(place)
    return {
        **described,
        "seed": plan.seed,
        "method": _maker(plan.method),
        "memory": {level.value: dict(memory.options) for level, memory in plan.memories.items()},
        "pools": {
            **({"seed": plan.pools.seed} if plan.pools.files is None else {}),
            "manifest": text.digest(plan.pools.folder(plan.problem.name) / MANIFEST),
        },
    }


def _maker(maker: Any) -> dict[str, Any]:
    """Return the class that a factory makes, with its given and default options.

    An object has no such options; only its class is returned.
    """
    given: dict[str, Any] = {}
    while isinstance(maker, functools.partial):
        maker, given = maker.func, {**maker.keywords, **given}
    if not hasattr(maker, "__qualname__"):
        return {"class": f"{type(maker).__module__}.{type(maker).__qualname__}"}
    options = {name: _plain(value) for name, value in {**_defaults(maker), **given}.items()}
    return {
        "class": f"{maker.__module__}.{maker.__qualname__}",
        **{name: value for name, value in options.items() if value is not None},
    }


def _defaults(maker: Any) -> dict[str, Any]:
    """Return the options that a class or function has by default."""
    try:
        # The rounds of a method also take parts of the run; ``check`` takes only the options.
        parameters = inspect.signature(getattr(maker, "check", maker)).parameters.values()
    except (TypeError, ValueError):
        # Some classes and functions written in C have no signature.
        return {}
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def _plain(value: Any) -> Any:
    """Return an option as a JSON value: text, number, list, or a class with its options."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return _maker(value)
