from pathlib import Path

import pytest
from mypy import api

from specahd.core.sums import sequential_sum
from specahd.programs.definition import define
from specahd.programs.language import MATH

PLUGIN = Path(__file__).parents[2] / "scripts" / "checked_sums.py"


def test_sums_add_from_left_to_right():
    assert sequential_sum([0.1] * 10) == 0.9999999999999999
    assert sequential_sum([1e16, 1.0, -1e16]) == 0.0
    assert repr(sequential_sum([])) == "0"
    assert sequential_sum([[1], [2]], start=[]) == [1, 2]


def test_programs_have_this_sum_and_no_newer_functions():
    assert define("def program():\n    return sum\n", "program")() is sequential_sum
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        define("def program():\n    return sum(1)\n", "program")()
    assert not MATH & {"fma", "sumprod"}


@pytest.mark.integration
def test_the_type_checker_refuses_other_sums_of_floats(tmp_path):
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nplugins = {PLUGIN}\n")
    (tmp_path / "sums.py").write_text(
        "good = sum([1, 2]), sum(one > 2 for one in range(3))\n"
        "bad = sum([0.5])\n"
        "bad = sum(0.5 * one for one in range(3))\n"
    )
    where = ["--config-file", str(tmp_path / "mypy.ini"), f"--cache-dir={tmp_path / 'cache'}"]
    told, _, _ = api.run([*where, str(tmp_path / "sums.py")])
    refused = [line for line in told.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in refused] == ["2", "3"], told
