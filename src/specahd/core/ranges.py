"""What a parameter may be, said in one sentence where it is born."""

from collections.abc import Collection

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


def one_of(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices; ``name`` is the parameter's.

    Raises
    ------
    ConfigError
        With the choices and the value.
    """
    if value not in choices:
        raise ConfigError(f"Expected {name} to be one of {', '.join(choices)}, got {value!r}.")
