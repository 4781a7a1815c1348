"""Sentence encoders: their folders, loading, and the vectors of texts."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, FileError
from specahd.core.serving import TextOptions

Vectors = NDArray[np.float32]

_LOG = logging.getLogger(__name__)
_SAID = 160
_DIFFERENT = ("angle", "demand")


@dataclass
class ModelFolder(TextOptions):
    """A model to be served: its name, its folder, and its options for texts."""

    name: str
    folder: Path


def find_model_folder(directory: Path, name: str, path: str | None = None) -> Path:
    """Return the folder of a model: ``path`` if given, else its name with or without the owner.

    Raises
    ------
    FileError
        There is no such folder, or it does not hold a model.
    """
    tried = [directory / path] if path else [directory / name, directory / name.split("/")[-1]]
    folder = next((folder for folder in tried if folder.is_dir()), None)
    if folder is None:
        places = " nor ".join(str(place) for place in dict.fromkeys(tried))
        raise FileError(
            f"{name} is not there: no folder {places}; put its weights there, or set models_dir."
        )
    if not any((folder / file).is_file() for file in ("modules.json", "config.json")):
        raise FileError(f"{folder} is no model: it has neither modules.json nor config.json.")
    return folder


def choose_device(wanted: str) -> str:
    """Return ``cuda`` or ``cpu``; ``auto`` returns ``cuda`` if it is available."""
    import torch

    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise ConfigError(
            "Expected device to be auto or cpu: torch sees no CUDA device here, got 'cuda'."
        )
    return "cuda" if available and wanted != "cpu" else "cpu"


@dataclass
class SentenceEncoder:
    """A loaded model; ``dimension`` is the length of its vectors."""

    name: str
    prefix: str
    device: str
    dtype: str
    max_tokens: int
    created: int
    _model: Any
    dimension: int = 0
    _warned: bool = False

    def embed(self, texts: Sequence[str], batch_size: int = 32) -> tuple[Vectors, list[int]]:
        """Return one vector of norm 1 for each text, and the number of tokens of each.

        Not thread-safe, because a tokenizer is not.

        Raises
        ------
        RuntimeError
            The device is out of memory, or the model returned a value that is not finite.
        """
        read = self._model.preprocess(list(texts), prompt=self.prefix)
        tokens = [int(count) for count in read["attention_mask"].sum(dim=1)]
        if max(tokens) >= self.max_tokens and not self._warned:
            # Warn once: programs that differ only after the limit have the same vector.
            self._warned = True
            _LOG.warning("%s reads %d tokens; a text is cut there.", self.name, self.max_tokens)
        raw = self._model.encode(
            list(texts), prompt=self.prefix, batch_size=batch_size, show_progress_bar=False
        )
        # Normalised in float32, even if the model computes in a lower precision.
        raw = raw.astype(np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            vectors: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
        if not np.isfinite(vectors).all():
            raise RuntimeError(f"{self.name} gave a vector that is not finite.")
        return vectors, tokens


def load(model: ModelFolder, device: str, trust_remote_code: bool = False) -> SentenceEncoder:
    """Load a model and embed one text with it; the network is not used.

    Raises
    ------
    FileError
        The folder does not hold a model that can be loaded and run.
    """
    # The libraries read these when they are imported.
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        os.environ[name] = "1"
    import torch
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer

    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    try:
        loaded: Any = SentenceTransformer(
            str(model.folder),
            device=device,
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            model_kwargs={"torch_dtype": dtype},
        )
        encoder = _encoder(model, loaded, device, str(dtype).removeprefix("torch."))
    except (
        AttributeError, ImportError, KeyError, OSError, RuntimeError, SafetensorError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        message = " ".join(str(error).split())[:_SAID] or type(error).__name__
        raise FileError(f"{model.folder} is no model that can be loaded: {message}") from error
    return encoder


def _encoder(model: ModelFolder, loaded: Any, device: str, dtype: str) -> SentenceEncoder:
    limit = min(loaded.max_seq_length, model.max_tokens or loaded.max_seq_length)
    loaded.max_seq_length = limit
    tokens = int(loaded.preprocess(["x"], prompt=model.prefix)["attention_mask"].sum())
    if tokens >= limit:
        raise ConfigError(
            f"Expected max_tokens of {model.name} above the {tokens} tokens of its prefix "
            f"and a letter, got {limit}."
        )
    created = int(model.folder.stat().st_mtime)
    encoder = SentenceEncoder(model.name, model.prefix, device, dtype, limit, created, loaded)
    # A model without its tokenizer's files loads, and maps every word to the unknown token. Tokens
    # are compared, because vectors of equal tokens may differ in the last bit.
    first, second = loaded.preprocess(list(_DIFFERENT), prompt=model.prefix)["input_ids"].tolist()
    if first == second:
        raise ValueError("two texts are the same tokens; are its tokenizer's files there?")
    encoder.dimension = encoder.embed(_DIFFERENT)[0].shape[1]
    return encoder
