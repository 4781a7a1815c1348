"""Routes of one instance before and after repair, for drawing."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specahd.repair.cases import Case
from specahd.repair.system import Repair
from specahd.routing.base import AnyProblem
from specahd.runs.files import ROUTES, write_records

_ROUTE = re.compile(r"^Route #\d+: (.*)$", re.MULTILINE)


def write_example(
    directory: Path, problem: AnyProblem, cases: Sequence[Case], repairs: Sequence[Repair]
) -> None:
    """Write ``routes.json`` of the improved instance with the median gain.

    It is left out if the ``.sol`` files of a problem of the user's own number nodes otherwise.
    """
    gains = [repair.improvement for repair in repairs]
    order = sorted(range(len(gains)), key=lambda index: gains[index])
    improved = [index for index in order if gains[index] > 0] or order
    middle = improved[len(improved) // 2]
    repair = repairs[middle]
    example = compare_routes(problem, cases[middle], repair.solution, repair.cost)
    size = len(example["coords"])
    if all(
        node < size for when in ("before", "after") for route in example[when] for node in route
    ):
        write_records(directory / ROUTES, [example])


def compare_routes(
    problem: AnyProblem, case: Case, solution: object, cost: float
) -> dict[str, Any]:
    """Return the routes of a case and of a better solution, as ``routes.json`` holds them."""
    return {
        "instance": case.instance.name,
        "coords": case.instance.coords.tolist(),
        "before": customer_routes(problem, case.baseline),
        "after": customer_routes(problem, solution),
        "cost_before": case.cost,
        "cost_after": cost,
    }


def customer_routes(problem: AnyProblem, solution: object) -> list[list[int]]:
    """Return the nodes of each route without node 0, as every ``.sol`` file lists them."""
    text = problem.solution_files("", solution, 0.0).get(".sol", "")
    return [[int(node) for node in nodes.split()] for nodes in _ROUTE.findall(text)]
