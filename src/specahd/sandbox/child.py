"""The forked child: a confined process that runs programs.

The child answers its parent's frames one by one. It is the only process that runs a
program's code. The parent therefore accepts its replies only after the checks of
:mod:`specahd.sandbox.wire`.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, NoReturn, Protocol, runtime_checkable

from numpy.typing import NDArray

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer, NotCompiled
from specahd.core.program import Outcome
from specahd.programs.definition import define
from specahd.sandbox import confinement
from specahd.sandbox.shared_arrays import SharedArrays
from specahd.sandbox.wire import (
    Frame,
    FrameReader,
    IntArray,
    WireError,
    describe_error,
    encode,
    one_line,
)

Arrays = Mapping[str, NDArray[Any]]
Runner = Callable[[Callable[..., Any], Arrays, tuple[IntArray, ...]], Answer]
Bound = Callable[[Arrays, tuple[IntArray, ...]], Answer]


@runtime_checkable
class CompilingRunner(Protocol):
    """A runner that calls a translation of the program, not the program itself."""

    def warm_up(self) -> None:
        """Do the work that all translations share; called once, in the zygote."""
        ...

    def translate(self, source: str, name: str) -> Callable[..., Any]:
        """Return the translation of a guarded program."""
        ...

    def __call__(
        self, program: Callable[..., Any], arrays: Arrays, inputs: tuple[IntArray, ...]
    ) -> Answer:
        """Run the translation once."""
        ...


OUTCOMES = tuple(Outcome)
"""A reply's code is a position in this tuple."""
EXIT_OUT_OF_MEMORY = 71
"""The exit status of a child without memory for a reply."""
EXIT_UNPREPARED = 72
"""The exit status of a child that cannot confine itself, before it reads a program."""
LEAST_SECONDS = 0.001
"""CPU seconds below which no time counts as left."""

_CHUNK = 1 << 16


def serve(
    connection: socket.socket,
    runners: Mapping[str, Runner],
    instances: Sequence[Arrays] | SharedArrays,
    zygote: int,
    restrictions: confinement.Restrictions,
) -> NoReturn:
    """Confine this process, launch the programs and answer calls until the parent disconnects.

    Parameters
    ----------
    connection
        The child's end of its pipe.
    runners, instances
        The runners by name and the arrays by index, as loaded by the zygote; or the block of this
        child's own arrays, which its order describes.
    zygote
        The process that forked this one; this process is killed when it ends.
    restrictions
        The restrictions by the kernel for this process, built by the zygote.
    """
    status = EXIT_UNPREPARED
    try:
        confinement.detach_process(zygote)
        connection = restrictions.keep_only(connection)
        # The parent sends nothing after this line of JSON until it has the hello frame.
        order = json.loads(connection.makefile("rb").readline())
        if isinstance(instances, SharedArrays):
            instances.directory = order["directory"]
            instances = instances.instances()
        total = order["total_seconds"]
        confinement.limit(
            order["memory_bytes"], None if total is None else order["launch_seconds"] + total
        )
        restrictions.impose()
        status = 1
        _Child(connection, order, instances).answer(runners)
        status = 0
    except MemoryError:
        status = EXIT_OUT_OF_MEMORY
    finally:
        # The parent reads the cause from the exit status.
        os._exit(status)


class _Child:
    """The state of one child: its pipe, its clock and its programs."""

    def __init__(
        self, connection: socket.socket, order: dict[str, Any], instances: Sequence[Arrays]
    ) -> None:
        self._connection = connection
        self._order = order
        self._instances = instances
        self._start = 0.0
        self._programs: list[Bound] = []

    def answer(self, runners: Mapping[str, Runner]) -> None:
        """Launch the programs, send a hello frame, then answer until the parent closes the pipe."""
        hello = self._run_limited(0, lambda: self._launch(runners), self._order["launch_seconds"])
        self._start = time.thread_time()
        self._send(hello)
        reader = FrameReader()
        while chunk := self._connection.recv(_CHUNK):
            reader.feed(chunk)
            while call := reader.take():
                self._send(self._call(call))

    def _launch(self, runners: Mapping[str, Runner]) -> Answer:
        for program in self._order["programs"]:
            self._programs.append(
                _bind(runners[program["runner"]], program["source"], program["name"])
            )
        return Answer()

    def _call(self, call: Frame) -> Frame:
        program = self._programs[call.code]
        arrays = self._instances[call.instance]
        seconds = min(self._order["call_seconds"], call.cpu_seconds or inf)
        if self._order["total_seconds"] is not None:
            spent = time.thread_time() - self._start
            seconds = min(seconds, self._order["total_seconds"] - spent)
        return self._run_limited(call.number, lambda: program(arrays, call.arrays), seconds)

    def _run_limited(self, number: int, work: Callable[[], Answer], seconds: float) -> Frame:
        """Run the work within a limit of CPU time, and report its outcome."""
        # The process clock moves in ticks of some ms while its timer is armed. The thread
        # clock does not, and there is one thread.
        began = time.thread_time()
        if seconds < LEAST_SECONDS:
            code = OUTCOMES.index(Outcome.TIMEOUT)
            return Frame(code, number, detail="no CPU time is left")
        answer, detail = Answer(), ""
        try:
            # The default action of SIGPROF ends the process, in a C loop as well.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            answer = work()
            outcome = Outcome.OK
        except InvalidAnswer as error:
            outcome, detail = Outcome.INVALID_OUTPUT, one_line(str(error))
        except NotCompiled as error:
            outcome, detail = Outcome.NOT_COMPILED, one_line(str(error))
        except MemoryError:
            outcome, detail = Outcome.OUT_OF_MEMORY, "the memory limit was reached"
        except BaseException as error:  # noqa: BLE001  a program may raise anything
            outcome, detail = Outcome.CRASHED, describe_error(error)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Frame(
            OUTCOMES.index(outcome),
            number,
            cpu_seconds=time.thread_time() - began,
            detail=detail,
            arrays=tuple(answer.arrays),
            fallbacks=answer.fallbacks,
        )

    def _send(self, reply: Frame) -> None:
        try:
            data = encode(reply)
        except WireError as error:
            code = OUTCOMES.index(Outcome.INVALID_OUTPUT)
            data = encode(replace(reply, code=code, detail=str(error), arrays=(), fallbacks=0))
        self._connection.sendall(data)


def _bind(runner: Runner | CompilingRunner, source: str, name: str) -> Bound:
    """Define or translate the program, and bind its runner to it."""
    make = runner.translate if isinstance(runner, CompilingRunner) else define
    return partial(runner, make(source, name))
