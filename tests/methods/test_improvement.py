"""Every method of ``conf/method`` finds something better than the seed program, without a key."""

import numpy as np
import pytest

from commands import call
from specahd.config import CONF_DIR
from specahd.core import journal

METHODS = sorted(path.stem for path in (CONF_DIR / "method").glob("*.yaml"))
RUN = [
    "budget=smoke",
    "budget.programs=30",
    "budget.rounds=1",
    "budget.lower_train=4",
    "budget.upper_train=2",
    "budget.selection=2",
    "budget.validation=2",
    "tracking=none",
]


@pytest.fixture(scope="module")
def place(small_runs, tmp_path_factory):
    place = tmp_path_factory.mktemp("improvement")
    (place / "pools").symlink_to(small_runs / "pools")
    return place


@pytest.mark.parametrize("method", METHODS)
def test_it_keeps_a_program_that_is_better_than_the_seed_program(place, method):
    call("train", f"method={method}", *RUN, f"hydra.run.dir={method}", cwd=place)
    records = list(journal.read(place / method / "journal.jsonl"))
    programs = [one for one in records if one.get("sample", "").startswith("lower-")]
    scores = {one["sample"]: one["score"] for one in programs}
    kept = [scores.get(identifier) for identifier in programs[-1]["survivors"]]
    assert max(score for score in kept if score is not None) > seed_score(place / method)


def seed_score(run):
    """Return the mean response of the lower seed program."""
    measured = journal.read(run / "responses.jsonl")
    [seed] = [one for one in measured if one.get("carried") == "lower-seed"]
    saved = [
        0.0 if merged is None else max(0.0, before - merged) / before
        for before, merged in zip(seed["cost_before"], seed["cost_merged"], strict=True)
    ]
    return np.mean(saved)
