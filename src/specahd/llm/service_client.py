"""Client of services with OpenAI's API, for texts and for vectors, on the package openai.

The package makes the requests. :class:`ServiceClient` decides on retries, on the total time and
on the class of a failure; its callers define the requests and read the answers.

The package's errors hold the request with its key: none of them leaves this module, neither as
a cause nor as a context.
"""

import logging
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing, suppress
from functools import cache, partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai

from specahd.core.errors import ConfigError, ServiceUnavailable, TransportError
from specahd.core.services import ServiceOptions, host_of
from specahd.llm.completion import NoReply, read_models
from specahd.llm.faults import Complaint, RetryableError, retry_after
from specahd.llm.keys import find_key
from specahd.llm.service import Refusal, Service

PREFLIGHT = 15.0
"""Seconds within which a service must answer before a run starts."""
MAX_BODY = 32 * 2**20
"""Longest body that is read, in bytes."""

_BRIEFLY = 3
_CONNECT = 10.0
_LOG = logging.getLogger(__name__)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
T = TypeVar("T")


class ServiceClient:
    """Makes requests of one service; thread-safe.

    Parameters
    ----------
    options
        An attempt counts as unanswered after ``timeout``, from the search for the host's
        address to the end of the answer. ``deadline`` does not count rate limits. ``patience``
        bounds Retry-After too.
    group
        The conf group whose options these are, for messages.
    reserved
        Fields of requests that a user may not set.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """

    def __init__(self, options: ServiceOptions, group: str, reserved: Collection[str] = ()) -> None:
        options.check(group, reserved)
        self.base_url = options.base_url
        self.host, self.provider = self._names(options, group)
        self._group = group
        self._options = options
        longest = 5 * options.timeout
        self._deadline = longest if options.deadline is None else options.deadline
        variable = options.api_key_env
        self._key = None if variable is None else find_key(variable, self.host, group)
        self._closed = threading.Event()
        self._connect()

    def _names(self, options: ServiceOptions, group: str) -> tuple[str, str | None]:
        """Return the service's name in messages, and in records of replies."""
        return host_of(options.base_url, group), urlsplit(options.base_url).hostname

    def _connect(self) -> None:
        """Make the package's client, unless the address is no address."""
        # At DEBUG it logs headers, in which a service may repeat the key.
        logging.getLogger("httpcore2").setLevel(logging.INFO)
        # A server on this machine is not behind the proxy that the environment may name.
        remote = urlsplit(self.base_url).hostname not in _LOOPBACK
        key = self._key.value if self._key else "none"
        try:
            self._http = _PunctualClient(trust_env=remote, verify=_certificates(remote))
            self.openai = openai.OpenAI(
                api_key=key,
                base_url=self.base_url,
                # Otherwise OPENAI_CUSTOM_HEADERS could set another key.
                default_headers={"Authorization": f"Bearer {key}"},
                http_client=self._http,
                max_retries=0,
            )
        except (httpx2.InvalidURL, ImportError, ValueError):
            pass
        else:
            return
        # Raised outside the handler, because a proxy's address may hold a password.
        raise ConfigError(
            f"Expected {self._group}.base_url, and the proxy of the environment, to be "
            f"http(s)://…, got {self.host}."
        )

    def service(self, model: str, option: str) -> Service:
        """Return a model of the service, which ``option`` names."""
        return Service(model, self.host, self._key, option)

    def close(self) -> None:
        """Close: waiting and running requests fail at once."""
        self._closed.set()
        self._http.leave()

    def pause(self, seconds: float) -> None:
        """Wait, unless the client is closed meanwhile.

        Raises
        ------
        TransportError
            It was closed.
        """
        if self._closed.wait(seconds):
            raise TransportError(f"{self.host} is not asked again: the client was closed.")

    def request(
        self, service: Service, attempt: Callable[[Callable[[], float]], T], failed: str
    ) -> T:
        """Make a request, with retries.

        Parameters
        ----------
        attempt
            Makes the request once. It is given a function that starts the time of the attempt and
            returns its deadline; the seconds before that, in a queue, do not count.
        failed
            Message for a service that answered no attempt.

        Raises
        ------
        ServiceUnavailable
            No attempt was answered.
        TransportError
            The client was closed.
        ServiceError
            The service refuses every request.
        """

        def warn(fault: RetryableError, number: int, wait: float) -> None:
            told = f"attempt {number} of {self._options.attempts} follows in {wait:.1f} s"
            _LOG.warning("%s: %s; %s.", service, fault, told)

        try:
            return self._repeat(
                attempt, self._options.attempts, self._options.timeout, self._deadline, warn
            )
        except RetryableError as fault:
            raise ServiceUnavailable(
                f"{service} {failed}: {fault}; {self._group}.attempts={self._options.attempts} and "
                f"{self._group}.deadline={self._deadline:g} allow no further attempt."
            ) from None

    def probe(self, question: Callable[[float], T]) -> T:
        """Make one request before a run, within the deadline and without logging.

        Raises
        ------
        RetryableError
            No attempt was answered within :data:`PREFLIGHT` seconds.
        """
        return self._repeat(lambda begin: question(begin()), _BRIEFLY, PREFLIGHT, PREFLIGHT)

    def _repeat(
        self,
        attempt: Callable[[Callable[[], float]], T],
        attempts: int,
        timeout: float,
        left: float,
        warn: Callable[[RetryableError, int, float], None] = lambda *_: None,
    ) -> T:
        """Attempt a request until it is answered, within ``left`` seconds in all."""
        began = 0.0

        def begin() -> float:
            nonlocal began
            began = time.monotonic()
            return began + min(timeout, left)

        number = 0
        while True:
            number += 1
            self.pause(0)
            try:
                return attempt(begin)
            except RetryableError as error:
                fault = error
            left -= time.monotonic() - began
            # Full jitter, but no less than the service asks for.
            longest = min(
                self._options.backoff * 2.0 ** min(number - 1, 60), self._options.patience
            )
            wait = max(random.uniform(0, longest), min(fault.retry_after, self._options.patience))
            if number >= attempts or wait >= left:
                raise fault
            warn(fault, number + 1, wait)
            self.pause(wait)
            left -= wait

    @property
    def chat(self) -> Callable[..., Any]:
        """What asks for a completion, for :meth:`attempt`; the first use imports modules."""
        return self.openai.chat.completions.with_raw_response.create

    def list_models(self, service: Service, deadline: float) -> list[str]:
        """Return the models that the service lists, none if it has no list."""
        try:
            list_models = self.openai.models.with_raw_response.list
            return self.attempt(service, list_models, deadline, read_models)
        except Refusal as refusal:
            # A service need not list its models, nor to every key.
            if refusal.status == 401:
                raise
            return []

    def attempt(
        self,
        service: Service,
        method: Callable[..., Any],
        deadline: float,
        read: Callable[[bytes], T],
        **arguments: Any,
    ) -> T:
        """Make a request once and return the value read from its body.

        Parameters
        ----------
        method, arguments
            A method of ``openai`` that returns raw responses, and its arguments.
        read
            Reads a body, and raises NoReply if it is not an answer.

        Raises
        ------
        RetryableError, Blocked, ServiceError
            As :mod:`specahd.llm.faults` decides.
        """
        seconds = max(deadline - time.monotonic(), 0.001)
        timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT))
        try:
            return read(method(**arguments, timeout=timeout).content)
        except NoReply as error:
            problem: Exception = RetryableError(str(error))
            if error.error is not None:
                problem = service.classify(200, Complaint.from_field(error.error))
        except openai.APIStatusError as error:
            complaint = Complaint.from_body(error.response.content)
            problem = service.classify(
                error.status_code, complaint, retry_after(error.response.headers)
            )
        except openai.APITimeoutError:
            problem = RetryableError(f"no answer within {max(round(seconds, 1), 0.1):g} seconds")
        except openai.APIConnectionError as error:
            problem = RetryableError(f"no connection ({service.quote(str(error.__cause__))})")
        self.pause(0)
        # Raised outside the handler, so that the error with the key is not its context.
        raise problem


