"""Programs that nobody trusts, in the engine's process: the best solution before them stands."""

from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from specahd import api
from specahd.api.programs import BY_HAND, programs_for
from specahd.core.errors import ConfigError
from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine import blocks, improver
from specahd.engine.improver import Programs, SandboxedEngine
from specahd.engine.neighbourhood_search import run_search


class Confined:
    """An instance for training, and a sandbox for the engine of its problem."""

    def __init__(self, problem, data, sandbox):
        self.problem, self.data, self.sandbox = problem, data, sandbox
        self.by_hand = programs_for(problem, BY_HAND)

    def programs(self, upper="return np.arange(1, 20)", lower="return int(np.argmin(detours))"):
        """Return programs with these bodies; the short ones that stand here compile quickly."""
        [groups], [position] = self.by_hand.uppers, self.by_hand.lowers
        return Programs((rewritten(groups, upper),), (rewritten(position, lower),))

    def launched(self, programs):
        size, memory = self.data.size, 1 << 30
        return improver.launched(self.sandbox, self.problem, size, programs, memory, counted=False)

    def searched(self, programs, repairs=3000):
        """Return what a search found with some programs; it is never worse than its start."""
        problem, data = self.problem, self.data
        start = problem.baseline(data)
        cost = problem.cost(data, start)
        with self.launched(programs) as session:
            assert session.launched is Outcome.OK, session.detail
            near = self.sandbox._shared.arrays(0)["neighbour_distances"]
            engine = SandboxedEngine(session, problem, data, near, 1, seed=1)
            engine.start(start)
            found = run_search(problem, data, start, cost, engine, SearchLimit(repairs=repairs))
        assert problem.check(data, found.solution) == ()
        assert problem.cost(data, found.solution) == found.cost <= cost
        return found


def rewritten(program, body):
    head = program.source.partition("\n")[0]
    return replace(program, source=f"{head}\n    {body}\n")


@contextmanager
def confined(name, baseline="nearest"):
    problem = api.make_problem(name, baseline=baseline)
    data = next(problem.generate("lower_train", 3))
    with (
        closing(blocks.shared_block(problem, data)) as shared,
        improver.sandbox_of(problem, shared) as sandbox,
    ):
        yield Confined(problem, data, sandbox)


@pytest.fixture(scope="module")
def routes():
    with confined("cvrp", "savings") as made:
        yield made


@pytest.fixture(scope="module")
def timed():
    with confined("vrptw") as made:
        yield made


def test_honest_programs_improve(routes):
    found = routes.searched(routes.by_hand)
    assert (found.ended, found.failure) == ("repairs", "")
    assert found.cost < found.moments[0].cost
    again = routes.searched(routes.by_hand)
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
def test_nonsense_is_mended_and_counted(routes, bodies):
    found = routes.searched(routes.programs(**bodies), repairs=300)
    assert (found.fallbacks > 0, found.failure) == (True, "")


@pytest.mark.parametrize("order", ["following[5:9]", "noise[::2]", "-noise", "demands"])
def test_any_array_is_sorted_by_a_confined_child(routes, order):
    """What sorts is read from disk, which the child cannot do."""
    upper = f"return np.argsort({order}) + 1"
    found = routes.searched(routes.programs(upper=upper), repairs=300)
    assert (found.ended, found.failure) == ("repairs", "")


@pytest.mark.parametrize(
    ("name", "upper", "lower"),
    [
        ("sdvrp", None, "int(quantities[len(quantities)])"),
        ("tsp", None, "int(detours[len(detours)])"),
        ("tsp", "np.abs(np.arange(50) - 25) * 1000 + 1", None),
    ],
)
def test_other_solutions_are_mended_too(name, upper, lower):
    """Programs are wrong in the engine of another problem: it is solved all the same."""
    with confined(name) as place:
        bodies = {"upper": upper, "lower": lower}
        wrong = {key: f"return {answer}" for key, answer in bodies.items() if answer}
        found = place.searched(place.programs(**wrong), repairs=300)
    assert (found.fallbacks > 0, found.failure) == (True, "")


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
def test_times_are_not_written_to(timed, line):
    upper = f"{line}\n    return np.arange(1, 20)"
    with timed.launched(timed.programs(upper)) as session:
        assert session.launched is Outcome.NOT_COMPILED


def test_times_lead_nowhere_else(timed):
    """What a program makes of them is checked as anything else that it names."""
    answer = "return (latest_starts * 1e9 - earliest_starts).astype(np.int64)"
    found = timed.searched(timed.programs(answer), repairs=300)
    assert (found.fallbacks > 0, found.ended) == (True, "failed")
    assert "no customer was inserted" in found.failure


def test_an_endless_loop_without_effect_costs_a_fallback(routes):
    lower = "while capacity > 0:\n        demand = 0\n    return int(demand)"
    found = routes.searched(routes.programs(lower=lower), repairs=20)
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
def test_what_stalls_or_allocates_costs_a_sentence(routes, bodies, words):
    found = routes.searched(routes.programs(**bodies))
    assert found.ended == "failed"
    assert any(word in found.failure for word in words), found.failure
    assert found.solution == routes.problem.baseline(routes.data)


@pytest.mark.parametrize(
    ("lower", "words"),
    [
        ("detours[0] = 0.0; return 0", "TypingError"),
        ("return [1, 2]", "Expected an answer of int64"),
        (
            "x = [detours * 1]; x.pop(0); x.append(rests * 1); return len(x)",
            "NotInLanguage: a value of list",
        ),
        ("x = [1, 2]; x[0:0] = x; return x[2]", "NotInLanguage: an index of slice"),
    ],
)
def test_what_does_not_compile_does_not_start(routes, lower, words):
    with routes.launched(routes.programs(lower=lower)) as session:
        assert session.launched is Outcome.NOT_COMPILED
        assert session.detail.startswith(words)
        assert "\x1b" not in session.detail


def test_what_confines_programs_is_told_before_there_is_one(routes):
    said = []

    def refuse(status):
        said.append(set(status))
        raise ConfigError("This is too little.")

    # It would be refused for itself, a moment later.
    chosen = routes.programs(lower="return {1}")
    engine = improver.engine(routes.problem, routes.data, chosen, 0, 1 << 30, False, refuse)
    with pytest.raises(ConfigError, match="too little"), engine:
        pass
    assert "seccomp" in said[0]
