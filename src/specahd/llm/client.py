"""A language model behind any endpoint that speaks OpenAI's chat completions.

The only importer of ``openai``, whose errors hold the request with its key:
none of them leaves this module, neither as a cause nor as a context.
"""

import json
import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import httpx2
import openai
import tenacity

from specahd.core.contract import Reply, Request
from specahd.core.errors import ConfigError, ServiceError, TransportError
from specahd.llm.completion import Completion, NoReply, Usage, read_completion, read_models
from specahd.llm.faults import Blocked, Complaint, Unanswered, retry_after
from specahd.llm.keys import find_key
from specahd.llm.limits import RateLimiter
from specahd.llm.service import Refusal, Service, host_of

PREFLIGHT = 15.0
"""Seconds within which a service must answer before a run starts."""
MAX_BODY = 32 * 2**20
"""Longest body that is read, in bytes."""

_PREFLIGHT_ATTEMPTS = 3
_CONNECT = 10.0
# Of openai's constructor, which would otherwise send what OPENAI_API_KEY holds to anyone.
_NO_KEY = "none"
_OURS = {"messages", "model", "n", "stream"}
_LOG = logging.getLogger(__name__)


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
        self._timeout = _number("timeout", timeout, 0.001)
        self._attempts = int(_number("attempts", attempts, 1))
        self._backoff = _number("backoff", backoff, 0)
        self._patience = _number("patience", patience, 0)
        self._prices = (
            _number("input_price", input_price, 0),
            _number("cached_input_price", cached_input_price, 0)
            if cached_input_price is not None
            else input_price,
            _number("output_price", output_price, 0),
        )
        if not isinstance(stream, bool):
            raise ConfigError(f"Expected llm.stream to be true or false, got {stream!r}.")
        self._stream = stream
        self._options = _extra(options, stream)
        self._limiter = RateLimiter(requests_per_minute, tokens_per_minute, sleep=self._pause)
        self._expected = 0
        self._uncounted = False
        self._closed = threading.Event()
        key = find_key(api_key_env, host) if api_key_env is not None else None
        self._service = Service(model, host, key)
        self._client = openai.OpenAI(
            api_key=key.value if key else _NO_KEY, base_url=base_url, max_retries=0
        )

    def __repr__(self) -> str:
        return f"ChatProposer({self._service})"

    def close(self) -> None:
        """Give up: whoever waits for the next attempt fails at once, others with their attempt."""
        self._closed.set()

    def preflight(self) -> None:
        """Ask which models there are and, only where that settles nothing, for one word.

        A list of models costs nothing and loads no local model. What it cannot
        show is exhausted credit; the first request does.

        Raises
        ------
        ServiceError
            The key, the model or the address is wrong.
        """
        deadline = time.monotonic() + PREFLIGHT
        try:
            stop = tenacity.stop_after_attempt(_PREFLIGHT_ATTEMPTS)
            stop_in_time = tenacity.stop_before_delay(PREFLIGHT)
            self._retrying(stop | stop_in_time)(self._examine, deadline)
        except Unanswered as fault:
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
            stop = tenacity.stop_after_attempt(self._attempts)
            reply: Reply = self._retrying(stop)(self._attempt, request)
        except Unanswered as fault:
            raise TransportError(f"{self._service} did not reply: {fault}.") from None
        return reply

    def _retrying(self, stop: tenacity.stop.stop_base) -> tenacity.Retrying:
        return tenacity.Retrying(
            stop=stop,
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(Unanswered),
            sleep=self._pause,
            before_sleep=self._tell,
            reraise=True,
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to the next attempt: full jitter, but no less than asked for."""
        jitter = tenacity.wait_random_exponential(self._backoff, self._patience)(state)
        return max(jitter, min(_fault(state).retry_after, self._patience))

    def _pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise Unanswered("the client was closed")

    def _tell(self, state: tenacity.RetryCallState) -> None:
        _LOG.warning(
            "%s: %s; attempt %d follows in %.1f s.",
            *(self._service, _fault(state), state.attempt_number + 1, state.upcoming_sleep),
        )

    def _attempt(self, request: Request) -> Reply:
        if self._closed.is_set():
            raise TransportError(f"{self._service} was not asked: the run ends.")
        # Four characters a token, or what the last request took; without a reply it stays so.
        turn = self._limiter.enter(max(len(request.prompt) // 4, self._expected))
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
        self._limiter.settle(turn, self._expected)
        fresh, cached, output = self._prices
        dollars = (usage.prompt - usage.cached) * fresh + usage.cached * cached
        dollars = (dollars + usage.completion * output) / 1e6
        return Reply(completion.text, usage.prompt, usage.completion, dollars)

    def _examine(self, deadline: float) -> None:
        listed: list[str] = []
        try:
            models = self._client.models.with_streaming_response.list(timeout=_limits(deadline))
            listed = read_models(self._exchange(models, deadline))
        except Refusal as refusal:
            # A service need not list its models, nor to every key.
            if refusal.status == 401:
                raise
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
                raise Unanswered(str(error)) from None
            problem = self._service.judge(200, Complaint.of(error.error))
        raise problem

    def _exchange(self, response: "AbstractContextManager[_Body]", deadline: float) -> bytes:
        """Make a request and return the body of its response.

        Raises
        ------
        Unanswered, Blocked, ServiceError
            As :mod:`specahd.llm.faults` decides.
        """
        late = f"no answer within {round(deadline - time.monotonic(), 1):g} seconds"
        try:
            with response as body:
                return _read(body, deadline, late)
        except openai.APIStatusError as error:
            wait = retry_after(error.response.headers)
            problem = self._service.judge(error.status_code, Complaint.of(error.body), wait)
        except (openai.APITimeoutError, httpx2.TimeoutException):
            problem = Unanswered(late)
        except (openai.APIError, httpx2.HTTPError) as error:
            cause = self._service.quoted(str(error.__cause__ or error))
            problem = Unanswered(f"no connection ({cause})")
        # Raised out here, so that the error that holds the key is not its context.
        raise problem


class _Body(Protocol):
    def iter_bytes(self) -> Iterator[bytes]: ...


def _read(body: _Body, deadline: float, late: str) -> bytes:
    pieces: list[bytes] = []
    length = 0
    for piece in body.iter_bytes():
        pieces.append(piece)
        length += len(piece)
        if length > MAX_BODY:
            raise Unanswered(f"a body of more than {MAX_BODY} bytes")
        # A service that is busy may send blanks for as long as it likes.
        if time.monotonic() > deadline:
            raise Unanswered(late)
    return b"".join(pieces)


def _limits(deadline: float) -> openai.Timeout:
    seconds = max(deadline - time.monotonic(), 0.001)
    return openai.Timeout(seconds, connect=min(seconds, _CONNECT))


def _fault(state: tenacity.RetryCallState) -> Unanswered:
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, Unanswered) else Unanswered("no attempt was made")


def _number(name: str, value: float, low: float) -> float:
    # Hydra does not check types here; nan fails the comparison.
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not (sound and value >= low and math.isfinite(value)):
        raise ConfigError(f"Expected llm.{name} of at least {low}, got {value!r}.")
    return value


def _extra(options: Mapping[str, Any] | None, stream: bool) -> dict[str, Any]:
    """Return what a request says beyond model, prompt and stream."""
    try:
        plain: dict[str, Any] = dict(options or {})
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError("Expected llm.options to map names to plain values.") from None
    for name in sorted(_OURS & plain.keys()):
        raise ConfigError(f"Expected llm.options without {name}, which is not an option.")
    # Otherwise a stream tells no tokens.
    return ({"stream_options": {"include_usage": True}} if stream else {}) | plain
