"""A small MLflow store, with training runs that were made by hand."""

from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag

from specahd.tracking.store import Store


class SmallStore:
    """A sqlite store in a folder; each test uses an experiment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uri = f"sqlite:///{folder}/mlflow.db"
        self.client = MlflowClient(self.uri)

    def add(
        self,
        experiment: str,
        *,
        seed: int = 0,
        selection: float | None = 0.01,
        validation: float = 0.0,
        status: str = "FINISHED",
        tickets: int = 8,
        kind: str = "training",
        parent: str | None = None,
        checkpoint: Path | None = None,
        params: dict[str, str] | None = None,
        metrics: dict[str, float] | None = None,
    ) -> Run:
        _, number = Store(self.uri, self.folder / "artifacts", experiment).connect()
        tags = {"kind": kind, **({"mlflow.parentRunId": parent} if parent else {})}
        run_id = self.client.create_run(number).info.run_id
        told = {"validation/improvement": validation, "spent/tickets": tickets, **(metrics or {})}
        if selection is not None:
            told["selection/improvement"] = selection
        described = {
            "problem": "cvrp",
            "seed": str(seed),
            "method": "specahd",
            "budget": "smoke",
            "budget.programs": "8",
            "problem.baseline": "nearest",
            **(params or {}),
        }
        self.client.log_batch(
            run_id,
            metrics=[Metric(name, value, 0, 0) for name, value in told.items()],
            params=[Param(name, value) for name, value in described.items()],
            tags=[RunTag(name, value) for name, value in tags.items()],
        )
        if checkpoint is not None:
            self.client.log_artifacts(run_id, str(checkpoint), "checkpoint")
        if status != "RUNNING":
            self.client.set_terminated(run_id, status)
        return self.client.get_run(run_id)
