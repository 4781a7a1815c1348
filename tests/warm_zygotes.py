"""A Python that has imported what zygotes import, and forks itself for each of them.

``forking.py`` starts it, and ``forked_zygotes.py`` says what is wanted. Each zygote is a process of
its own, which confines itself as any other does: only the seconds of its imports are saved. For
the zygotes that compile programs, it has compiled numba's usual parts and the programs with which a
problem begins.
"""

import fcntl
import functools
import gc
import importlib
import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import NoReturn

import forking
from specahd.sandbox import zygote


@functools.cache
def loaded_here(runners: tuple[str, ...], compiling: bool) -> None:
    """Load the runners of problems for all zygotes to come, and compile what these would."""
    if compiling:
        remember_compiled()
    with suppress(Exception):  # the zygote says what is wrong
        for name in runners:
            zygote._load(name)
        if compiling:
            compile_seeds(runners)
    gc.collect()
    gc.freeze()  # each zygote collects what is its own


@functools.cache
def remember_compiled() -> None:
    """Have nothing compiled twice, here or in those that inherit it."""
    from specahd.engine import runner as engine_runner
    from specahd.programs import compiled as runner

    runner.compiled = engine_runner.compiled = functools.cache(runner.compiled)


def compile_seeds(runners: tuple[str, ...]) -> None:
    """Compile the seed programs of the runners' contracts, so that no child has to do it."""
    from specahd.programs.compiled import compiled
    from specahd.routing.base import contracts

    for package in {name.split(".")[2] for name in runners if ".problems." in name}:
        module = importlib.import_module(f"specahd.problems.{package}.problem")
        problem = getattr(module, package.upper())
        for operator in problem().operators:
            for contract in contracts(problem(repair=operator).operator).values():
                if contract.runner in runners:
                    runner = zygote._load(contract.runner)
                    for program in contract.seeds:
                        compiled(program.source, contract.name, runner._arguments, runner._answer)


def become_zygote(places: list[int], descriptors: list[int]) -> NoReturn:
    """Run a zygote with its descriptors at the places that its order names."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir("/")
    stdin, stderr, *others, alive = descriptors
    given = [stdin, os.open(os.devnull, os.O_WRONLY), stderr, *others, alive]
    # First out of the way of all places.
    above = max(0, 1, 2, *places, *given) + 1
    aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, above) for descriptor in given]
    for descriptor in given:
        os.close(descriptor)
    *moved, alive = aside  # the last one stays open until the zygote ends
    os.write(alive, f"{os.getpid()}\n".encode())
    for descriptor, place in zip(moved, (0, 1, 2, *places), strict=True):
        os.dup2(descriptor, place)
        os.close(descriptor)
    zygote.main()


def reap(*_: object) -> None:
    """Wait for the zygotes that have ended: nobody else does."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    compiling = sys.argv[1] == "compiling"
    signal.signal(signal.SIGCHLD, reap)
    warnings.simplefilter("ignore")
    zygote._load = functools.cache(zygote._load)
    for order, descriptors in forking.orders():
        wanted = json.loads(order)
        ours = [name for name in wanted["runners"] if name.startswith("specahd.")]
        loaded_here(tuple(ours), compiling)
        if os.fork() == 0:
            forking.leave()
            become_zygote(wanted["places"], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
