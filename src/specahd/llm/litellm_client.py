"""Client of models that do not speak OpenAI's protocol, on the package litellm (an extra).

LiteLLM translates a request and its answer, and knows prices. Time, retries, keys and the classes
of failures are those of all services: its errors become OpenAI's errors with the service's words.
"""

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Annotated, Any

import httpx2
import openai

from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.core.services import ServiceOptions, TranslatedModelOptions, host_of
from specahd.llm.client import RESERVED, ChatProposer
from specahd.llm.completion import NoReply
from specahd.llm.service import Service
from specahd.llm.service_client import Exchange, ServiceClient

_CLOUDS = ("bedrock", "sagemaker", "vertex_ai")
"""Providers that take credentials of the machine where no variable is named."""
_CREDENTIAL = re.compile(r"(^|_)(key|secret|password|credentials?|token)(_|$)")
_CONTROLS = {"api_base", "base_url", "fallbacks", "max_retries", "mock_response", "num_retries"}
_CODES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_policy_violation",
}


class LiteLLMProposer(ChatProposer):
    """Requests programs from a model of any provider that LiteLLM knows; thread-safe.

    Parameters
    ----------
    model, base_url, api_key_env, options
        Those of :class:`~specahd.core.services.TranslatedModelOptions`. Bedrock, SageMaker and
        Vertex take the credentials of the machine unless ``api_key_env`` names a key.

    Raises
    ------
    ConfigError
        The package is missing, an option is out of range, there is no key, or no price is known.
    FileError
        The key's file cannot be read.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key_env: str | None = None,
        **options: Annotated[Any, TranslatedModelOptions],
    ) -> None:
        require("litellm", "llm=litellm")
        given = TranslatedModelOptions(
            model=model, base_url=base_url, api_key_env=api_key_env, **options
        )
        for name in given.options or {}:
            if _CREDENTIAL.search(name):
                raise ConfigError(
                    f"Expected llm.options without {name}, which would be stored; name the "
                    "variable that holds the key in llm.api_key_env."
                )
        if given.stream:
            raise ConfigError("Expected llm.stream=false with llm=litellm, got true.")
        provider = _provider(given.model)
        own = given.base_url is None and not provider.startswith(_CLOUDS)
        if given.api_key_env is None and own:
            given = replace(given, api_key_env=f"{provider.upper()}_API_KEY")
        client = _TranslatingClient(given, "llm", RESERVED | _CONTROLS)
        self._prepare(_with_prices(given), client)


class _TranslatingClient(ServiceClient):
    """Makes requests by LiteLLM; each can be left at any moment, as with other services."""

    def _names(self, options: ServiceOptions, group: str) -> tuple[str, str | None]:
        name = _provider(getattr(options, "model", None))
        return name if options.base_url is None else host_of(options.base_url, group), name

    def _connect(self) -> None:
        self._exchanges: set[Exchange] = set()

    def close(self) -> None:
        self._closed.set()
        for exchange in tuple(self._exchanges):
            exchange.leave()

    @property
    def chat(self) -> Callable[..., Any]:
        return self._create

    def list_models(self, service: Service, deadline: float) -> list[str]:
        """Return none: no provider is asked for its list."""
        return []

    def _create(
        self,
        *,
        model: str,
        messages: list[dict[str, str]],
        timeout: httpx2.Timeout,
        extra_body: Mapping[str, Any],
        extra_headers: Mapping[str, str],
        **_: Any,
    ) -> httpx2.Response:
        """Ask for a completion; return it in OpenAI's form, or raise an error of its package."""
        key = self._key.value if self._key else None
        # Else LiteLLM takes the key of a variable that nobody named.
        given = key or (None if str(self.provider).startswith(_CLOUDS) else "none")
        seconds = timeout.read or 0.001
        ask = partial(
            _litellm().completion,
            model=model,
            messages=messages,
            api_key=given,
            api_base=self.base_url,
            timeout=seconds,
            max_retries=0,
            num_retries=0,
            extra_headers=dict(extra_headers),
            **extra_body,
        )
        exchange = Exchange()
        self._exchanges.add(exchange)
        try:
            read = partial(_translated, ask)
            threading.Thread(target=exchange.run, args=(read,), daemon=True).start()
            return exchange.wait(seconds)
        except httpx2.ReadTimeout:
            raise openai.APITimeoutError(_REQUEST) from None
        finally:
            exchange.leave()
            self._exchanges.discard(exchange)


def _provider(model: str | None) -> str:
    """Return LiteLLM's name of the provider of a model."""
    try:
        name: str = _litellm().get_llm_provider(model)[1]
    except (AttributeError, openai.BadRequestError):
        raise ConfigError(
            f"Expected llm.model to be PROVIDER/MODEL as LiteLLM has it, such as "
            f"anthropic/claude-haiku-4-5, got {model!r}."
        ) from None
    return name


_REQUEST = httpx2.Request("POST", "http://litellm")


def _translated(ask: Callable[[], Any]) -> httpx2.Response:
    """Return what LiteLLM answers, or raise its error as OpenAI's with the service's body."""
    try:
        return httpx2.Response(200, content=ask().model_dump_json().encode())
    except openai.APITimeoutError:
        raise
    except openai.APIStatusError as error:
        found: Any = error
    except openai.APIError as error:
        raise NoReply("the answer cannot be read", {"message": _words(error)}) from None
    headers = getattr(found, "litellm_response_headers", None) or {}
    code = _CODES.get(type(found).__name__)
    body = {"error": {"code": code, "message": _words(found)}}
    response = httpx2.Response(
        found.status_code,
        headers={"retry-after": str(headers.get("retry-after", ""))},
        content=json.dumps(body).encode(),
        request=_REQUEST,
    )
    raise openai.APIStatusError("refused", response=response, body=None)


def _words(error: openai.APIError) -> str:
    """Return what the service says in an error of LiteLLM, without LiteLLM's own words."""
    text = str(error.message)
    try:
        said = json.loads(text[text.index("{") : text.rindex("}") + 1])
        return str(said["error"]["message"])
    except (KeyError, RecursionError, TypeError, ValueError):
        return text.rpartition("Exception - ")[2].partition("\n")[0]


def _with_prices(given: TranslatedModelOptions) -> TranslatedModelOptions:
    """Return the options with the prices of LiteLLM's table where none are given."""
    if given.input_price is not None and given.output_price is not None:
        return given
    try:
        table: Mapping[str, Any] = _litellm().get_model_info(given.model)
    except _litellm().exceptions.ModelNotMappedError:
        table = {}
    fresh, cached, output = (
        1e6 * (table.get(name) or 0)
        for name in (
            "input_cost_per_token",
            "cache_read_input_token_cost",
            "output_cost_per_token",
        )
    )
    if not (fresh or output):
        raise ConfigError(
            f"LiteLLM's table has no price of {given.model}; set llm.input_price and "
            "llm.output_price, US dollars a million tokens (0 for a model of your own)."
        )
    return replace(
        given,
        input_price=fresh if given.input_price is None else given.input_price,
        cached_input_price=given.cached_input_price
        if given.cached_input_price is not None or given.input_price is not None
        else cached or fresh,
        output_price=output if given.output_price is None else given.output_price,
    )


@cache
def _litellm() -> Any:
    """Import LiteLLM, which takes seconds, with its own table of prices and without its words."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # At DEBUG it logs requests, and keys in pieces.
    logging.getLogger("LiteLLM").setLevel(logging.WARNING)
    return litellm
