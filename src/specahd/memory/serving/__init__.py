"""The embedding server: OpenAI's embeddings API over sentence encoders of a local folder.

Only here are torch, sentence-transformers, FastAPI and uvicorn imported (extra ``embed``).
"""

from importlib.util import find_spec

from specahd.core.errors import ConfigError

_LIBRARIES = ("fastapi", "sentence_transformers", "torch", "uvicorn")


def require() -> None:
    """Need the extra ``embed``.

    Raises
    ------
    ConfigError
        With the command that installs it.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"Expected {', '.join(missing)} for the embedding server; "
            "install what it needs with pip install 'specahd[embed]'."
        )
