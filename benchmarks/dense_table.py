"""One dense table, 10 programs x 400 CVRP tasks on 2 workers: its rate, and where time goes.

``python benchmarks/dense_table.py [REPEATS]``; run in the environment of another checkout,
it measures that one.
"""

import cProfile
import multiprocessing
import pstats
import statistics
import sys
import time

from specahd.core.contract import Request
from specahd.core.program import Level, Program
from specahd.core.settings import CallLimits
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import Case, Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.repair.responses import RepairTask
from specahd.routing.base import contracts
from specahd.sandbox.shared_arrays import SharedArrays

PROGRAMS, TASKS, WORKERS = 10, 400, 2
PROBLEM = CVRP()


def programs() -> list[Program]:
    """Return fresh offline programs that answer."""
    contract = contracts(PROBLEM.operator)[Level.LOWER]
    made = []
    for index in range(PROGRAMS):
        reply = OfflineProposer().propose(Request(contract, 0, Level.LOWER, 0, index, INITIAL))
        source, idea = parse_reply(reply.text, contract)
        made.append(
            Program(f"lower-0-{index:04d}", Level.LOWER, source, idea, "i1", contract="append")
        )
    return made


def evaluator(cases: list[Case], shared: SharedArrays) -> Evaluator:
    return Evaluator(PROBLEM, cases, shared, CallLimits())


def tasks_of(cases: list[Case], shared: SharedArrays) -> list[RepairTask]:
    made = evaluator(cases, shared)
    seed = contracts(PROBLEM.operator)[Level.UPPER].seed
    tasks = made.expose([seed], list(map(Incumbent, range(len(cases)))))[:TASKS]
    made.close()
    return tasks


def work(share, cases, shared, tasks, ready, answer) -> None:
    """Be one worker: measure some programs on every task."""
    made = evaluator(cases, shared)
    made.respond(share[0], tasks[:1])
    ready.wait()
    began = time.perf_counter()
    answered = sum(made.respond(program, tasks).launched for program in share)
    answer.put((answered, time.perf_counter() - began))
    made.close()


def table(cases: list[Case], shared: SharedArrays, tasks: list[RepairTask]) -> float:
    """Return programs per second of one table."""
    context = multiprocessing.get_context("fork")
    ready, answer = context.Barrier(WORKERS), context.Queue()
    team = [
        context.Process(
            target=work, args=(programs()[w::WORKERS], cases, shared, tasks, ready, answer)
        )
        for w in range(WORKERS)
    ]
    for worker in team:
        worker.start()
    answers = [answer.get() for _ in team]
    for worker in team:
        worker.join()
    return sum(count for count, _ in answers) / max(seconds for _, seconds in answers)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    cases = make_cases(PROBLEM, PROBLEM.generate("lower_train", 2024))
    shared = share_arrays(PROBLEM, cases)
    tasks = tasks_of(cases, shared)
    steps = sum(len(task.region.nodes) for task in tasks)
    print(f"{PROGRAMS} programs x {len(tasks)} tasks ({steps} steps), {WORKERS} workers")
    rates = [table(cases, shared, tasks) for _ in range(repeats)]
    print(f"programs per second: median {statistics.median(rates):.2f}, all {sorted(rates)}")
    made = evaluator(cases, shared)
    profile = cProfile.Profile()
    profile.enable()
    for program in programs():
        made.respond(program, tasks)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(18)
    made.close()


if __name__ == "__main__":
    main()
