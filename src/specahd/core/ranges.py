"""Checks of parameters; the error is one sentence with the accepted range."""

from collections.abc import Collection, Mapping
from dataclasses import field, fields, is_dataclass
from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import Any

from specahd.core.errors import ConfigError


def check_range(name: str, value: float, low: float, high: float | None = None) -> None:
    """Refuse a value outside of [low, high]; ``name`` is the name of the parameter.

    Raises
    ------
    ConfigError
        The value is refused; the message has the accepted range and the value.
    """
    # This form of the condition refuses nan too.
    if value >= low and (high is None or value <= high):
        return
    accepted = f"of at least {low}" if high is None else f"in [{low}, {high}]"
    raise ConfigError(f"Expected {name} {accepted}, got {value}.")


def check_integer(name: str, value: object, low: int, high: int | None = None) -> None:
    """Refuse a value of any type that is not an integer in [low, high].

    Raises
    ------
    ConfigError
        The value is refused; the message has the accepted range and the value.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ConfigError(f"Expected {name} to be an integer, got {value!r}.")
    check_range(name, int(value), low, high)


def check_number(name: str, value: object, low: float, high: float | None = None) -> None:
    """Refuse a value of any type that is not a number in [low, high].

    Raises
    ------
    ConfigError
        The value is refused; the message has the accepted range and the value.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ConfigError(f"Expected {name} to be a number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the floats
        number = -inf if value < 0 else inf
        high = float_info.max if high is None else high
    check_range(name, number, low, high)


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices; ``name`` is the name of the parameter.

    Raises
    ------
    ConfigError
        The value is refused; the message has the choices and the value.
    """
    if value not in choices:
        raise ConfigError(f"Expected {name} to be one of {', '.join(choices)}, got {value!r}.")


def option(
    default: Any,
    words: str,
    low: float | None = None,
    high: float | None = None,
    choices: Collection[str] = (),
) -> Any:
    """Return a dataclass field for an option, with its range and its line of ``--help``.

    Parameters
    ----------
    low, high
        The range that :func:`check_options` accepts, None for no bound.
    """
    return field(default=default, metadata={"words": words, "range": (low, high, choices)})


def check_options(options: Any, group: str = "") -> None:
    """Refuse the first option of a dataclass that is out of range; None is accepted.

    Raises
    ------
    ConfigError
        A value is refused; the message has the accepted range or choices and the value.
    """
    for each in fields(options):
        low, high, choices = each.metadata.get("range", (None, None, ()))
        value, name = getattr(options, each.name), f"{group}{each.name}"
        if choices and value is not None:
            check_choice(name, value, choices)
        elif low is not None and value is not None:
            check_range(name, value, low, high)


def help_lines(options: type, group: str = "") -> Mapping[str, str]:
    """Return the lines of ``--help`` for a dataclass's options, by name."""
    assert is_dataclass(options)
    return {
        f"{group}{each.name}": each.metadata["words"]
        for each in fields(options)
        if "words" in each.metadata
    }
