"""Checks of parameters; the error is one sentence with the accepted range."""

from collections.abc import Collection
from math import inf
from numbers import Integral, Real
from sys import float_info

from specahd.core.errors import ConfigError


def check_range(name: str, value: float, low: float, high: float | None = None) -> None:
    """Refuse a value outside of [low, high]; ``name`` is the name of the parameter.

    Raises
    ------
    ConfigError
        The value is refused; the message has the accepted range and the value.
    """
    # This form of the condition refuses nan too.
    if low <= value and (value < inf if high is None else value <= high):
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
