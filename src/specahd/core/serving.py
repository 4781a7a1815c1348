"""The options of ``python -m specahd.embed``, each with its accepted range.

The options of the command are the fields of :class:`ServerSettings`. The parts of the server take
its base classes or single fields.
"""

from dataclasses import dataclass, field

from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice, check_range

DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class RequestLimits:
    """Limits of one request: the number of texts, and the characters of each text.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    max_texts: int = 256
    max_characters: int = 32768

    def __post_init__(self) -> None:
        check_range("max_texts", self.max_texts, 1, 4096)
        check_range("max_characters", self.max_characters, 1, 1_000_000)

    @property
    def body(self) -> int:
        """The bytes of the longest allowed request; JSON needs up to six bytes per character."""
        return 6 * self.max_texts * self.max_characters + 4096


@dataclass(frozen=True)
class Batching:
    """Batching options: texts in a batch, milliseconds a text waits for others, texts that wait.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    batch_size: int = 32
    wait_ms: float = 5
    queue: int = 1024

    def __post_init__(self) -> None:
        check_range("batch_size", self.batch_size, 1, 4096)
        check_range("wait_ms", self.wait_ms, 0, 1000)
        check_range("queue", self.queue, 1)


# Not frozen: OmegaConf would make the objects in a dictionary read-only.
@dataclass
class TextOptions:
    """Options for the texts that a model reads.

    Parameters
    ----------
    prefix
        Text that is put before every text.
    max_tokens
        Most tokens that are read of a text, prefix included; None for the model's own limit.
    """

    prefix: str = field(default="", kw_only=True)
    max_tokens: int | None = field(default=None, kw_only=True)


@dataclass
class ServedModel(TextOptions):
    """A model of the server; ``path`` is its folder, None for a folder with the model's name."""

    path: str | None = None


@dataclass(frozen=True)
class ServerSettings(Batching, RequestLimits):
    """Options of the server.

    Parameters
    ----------
    models
        The models by the name that clients request.
    serve
        Names of the models to serve; None for all.
    timeout
        Seconds within which a request must arrive.

    Raises
    ------
    ConfigError
        A value is out of its range, or a model is not described.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    device: str = "auto"
    models_dir: str = "embedding_model"
    models: dict[str, ServedModel] = field(default_factory=dict)
    serve: list[str] | None = None
    trust_remote_code: bool = False
    timeout: float = 30
    connections: int = 512

    def __post_init__(self) -> None:
        check_range("port", self.port, 0, 65535)
        check_choice("device", self.device, DEVICES)
        if self.serve == [] or not self.models:
            raise ConfigError("Expected serve to name at least one model, got none.")
        for name in self.serve or ():
            check_choice("serve", name, tuple(self.models))
        for name, model in self.models.items():
            if model.max_tokens is not None:
                check_range(f"models.{name}.max_tokens", model.max_tokens, 1)
        Batching.__post_init__(self)
        RequestLimits.__post_init__(self)
        check_range("timeout", self.timeout, 0.1, 3600)
        check_range("connections", self.connections, 1, 65536)
        # Otherwise an allowed request could be too long for the queue and never be answered.
        check_range("queue", self.queue, self.max_texts)
