"""A row of a table is all that an argument of a program takes."""

import numba
import numpy as np
import pytest

from specahd.core.interface import arguments
from specahd.core.vocabulary import Vocabulary
from specahd.engine import interfaces, runner, select_position, strings
from specahd.engine.programs import position_call
from specahd.engine.state import Instance, Scratch

ROW = """
    returns: FloatArray = scratch.found[DISTANCE_BEHIND, :count]
        From the customer to the stop behind each position, shape (m,).
"""


@pytest.fixture
def longer():
    return interfaces.POSITIONS.changed(ROW, after="distances")


def test_a_new_argument_is_one_row(longer):
    """Signature, docstring, types, call and hand-written programs follow from it."""
    contract = select_position.contract(
        longer,
        goal="",
        runner="",
        vocabulary=Vocabulary((), ()),
        others=[(strings.greedy_with_blinks, "")],
    )
    assert contract.arguments[1:4] == ("distances", "returns", "rests")
    assert "    distances: FloatArray,\n    returns: FloatArray,\n    rests: " in contract.document
    text = "    returns\n        From the customer to the stop behind each position, shape (m,).\n"
    assert text in contract.document
    head = f"def select_position({', '.join(contract.arguments)}):\n"
    assert all(program.source.startswith(head) for program in contract.seeds)

    programs = runner.EngineProgram(longer, [])
    program = programs.translate(f"{head}    return int(np.argmin(returns))\n", "select_position")
    call = position_call(longer)

    @numba.njit
    def ask(programs, instance, scratch, noise):
        return call(0, instance, scratch, programs[0], 3, noise, 0, 1, 0.5)

    ones, nobody = np.ones(1), np.zeros((1, 1), np.int64)
    instance = Instance(np.ones((1, 1)), nobody, np.ones((1, 1)), ones, nobody[0], 1, None)
    found = np.arange(24.0).reshape(6, 4)
    # The last column is beyond the positions.
    found[2] = 5.0, 4.0, 6.0, 3.0
    scratch = Scratch(nobody[0], nobody, np.ones((1, 1)), found, nobody[0], ones)
    assert ask(program, instance, scratch, np.ones(3)) == 1


def test_programs_for_time_windows_and_parts_differ_in_rows():
    assert interfaces.TIMED_POSITIONS.names[2:6] == ("rests", "slacks", "shifts", "noise")
    [changed] = [row for row in interfaces.TIMED_POSITIONS.arguments if row.name == "detours"]
    [base] = [row for row in interfaces.POSITIONS.arguments if row.name == "detours"]
    assert (changed.kind, changed.value) == (base.kind, base.value)
    assert "served in time" in changed.text
    assert "served in time" not in base.text


@pytest.mark.parametrize("row", ["two words", "name = value", "1st - int"])
def test_a_row_that_is_none_is_refused(row):
    with pytest.raises(ValueError, match="Expected NAME"):
        arguments(row)


def test_a_function_with_other_arguments_is_refused():
    with pytest.raises(ValueError, match="select_position has no arguments rests"):
        interfaces.TOUR_POSITIONS.source_of(of_rests)


def of_rests(rests):
    return len(rests)
