"""Programs for tours that nobody trusts, in the engine's process: the best tour before stands."""

from contextlib import closing
from dataclasses import replace

import pytest

from specahd import api
from specahd.api.programs import BY_HAND, programs_for
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine import blocks, improver
from specahd.engine.improver import Programs, SandboxedEngine
from specahd.engine.neighbourhood_search import run_search

GROUPS = (
    "preceding, following, neighbours, neighbour_distances, removal_gains, exposures, noise, "
    "progress, max_groups, max_size"
)
POSITION = "detours, distances, edges, noise, removal_gain, progress"
PROBLEM = api.make_problem("tsp", baseline="two_opt")


@pytest.fixture(scope="module")
def instance():
    return next(PROBLEM.generate("lower_train", 3))


@pytest.fixture(scope="module")
def sandbox(instance):
    shared = blocks.shared_block(PROBLEM, instance)
    with closing(shared), improver.sandbox_of(PROBLEM, shared) as sandbox:
        yield sandbox


def searched(sandbox, instance, upper, lower):
    """Return what a search found with programs of these bodies; it is never worse."""
    written = programs_for(PROBLEM, BY_HAND)
    [position] = written.lowers
    chosen = Programs(
        replace(written.upper, source=f"def {improver.NAMES[0]}({GROUPS}):\n    {upper}\n"),
        (replace(position, source=f"def {improver.NAMES[1]}({POSITION}):\n    {lower}\n"),),
    )
    start = PROBLEM.baseline(instance)
    cost = PROBLEM.cost(instance, start)
    with improver.launched(sandbox, PROBLEM, instance.size, chosen, 1 << 30, False) as session:
        assert session.launched is Outcome.OK, session.detail
        near = sandbox._shared.arrays(0)["neighbour_distances"]
        engine = SandboxedEngine(session, PROBLEM, instance, near, 1, seed=1)
        engine.start(start)
        found = run_search(PROBLEM, instance, start, cost, engine, SearchLimit(repairs=500))
    assert PROBLEM.check(instance, found.solution) == ()
    assert PROBLEM.cost(instance, found.solution) == found.cost <= cost
    return found


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ("return np.arange(1, 20)", "return int(detours[len(detours)])"),
        ("return np.abs(np.arange(50) - 25) * 1000 + 1", "return int(np.argmin(detours))"),
    ],
)
def test_nonsense_is_mended_and_counted(sandbox, instance, upper, lower):
    found = searched(sandbox, instance, upper, lower)
    assert (found.fallbacks > 0, found.failure) == (True, "")


def test_what_stalls_costs_a_sentence(sandbox, instance):
    # What reads nothing the compiler takes out.
    endless = (
        "count = 0\n    while noise[count % len(noise)] >= 0.0:\n        count += 1\n    return "
    )
    found = searched(sandbox, instance, "return np.arange(1, 20)", f"{endless}count")
    assert (found.ended, found.failure[:7]) == ("failed", "timeout")
    assert found.solution == PROBLEM.baseline(instance)
