"""The neural memory: programs are compared by embeddings of their text.

A server encodes (:mod:`specahd.memory.endpoint`, docs/reference/memory.md). Its vectors may
differ in the last digits from one day to the next; a run that is resumed takes
its earlier decisions from the journal, and asks only for what it still has to decide.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError
from specahd.core.program import Program
from specahd.llm.service import Service
from specahd.memory.endpoint import Endpoint, Vectors
from specahd.memory.memory import Memory
from specahd.memory.vectors import VectorCache

LENGTH = 20_000
"""Characters of a program that are sent: more than the encoders read of it."""


def embedded(
    models: Mapping[str, str],
    *,
    base_url: str,
    api_key_env: str | None = None,
    batch: int = 16,
    timeout: float = 120.0,
    attempts: int = 24,
    backoff: float = 1.0,
    patience: float = 20.0,
    options: Mapping[str, Any] | None = None,
    cache: str | None = None,
    **memory: Any,
) -> Memory:
    """Return a memory that compares programs by a server's vectors.

    Parameters
    ----------
    models
        What the server calls each encoder, by the name that stands in records.
    cache
        The folder in which vectors are kept; None for none.
    base_url, api_key_env, batch, timeout, attempts, backoff, patience, options
        Those of :class:`~specahd.memory.endpoint.Endpoint`.
    memory
        Options of :class:`~specahd.memory.memory.Memory`.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """
    if not isinstance(models, Mapping) or not models or not all(map(_is_name, models.values())):
        raise ConfigError("Expected memory.models to name one model or more, each by a label.")
    if cache is not None and not _is_name(cache):
        raise ConfigError(f"Expected memory.cache to be a folder or null, got {cache!r}.")
    endpoint = Endpoint(
        base_url,
        api_key_env,
        batch=batch,
        timeout=timeout,
        attempts=attempts,
        backoff=backoff,
        patience=patience,
        options=options,
    )
    vectors = VectorCache(None if cache is None else Path(cache))
    threads = ThreadPoolExecutor(len(models), thread_name_prefix="encoder")
    encoders = {
        str(label): NeuralEncoder(
            endpoint.service(model, f"memory.models.{label}"), endpoint, vectors, threads
        )
        for label, model in models.items()
    }
    return Memory(encoders, **memory)


def text_of(program: Program) -> str:
    """Return the text for an encoder: the design sentence, then the canonical source.

    No instruction stands before it; models that want one get it from their server.
    """
    text = f"{program.idea}\n\n{program.source}"[:LENGTH]
    # A reply may hold half of a surrogate pair, which no request can bear.
    return text.encode(errors="replace").decode()


class NeuralEncoder:
    """An encoder that asks an embedding model of a server for the vector of a program's text.

    Vectors are asked for as soon as programs are added, so that several encoders
    wait together, and are there when they are compared.

    Parameters
    ----------
    service
        The model.
    endpoint, cache
        The server, and the cache that is read first.
    threads
        In which the waiting is done.
    """

    def __init__(
        self, service: Service, endpoint: Endpoint, cache: VectorCache, threads: ThreadPoolExecutor
    ) -> None:
        self._service = service
        self._endpoint = endpoint
        self._cache = cache
        self._threads = threads
        self._rows: dict[str, int] = {}
        self._places: list[int] = []
        self._vectors: NDArray[np.float64] = np.empty((0, 0))
        self._asked: Future[Vectors] | None = None

    def preflight(self) -> None:
        """Make sure that the server answers and that vectors can be kept."""
        self._endpoint.preflight(self._service)
        self._cache.require()

    def add(self, programs: Sequence[Program]) -> None:
        """Take in programs, and ask for the vectors of texts that are new."""
        self._receive()
        texts = [text_of(program) for program in programs]
        fresh = [text for text in dict.fromkeys(texts) if text not in self._rows]
        for text in fresh:
            self._rows[text] = len(self._rows)
        self._places += [self._rows[text] for text in texts]
        if fresh:
            dimension = self._vectors.shape[1] or None
            self._asked = self._threads.submit(self._encode, fresh, dimension)

    def cosines(self, position: int) -> NDArray[np.float64]:
        """Return the cosines of one program with all that were added, in order.

        Raises
        ------
        ServiceError
            The server refuses.
        TransportError
            The server does not answer.
        """
        self._receive()
        row = self._places[position]
        # By one thread: several take longer, and add in an order of their own.
        cosines = np.einsum("ij,j->i", self._vectors, self._vectors[row]).clip(-1, 1)
        # Equal texts: exactly 1, not only within an ulp.
        cosines[row] = 1.0
        found: NDArray[np.float64] = cosines[self._places]
        return found

    def _receive(self) -> None:
        if self._asked is None:
            return
        try:
            vectors = self._asked.result().astype(np.float64)
        except BaseException:
            # The run ends; else its process waits for other threads, and they for the server.
            self._endpoint.close()
            raise
        self._asked = None
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = np.vstack([self._vectors, vectors]) if self._vectors.size else vectors

    def _encode(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        """Return the vectors of texts (in a thread), all of the length of the first one known."""
        model, options = self._service.model, self._endpoint.options
        known: dict[str, NDArray[np.float32]] = {}
        for text in texts:
            vector = self._cache.get(model, options, text)
            if vector is not None and len(vector) == (dimension or len(vector)):
                dimension = len(vector)
                known[text] = vector
        missing = [text for text in texts if text not in known]
        for batch in self._endpoint.batches(missing):
            vectors = self._endpoint.embed(self._service, batch, dimension)
            dimension = vectors.shape[1]
            for text, vector in zip(batch, vectors, strict=True):
                # Kept at once, so that a run that ends here does not ask again.
                self._cache.put(model, options, text, vector)
                known[text] = vector
        return np.stack([known[text] for text in texts])


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
