"""Texts to vectors, by any endpoint that speaks OpenAI's embeddings.

Errors of the transport's library hold the request with its key: none of them
leaves this module, neither as a cause nor as a context.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, ServiceError, TransportError
from specahd.core.services import host_of
from specahd.llm.completion import NoReply, read_models, read_object
from specahd.llm.faults import Blocked, Complaint, RetryableError, retry_after
from specahd.llm.keys import find_key
from specahd.llm.retries import RetryPolicy, number, plain_options, read_body, seconds_until
from specahd.llm.service import Refusal, Service

PREFLIGHT = 15.0
"""Seconds within which a server must answer before a run starts."""

_CONNECT = 10.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OURS = {"encoding_format", "input", "model"}

Vectors = NDArray[np.float32]
"""One text a row."""


class Endpoint:
    """Asks a server for the vectors of texts; called from several threads.

    Parameters
    ----------
    base_url
        The address before ``/embeddings``.
    api_key_env
        The environment variable that holds the key (:mod:`specahd.llm.keys`);
        None if the server wants none.
    batch
        How many texts one request has at most.
    timeout
        Seconds of silence, and seconds in all, after which a request counts as
        unanswered.
    attempts
        How often one request is made before it fails.
    backoff, patience
        Seconds of the longest wait after the first attempt, which doubles with
        each further one, and of the longest wait of all, Retry-After included.
    options
        What else each request says.

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
        api_key_env: str | None = None,
        *,
        batch: int = 16,
        timeout: float = 120.0,
        attempts: int = 24,
        backoff: float = 1.0,
        patience: float = 20.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        host = host_of(base_url, "memory")
        self._timeout = number("memory.timeout", timeout, 0.001)
        self._retries = RetryPolicy(attempts, backoff, patience, "memory")
        if not isinstance(batch, int) or batch is True or batch < 1:
            raise ConfigError(f"Expected memory.batch of at least 1, got {batch!r}.")
        self._batch = batch
        self.options = plain_options(options, _OURS, "memory")
        self._base_url = base_url.rstrip("/")
        self._host = host
        self._key = find_key(api_key_env, host, "memory") if api_key_env is not None else None
        try:
            # A server on this machine is not behind the proxy that the environment may name.
            local = httpx2.URL(base_url).host in _LOOPBACK
            self._http = httpx2.Client(
                headers={"Authorization": f"Bearer {self._key.value}"} if self._key else {},
                trust_env=not local,
            )
        except (httpx2.InvalidURL, ImportError, ValueError):
            problem = (
                "Expected memory.base_url, and the proxy of the environment, to be http(s)://…"
            )
        else:
            problem = ""
        if problem:
            raise ConfigError(f"{problem}, got {host}.")

    def __repr__(self) -> str:
        return f"Endpoint({self._host})"

    def service(self, model: str, option: str) -> Service:
        """Return a model of the server, which ``option`` names."""
        return Service(model, self._host, self._key, option)

    def close(self) -> None:
        """Give up: whoever waits for the next attempt fails at once, others with their attempt."""
        self._retries.close()

    def preflight(self, service: Service) -> None:
        """Make sure that the server has a model that gives vectors, by asking for one.

        Which models it lists, if it does, only tells what to name instead.

        Raises
        ------
        ServiceError
            The server is not there, or the key or the model is wrong.
        """
        deadline = time.monotonic() + PREFLIGHT
        try:
            self._retries.ask_briefly(lambda: self._examine(service, deadline), PREFLIGHT)
        except RetryableError as fault:
            raise ServiceError(
                f"No embedding server answers at {self._base_url} ({fault}); start one with "
                "python -m specahd.embed, wait until it has loaded its models, or choose "
                "memory=structural."
            ) from None

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Return the texts in as many parts as requests are needed."""
        return [texts[i : i + self._batch] for i in range(0, len(texts), self._batch)]

    def embed(self, service: Service, texts: Sequence[str], dimension: int | None) -> Vectors:
        """Return the vectors of one request's texts.

        Parameters
        ----------
        dimension
            How long the vectors have to be; None if that is open.

        Raises
        ------
        TransportError
            No attempt brought them.
        ServiceError
            The server refuses every request.
        """

        def attempt() -> Vectors:
            if self._retries.ended:
                raise TransportError(f"{service} was not asked: the run ends.")
            return self._vectors(service, texts, dimension, time.monotonic() + self._timeout)

        try:
            return self._retries.ask(service, attempt)
        except RetryableError as fault:
            raise TransportError(f"{service} gave no vectors: {fault}.") from None

    def _examine(self, service: Service, deadline: float) -> None:
        listed: list[str] = []
        try:
            listed = read_models(self._exchange(service, "models", None, deadline))
        except Refusal as refusal:
            # A server need not list its models, nor to every key.
            if refusal.status == 401:
                raise
        try:
            self._vectors(service, ["ready"], None, deadline)
        except Refusal as refusal:
            if refusal.status != 404 or not listed:
                raise
            raise service.without_model(listed) from None

    def _vectors(
        self, service: Service, texts: Sequence[str], dimension: int | None, deadline: float
    ) -> Vectors:
        request = {
            **self.options,
            "model": service.model,
            "input": list(texts),
            "encoding_format": "float",
        }
        body = self._exchange(service, "embeddings", request, deadline)
        try:
            return read_vectors(body, len(texts), dimension)
        except NoReply as error:
            if error.error is None:
                raise RetryableError(str(error)) from None
            problem = service.judge(200, Complaint.of(error.error))
        raise problem

    def _exchange(
        self, service: Service, path: str, request: Mapping[str, Any] | None, deadline: float
    ) -> bytes:
        """Make a request and return the body of its response.

        Raises
        ------
        RetryableError, ServiceError
            As :mod:`specahd.llm.faults` decides.
        """
        seconds, late = seconds_until(deadline)
        try:
            with self._http.stream(
                "GET" if request is None else "POST",
                f"{self._base_url}/{path}",
                json=request,
                timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT)),
            ) as response:
                body = read_body(response, deadline, late)
        except httpx2.TimeoutException:
            problem: Exception = RetryableError(late)
        except httpx2.HTTPError as error:
            problem = RetryableError(f"no connection ({service.quoted(str(error))})")
        else:
            if response.is_success:
                return body
            wait = retry_after(response.headers)
            problem = service.judge(response.status_code, _complaint(body), wait)
        if isinstance(problem, Blocked):
            # There is no reply to put in the place of a vector.
            problem = ServiceError(f"{service.host} refuses a text: {problem}")
        # Raised out here, so that the error that holds the key is not its context.
        raise problem


def read_vectors(body: bytes, count: int, dimension: int | None = None) -> Vectors:
    """Return the vectors that a body holds, in the order of their texts.

    Parameters
    ----------
    count
        How many there have to be.
    dimension
        How long they have to be; None if that is open.

    Raises
    ------
    NoReply
        They are not there, or are no vectors.
    """
    entries = read_object(body.decode(errors="replace")).get("data")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NoReply("the answer has no list of vectors")
    places = [entry.get("index") for entry in entries]
    # True and 1.0 would pass for 1.
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise NoReply(f"the answer has not one vector for each of {count} texts")
    rows = [entries[places.index(place)].get("embedding") for place in range(count)]
    try:
        # What is too large becomes infinite, and is refused below.
        with np.errstate(over="ignore"):
            vectors = np.asarray(rows, dtype=np.float32)
    except (OverflowError, TypeError, ValueError):
        raise NoReply("the vectors are not lists of numbers, all of one length") from None
    if vectors.ndim != 2:
        raise NoReply("the vectors are not lists of numbers")
    if dimension is not None and vectors.shape[1] != dimension:
        raise NoReply(
            f"vectors of {vectors.shape[1]} numbers after others of {dimension}; "
            "if the model has changed, set memory.cache to another folder"
        )
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise NoReply("a vector has no direction: it is 0 or not finite")
    return vectors


def _complaint(body: bytes) -> Complaint:
    try:
        return Complaint.of(json.loads(body))
    except (RecursionError, ValueError):
        return Complaint()
