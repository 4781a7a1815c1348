"""Every method of ``conf/method``, offline, and one on every problem: 36 programs each."""

from contextlib import closing
from itertools import cycle

import numpy as np
import pytest
from tiny_trainings import LentWorkers, budget, tiny_pools

from offered import METHODS, PROBLEMS
from specahd import api
from specahd.core import journal

pytestmark = pytest.mark.integration

PROGRAMS = 36


@pytest.fixture(scope="module")
def workers():
    with closing(LentWorkers()) as workers:
        yield workers


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    for name in PROBLEMS:
        tiny_pools(name, folder)
    return folder


# No method knows the problem, so that they take turns.
@pytest.mark.parametrize(
    ("method", "name"),
    sorted({*zip(METHODS, cycle(PROBLEMS), strict=False), *(("specahd", x) for x in PROBLEMS)}),
)
def test_it_finds_a_program_better_than_the_seed_program(workers, pools, tmp_path, method, name):
    # The tasks of the comparison.
    problem = api.make_problem(name, repair="append" if method == "specahd" else "construct")
    run = api.train(
        problem, "offline", method, budget(PROGRAMS),
        out=tmp_path / "run", pools=pools, execution=workers,
    )  # fmt: skip
    assert run.stopped is None
    assert run.spent.tickets == PROGRAMS
    assert [summary.instances for summary in run.summaries] == [1, 1]
    records = [
        one for one in journal.read_records(run.directory / "journal.jsonl") if "sample" in one
    ]
    assert len(records) == PROGRAMS
    programs = [one for one in records if one["level"] == "lower"]
    scores = {one["sample"]: one["score"] for one in programs}
    kept = [scores[sample] for sample in programs[-1]["survivors"] if sample in scores]
    assert max(kept) > seed_score(run.directory)


def seed_score(directory):
    """Return the mean response of the lower seed program."""
    measured = journal.read_records(directory / "responses.jsonl")
    [seed] = [one for one in measured if one.get("carried") == "lower-seed"]
    saved = [
        0.0 if merged is None else max(0.0, before - merged) / before
        for before, merged in zip(seed["cost_before"], seed["cost_merged"], strict=True)
    ]
    return np.mean(saved)
