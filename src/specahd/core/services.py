"""Options of a model's service; its address, and the variable that holds its key, are checked.

Neither may contain a secret, because configurations are stored and messages repeat them.
"""

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from specahd.core.errors import ConfigError
from specahd.core.options import Effect, check_options, option

STORE_VARIABLE = "MLFLOW_TRACKING_URI"
"""Environment variable with the address of the MLflow store, where tracking.uri is not given."""

_SECRET = r"[?&;][^=&;\s]*(?:pass|pwd|token|secret|key|credential|auth)[^=&;\s]*="
_PASSWORD = re.compile(rf"(://[^/@\s:]*):\S*@|({_SECRET})[^&;\s]*", re.IGNORECASE)
_UNMASKED = re.compile(rf"://[^/@\s:]*:[^@\s]*[/@]\S*@|{_SECRET}", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A variable that is not set must have this form (DEEPSEEK_API_KEY): the text may be a key.
_UNSET = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """Options of a client of one service; they are checked by :meth:`check`."""

    base_url: str = option(
        words="its address, before /chat/completions or /embeddings", effect=Effect.ACCESS
    )
    api_key_env: str | None = option(
        None,
        "the environment variable that holds its key; null: it wants none",
        effect=Effect.ACCESS,
    )
    timeout: float = option(120.0, "seconds for an attempt", 0.001, effect=Effect.ACCESS)
    attempts: int = option(
        10, "how often one request is made before it fails", 1, effect=Effect.ACCESS
    )
    deadline: float | None = option(
        None,
        "seconds for all attempts of a request; null: five times timeout",
        0.001,
        effect=Effect.ACCESS,
    )
    backoff: float = option(
        1.0,
        "seconds of the longest first wait between attempts; it doubles",
        0,
        effect=Effect.ACCESS,
    )
    patience: float = option(
        60.0, "seconds of the longest wait between attempts", 0, effect=Effect.ACCESS
    )
    options: Any = option(None, "sent with every request: +{group}.options.NAME=VALUE")

    def check(self, group: str, reserved: Collection[str] = ()) -> None:
        """Refuse an option out of range, and fields of requests that are not plain.

        Parameters
        ----------
        group
            The conf group of the options, for messages.
        reserved
            Names of fields that a user may not set.

        Raises
        ------
        ConfigError
            One sentence with the option and its range.
        """
        # First, as their messages repeat no value, which may be a key.
        if self.base_url is not None:
            host_of(self.base_url, group)
        if self.api_key_env is not None:
            check_variable(self.api_key_env, group)
        check_options(self, f"{group}.")
        try:
            json.dumps(dict(self.options or {}), allow_nan=False)
        except (TypeError, ValueError):
            raise ConfigError(f"Expected {group}.options to map names to plain values.") from None
        for name in sorted(set(reserved) & dict(self.options or {}).keys()):
            raise ConfigError(f"Expected {group}.options without {name}, which is not an option.")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(ServiceOptions):
    """Options of a client of a language model."""

    model: str = option(words="its name; null: the only one that the server has")
    # It changes results: two services may have different models of one name.
    base_url: str = option(words="its address, before /chat/completions")
    input_price: float = option(
        0.0, "US dollars for a million tokens of prompts", 0, effect=Effect.ACCESS
    )
    cached_input_price: float | None = option(
        None,
        "for tokens that the service has seen before; null: input_price",
        0,
        effect=Effect.ACCESS,
    )
    output_price: float = option(
        0.0, "US dollars for a million tokens of replies", 0, effect=Effect.ACCESS
    )
    requests_per_minute: int | None = option(
        None, "what the service allows; null: no limit", 1, effect=Effect.ACCESS
    )
    tokens_per_minute: int | None = option(
        None, "what the service allows; null: no limit", 1, effect=Effect.ACCESS
    )
    stream: bool = option(False, "whether replies are asked for in pieces", effect=Effect.ACCESS)


@dataclass(frozen=True, kw_only=True)
class TranslatedModelOptions(ModelOptions):
    """Options of a client of a language model whose protocol is LiteLLM's to speak."""

    model: str = option(words="PROVIDER/MODEL, as LiteLLM names it")
    api_key_env: str | None = option(
        None,
        "variable of its key; null: PROVIDER_API_KEY, none with base_url",
        effect=Effect.ACCESS,
    )
    base_url: str | None = option(None, "its address; null: the provider's own")  # type: ignore[assignment]  # LiteLLM knows it
    input_price: float | None = option(  # type: ignore[assignment]  # LiteLLM knows it
        None,
        "US dollars for a million tokens of prompts; null: of LiteLLM's table",
        0,
        effect=Effect.ACCESS,
    )
    output_price: float | None = option(  # type: ignore[assignment]  # LiteLLM knows it
        None,
        "US dollars for a million tokens of replies; null: of LiteLLM's table",
        0,
        effect=Effect.ACCESS,
    )


@dataclass(frozen=True, kw_only=True)
class EncoderOptions(ServiceOptions):
    """Options of a client of an embedding server."""

    attempts: int = option(
        24, "how often one request is made before it fails", 1, effect=Effect.ACCESS
    )
    patience: float = option(
        20.0, "seconds of the longest wait between attempts", 0, effect=Effect.ACCESS
    )
    batch: int = option(16, "texts in a request", 1, effect=Effect.ACCESS)
    cache: str | None = option(None, "where vectors are kept; null: nowhere", effect=Effect.ACCESS)


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
