"""A: the Repair Response Archive, every completed table of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from specahd.core.program import Outcome
from specahd.repair.responses import RepairTask, Response, ResponseTable
from specahd.repair.router import Router
from specahd.routing.base import FloatArray, Region

TASKS_FILE = "tasks.parquet"
RESPONSES_FILE = "responses.parquet"


@dataclass(frozen=True, slots=True)
class Statistics:
    """Mean and divisor of each descriptor coordinate over the distinct archived tasks."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]


class ResponseArchive:
    """Observed (task, program) pairs with their responses; tasks in order of age.

    Parameters
    ----------
    descriptor_names
        Coordinates of Φ.
    """

    def __init__(self, descriptor_names: Sequence[str]) -> None:
        self.descriptor_names = tuple(descriptor_names)
        self.tasks: dict[str, RepairTask] = {}
        self.responses: dict[tuple[str, str], Response] = {}

    def extend(self, table: ResponseTable) -> None:
        """Take in a completed table: A ∪ S."""
        for column, task in enumerate(table.tasks):
            self.tasks.setdefault(task.key, task)
            for program, row in table.rows.items():
                self.responses.setdefault((task.key, program), row[column])

    def descriptors(self) -> FloatArray:
        """Return raw φ of the distinct tasks, shape (tasks, coordinates)."""
        shape = (len(self.tasks), len(self.descriptor_names))
        return np.array([task.descriptor for task in self.tasks.values()]).reshape(shape)

    def statistics(self) -> Statistics:
        """Return the standardisation in force; a coordinate without variance has divisor 1."""
        raw = self.descriptors()
        if not len(raw):
            width = len(self.descriptor_names)
            return Statistics((0.0,) * width, (1.0,) * width)
        scale = raw.std(axis=0)
        # Equal values can leave a spread of rounding errors only.
        scale[scale <= 1e-12 * np.maximum(1.0, np.abs(raw).max(axis=0))] = 1.0
        return Statistics(tuple(raw.mean(axis=0).tolist()), tuple(scale.tolist()))

    def router(
        self, programs: Sequence[str], *, neighbours: int, statistics: Statistics | None = None
    ) -> Router:
        """Return the router over a repertoire, frozen as the archive is now."""
        scores = np.full((len(self.tasks), len(programs)), np.nan)
        for row, task in enumerate(self.tasks):
            for column, program in enumerate(programs):
                response = self.responses.get((task, program))
                if response is not None:
                    scores[row, column] = response.score
        statistics = statistics or self.statistics()
        return Router(
            self.descriptors(),
            scores,
            mean=np.array(statistics.mean),
            scale=np.array(statistics.scale),
            neighbours=neighbours,
        )

    def means(self, programs: Sequence[str]) -> list[float]:
        """Return the mean response of each program over the tasks that all of them answered."""
        common = [
            [self.responses[task, program].score for program in programs]
            for task in self.tasks
            if all((task, program) in self.responses for program in programs)
        ]
        return np.mean(common, axis=0).tolist() if common else [0.0] * len(programs)

    def copy(self) -> "ResponseArchive":
        """Return an archive that later additions to this one do not reach."""
        copy = ResponseArchive(self.descriptor_names)
        copy.tasks = dict(self.tasks)
        copy.responses = dict(self.responses)
        return copy

    def write(self, directory: Path) -> None:
        """Write two Parquet files: equal archives, equal bytes."""
        tasks = {
            "task": pa.array(self.tasks, pa.string()),
            "nodes": pa.array([t.region.nodes for t in self.tasks.values()], pa.list_(pa.int64())),
        }
        raw = self.descriptors()
        for column, name in enumerate(self.descriptor_names):
            tasks[name] = pa.array(raw[:, column], pa.float64())
        pq.write_table(pa.table(tasks), directory / TASKS_FILE)
        pairs, rows = list(self.responses), list(self.responses.values())
        responses = {
            "task": pa.array([task for task, _ in pairs], pa.string()),
            "program": pa.array([program for _, program in pairs], pa.string()),
            "outcome": pa.array([str(row.outcome) for row in rows], pa.string()),
            "cost_before": pa.array([row.cost_before for row in rows], pa.float64()),
            "cost_merged": pa.array([row.cost_merged for row in rows], pa.float64()),
            "fallbacks": pa.array([row.fallbacks for row in rows], pa.int64()),
        }
        pq.write_table(pa.table(responses), directory / RESPONSES_FILE)

    @classmethod
    def read(cls, directory: Path) -> "ResponseArchive":
        """Read what :meth:`write` wrote; the tasks' cases are not kept (index -1)."""
        tasks = pq.read_table(directory / TASKS_FILE)
        names = [name for name in tasks.column_names if name not in ("task", "nodes")]
        archive = cls(names)
        for row in tasks.to_pylist():
            archive.tasks[row["task"]] = RepairTask(
                row["task"], -1, Region(tuple(row["nodes"])), tuple(row[name] for name in names)
            )
        for row in pq.read_table(directory / RESPONSES_FILE).to_pylist():
            archive.responses[row["task"], row["program"]] = Response(
                Outcome(row["outcome"]), row["cost_before"], row["cost_merged"], row["fallbacks"]
            )
        return archive
