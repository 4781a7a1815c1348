"""Checks of a service's options: its address, and the variable that holds its key.

Neither may contain a secret, because configurations are stored and messages repeat them.
"""

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from specahd.core.errors import ConfigError

STORE_VARIABLE = "MLFLOW_TRACKING_URI"
"""Environment variable with the address of the MLflow store, where tracking.uri is not given."""

_SECRET = r"[?&;][^=&;\s]*(?:pass|pwd|token|secret|key|credential|auth)[^=&;\s]*="
_PASSWORD = re.compile(rf"(://[^/@\s:]*):\S*@|({_SECRET})[^&;\s]*", re.IGNORECASE)
_UNMASKED = re.compile(rf"://[^/@\s:]*:[^@\s]*[/@]\S*@|{_SECRET}", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A variable that is not set must have this form (DEEPSEEK_API_KEY): the text may be a key.
_UNSET = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


def check_services(group: str, options: Any) -> None:
    """Refuse invalid addresses and variables in a conf group and the groups below it.

    The classes that are made from the group check this too, but only after a sweep is stored.

    Raises
    ------
    ConfigError
        As in :func:`check_variable` and :func:`host_of`.
    """
    if not isinstance(options, Mapping):
        return
    if options.get("api_key_env") is not None:
        check_variable(options["api_key_env"], group)
    if options.get("base_url") is not None:
        host_of(options["base_url"], group)
    for name, part in options.items():
        check_services(f"{group}.{name}", part)


def check_store(options: Any) -> None:
    """Refuse a missing MLflow store, and an address with a password that no message could mask.

    An address in :data:`STORE_VARIABLE` may have any password, because it is not stored.

    Raises
    ------
    ConfigError
        One sentence, without the address.
    """
    if not isinstance(options, Mapping) or "uri" not in options:
        return
    uri = options["uri"]
    if not isinstance(uri, str) or not uri:
        raise ConfigError(
            f"Expected tracking.uri, or {STORE_VARIABLE}, to be sqlite:///FILE or http://HOST:PORT."
        )
    if uri != os.environ.get(STORE_VARIABLE) and _UNMASKED.search(uri):
        raise ConfigError(
            "Expected tracking.uri without a password in its query, and without / or @ in its "
            f"password, as config.yaml would hold it; set {STORE_VARIABLE} to the address instead, "
            "or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD."
        )


def without_password(text: str) -> str:
    """Return a text in which no address contains a password, also in a query."""
    return _PASSWORD.sub(lambda found: f"{found[1]}:***@" if found[1] else f"{found[2]}***", text)


def check_variable(variable: object, group: str = "llm") -> None:
    """Refuse an invalid name of an environment variable; the error omits it, as it may be a key.

    Raises
    ------
    ConfigError
        It is not a name, or no such variable is set and the name is not like DEEPSEEK_API_KEY.
    """
    if isinstance(variable, str) and (
        _UNSET.fullmatch(variable) or (_VARIABLE.fullmatch(variable) and variable in os.environ)
    ):
        return
    raise ConfigError(
        f"Expected {group}.api_key_env to name an environment variable, such as DEEPSEEK_API_KEY."
    )


def host_of(base_url: object, group: str = "llm") -> str:
    """Return the host of an address, with the port if the address has one.

    Parameters
    ----------
    group
        The conf group that holds ``base_url``, for messages.

    Raises
    ------
    ConfigError
        It is not an address, or may contain a secret that messages would repeat.
    """
    try:
        parts = urlsplit(base_url if isinstance(base_url, str) else "")
        sound = parts.scheme in ("http", "https") and parts.hostname and not parts.query
        if sound and parts.username is None and parts.password is None:
            return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        pass
    raise ConfigError(
        f"Expected {group}.base_url to be http(s)://HOST[:PORT]/PATH "
        "without user, password and query."
    )
