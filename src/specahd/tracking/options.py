"""What ``conf/tracking/mlflow.yaml`` says."""

from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import ConfigError
from specahd.tracking.store import Store

WAYS = ("nested", "table", "none")


@dataclass(frozen=True, slots=True)
class Options:
    """Where MLflow keeps a run, and how much of it.

    Parameters
    ----------
    uri
        Tracking store. A ``sqlite:///`` file is made, once, under a file lock.
    artifacts
        Directory of the artifacts of a sqlite store.
    experiment
        Name of the experiment that holds the run.
    candidates
        What is kept of each candidate: a ``nested`` run, a row of a ``table``, or ``none``.
    traces
        Whether requests to the language model are kept as traces.
    patience
        Seconds without any progress after which the end of a run no longer waits for MLflow.

    Raises
    ------
    ConfigError
        A value is none of these.
    """

    uri: str
    artifacts: str
    experiment: str
    candidates: str = "nested"
    traces: bool = False
    patience: float = 60.0

    def __post_init__(self) -> None:
        if self.candidates not in WAYS:
            raise ConfigError(
                f"Expected tracking.candidates to be one of {', '.join(WAYS)}, "
                f"got {self.candidates!r}."
            )
        if not isinstance(self.traces, bool):
            raise ConfigError(f"Expected tracking.traces to be true or false, got {self.traces!r}.")
        if not isinstance(self.patience, int | float) or not self.patience > 0:
            raise ConfigError(f"Expected tracking.patience above 0, got {self.patience!r}.")

    @property
    def store(self) -> Store:
        return Store(self.uri, Path(self.artifacts), self.experiment)
