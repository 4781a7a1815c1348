"""What comes with specahd is compiled once and kept on disk; what anybody else wrote never is."""

import inspect
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from cases import runner_of

from specahd.api.problems import make_problem
from specahd.api.programs import BY_HAND, EVOLVED, programs_for
from specahd.core import loop_cache
from specahd.core.program import Level
from specahd.engine import builtin_programs, improver, interfaces, naming, passes, runner, strings
from specahd.engine.schedule import SMALL
from specahd.problems.cvrp import engine as cvrp
from specahd.programs.compiled import compiled, types_of
from specahd.routing.base import contracts

ANSWER = "def select_position({}):\n    return {}\n"
PARAMETERS = "detours, distances, rests, noise, demand, depot_distance, capacity, progress"


@pytest.fixture
def runners():
    """Two runners of lower programs, as two processes have them."""
    of = (interfaces.POSITIONS, [], "cvrp")
    return runner.EngineProgram(*of), runner.EngineProgram(*of)


@pytest.fixture
def kept(runners, tmp_path, monkeypatch):
    """Return the folder that keeps what this test compiles."""
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "kept"))
    loop_cache.folders.cache_clear()
    yield tmp_path / "kept"
    loop_cache.folders.cache_clear()


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Put a short program where those of a shipped checkpoint are."""
    folder = tmp_path / "checkpoints"
    (folder / "cvrp" / "programs").mkdir(parents=True)
    text = ANSWER.format(PARAMETERS, "int(len(detours) - 1)")
    (folder / "cvrp" / "programs" / "lower.py").write_text(text)
    upper = "def select_customer_groups(a, b):\n    return a\n"
    (folder / "cvrp" / "programs" / "upper.py").write_text(upper)
    monkeypatch.setattr(builtin_programs, "SHIPPED", folder)
    return text


def files(folder):
    return sorted(path.name for path in folder.rglob("*.loop"))


def position(program):
    @numba.njit
    def ask(programs, numbers):
        return programs[0](numbers, numbers, numbers, numbers, 1.0, 1.0, 1.0, 0.0)

    numbers = np.arange(4.0)
    numbers.flags.writeable = False
    return ask(program, numbers)


def test_texts_are_those_of_the_package(shipped):
    found = list(
        builtin_programs.sources(interfaces.POSITIONS, [strings.greedy_with_blinks], "cvrp")
    )
    assert found == [interfaces.POSITIONS.source_of(strings.greedy_with_blinks), shipped]


def test_what_searches_large_instances_is_one_of_them():
    problem = make_problem("cvrp")
    nodes = SMALL + 1
    large = SimpleNamespace(
        coords=np.zeros((nodes, 2)), capacity=9, demands=np.ones(nodes), matrix=None
    )
    upper = programs_for(problem, BY_HAND, large).uppers[0]
    assert upper.source != programs_for(problem, BY_HAND).uppers[0].source
    texts = builtin_programs.sources(interfaces.GROUPS, cvrp.GROUPS._functions)
    assert upper.source in texts


@pytest.mark.parametrize(
    ("name", "checkpoint"),
    [*((name, BY_HAND) for name in ("cvrp", "vrptw", "sdvrp", "tsp")), ("vrptw", EVOLVED)],
)
def test_programs_of_ours_have_one_text(name, checkpoint):
    """Solving runs the strongest seed programs or what is shipped; the zygote has them compiled."""
    problem = make_problem(name, repair="insertion")
    programs = programs_for(problem, checkpoint)
    own = dict(zip(Level, map(runner_of, improver.runners(problem)), strict=True))
    for program in (*programs.uppers, *programs.lowers):
        contract = contracts(problem.operator)[program.level]
        if checkpoint == BY_HAND:
            assert program == contract.seeds[-1]
        compiles = own[program.level]
        assert contract.arguments == compiles._interface.names
        texts = builtin_programs.sources(
            compiles._interface, compiles._functions, compiles._shipped
        )
        assert program.source in texts


def test_own_programs_are_compiled_once(runners, kept, shipped, monkeypatch):
    first, second = runners
    first.read_own()
    names = files(kept)
    assert len(names) == 1
    assert position(first.translate(shipped, "select_position")) == 3

    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(numba.core.compiler, "compile_extra", refuse)
    second.read_own()
    assert list(second._own) == [shipped]
    assert files(kept) == names


def test_a_launched_program_is_neither_kept_nor_looked_up(runners, kept, shipped):
    own, _ = runners
    own.read_own()
    before = files(kept)
    other = shipped.replace("- 1", "- 2")
    assert position(own.translate(other, "select_position")) == 2
    assert files(kept) == before


def test_what_is_kept_is_known_by_its_text(kept):
    # numba's own cache does not tell constants apart.
    for number in (1, 2):
        text = ANSWER.format(PARAMETERS, f"len(detours) * 0 + {number}")
        for _ in range(2):
            program = compiled(text, "select_position", *types_of(interfaces.POSITIONS), True)
            holder = cvrp.POSITIONS._list(program)
            assert position(holder) == number


@pytest.mark.integration
def test_loops_are_compiled_for_no_types_but_those_of_the_warm_up():
    """In a confined child, other ones would cost seconds that nobody sees."""
    cvrp.POSITIONS.warm_up()
    loops = naming.name_groups, passes.improve
    try:
        for loop in loops:
            count = len(inspect.signature(loop.py_func).parameters)
            with pytest.raises(TypeError, match="No matching definition"):
                loop(*[1.0] * count)
    finally:
        for loop in loops:
            loop.disable_compile(False)
