"""A language model behind any endpoint that speaks OpenAI's chat completions.

The only importer of ``openai``, whose errors hold the request with its key:
none of them leaves this module, neither as a cause nor as a context.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import httpx2
import openai

from specahd.core.contract import Contract, Reply, Request
from specahd.core.errors import ConfigError, ServiceError, TransportError
from specahd.core.services import host_of
from specahd.core.tariff import Tariff
from specahd.llm.completion import Completion, NoReply, Usage, read_completion, read_models
from specahd.llm.faults import Blocked, Complaint, RetryableError, retry_after
from specahd.llm.keys import find_key
from specahd.llm.limits import RateLimiter
from specahd.llm.retries import (
    RetryPolicy,
    StreamedBody,
    number,
    plain_options,
    read_body,
    seconds_until,
)
from specahd.llm.service import Refusal, Service

PREFLIGHT = 15.0
"""Seconds within which a service must answer before a run starts."""

_CONNECT = 10.0
# Of openai's constructor, which would otherwise send what OPENAI_API_KEY holds to anyone.
_NO_KEY = "none"
_OURS = {"messages", "model", "n", "stream"}
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class ChatProposer:
    """Asks a model for programs; called from several threads.

    Parameters
    ----------
    model
        Its name, as the service spells it.
    base_url
        The address before ``/chat/completions``.
    api_key_env
        The environment variable that holds the key (:mod:`specahd.llm.keys`);
        None if the service wants none.
    input_price, cached_input_price, output_price
        US dollars per million tokens; a cached one costs what others do if None.
    requests_per_minute, tokens_per_minute
        The service's limits; requests wait rather than exceed them. None: no limit.
    timeout
        Seconds of silence, and seconds in all, after which a request counts as
        unanswered; so it ends in less than twice as many.
    attempts
        How often one request is made before it fails.
    backoff, patience
        Seconds of the longest wait after the first attempt, which doubles with
        each further one, and of the longest wait of all, Retry-After included.
    stream
        Whether replies are asked for in pieces, which keeps connections busy.
    options
        What else each request says (``temperature``, ``max_tokens``, ``thinking``
        …); no sampling parameter is sent but these.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key_env: str | None = None,
        *,
        input_price: float = 0.0,
        cached_input_price: float | None = None,
        output_price: float = 0.0,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        timeout: float = 120.0,
        attempts: int = 6,
        backoff: float = 1.0,
        patience: float = 60.0,
        stream: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise ConfigError(f"Expected llm.model to be the name of a model, got {model!r}.")
        host = host_of(base_url)
        self._timeout = number("llm.timeout", timeout, 0.001)
        self._retries = RetryPolicy(attempts, backoff, patience)
        self._prices = (
            number("llm.input_price", input_price, 0),
            number("llm.cached_input_price", cached_input_price, 0)
            if cached_input_price is not None
            else input_price,
            number("llm.output_price", output_price, 0),
        )
        if not isinstance(stream, bool):
            raise ConfigError(f"Expected llm.stream to be true or false, got {stream!r}.")
        self._stream = stream
        self._options = _extra(options, stream)
        self._limiter = RateLimiter(
            requests_per_minute, tokens_per_minute, sleep=self._retries.pause
        )
        self._expected = 0
        self._uncounted = False
        key = find_key(api_key_env, host) if api_key_env is not None else None
        self._service = Service(model, host, key)
        self._client = openai.OpenAI(
            api_key=key.value if key else _NO_KEY, base_url=base_url, max_retries=0
        )

    def __repr__(self) -> str:
        return f"ChatProposer({self._service})"

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the prices, and the longest reply that the options allow."""
        fresh, cached, output = self._prices
        return Tariff(max(fresh, cached), output, _max_reply(self._options))

    def close(self) -> None:
        """Give up: whoever waits for the next attempt fails at once, others with their attempt."""
        self._retries.close()

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Ask which models there are and, only where that settles nothing, for one word.

        A list of models costs nothing and loads no local model. What it cannot
        show is exhausted credit; the first request does.

        Raises
        ------
        ServiceError
            The key, the model or the address is wrong.
        """
        self._briefly(self._examine)

    def only_model(self) -> str:
        """Return the only model that the service lists.

        Raises
        ------
        ServiceError
            It has several, of which one must be named, or none; or it cannot be reached.
        """
        listed = self._briefly(self._listed)
        if len(listed) != 1:
            raise self._service.without_name(listed)
        return listed[0]

    def _briefly(self, question: Callable[[float], T]) -> T:
        deadline = time.monotonic() + PREFLIGHT
        try:
            return self._retries.ask_briefly(lambda: question(deadline), PREFLIGHT)
        except RetryableError as fault:
            raise ServiceError(
                f"{self._service.host} cannot be used: {fault}; check llm.base_url and the network."
            ) from None

    def propose(self, request: Request) -> Reply:
        """Send the request's prompt and return what comes back, however it reads.

        Raises
        ------
        TransportError
            No attempt brought a reply.
        ServiceError
            The service refuses every request.
        """
        try:
            return self._retries.ask(self._service, lambda: self._attempt(request))
        except RetryableError as fault:
            raise TransportError(f"{self._service} did not reply: {fault}.") from None

    def _attempt(self, request: Request) -> Reply:
        if self._retries.ended:
            raise TransportError(f"{self._service} was not asked: the run ends.")
        # Four characters a token, or what the last request took; without a reply it stays so.
        slot = self._limiter.enter(max(len(request.prompt) // 4, self._expected))
        deadline = time.monotonic() + self._timeout
        label = f"{request.id}-{request.hash[:16]}"
        try:
            completion = self._complete(request.prompt, deadline, label)
        except Blocked as refusal:
            return Reply(str(refusal))
        usage = completion.usage
        if usage is None:
            if not self._uncounted:
                self._uncounted = True
                _LOG.warning("%s counts no tokens; four characters count as one.", self._service)
            usage = Usage(len(request.prompt) // 4, 0, len(completion.text) // 4)
        self._expected = usage.prompt + usage.completion
        self._limiter.settle(slot, self._expected)
        fresh, cached, output = self._prices
        dollars = (usage.prompt - usage.cached) * fresh + usage.cached * cached
        dollars = (dollars + usage.completion * output) / 1e6
        # Masked before anyone sees it: what is hashed, written and repeated is one text.
        text = self._service.reply(completion.text)
        return Reply(text, usage.prompt, usage.completion, dollars)

    def _listed(self, deadline: float) -> list[str]:
        """Return the models that the service lists, none if it lists none."""
        try:
            models = self._client.models.with_streaming_response.list(timeout=_limits(deadline))
            return read_models(self._exchange(models, deadline))
        except Refusal as refusal:
            # A service need not list its models, nor to every key.
            if refusal.status == 401:
                raise
            return []

    def _examine(self, deadline: float) -> None:
        listed = self._listed(deadline)
        if self._service.model in listed:
            return
        try:
            self._complete("Answer with the one word ready.", deadline, "preflight")
        except Refusal as refusal:
            if refusal.status != 404 or not listed:
                raise
            raise self._service.without_model(listed) from None
        except Blocked:
            return

    def _complete(self, prompt: str, deadline: float, label: str) -> Completion:
        response = self._client.chat.completions.with_streaming_response.create(
            model=self._service.model,
            messages=[{"role": "user", "content": prompt}],
            stream=self._stream,
            # The same for every attempt: for the service's support, and for our tests' server.
            extra_headers={"X-Client-Request-Id": label},
            extra_body=self._options,
            timeout=_limits(deadline),
        )
        body = self._exchange(response, deadline)
        try:
            return read_completion(body)
        except NoReply as error:
            if error.error is None:
                raise RetryableError(str(error)) from None
            problem = self._service.judge(200, Complaint.of(error.error))
        raise problem

    def _exchange(self, response: "AbstractContextManager[StreamedBody]", deadline: float) -> bytes:
        """Make a request and return the body of its response.

        Raises
        ------
        RetryableError, Blocked, ServiceError
            As :mod:`specahd.llm.faults` decides.
        """
        _, late = seconds_until(deadline)
        try:
            with response as body:
                return read_body(body, deadline, late)
        except openai.APIStatusError as error:
            wait = retry_after(error.response.headers)
            problem = self._service.judge(error.status_code, Complaint.of(error.body), wait)
        except (openai.APITimeoutError, httpx2.TimeoutException):
            problem = RetryableError(late)
        except (openai.APIError, httpx2.HTTPError) as error:
            cause = self._service.quoted(str(error.__cause__ or error))
            problem = RetryableError(f"no connection ({cause})")
        # Raised out here, so that the error that holds the key is not its context.
        raise problem


def _limits(deadline: float) -> openai.Timeout:
    seconds, _ = seconds_until(deadline)
    return openai.Timeout(seconds, connect=min(seconds, _CONNECT))


def _max_reply(options: Mapping[str, Any]) -> int | None:
    """Return the tokens that a reply may have, None if no option says it."""
    stated = [options.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((value for value in stated if isinstance(value, int)), default=None)


def _extra(options: Mapping[str, Any] | None, stream: bool) -> dict[str, Any]:
    """Return what a request says beyond model, prompt and stream."""
    plain = plain_options(options, _OURS)
    # Otherwise a stream tells no tokens.
    return ({"stream_options": {"include_usage": True}} if stream else {}) | plain
