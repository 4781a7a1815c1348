"""One forked child as its parent has it: asked, listened to, ended."""

import signal
from dataclasses import replace

from specahd.core.program import Outcome
from specahd.sandbox.calls import Call, Result
from specahd.sandbox.channel import FrameChannel
from specahd.sandbox.child import EXIT_OUT_OF_MEMORY, OUTCOMES
from specahd.sandbox.client import Ending, SandboxClient
from specahd.sandbox.wire import Frame, WireError, encode, one_line

_REPLIES = frozenset(
    {
        Outcome.OK,
        Outcome.TIMEOUT,
        Outcome.CRASHED,
        Outcome.OUT_OF_MEMORY,
        Outcome.INVALID_OUTPUT,
        Outcome.LAUNCH_FAILED,
        Outcome.NOT_COMPILED,
    }
)
_OUT_OF_TIME = frozenset({signal.SIGPROF, signal.SIGXCPU})


class ChildProcess:
    """One forked child: how to reach it, how to end it, what it has used."""

    def __init__(self, client: SandboxClient, launch: bytes) -> None:
        self._client = client
        self._pid, connection = client.fork()
        self.channel = FrameChannel(connection)
        self.channel.send(launch)
        self._sent = 0
        self._received = -1  # the hello frame is number 0
        self.launch_seconds = 0.0
        self.cpu_seconds = 0.0

    @property
    def outstanding(self) -> int:
        return self._sent - max(self._received, 0)

    def ask(self, call: Call) -> None:
        self._sent += 1
        self.channel.send(
            encode(Frame(call.program, self._sent, call.instance, arrays=call.inputs))
        )

    def receive(self, seconds: float) -> Result:
        """Wait for the next reply; raises as :meth:`FrameChannel.receive` does."""
        frame = self.channel.receive(seconds)
        self._received += 1
        if frame.number != self._received or frame.code >= len(OUTCOMES):
            raise WireError("A reply answers no call.")
        outcome = OUTCOMES[frame.code]
        said = frame.arrays or frame.fallbacks
        if outcome not in _REPLIES or (said and outcome is not Outcome.OK):
            raise WireError("A reply says what none can say.")
        if frame.number == 0:
            self.launch_seconds = frame.cpu_seconds
        else:
            self.cpu_seconds += frame.cpu_seconds
        detail = one_line(frame.detail)
        return Result(outcome, frame.arrays, detail, frame.cpu_seconds, frame.fallbacks)

    def end(self) -> Ending:
        """Kill it, and say how it ended, after how many seconds that no reply told of."""
        self.channel.close()
        ending = self._client.end(self._pid)
        said = self.launch_seconds + self.cpu_seconds
        return replace(ending, cpu_seconds=max(0.0, ending.cpu_seconds - said))


def cause_of_death(ending: Ending) -> tuple[Outcome, str]:
    """Say what a child's death means."""
    if ending.signal in _OUT_OF_TIME:
        return Outcome.TIMEOUT, "the CPU time is spent"
    if ending.signal is not None:
        return Outcome.CRASHED, f"killed by {signal.Signals(ending.signal).name}"
    if ending.status == EXIT_OUT_OF_MEMORY:
        return Outcome.OUT_OF_MEMORY, "the memory limit was reached"
    return Outcome.CRASHED, f"exited with status {ending.status}"
