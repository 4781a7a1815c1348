"""The rule that selects the champion of a problem's training runs, fixed before scores are read.

A run counts if it is complete (it ended well and spent its budget), if it has the requested
problem with all options, pools and, where one is given, budget, and if its checkpoint fails on
no instance of the selection pool. Of the runs that count, the one with the largest mean
improvement on that pool is selected; ties go to the smaller seed, then to the smaller run id.
Runs that were measured on different instances of the pool are not ranked against each other.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specahd.core.errors import FileError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_SELECTION = "selection/improvement"
_FAILED = "selection/failed"
_BASELINE = "selection/baseline_cost"
_VALIDATION = "validation/improvement"
_SPENT = "spent/tickets"
_BUDGET = "budget.programs"
_UNFINISHED = {"RUNNING": "running or killed", "KILLED": "interrupted", "FAILED": "failed"}
_PAGE, _REASONS = 1000, 3


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A training run, and the reason if it does not count in the selection.

    Parameters
    ----------
    objection
        Reason why the run does not count; empty if it counts.
    """

    run: "Run"
    objection: str

    @property
    def id(self) -> str:
        return str(self.run.info.run_id)

    @property
    def seed(self) -> int:
        return int(self.run.data.params.get("seed", 0))

    def choice(self, group: str) -> str:
        """Return the run's choice of a group of ``conf/``."""
        return str(self.run.data.params.get(group, ""))

    @property
    def selection(self) -> float | None:
        """Mean improvement on the selection pool."""
        return self._measure(_SELECTION)

    @property
    def measured_on(self) -> float | None:
        """Mean baseline cost on the selection pool, which is equal for equal instances."""
        return self._measure(_BASELINE)

    @property
    def scores(self) -> tuple[float | None, float | None]:
        """Mean improvements on the selection pool and on validation (not used to select)."""
        return self.selection, self._measure(_VALIDATION)

    def _measure(self, name: str) -> float | None:
        value = self.run.data.metrics.get(name)
        return None if value is None or math.isnan(value) else float(value)


def ranked_trainings(
    client: "MlflowClient",
    experiment: str,
    problem: str,
    settings: Mapping[str, Any],
    sweep: str | None = None,
) -> list[TrainedRun]:
    """Return an experiment's training runs of a problem: those that count first, best first.

    Parameters
    ----------
    settings
        Values of the options, by dotted name, that a run must have to count.
    sweep
        Run id of a sweep; only its jobs are returned.

    Raises
    ------
    FileError
        The store has no such experiment.
    """
    found = client.get_experiment_by_name(experiment)
    if found is None:
        raise FileError(f"The MLflow store has no experiment {experiment!r}.")
    # Candidates and sweeps are runs as well.
    wanted = [f"params.problem = '{problem}'", "tags.kind = 'training'"]
    if sweep is not None:
        wanted.append(f"tags.`mlflow.parentRunId` = '{sweep}'")
    runs = _search(client, found.experiment_id, " and ".join(wanted))
    return sorted((TrainedRun(run, _objection(run, settings)) for run in runs), key=_rank)


def choose_champion(runs: Sequence[TrainedRun], problem: str) -> TrainedRun:
    """Return the winner among runs in the order of :func:`ranked_trainings`.

    Raises
    ------
    FileError
        No run counts, or the runs that count were measured on different instances.
    """
    if not runs:
        raise FileError(f"There is no run of {problem} to select from.")
    if runs[0].objection:
        reasons = Counter(run.objection for run in runs).most_common(_REASONS)
        summary = ", ".join(f"{count} {reason}" for reason, count in reasons)
        raise FileError(f"None of the runs of {problem} counts, {len(runs)} in all: {summary}.")
    _require_same_instances([run for run in runs if not run.objection], problem)
    return runs[0]


def _require_same_instances(runs: Sequence[TrainedRun], problem: str) -> None:
    groups: dict[str, list[TrainedRun]] = {}
    for run in runs:
        # A run without the value is not excluded.
        if run.measured_on is not None:
            groups.setdefault(f"{run.measured_on:,.1f}", []).append(run)
    if len(groups) > 1:
        values = "; ".join(
            f"budget {', '.join(sorted({run.choice('budget') for run in group}))}, "
            f"seeds {', '.join(map(str, sorted({run.seed for run in group})))}, "
            f"mean baseline cost {cost}"
            for cost, group in groups.items()
        )
        raise FileError(
            f"The runs of {problem} were measured on different instances of the selection pool "
            f"and cannot be ranked ({values}): choose with budget=NAME or sweep=RUN, or delete "
            "those that shall not count in the MLflow UI."
        )


def _search(client: "MlflowClient", experiment: str, wanted: str) -> "Iterator[Run]":
    token = None
    while True:
        page = client.search_runs([experiment], wanted, max_results=_PAGE, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _objection(run: "Run", settings: Mapping[str, Any]) -> str:
    if run.info.status != "FINISHED":
        return _UNFINISHED.get(run.info.status, str(run.info.status).lower())
    budget = int(run.data.params.get(_BUDGET, 0))
    spent = int(run.data.metrics.get(_SPENT, 0))
    if spent < budget:
        return f"partial: {spent} of {budget} programs"
    if run.data.metrics.get(_FAILED, 0):
        return "failed on the selection pool"
    if math.isnan(run.data.metrics.get(_SELECTION, math.nan)):
        return "not measured on the selection pool"
    for name, value in settings.items():
        # An option that an older run does not have is ignored.
        had = run.data.params.get(name, str(value))
        if had != str(value):
            return f"{name}={had}"
    return ""


def _rank(training: TrainedRun) -> tuple[bool, float, int, str]:
    # The scores of runs that do not count are ignored.
    score = training.selection if not training.objection else None
    return bool(training.objection), -(score or 0.0), training.seed, training.id
