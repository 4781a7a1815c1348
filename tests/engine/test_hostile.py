"""Programs that nobody trusts, in the engine's process: the best solution before them stands."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from specahd import api
from specahd.api.programs import BY_HAND, programs_for
from specahd.core.errors import ConfigError
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine import blocks, improver
from specahd.engine.improver import Programs, SandboxedEngine
from specahd.engine.neighbourhood_search import run_search
from specahd.routing.groups import separated

GROUPS = (
    "preceding, following, route_of, neighbours, neighbour_distances, depot_distances, "
    "removal_gains, demands, capacity, exposures, noise, progress, max_groups, max_size"
)
POSITION = "detours, distances, rests, noise, demand, depot_distance, capacity, progress"


@pytest.fixture(scope="module")
def instance():
    problem = api.make_problem("cvrp", baseline="savings")
    return api.ProblemInstance(problem, next(problem.generate("lower_train", 3)))


@pytest.fixture(scope="module")
def sandbox(instance):
    shared = blocks.shared_block(instance.problem, instance.data)
    with closing(shared), improver.sandbox_of(instance.problem, shared) as sandbox:
        yield sandbox


def programs(upper="return np.arange(1, 30)", lower="return int(np.argmin(detours))"):
    """Return programs with these bodies; the short ones that stand here compile quickly."""
    written = programs_for(api.make_problem("cvrp"), BY_HAND)
    groups, [position] = written.upper, written.lowers
    return Programs(
        replace(groups, source=f"def {improver.NAMES[0]}({GROUPS}):\n    {upper}\n"),
        (replace(position, source=f"def {improver.NAMES[1]}({POSITION}):\n    {lower}\n"),),
    )


def launched(sandbox, instance, chosen):
    return improver.launched(
        sandbox, instance.problem, instance.data.size, chosen, memory_bytes=1 << 30, counted=False
    )


def searched(sandbox, instance, chosen, repairs=3000):
    """Return what a search found with some programs; it is never worse than its start."""
    problem, data = instance.problem, instance.data
    start = problem.baseline(data)
    cost = problem.cost(data, start)
    with launched(sandbox, instance, chosen) as session:
        assert session.launched is Outcome.OK, session.detail
        near = sandbox._shared.arrays(0)["neighbour_distances"]
        engine = SandboxedEngine(session, problem, data, near, 1, seed=1)
        engine.start(start)
        found = run_search(problem, data, start, cost, engine, SearchLimit(repairs=repairs))
    assert problem.check(data, found.solution) == ()
    assert problem.cost(data, found.solution) == found.cost <= cost
    return found


def test_honest_programs_improve(sandbox, instance):
    found = searched(sandbox, instance, programs_for(instance.problem, BY_HAND))
    assert (found.ended, found.failure) == ("repairs", "")
    assert found.cost < found.moments[0].cost
    again = searched(sandbox, instance, programs_for(instance.problem, BY_HAND))
    assert (again.solution, again.repairs) == (found.solution, found.repairs)


@pytest.mark.parametrize(
    "bodies",
    [
        {"lower": "return int(-5 - demand)"},
        {"lower": "return int(detours[len(detours)])"},
        {"lower": "x = np.array([1, 0, 1]); x[x[::-1]] = 0; return x[0]"},
        {"lower": "x = detours[:, None] * rests; x *= x[0]; return int(x[0, 0])"},
        {"upper": "return np.arange(10) * 1000000 + 1"},
        {"upper": "return np.abs(np.arange(50) - 25) * 1000 + 1"},
    ],
)
def test_nonsense_is_mended_and_counted(sandbox, instance, bodies):
    found = searched(sandbox, instance, programs(**bodies), repairs=300)
    assert (found.fallbacks > 0, found.failure) == (True, "")


@pytest.mark.parametrize("order", ["following[5:9]", "noise[::2]", "-noise", "demands"])
def test_any_array_is_sorted_by_a_confined_child(sandbox, instance, order):
    """What sorts is read from disk, which the child cannot do."""
    upper = f"return np.argsort({order}) + 1"
    found = searched(sandbox, instance, programs(upper=upper), repairs=300)
    assert (found.ended, found.failure) == ("repairs", "")


@pytest.mark.parametrize(
    ("name", "upper", "lower"),
    [
        ("sdvrp", None, "int(quantities[len(quantities)])"),
        ("tsp", "np.arange(1, 20)", "int(detours[len(detours)])"),
        ("tsp", "np.abs(np.arange(50) - 25) * 1000 + 1", "int(np.argmin(detours))"),
    ],
)
def test_other_solutions_are_mended_too(name, upper, lower):
    """Programs are wrong in the engine of another problem: it is solved all the same."""
    problem = api.make_problem(name, baseline="nearest")
    given = api.ProblemInstance(problem, next(problem.generate("lower_train", 3)))
    written = programs_for(problem, BY_HAND)

    def answering(program, answer):
        head = program.source.partition("\n")[0]
        return (
            program if answer is None else replace(program, source=f"{head}\n    return {answer}\n")
        )

    wrong = Programs(answering(written.upper, upper), (answering(written.lowers[0], lower),))
    shared = blocks.shared_block(problem, given.data)
    with closing(shared), improver.sandbox_of(problem, shared) as sandbox:
        found = searched(sandbox, given, wrong, repairs=300)
    assert (found.fallbacks > 0, found.failure) == (True, "")


@pytest.fixture(scope="module")
def timed_sandbox():
    problem = api.make_problem("vrptw", baseline="nearest")
    instance = api.ProblemInstance(problem, next(problem.generate("lower_train", 3)))
    shared = blocks.shared_block(problem, instance.data)
    with closing(shared), improver.sandbox_of(problem, shared) as sandbox:
        yield sandbox, instance


def timed_programs(instance, *lines):
    """Return the hand-written programs, the upper one with these lines in place of its own."""
    written = programs_for(instance.problem, BY_HAND)
    head = written.upper.source.partition("\n")[0]
    upper = replace(written.upper, source="\n    ".join((head, *lines)) + "\n")
    return Programs(upper, written.lowers)


@pytest.mark.integration
@pytest.mark.parametrize(
    "line",
    [
        "earliest_starts[1] = 0.0",
        "latest_starts[1:].T[0] = 0.0",
        "ready_times += 1.0",
        "due_times.ravel()[:] = 0.0",
    ],
)
def test_times_are_not_written_to(timed_sandbox, line):
    sandbox, instance = timed_sandbox
    chosen = timed_programs(instance, line, "return np.arange(1, 20)")
    with launched(sandbox, instance, chosen) as session:
        assert session.launched is Outcome.NOT_COMPILED


def test_times_lead_nowhere_else(timed_sandbox):
    """What a program makes of them is checked as anything else that it names."""
    sandbox, instance = timed_sandbox
    answer = "return (latest_starts * 1e9 - earliest_starts).astype(np.int64)"
    found = searched(sandbox, instance, timed_programs(instance, answer), repairs=300)
    assert (found.fallbacks > 0, found.ended) == (True, "failed")
    assert "no customer was inserted" in found.failure


def test_an_endless_loop_without_effect_costs_a_fallback(sandbox, instance):
    lower = "while capacity > 0:\n        demand = 0\n    return int(demand)"
    found = searched(sandbox, instance, programs(lower=lower), repairs=20)
    assert found.ended == "repairs", found
    assert found.fallbacks == found.repairs


# What reads something that LLVM cannot count in advance.
_ENDLESS = "count = 0\n    while noise[count % len(noise)] >= 0.0:\n        count += 1\n    return "


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ({"upper": f"{_ENDLESS}np.arange(count)"}, ("timeout",)),
        ({"lower": f"{_ENDLESS}count"}, ("timeout",)),
        ({"upper": "return np.zeros(0, np.int64)"}, ("no customer was inserted",)),
        (
            {"upper": "return np.ones(10**12, np.int64)"},
            ("no customer was inserted", "out_of_memory", "crashed"),
        ),
    ],
)
def test_what_stalls_or_allocates_costs_a_sentence(sandbox, instance, bodies, words):
    found = searched(sandbox, instance, programs(**bodies))
    assert found.ended == "failed"
    assert any(word in found.failure for word in words), found.failure
    assert found.solution == instance.problem.baseline(instance.data)


@pytest.mark.parametrize(
    ("lower", "words"),
    [
        ("detours[0] = 0.0; return 0", "TypingError: Failed in nopython mode pipeline"),
        ("return [1, 2]", "Expected an answer of int64"),
        (
            "x = [detours * 1]; x.pop(0); x.append(rests * 1); return len(x)",
            "NotInLanguage: a value of list",
        ),
        ("x = [1, 2]; x[0:0] = x; return x[2]", "NotInLanguage: an index of slice"),
    ],
)
def test_what_does_not_compile_does_not_start(sandbox, instance, lower, words):
    with launched(sandbox, instance, programs(lower=lower)) as session:
        assert session.launched is Outcome.NOT_COMPILED
        assert session.detail.startswith(words)
        assert "\x1b" not in session.detail


def test_what_confines_programs_is_told_before_there_is_one(instance):
    said = []

    def refuse(status):
        said.append(set(status))
        raise ConfigError("This is too little.")

    # It would be refused for itself, a moment later.
    chosen = programs(lower="return {1}")
    engine = improver.engine(instance.problem, instance.data, chosen, 0, 1 << 30, False, refuse)
    with pytest.raises(ConfigError, match="too little"), engine:
        pass
    assert "seccomp" in said[0]


@pytest.mark.parametrize(
    ("answer", "routes"),
    [
        ([3, 1, 0, 2], ((3, 1), (2,))),
        ([0, 3, 1, 0, 0, 2, 0], ((3, 1), (2,))),
        ([-7], ((-7,),)),
        ([0, 0], ()),
    ],
)
def test_an_answer_is_read_as_routes_whatever_it_says(answer, routes):
    assert separated(np.array(answer, np.int64)) == routes
