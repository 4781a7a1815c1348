"""How fast programs are evaluated, against LLM4AD's own evaluators: one run, medians.

``python benchmarks/evaluation.py [REPEATS]``. The heuristics are the lower programs
of the paper's Appendix H. LLM4AD (PyPI, 1.11) runs as a subprocess in an
environment of its own, made once in ``runs/benchmarks/llm4ad``; its evaluator
classes get the same instances (:mod:`benchmarks.llm4ad_side`).
"""

import json
import math
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from heuristics import CVRP_LOWER, NAME, TSP_LOWER
from runs import ROOT
from specahd.core.program import Level, Program
from specahd.core.settings import CallLimits
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.tsp.construct import rebuild as rebuild_path
from specahd.programs.guard import guard
from specahd.repair.cases import make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import RepairTask
from specahd.routing.base import Region, contracts
from specahd.routing.vehicles.runners import rebuild

SIZE = 200
INSTANCES = 16


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median wall time of a call, the first one not counted."""
    work()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def instances(kind: str) -> list[dict[str, np.ndarray]]:
    """Return uniform instances of 200 nodes to visit, as the child sees them."""
    made = []
    for number in range(INSTANCES):
        rng = np.random.default_rng(number)
        coords = rng.random((SIZE + (kind == "cvrp"), 2))
        gaps = coords[:, None] - coords[None]
        arrays = {"coords": coords, "distance_matrix": np.hypot(gaps[..., 0], gaps[..., 1])}
        if kind == "cvrp":
            arrays["demands"] = np.concatenate(([0], rng.integers(1, 10, size=SIZE)))
            arrays["capacity"] = np.array([50])
        for array in arrays.values():
            array.flags.writeable = False
        made.append(arrays)
    return made


def define(source: str) -> Callable[..., object]:
    scope = {"np": np, "math": math}
    exec(source, scope)
    return scope[NAME]


class Recorder:
    """Plays a program and keeps the arguments of every call."""

    def __init__(self, program: Callable[..., object]) -> None:
        self._program = program
        self.calls: list[tuple[object, ...]] = []

    def __call__(self, *arguments: Any) -> object:
        # The waiting nodes are a view that the next step changes.
        self.calls.append((*arguments[:2], arguments[2].copy(), *arguments[3:]))
        return self._program(*arguments)


def construction(kind: str, repeats: int) -> dict[str, float]:
    """Time the construction of complete instances, and the bare calls."""
    source = CVRP_LOWER if kind == "cvrp" else TSP_LOWER
    runner = rebuild if kind == "cvrp" else rebuild_path
    plain = define(source)
    # A complete tour starts and ends at node 0.
    nodes = np.arange(1, SIZE + 1) if kind == "cvrp" else np.append(np.arange(SIZE), 0)
    seconds: dict[str, list[float]] = {}
    for arrays in instances(kind):
        recorder = Recorder(plain)
        runner(recorder, arrays, (nodes,))
        calls = recorder.calls
        works = {
            "specahd": lambda: runner(plain, arrays, (nodes,)),  # noqa: B023
            "bare calls": lambda: [plain(*call) for call in calls],  # noqa: B023
        }
        with np.errstate(all="ignore"):
            for name, work in works.items():
                seconds.setdefault(name, []).append(median_seconds(work, repeats))
    return {name: statistics.median(values) for name, values in seconds.items()}


def evaluator_of_pool() -> tuple[Evaluator, list[RepairTask]]:
    """Return an evaluator of the 256 CVRP instances, each one task: build it completely."""
    problem = CVRP(max_size=1000)
    cases = make_cases(problem, problem.generate("lower_train", 2024))
    tasks = [
        RepairTask(case.instance.name, index, Region(tuple(range(1, case.instance.size + 1))), ())
        for index, case in enumerate(cases)
    ]
    return Evaluator(problem, cases, share_arrays(problem, cases), CallLimits()), tasks


def end_to_end(repeats: int) -> float:
    """Time guard, fork, the 256-instance pool, check and score of one program."""
    evaluator, tasks = evaluator_of_pool()
    contract = contracts(CVRP().operator)[Level.LOWER]
    program = Program("h", Level.LOWER, CVRP_LOWER, "", "i1", contract="append")

    def work() -> None:
        if guard(program.source, contract.name, contract.arguments) is not None:
            raise RuntimeError("The guard refused the heuristic.")
        result = evaluator.respond(program, tasks)
        if any(response.cost_merged is None for response in result.responses):
            raise RuntimeError(f"A task failed: {result.detail}")

    try:
        return median_seconds(work, repeats)
    finally:
        evaluator.close()


def llm4ad(repeats: int) -> dict[str, float]:
    """Time LLM4AD's evaluators on the same instances, in their own environment."""
    home = (ROOT / "llm4ad").resolve()
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        pip = [python, "-m", "pip", "install", "-q"]
        # What its evaluators import; torch and wandb it needs elsewhere only.
        needed = ["numpy<2", "matplotlib", "scipy", "tqdm", "pytz", "requests", "openai", "numba"]
        subprocess.run([*pip, *needed], check=True)
        subprocess.run([*pip, "--no-deps", "llm4ad==1.11"], check=True)
        (home / "ready").touch()
    data = home / "instances.npz"
    arrays = {}
    for kind in ("cvrp", "tsp"):
        for number, instance in enumerate(instances(kind)):
            for name, array in instance.items():
                arrays[f"{kind}-{number}-{name}"] = array
    for number, instance in enumerate(CVRP().generate("lower_train", 2024)):
        gaps = instance.coords[:, None] - instance.coords[None]
        exact = np.hypot(gaps[..., 0], gaps[..., 1])
        arrays[f"pool-{number}-coords"] = instance.coords
        arrays[f"pool-{number}-distance_matrix"] = np.floor(exact + 0.5)
        arrays[f"pool-{number}-demands"] = instance.demands
        arrays[f"pool-{number}-capacity"] = np.array([instance.capacity])
    np.savez(data, **arrays)
    side = Path(__file__).with_name("llm4ad_side.py")
    answer = subprocess.run(
        [python, side, data, str(repeats)], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(answer.stdout.splitlines()[-1])


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    peer = llm4ad(repeats)
    for kind in ("cvrp", "tsp"):
        ours = construction(kind, repeats)
        print(f"{kind}, n = {SIZE}, complete construction, ms per instance (median of {INSTANCES})")
        print(f"  LLM4AD                   {1e3 * peer[kind]:9.3f}")
        for name, value in ours.items():
            print(f"  {name:24s} {1e3 * value:9.3f}  LLM4AD / this {peer[kind] / value:6.1f}")
        print(f"  specahd / bare calls: {ours['specahd'] / ours['bare calls']:.3f}")
    print("cvrp, 256 instances end to end, ms")
    print(f"  LLM4AD                   {1e3 * peer['pool']:9.1f}")
    value = end_to_end(max(3, repeats // 2))
    print(
        f"  specahd                  {1e3 * value:9.1f}  LLM4AD / this {peer['pool'] / value:6.1f}"
    )


if __name__ == "__main__":
    main()
