"""Embedding of texts by any endpoint with OpenAI's embeddings API."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ServiceError
from specahd.core.services import EncoderOptions
from specahd.llm.completion import NoReply, read_object
from specahd.llm.faults import Blocked, RetryableError
from specahd.llm.service import Refusal, Service
from specahd.llm.service_client import MAX_BODY, ServiceClient

_OURS = {"encoding_format", "input", "model"}

Vectors = NDArray[np.float32]
"""Array of vectors, one row for each text."""


class Endpoint:
    """Requests vectors of texts from a server; thread-safe.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """

    def __init__(self, options: EncoderOptions) -> None:
        self._client = ServiceClient(options, "memory", _OURS)
        self._batch = options.batch
        self.options = dict(options.options or {})

    def __repr__(self) -> str:
        return f"Endpoint({self._client.host})"

    def service(self, model: str, option: str) -> Service:
        """Return a model of the server; ``option`` is the setting that names it."""
        return self._client.service(model, option)

    def close(self) -> None:
        """Close the client; waiting requests fail at once, running ones after their attempt."""
        self._client.close()

    def preflight(self, service: Service) -> None:
        """Check that the server's model returns vectors, by requesting one.

        The server's list of models is used only for the message of an error.

        Raises
        ------
        ServiceError
            The server does not answer, or the key or the model is wrong.
        """
        try:
            self._client.probe(lambda deadline: self._examine(service, deadline))
        except RetryableError as fault:
            raise ServiceError(
                f"No embedding server answers at {self._client.base_url} ({fault}); start one with "
                "python -m specahd.embed, wait until it has loaded its models, or choose "
                "memory=structural."
            ) from None

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Return the texts in parts, one for each request."""
        return [texts[i : i + self._batch] for i in range(0, len(texts), self._batch)]

    def embed(self, service: Service, texts: Sequence[str], dimension: int | None) -> Vectors:
        """Return the vectors of one request's texts.

        Parameters
        ----------
        dimension
            Required length of the vectors; None for any length.

        Raises
        ------
        ServiceUnavailable
            Every attempt failed.
        ServiceError
            The server refuses every request.
        """
        return self._client.request(
            service,
            lambda begin: self._vectors(service, texts, dimension, begin()),
            "gave no vectors",
        )

    def _examine(self, service: Service, deadline: float) -> None:
        listed = self._client.list_models(service, deadline)
        try:
            self._vectors(service, ["ready"], None, deadline)
        except Refusal as refusal:
            if refusal.status != 404 or not listed:
                raise
            raise service.unlisted_model(listed) from None

    def _vectors(
        self, service: Service, texts: Sequence[str], dimension: int | None, deadline: float
    ) -> Vectors:
        try:
            return self._client.attempt(
                service,
                self._client.openai.embeddings.with_raw_response.create,
                deadline,
                lambda body: read_vectors(body, len(texts), dimension),
                model=service.model,
                input=list(texts),
                encoding_format="float",
                extra_body=self.options,
            )
        except Blocked as refusal:
            # A blocked text has no vector, so the run cannot continue without it.
            raise ServiceError(f"{service.host} refuses a text: {refusal}") from None


def read_vectors(body: bytes, count: int, dimension: int | None = None) -> Vectors:
    """Return the vectors that a body holds, in the order of their texts.

    Parameters
    ----------
    count
        Required number of vectors.
    dimension
        Required length of the vectors; None for any length.

    Raises
    ------
    NoReply
        The vectors are missing or invalid.
    """
    entries = read_object(body.decode(errors="replace"), MAX_BODY).get("data")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NoReply("the answer has no list of vectors")
    places = [entry.get("index") for entry in entries]
    # True and 1.0 are equal to 1, but are not valid indices.
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise NoReply(f"the answer has not one vector for each of {count} texts")
    rows = [entries[places.index(place)].get("embedding") for place in range(count)]
    try:
        # Numbers that are too large become infinite, and are refused below.
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