class Exchange:
    """One exchange with a service, in a thread of its own: it can be left at any moment."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._lock = threading.Lock()
        # A TLS socket takes the descriptor of the plain one; a copy remains valid.
        self._sockets: list[socket.socket] = []
        self._result: httpx2.Response | Exception = httpx2.ReadTimeout("too slow")

    def run(self, read: Callable[[], httpx2.Response]) -> None:
        """Read the answer, or keep the error for the thread that waits."""
        try:
            self._result = read()
        except Exception as error:  # noqa: BLE001  # raised by `wait`
            self._result = error
        self._over.set()

    def wait(self, seconds: float) -> httpx2.Response:
        """Return the answer, or leave the exchange after so many seconds."""
        self._over.wait(seconds)
        result = self._result
        if isinstance(result, Exception):
            raise result
        return result

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note each connection, as the extension ``trace`` of httpx calls it."""
        if event.endswith("connect_tcp.complete"):
            with self._lock:
                self._sockets.append(info["return_value"].get_extra_info("socket").dup())
            if self._over.is_set():
                self.leave()

    def leave(self) -> None:
        """End the wait, and shut down the connections, which ends the thread."""
        self._over.set()
        with self._lock:
            while self._sockets:
                with self._sockets.pop() as connection, suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _PunctualClient(openai.DefaultHttpxClient):
    """Reads bodies, those of refusals too, unless they take too long or are too long.

    A timeout of httpx bounds each silence; here it bounds an exchange with all that belongs to it:
    connecting, TLS, headers, interim responses, redirects, the body.
    """

    def __init__(self, **options: Any) -> None:
        # No connection outlives its exchange, so an exchange knows all of its connections.
        super().__init__(limits=httpx2.Limits(max_keepalive_connections=0), **options)
        self._exchanges: set[Exchange] = set()

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        exchange = Exchange()
        request.extensions = {**request.extensions, "trace": exchange.trace}
        self._exchanges.add(exchange)
        try:
            read = partial(self._read, request, options)
            threading.Thread(
                target=exchange.run, args=(read,), daemon=True, name="exchange"
            ).start()
            return exchange.wait(request.extensions["timeout"]["read"])
        finally:
            exchange.leave()
            self._exchanges.discard(exchange)

    def leave(self) -> None:
        """Leave the exchanges that are under way."""
        for exchange in tuple(self._exchanges):
            exchange.leave()

    def _read(self, request: httpx2.Request, options: Mapping[str, Any]) -> httpx2.Response:
        # httpx would read the bodies of redirects without a bound.
        options = {**options, "stream": True, "follow_redirects": False}
        for _ in range(self.max_redirects + 1):
            with closing(super().send(request, **options)) as response:
                if response.next_request is None:
                    return _bounded(response)
                request = response.next_request
        raise httpx2.TooManyRedirects("too many redirects", request=request)


def _bounded(response: httpx2.Response) -> httpx2.Response:
    """Return a response with its body, decompressed."""
    # The outer of two layers can unpack without end to an inner one that unpacks to nothing.
    if "," in response.headers.get("content-encoding", ""):
        raise RetryableError("a body that is compressed more than once")
    # First without decompressing: what follows a compressed body gives no piece to count.
    raw = httpx2.ByteStream(_joined(response.iter_raw()))
    body = _joined(httpx2.Response(200, headers=response.headers, stream=raw).iter_bytes())
    headers = {k: v for k, v in response.headers.items() if k != "content-encoding"}
    return httpx2.Response(
        response.status_code, headers=headers, content=body, request=response.request
    )


def _joined(pieces: Iterable[bytes]) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_BODY:
            raise RetryableError(f"a body of more than {MAX_BODY} bytes")
    return bytes(body)


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Read the trusted certificates once for all clients: it takes 50 ms."""
    return httpx2.create_ssl_context(trust_env=trust_env)
