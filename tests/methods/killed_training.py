"""``python -m killed_training METHOD OUT POOLS [TICKET SHARE]``: a training killed as it writes.

SIGKILL comes when the journal's record of the TICKETth program has been written: all of it
(SHARE 1), or a share of its bytes. What OUT holds is resumed.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from tiny_trainings import ALONE, budget

from specahd import api
from specahd.config import files
from specahd.core.journal import JournalFile, dumps
from specahd.repair.execution import Execution

PROGRAMS = 24


def kill_at(ticket: int, share: float) -> None:
    """Let the journal end this process."""
    append = JournalFile.append
    tickets = 0

    def append_or_end(self, record):
        nonlocal tickets
        counts = self.path.name == "journal.jsonl" and "sample" in record
        tickets += counts
        # Threads that write to other files meanwhile do so undisturbed.
        if not counts or tickets < ticket:
            append(self, record)
            return
        line = dumps(record).encode() + b"\n"
        with self.path.open("ab") as file:
            file.write(line[: int(share * len(line))])
        sys.stdout.write(f"killed by itself at program {tickets}\n")
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    JournalFile.append = append_or_end


def train(method, out, pools, execution):
    allotted = budget(PROGRAMS)
    if "search" in files.declared_options("method", method):
        # From the second round on it trains on other solutions.
        allotted = replace(allotted, rounds=2)
    api.train(
        "cvrp", "offline", method, allotted,
        out=out, pools=pools, execution=execution, resume=Path(out).exists(),
    )  # fmt: skip


if __name__ == "__main__":
    _, method, out, pools, *until = sys.argv
    if until:
        kill_at(int(until[0]), float(until[1]))
    train(method, out, pools, Execution(ALONE))
