"""A training whose lower programs fall asleep: ``python sleeping.py OPTION …``.

The guard lets no program sleep, so their runner does it for them.
"""

import functools
import sys
import time
from dataclasses import replace
from pathlib import Path


def rebuild(program, arrays, inputs):
    time.sleep(600)


def main():
    from specahd import train
    from specahd.config.cli import run_command
    from specahd.problems.cvrp import contracts
    from specahd.repair import evaluator
    from specahd.sandbox import calls
    from specahd.sandbox.calls import SessionLimits

    contracts.APPEND = replace(contracts.APPEND, runner="sleeping:rebuild")
    here = str(Path(__file__).parent)
    evaluator.Sandbox = functools.partial(evaluator.Sandbox, path=[here])
    # Upper programs are awake, and a test does not wait long.
    SessionLimits.wall_seconds = property(lambda limits: 0.1 if limits.call_seconds == 1 else 60.0)
    calls.PAUSE = 0.02
    sys.exit(run_command(train.train, "train"))


if __name__ == "__main__":
    main()
