"""What a parameter may be, said in one sentence where it is born."""

from collections.abc import Collection
from numbers import Integral, Real

from specahd.core.errors import ConfigError


def within(name: str, value: float, low: float, high: float | None = None) -> None:
    """Refuse a value outside of [low, high]; ``name`` is the parameter's.

    Raises
    ------
    ConfigError
        With the accepted range and the value.
    """
    # Written so that nan is refused too.
    if value >= low and (high is None or value <= high):
        return
    accepted = f"of at least {low}" if high is None else f"in [{low}, {high}]"
    raise ConfigError(f"Expected {name} {accepted}, got {value}.")


def integer_within(name: str, value: object, low: int, high: int | None = None) -> None:
    """Refuse what is not an integer in [low, high], where nobody has checked the type.

    Raises
    ------
    ConfigError
        With what is accepted and the value.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ConfigError(f"Expected {name} to be an integer, got {value!r}.")
    within(name, int(value), low, high)


def number_within(name: str, value: object, low: float, high: float | None = None) -> None:
    """Refuse what is not a number in [low, high], where nobody has checked the type.

    Raises
    ------
    ConfigError
        With what is accepted and the value.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ConfigError(f"Expected {name} to be a number, got {value!r}.")
    within(name, float(value), low, high)


def one_of(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices; ``name`` is the parameter's.

    Raises
    ------
    ConfigError
        With the choices and the value.
    """
    if value not in choices:
        raise ConfigError(f"Expected {name} to be one of {', '.join(choices)}, got {value!r}.")
