"""The neural memory: programs are compared by embeddings of their text.

A server computes the vectors (:mod:`specahd.memory.endpoint`, docs/reference/memory.md). They
may differ in the last digits from day to day. A resumed run therefore reads its earlier
decisions from the journal, and requests vectors only for new decisions.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError
from specahd.core.options import Option, stated_options
from specahd.core.program import Program
from specahd.core.services import EncoderOptions
from specahd.llm.service import Service
from specahd.memory.endpoint import Endpoint, Vectors
from specahd.memory.memory import Memory
from specahd.memory.vectors import VectorCache

LENGTH = 20_000
"""Number of characters of a program that are sent; the encoders read fewer."""


def embedded(
    models: Annotated[Mapping[str, str], Option("an encoder of the embedding server")],
    **options: Annotated[Any, EncoderOptions, Memory],
) -> Memory:
    """Return a memory that compares programs by a server's vectors.

    Parameters
    ----------
    models
        The server's name of each encoder, by its name in records.
    options
        Those of :class:`~specahd.core.services.EncoderOptions` and
        :class:`~specahd.memory.memory.Memory`.

    Raises
    ------
    ConfigError
        An option is out of range, or there is no key.
    FileError
        The key's file cannot be read.
    """
    if not isinstance(models, Mapping) or not models or not all(map(_is_name, models.values())):
        raise ConfigError("Expected memory.models to name one model or more, each by a label.")
    of_server = options.keys() & stated_options(EncoderOptions).keys()
    server = EncoderOptions(**{name: options.pop(name) for name in of_server})
    if server.cache is not None and not _is_name(server.cache):
        raise ConfigError(f"Expected memory.cache to be a folder or null, got {server.cache!r}.")
    endpoint = Endpoint(server)
    vectors = VectorCache(None if server.cache is None else Path(server.cache))
    threads = ThreadPoolExecutor(len(models), thread_name_prefix="encoder")
    encoders = {
        str(label): NeuralEncoder(
            endpoint.service(model, f"memory.models.{label}"), endpoint, vectors, threads
        )
        for label, model in models.items()
    }
    return Memory(encoders, **options)


def text_of(program: Program) -> str:
    """Return the text for an encoder: the design sentence, then the canonical source.

    No instruction precedes it; a server adds one for models that need it.
    """
    text = f"{program.idea}\n\n{program.source}"[:LENGTH]
    # A reply may hold half of a surrogate pair, which a request cannot contain.
    return text.encode(errors="replace").decode()


class NeuralEncoder:
    """An encoder that requests the vector of a program's text from a server's embedding model.

    Vectors are requested as soon as programs are added, so that several encoders
    wait at the same time, and the vectors are ready for the comparison.

    Parameters
    ----------
    service
        The model.
    endpoint, cache
        The server, and the cache that is read first.
    threads
        Pool of threads that wait for the server.
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
        """Check that the server answers and that vectors can be stored."""
        self._endpoint.preflight(self._service)
        self._cache.require()

    def add(self, programs: Sequence[Program]) -> None:
        """Add programs, and request the vectors of new texts."""
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
        # einsum uses one thread: several take longer, and sum in a varying order.
        cosines = np.einsum("ij,j->i", self._vectors, self._vectors[row]).clip(-1, 1)
        # The cosine of equal texts is exactly 1, without a rounding error.
        cosines[row] = 1.0
        found: NDArray[np.float64] = cosines[self._places]
        return found

    def _receive(self) -> None:
        if self._asked is None:
            return
        try:
            vectors = self._asked.result().astype(np.float64)
        except BaseException:
            # The run ends; an open endpoint would delay its process until the threads time out.
            self._endpoint.close()
            raise
        self._asked = None
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = np.vstack([self._vectors, vectors]) if self._vectors.size else vectors

    def _encode(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        """Return the vectors of texts, all of one length; called in a thread."""
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
                # Stored at once, so that a run that ends here does not request them again.
                self._cache.put(model, options, text, vector)
                known[text] = vector
        return np.stack([known[text] for text in texts])


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
