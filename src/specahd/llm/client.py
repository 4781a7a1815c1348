"""Client of a language model at any endpoint with OpenAI's chat completions API."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from specahd.core.contract import Contract, Request
from specahd.core.errors import ServiceError
from specahd.core.proposer import LENGTH, Reply
from specahd.core.services import ModelOptions
from specahd.core.tariff import Tariff
from specahd.llm.completion import Completion, NoReply, Usage, is_foreign, read_completion
from specahd.llm.faults import Blocked, RetryableError
from specahd.llm.parsing import ParseError, Useless, parse_program, parse_text
from specahd.llm.service import Refusal
from specahd.llm.service_client import ServiceClient

WINDOW = 60.0
"""Seconds over which requests and tokens are counted."""


@dataclass(slots=True)
class RequestSlot:
    """One admitted request: its time (seconds of the clock) and its number of tokens."""

    time: float
    tokens: int


class RateLimiter:
    """A limiter that delays requests: no 60 seconds have more requests or tokens than allowed.

    The tokens of a request are known only afterwards: it is admitted
    with an estimate, which :meth:`correct` replaces. A request of more tokens than a
    minute allows is admitted alone.

    Parameters
    ----------
    requests_per_minute, tokens_per_minute
        At least 1 each; None for no limit.
    clock
        Returns seconds; monotonic.
    sleep
        Waits for a number of seconds of the clock.

    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._sleep = sleep
        self._slots: deque[RequestSlot] = deque()
        # The waiting thread holds this lock, so that later ones cannot overtake it.
        self._queue_lock = threading.Lock()
        self._lock = threading.Lock()

    def acquire(self, tokens: int) -> RequestSlot:
        """Wait until a request of about ``tokens`` tokens is allowed, and count it."""
        with self._queue_lock:
            while True:
                with self._lock:
                    slot = RequestSlot(self._clock(), tokens)
                    wait = self._delay(slot)
                    if wait <= 0:
                        self._slots.append(slot)
                        return slot
                self._sleep(wait)

    def correct(self, slot: RequestSlot, tokens: int) -> None:
        """Replace a request's estimate by its actual number of tokens."""
        with self._lock:
            slot.tokens = tokens

    def _delay(self, slot: RequestSlot) -> float:
        """Return the seconds to wait before the next check, 0 if the request is allowed."""
        while self._slots and self._slots[0].time + WINDOW <= slot.time:
            self._slots.popleft()
        taken = sum(earlier.tokens for earlier in self._slots) + slot.tokens
        crowded = self._requests is not None and len(self._slots) >= self._requests
        heavy = self._tokens is not None and taken > self._tokens
        if self._slots and (crowded or heavy):
            return self._slots[0].time + WINDOW - slot.time
        return 0.0


