"""Vectors kept on disk, so that no text is embedded twice."""

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
    """A folder with a file for each text and model: the vector's bytes, and a digest of them.

    Files appear whole under their name, so several runs may share a folder and be
    killed at any time. A file that is not what was written counts as missing.

    Parameters
    ----------
    folder
        Made when the first vector comes; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._warned = False

    def require(self) -> None:
        """Make the folder.

        Raises
        ------
        FileError
            It cannot be made or written.
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
        """Return the vector of a text, None if it is not there."""
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
        """Keep a vector. A disk that fails costs a warning: a run can do without."""
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
    """Return the file of a text's vector, and the key that its digest covers too."""
    key = json.dumps([model, dict(options), text], sort_keys=True).encode()
    name = blake2b(key, digest_size=_DIGEST).hexdigest()
    # For those who want to delete one model's vectors; the name tells models apart anyway.
    readable = re.sub(r"[^\w.-]+", "-", model).strip(".")[:80] or "model"
    return folder / readable / name[:2] / name[2:], key


def _digest(key: bytes, numbers: bytes) -> bytes:
    return blake2b(key + numbers, digest_size=_DIGEST).digest()
