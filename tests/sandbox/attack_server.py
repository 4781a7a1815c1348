"""A process that owns a sandbox and attacks it on demand: ``python attack_server.py``.

Each line of its input is an attack and the path that the attack gets; each line of its
output says what came of it, and how honest programs fared afterwards: in the same
session, and in the next one.
"""

import json
import sys
import time

import numpy as np
from attacks_system import ATTACKS, order
from program_pair import HERE, HONEST, SOURCE

from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits
from specahd.sandbox.shared_arrays import SharedArrays

HOSTILE = "attacks_system:attempt"
PROGRAMS = (Launch(SOURCE, "total", HONEST), Launch(SOURCE, "total", HOSTILE))


class ShortLimits(SessionLimits):
    """As the real ones, but a program that sleeps is given up soon."""

    __slots__ = ()

    @property
    def wall_seconds(self):
        return 0.6


PATIENT = SessionLimits(call_seconds=60.0, memory_bytes=1 << 27)
SHORT = ShortLimits(call_seconds=0.2)


def honest():
    return Call(0, 0, (np.array([1]),))


def try_attack(sandbox, name, path):
    limits = SHORT if ATTACKS[name].outcome.value == "timeout" else PATIENT
    with sandbox.session(PROGRAMS, limits) as session:
        start = time.monotonic()
        result = session.call(Call(1, 0, order(name, path)))
        seconds = time.monotonic() - start
        same = session.call(honest())
        again = session.call(honest())
    with sandbox.session(PROGRAMS, PATIENT) as session:
        after = session.call(honest())
    return {
        "outcome": result.outcome.value,
        "detail": result.detail,
        "output": [array.tolist() for array in result.output],
        "seconds": seconds,
        "same": same.outcome.value,
        "after": [r.outcome.value for r in (again, after)],
        "answers": [array.tolist() for r in (again, after) for array in r.output],
    }


def main():
    shared = SharedArrays.allocate([{"matrix": (np.float64, (40, 40))}])
    shared.writable(0)["matrix"][:] = 7.0
    with Sandbox(shared, [HONEST, HOSTILE], [HERE]) as sandbox:
        for line in sys.stdin:
            name, path = json.loads(line)
            report = try_attack(sandbox, name, path)
            report["shared"] = bool(np.all(shared.arrays(0)["matrix"] == 7.0))
            sys.stdout.write(json.dumps(report) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
