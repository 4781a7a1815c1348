"""The options of ``python -m specahd.embed``, each with its accepted range.

The options of the command are the fields of :class:`ServerSettings`. The parts of the server take
its base classes or single fields.
"""

from dataclasses import dataclass

from specahd.core.errors import ConfigError
from specahd.core.options import check_options, option
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

    max_texts: int = option(256, "most texts of a request, 1 to 4096", 1, 4096)
    max_characters: int = option(32768, "most characters of a text", 1, 1_000_000)

    def __post_init__(self) -> None:
        check_options(self)

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

    batch_size: int = option(32, "texts encoded at once, 1 to 4096", 1, 4096)
    wait_ms: float = option(5, "milliseconds to wait for more texts, 0 to 1000", 0, 1000)
    queue: int = option(1024, "texts that may wait", 1)

    def __post_init__(self) -> None:
        check_options(self)


# Not frozen: OmegaConf would make the objects in a dictionary read-only.
@dataclass(kw_only=True)
class TextOptions:
    """Options for the texts that a model reads; ``max_tokens`` include the prefix."""

    prefix: str = option("", "what stands before each of its texts")
    max_tokens: int | None = option(None, "tokens that it reads of a text; null: all", 1)


@dataclass
class ServedModel(TextOptions):
    """A model of the server."""

    path: str | None = option(None, "the folder of this encoder; null: its name")


@dataclass(frozen=True)
class ServerSettings(Batching, RequestLimits):
    """Options of the server; ``models`` are found by the name that clients request.

    Raises
    ------
    ConfigError
        A value is out of its range, or a model is not described.
    """

    host: str = option("127.0.0.1", "the address to listen at")
    port: int = option(8765, "the port to listen at; 0: any that is free", 0, 65535)
    device: str = option("auto", "where encoders run: auto, cpu, cuda", choices=DEVICES)
    models_dir: str = option("embedding_model", "the folder of the encoders' folders")
    models: dict[str, ServedModel] = option(default_factory=dict)
    serve: list[str] | None = option(None, "which of the models; null: all")
    trust_remote_code: bool = option(False, "whether code that comes with a model may run")
    timeout: float = option(30, "seconds for a request", 0.1, 3600)
    connections: int = option(512, "connections at once", 1, 65536)

    def __post_init__(self) -> None:
        check_options(self)
        if self.serve == [] or not self.models:
            raise ConfigError("Expected serve to name at least one model, got none.")
        for name in self.serve or ():
            check_choice("serve", name, tuple(self.models))
        for name, model in self.models.items():
            check_options(model, f"models.{name}.")
        # Otherwise an allowed request could be too long for the queue and never be answered.
        check_range("queue", self.queue, self.max_texts)