USELESS = 10
"""Number of replies of one useless kind in a row after which no further request is sent."""
RESERVED = {"messages", "model", "n", "stream"}
"""Fields of a request that no option may set."""
_CURES = {
    Useless.TRUNCATED: "give it more with +llm.options.max_tokens=NUMBER, or set llm.model to one "
    "that thinks less",
    Useless.EMPTY: "set llm.model to one that answers with text, or give it more tokens with "
    "+llm.options.max_tokens=NUMBER",
    Useless.NO_CODE: "set llm.model to one that writes programs",
}
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class ChatProposer:
    """Requests programs from a model; thread-safe.

    Parameters
    ----------
    model, base_url, api_key_env, options
        Those of :class:`~specahd.core.services.ModelOptions`. Requests wait so as not to exceed
        the limits a minute. A stream keeps connections active. ``options`` are further fields of
        each request (``temperature``, ``max_tokens`` …); no other sampling parameter is sent.

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
        **options: Annotated[Any, ModelOptions],
    ) -> None:
        given = ModelOptions(model=model, base_url=base_url, api_key_env=api_key_env, **options)
        self._prepare(given, ServiceClient(given, "llm", RESERVED))

    def _prepare(self, given: ModelOptions, client: ServiceClient) -> None:
        """Keep the options, and what sends requests."""
        self._client = client
        self._service = self._client.service(given.model, "llm.model")
        cached = given.cached_input_price
        self._prices = (
            given.input_price,
            given.input_price if cached is None else cached,
            given.output_price,
        )
        self._stream = given.stream
        # Without this option a stream reports no token counts.
        counted = {"stream_options": {"include_usage": True}} if given.stream else {}
        self._options = counted | dict(given.options or {})
        self._limiter = RateLimiter(
            given.requests_per_minute, given.tokens_per_minute, sleep=self._client.pause
        )
        self._expected = 0
        self._uncounted = False
        self._provider = client.provider
        self._lock = threading.Lock()
        self._useless: list[tuple[Useless, Reply]] = []
        self._understood = False

    def __repr__(self) -> str:
        return f"ChatProposer({self._service})"

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the prices, and the longest reply that the options allow."""
        fresh, cached, output = self._prices
        return Tariff(max(fresh, cached), output, _max_reply_tokens(self._options))

    def close(self) -> None:
        """Close the client; waiting requests fail at once, running ones after their attempt."""
        self._client.close()

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Check the model by the service's list; if it is not listed, by a one-word request.

        A list of models costs nothing and loads no local model. It does not show
        exhausted credit; the first request does.

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
            The service lists several models or none, or it cannot be reached.
        """
        listed = self._briefly(lambda deadline: self._client.list_models(self._service, deadline))
        if len(listed) != 1:
            raise self._service.unnamed_model(listed)
        return listed[0]

    def _briefly(self, question: Callable[[float], T]) -> T:
        try:
            return self._client.probe(question)
        except RetryableError as fault:
            raise ServiceError(
                f"{self._service.host} cannot be used: {fault}; check llm.base_url and the network."
            ) from None

    def propose(self, request: Request) -> Reply:
        """Send the request's prompt and return the reply unparsed.

        Raises
        ------
        ServiceUnavailable
            Every attempt failed.
        ServiceError
            The service refuses every request, or its last replies were all useless.
        """
        with self._lock:
            if len(self._useless) >= USELESS:
                raise ServiceError(self._objection())
        reply = self._client.request(
            self._service, lambda begin: self._attempt(request, begin), "did not reply"
        )
        kind = _useless_kind(reply, request)
        with self._lock:
            if any(kind != earlier for earlier, _ in self._useless):
                self._useless.clear()
            if kind is not None:
                self._useless.append((kind, reply))
        return reply

    def _objection(self) -> str:
        """Return the sentence on useless replies: what came, and the cure."""
        kind, reply = self._useless[-1]
        words = self._service.quote(reply.text)
        end = f"finish_reason={reply.finish_reason}" if reply.finish_reason else ""
        came = f'the last one: "{words}"' if kind is Useless.NO_CODE and words else end
        return (
            f"{self._service} is not asked again: {len(self._useless)} replies in a row were "
            f"{kind}{f' ({came})' if came else ''}; {_CURES[kind]}."
        )

    def _attempt(self, request: Request, begin: Callable[[], float]) -> Reply:
        # The first use imports modules, which is neither the service's time nor in its window.
        create = self._client.chat
        # Estimate: four characters a token, at least the count of the last request. It remains
        # if there is no reply.
        slot = self._limiter.acquire(max(len(request.prompt) // 4, self._expected))
        label = f"{request.id}-{request.hash[:16]}"
        try:
            completion = self._complete(create, request.prompt, begin(), label)
        except Blocked as refusal:
            return Reply(str(refusal), model=self._service.model, provider=self._provider)
        usage = completion.usage or Usage(None, 0, None)
        prompt = usage.prompt or len(request.prompt) // 4
        answer = usage.completion or completion.written // 4
        # A reply without a character may be of no tokens.
        if usage.prompt is None or (usage.completion is None and answer):
            self._warn_uncounted()
        self._expected = prompt + answer
        self._limiter.correct(slot, self._expected)
        fresh, cached, output = self._prices
        dollars = (prompt - usage.cached) * fresh + usage.cached * cached + answer * output
        # Masked here, so that the same text is hashed, stored and replayed.
        text = self._service.reply(completion.text)
        finish, model = completion.finish_reason, completion.model or self._service.model
        return Reply(
            *(text, prompt, answer, dollars / 1e6),
            finish and self._service.quote(finish),
            self._service.quote(model),
            self._provider,
        )

    def _warn_uncounted(self) -> None:
        if not self._uncounted:
            self._uncounted = True
            _LOG.warning("%s counts no tokens; four characters count as one.", self._service)

    def _examine(self, deadline: float) -> None:
        listed = self._client.list_models(self._service, deadline)
        if self._service.model in listed:
            return
        try:
            self._complete(
                self._client.chat, "Answer with the one word ready.", deadline, "preflight"
            )
        except Refusal as refusal:
            if refusal.status != 404 or not listed:
                raise
            raise self._service.unlisted_model(listed) from None
        except Blocked:
            return

    def _complete(
        self, create: Callable[..., Any], prompt: str, deadline: float, label: str
    ) -> Completion:
        return self._client.attempt(
            self._service,
            create,
            deadline,
            self._read,
            model=self._service.model,
            messages=[{"role": "user", "content": prompt}],
            stream=self._stream,
            extra_body=self._options,
            # Every attempt has the same ID, for the service's support and for the test server.
            extra_headers={"X-Client-Request-Id": label},
        )

    def _read(self, body: bytes) -> Completion:
        try:
            completion = read_completion(body)
        except NoReply as error:
            # Between replies this may be a page of a gateway, which passes.
            if error.error is None and not self._understood and is_foreign(body):
                raise self._service.misunderstood(body) from None
            raise
        self._understood = True
        return completion


def _useless_kind(reply: Reply, request: Request) -> Useless | None:
    """Return the kind of a useless reply; None if it has at least something of a program."""
    if request.operator.wants_text:
        cut = reply.finish_reason == LENGTH
        return None if parse_text(reply.text) else Useless.TRUNCATED if cut else Useless.EMPTY
    try:
        parse_program(reply, request.contract)
    except ParseError as error:
        return error.kind
    return None


def _max_reply_tokens(options: Mapping[str, Any]) -> int | None:
    """Return the token limit of a reply, None if no option sets it."""
    stated = [options.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((value for value in stated if isinstance(value, int)), default=None)
