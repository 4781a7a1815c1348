"""The one HTTP path to services that speak OpenAI's API, for texts as for vectors.

Where the key comes from, how long a request may take in all, when it is made again and
what a failure means: :class:`ServiceClient` knows, and its users only say what they ask and
how they read an answer.

Errors of the transport's library hold the request with its key: none of them leaves this
module, neither as a cause nor as a context.
"""

import json
import ssl
import time
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import httpx2

from specahd.core.errors import ConfigError, TransportError
from specahd.core.services import host_of
from specahd.llm.completion import NoReply, read_models
from specahd.llm.faults import Complaint, RetryableError, retry_after
from specahd.llm.keys import find_key
from specahd.llm.retries import RetryPolicy, number, read_body, seconds_until
from specahd.llm.service import Refusal, Service

PREFLIGHT = 15.0
"""Seconds within which a service must answer before a run starts."""

_CONNECT = 10.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
T = TypeVar("T")


class ServiceClient:
    """Makes requests of one service; called from several threads.

    Parameters
    ----------
    base_url
        The address before ``/models``.
    api_key_env
        The environment variable that holds the key (:mod:`specahd.llm.keys`);
        None if the service wants none.
    timeout
        Seconds of silence, and seconds in all, after which a request counts as
        unanswered; so it ends in less than twice as many.
    attempts, backoff, patience
        As of :class:`~specahd.llm.retries.RetryPolicy`.
    group
        The conf group whose options these are, for messages.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """

    def __init__(
        self,
        base_url: str,
        api_key_env: str | None,
        *,
        timeout: float,
        attempts: int,
        backoff: float,
        patience: float,
        group: str,
    ) -> None:
        self.host = host_of(base_url, group)
        self.base_url = base_url.rstrip("/")
        self.retries = RetryPolicy(attempts, backoff, patience, group)
        self._timeout = number(f"{group}.timeout", timeout, 0.001)
        self._key = find_key(api_key_env, self.host, group) if api_key_env is not None else None
        try:
            # A server on this machine is not behind the proxy that the environment may name.
            local = httpx2.URL(base_url).host in _LOOPBACK
            self._http = httpx2.Client(
                headers={"Authorization": f"Bearer {self._key.value}"} if self._key else {},
                # More at once than any run has requests under way.
                limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
                trust_env=not local,
                verify=_certificates(not local),
                follow_redirects=True,
            )
        except (httpx2.InvalidURL, ImportError, ValueError):
            pass
        else:
            # Not by `close`, since others may still be at an attempt.
            weakref.finalize(self, self._http.close)
            return
        # Raised out here, for a proxy's address may hold a password.
        raise ConfigError(
            f"Expected {group}.base_url, and the proxy of the environment, to be http(s)://…, "
            f"got {self.host}."
        )

    def service(self, model: str, option: str) -> Service:
        """Return a model of the service, which ``option`` names."""
        return Service(model, self.host, self._key, option)

    def close(self) -> None:
        """Give up: whoever waits for the next attempt fails at once, others with their attempt."""
        self.retries.close()

    def deadline(self) -> float:
        """Return when a request that is made now must have been answered."""
        return time.monotonic() + self._timeout

    def ask(self, service: Service, attempt: Callable[[], T], failed: str) -> T:
        """Make a request as often as it takes.

        Parameters
        ----------
        failed
            What is said of a service that answered no attempt.

        Raises
        ------
        TransportError
            No attempt was answered.
        ServiceError
            The service refuses every request.
        """

        def once() -> T:
            if self.retries.ended:
                raise TransportError(f"{service} was not asked: the run ends.")
            return attempt()

        try:
            return self.retries.ask(service, once)
        except RetryableError as fault:
            raise TransportError(f"{service} {failed}: {fault}.") from None

    def ask_briefly(self, question: Callable[[float], T]) -> T:
        """Ask before a run starts; the question is told the deadline.

        Raises
        ------
        RetryableError
            No attempt was answered within :data:`PREFLIGHT` seconds.
        """
        deadline = time.monotonic() + PREFLIGHT
        return self.retries.ask_briefly(lambda: question(deadline), PREFLIGHT)

    def listed(self, service: Service, deadline: float) -> list[str]:
        """Return the models that the service lists, none if it lists none."""
        try:
            return self.exchange(service, "models", None, deadline, read_models)
        except Refusal as refusal:
            # A service need not list its models, nor to every key.
            if refusal.status == 401:
                raise
            return []

    def exchange(
        self,
        service: Service,
        path: str,
        request: Mapping[str, Any] | None,
        deadline: float,
        read: Callable[[bytes], T],
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """Make a request once and return what is read in its answer.

        Parameters
        ----------
        path
            What follows the address.
        request
            What is posted; None gets the path instead.
        read
            Reads a body, and raises NoReply for one that is no answer.

        Raises
        ------
        RetryableError, Blocked, ServiceError
            As :mod:`specahd.llm.faults` decides.
        """
        seconds, late = seconds_until(deadline)
        try:
            with self._http.stream(
                "GET" if request is None else "POST",
                f"{self.base_url}/{path}",
                json=request,
                headers=headers,
                timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT)),
            ) as response:
                body = read_body(response, deadline, late)
            if response.is_success:
                return read(body)
            wait = retry_after(response.headers)
            problem = service.judge(response.status_code, _complaint(body), wait)
        except NoReply as error:
            problem = RetryableError(str(error))
            if error.error is not None:
                problem = service.judge(200, Complaint.of(error.error))
        except httpx2.TimeoutException:
            problem = RetryableError(late)
        except httpx2.HTTPError as error:
            problem = RetryableError(f"no connection ({service.quoted(str(error))})")
        # Raised out here, so that the error that holds the key is not its context.
        raise problem


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Read the trusted certificates once for all clients: it takes 50 ms."""
    return httpx2.create_ssl_context(trust_env=trust_env)


def _complaint(body: bytes) -> Complaint:
    try:
        return Complaint.of(json.loads(body))
    except (RecursionError, ValueError):
        return Complaint()
