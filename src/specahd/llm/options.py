"""Checks of the options of services, whose types Hydra does not check."""

import json
import math
from collections.abc import Mapping, Set
from typing import Any

from specahd.core.errors import ConfigError


def number_option(option: str, value: float, low: float) -> float:
    """Check a numeric option and return its value.

    Raises
    ------
    ConfigError
        The value is not a finite number of at least ``low``.
    """
    # nan fails the comparison.
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not (sound and value >= low and math.isfinite(value)):
        raise ConfigError(f"Expected {option} of at least {low}, got {value!r}.")
    return value


def request_options(
    options: Mapping[str, Any] | None, reserved: Set[str], group: str = "llm"
) -> dict[str, Any]:
    """Return the extra fields of requests, without reserved names.

    Raises
    ------
    ConfigError
        A reserved name is among them, or a value is not plain.
    """
    try:
        plain: dict[str, Any] = dict(options or {})
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError(f"Expected {group}.options to map names to plain values.") from None
    for name in sorted(reserved & plain.keys()):
        raise ConfigError(f"Expected {group}.options without {name}, which is not an option.")
    return plain
