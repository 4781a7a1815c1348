"""A Python that has compiled numba's usual parts, and forks itself for each zygote that needs them.

``forked_zygotes.py`` starts it and says what is wanted. Each zygote is a process of its own, which
confines itself as any other does: only the seconds of its warm-up are saved, and of the programs
with which a problem begins.
"""

import array
import fcntl
import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
import warnings
from contextlib import suppress

from specahd.core.contract import Contract
from specahd.engine import runner as engine_runner
from specahd.routing.base import contracts
from specahd.routing.compiled import runner as runner_module
from specahd.sandbox import zygote


def receive(server: socket.socket) -> tuple[dict, list[int]]:
    """Return where a zygote expects its descriptors, and those, its standard ones first."""
    descriptors = array.array("i")
    message, ancillary, _, _ = server.recvmsg(1 << 16, socket.CMSG_SPACE(8 * descriptors.itemsize))
    if not message:  # the tests have ended
        sys.exit()
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    return json.loads(message), list(descriptors)


@functools.cache
def loaded_here(runners: tuple[str, ...]) -> None:
    """Warm up for all zygotes to come; load the runners of problems, and compile their seeds."""
    runner_module.warm_up()
    with suppress(Exception):  # the zygote says what is wrong
        for name in runners:
            zygote._load(name)
        for package in {name.split(".")[2] for name in runners if ".problems." in name}:
            module = importlib.import_module(f"specahd.problems.{package}.problem")
            problem = getattr(module, package.upper())
            for operator in problem().operators:
                for contract in contracts(problem(repair=operator).operator).values():
                    if contract.compiled in runners:
                        compile_seeds(contract)
    gc.collect()
    gc.freeze()  # each zygote collects what is its own


def compile_seeds(contract: Contract) -> None:
    """Compile the seed programs of a contract, so that no child has to do it."""
    runner = zygote._load(contract.compiled)
    for program in contract.seeds:
        runner_module.compiled(program.source, contract.name, runner._arguments, runner._answer)


def remember() -> None:
    """Have nothing loaded or compiled twice, here or in those that inherit it."""
    zygote._load = functools.cache(zygote._load)
    runner_module.warm_up = functools.cache(runner_module.warm_up)
    once = functools.cache(runner_module.compiled)
    runner_module.compiled = engine_runner.compiled = once


def become_zygote(places: list[int], descriptors: list[int]) -> None:
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
    server = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, reap)
    warnings.simplefilter("ignore")
    remember()
    while True:
        wanted, descriptors = receive(server)
        ours = [name for name in wanted["runners"] if name.startswith("specahd.")]
        loaded_here(tuple(ours))
        if os.fork() == 0:
            server.close()
            become_zygote(wanted["places"], descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
