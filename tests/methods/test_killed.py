"""Methods of each kind in processes that are killed twice and go on: the same bytes.

That every method goes on alike, tests/contracts/test_methods.py says, without processes.
"""

import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from killed_training import PROGRAMS, train
from tiny_trainings import LentWorkers, tiny_pools

from commands import run
from specahd.core import journal
from test_commands import tree

pytestmark = pytest.mark.integration

FILES = ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl")
ENV = {"PYTHONPATH": str(Path(__file__).parent)}


@pytest.fixture(scope="module")
def workers():
    with closing(LentWorkers()) as workers:
        yield workers


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    return tiny_pools("cvrp", tmp_path_factory.mktemp("pools"))


# More passes of two levels, pairs, a portfolio of programs, and one that asks for texts.
@pytest.mark.parametrize("method", ["specahd", "g_lns", "eoh_s", "reevo"])
def test_it_goes_on_to_the_bytes_of_a_training_that_nobody_disturbed(
    workers, pools, tmp_path, method
):
    train(method, tmp_path / "whole", pools, workers)
    broken = tmp_path / "broken"
    for ticket, share in ((7, 1), (16, 0.5)):
        done = go_on(method, broken, pools, ticket, share)
        assert done.returncode == -signal.SIGKILL, done.stderr
        # By nobody else, and no earlier.
        assert done.stdout == f"killed by itself at program {ticket}\n"
        written = (broken / "journal.jsonl").read_bytes()
        assert written.endswith(b"\n") == (share == 1)
        assert written.count(b'"sample":') == (ticket if share == 1 else ticket - 1)
    assert go_on(method, broken, pools).returncode == 0
    assert outcome(broken) == outcome(tmp_path / "whole")
    asked = Counter(each["sample"] for each in journal.read_records(broken / "wal.jsonl"))
    assert set(asked.values()) == {1}
    assert len(asked) >= PROGRAMS


def go_on(method, directory, pools, *until):
    """Begin or resume a training in a process of its own, which may be killed."""
    words = [method, directory, pools, *until]
    return run("killed_training", *words, cwd=directory.parent, env=ENV)


def outcome(directory):
    return {name: (directory / name).read_bytes() for name in FILES}, tree(directory / "checkpoint")
