"""The neural memory: programs are compared by embeddings of their text.

A server computes the vectors (docs/reference/memory.md). They
may differ in the last digits from day to day. A resumed run therefore reads its earlier
decisions from the journal, and requests vectors only for new decisions.
"""

import json
import logging
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, FileError, ServiceError
from specahd.core.options import Option, stated_options
from specahd.core.program import Program
from specahd.core.services import EncoderOptions
from specahd.llm.completion import NoReply, read_object
from specahd.llm.faults import Blocked, RetryableError
from specahd.llm.service import Refusal, Service
from specahd.llm.service_client import MAX_BODY, ServiceClient
from specahd.memory.memory import Memory

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


Vector = NDArray[np.float32]

_DIGEST = 16
_NUMBERS = np.dtype("<f4")
_LOG = logging.getLogger(__name__)


class VectorCache:
    """A folder with one file for each text and model: a digest, then the vector's bytes.

    Writes are atomic, so several runs may share a folder and be killed at
    any time. A file whose digest does not match counts as missing.

    Parameters
    ----------
    folder
        The folder, created with the first vector; None: no vector is stored.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._warned = False

    def require(self) -> None:
        """Create the folder, and check that files can be written to it.

        Raises
        ------
        FileError
            The folder cannot be created or written.
        """
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._folder):
                pass
        except OSError as error:
            raise FileError(
                f"Cannot write vectors to {self._folder}: {error.strerror}; "
                "set memory.cache to a folder of yours, or to null."
            ) from None

    def get(self, model: str, options: Mapping[str, Any], text: str) -> Vector | None:
        """Return the vector of a text, None if it is not stored."""
        if self._folder is None:
            return None
        path, key = _place(self._folder, model, options, text)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, stored = content[:_DIGEST], content[_DIGEST:]
        if not stored or digest != _digest(key, stored):
            return None
        return np.frombuffer(stored, _NUMBERS).astype(np.float32)

    def put(self, model: str, options: Mapping[str, Any], text: str, vector: Vector) -> None:
        """Store a vector. If the disk fails, only warn: a run does not need the cache."""
        if self._folder is None:
            return
        path, key = _place(self._folder, model, options, text)
        stored = vector.astype(_NUMBERS).tobytes()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
                file.write(_digest(key, stored) + stored)
            Path(file.name).replace(path)
        except OSError as error:
            if not self._warned:
                self._warned = True
                _LOG.warning("Vectors are not kept in %s: %s.", self._folder, error.strerror)


def _place(folder: Path, model: str, options: Mapping[str, Any], text: str) -> tuple[Path, bytes]:
    """Return the file of a text's vector, and the key, which its digest covers as well."""
    key = json.dumps([model, dict(options), text], sort_keys=True).encode()
    name = blake2b(key, digest_size=_DIGEST).hexdigest()
    # For users who delete one model's vectors; the file's name distinguishes models anyway.
    readable = re.sub(r"[^\w.-]+", "-", model).strip(".")[:80] or "model"
    return folder / readable / name[:2] / name[2:], key


def _digest(key: bytes, numbers: bytes) -> bytes:
    return blake2b(key + numbers, digest_size=_DIGEST).digest()


LENGTH = 20_000
"""Number of characters of a program that are sent; the encoders read fewer."""


def embedded(
    models: Annotated[Mapping[str, str], Option("an encoder of the embedding server", part=True)],
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
