"""Checks of the parts of a method, which may be the user's own classes."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from specahd.core.errors import ConfigError


def check_rounds(method: "partial[Any]") -> None:
    """Refuse a method without rounds, or with an option out of range.

    Raises
    ------
    ConfigError
        The message is one sentence.
    """
    rounds: Any = method.func
    expect_rounds(rounds)
    rounds.check(**method.keywords)


def expect_rounds(rounds: Any) -> None:
    """Refuse a class without rounds, such as a search method.

    Raises
    ------
    ConfigError
        The message is one sentence.
    """
    if not hasattr(rounds, "check"):
        name = f"{rounds.__module__}.{rounds.__qualname__}"
        raise ConfigError(
            "Expected method to make rounds, as specahd.design.coupled.Coupled does, got "
            f"{name}; a search method is method.policy: method.policy._target_={name}."
        )


def check_maker(option: str, make: Callable[[], object]) -> None:
    """Refuse a factory with a missing or an unknown argument.

    Raises
    ------
    ConfigError
        The message names the option, or the created object refuses an option of its own.
    """
    try:
        signature(make).bind()
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{option} cannot be made: {error}.") from None
    make()
