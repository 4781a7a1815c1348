"""LLM4AD's half of ``evaluation.py``; runs in LLM4AD's own environment, prints one JSON line."""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from llm4ad.base import SecureEvaluator
from llm4ad.task.optimization.cvrp_construct import CVRPEvaluation
from llm4ad.task.optimization.tsp_construct import TSPEvaluation

sys.path.append(str(Path(__file__).parent))
from heuristics import CVRP_LOWER, NAME, TSP_LOWER


class Pool(CVRPEvaluation):
    """LLM4AD's CVRP evaluator on instances of different sizes, by its own two methods."""

    def evaluate_program(self, program_str, callable_func, **_):
        costs = []
        for instance, distances, demands, capacity in self._datasets:
            self.problem_size = len(demands)
            route = self.route_construct(distances, demands, capacity, callable_func)
            costs.append(self.tour_cost(instance, route))
        return -float(np.mean(costs))


def define(source):
    scope = {"np": np}
    exec(source, scope)
    return scope[NAME]


def median_seconds(work, repeats):
    work()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        if work() is None:
            raise RuntimeError("LLM4AD found no solution.")
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def main() -> None:
    data, repeats = np.load(sys.argv[1]), int(sys.argv[2])
    answer = {}
    for kind, source in (("cvrp", CVRP_LOWER), ("tsp", TSP_LOWER)):
        program = define(source)
        seconds = []
        number = 0
        while f"{kind}-{number}-coords" in data:
            key = f"{kind}-{number}-"
            coords, distances = data[key + "coords"], data[key + "distance_matrix"]
            if kind == "cvrp":
                evaluator = CVRPEvaluation(n_instance=1, problem_size=len(coords) - 1)
                capacity = int(data[key + "capacity"][0])
                evaluator._datasets = [(coords, distances, data[key + "demands"], capacity)]
            else:
                evaluator = TSPEvaluation(n_instance=1, problem_size=len(coords))
                evaluator._datasets = [(coords, distances)]
            with np.errstate(all="ignore"):
                seconds.append(median_seconds(lambda: evaluator.evaluate(program), repeats))  # noqa: B023
            number += 1
        answer[kind] = statistics.median(seconds)
    evaluator = Pool(timeout_seconds=600, n_instance=1)
    evaluator._datasets = []
    while f"pool-{len(evaluator._datasets)}-coords" in data:
        key = f"pool-{len(evaluator._datasets)}-"
        evaluator._datasets.append(
            (
                data[key + "coords"],
                data[key + "distance_matrix"],
                data[key + "demands"],
                int(data[key + "capacity"][0]),
            )
        )
    # As it is used: a process per program, and its source executed there.
    secure = SecureEvaluator(evaluator)
    source = "import numpy as np\n" + CVRP_LOWER
    answer["pool"] = median_seconds(lambda: secure.evaluate_program(source), max(3, repeats // 2))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
