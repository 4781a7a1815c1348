"""Cache of vectors on disk, so that no text is embedded twice."""

import json
import logging
import re
import tempfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import FileError

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
