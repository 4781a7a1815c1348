"""The script that breaks a module says which changes its tests do not notice."""

import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "mutants.py"
TINY = '''\
"""What a mutant never touches: 1 < 2."""


def price(count: "1 + 1", sold=False):
    if count < 0:
        raise ValueError(f"é {count + 1}")
    if sold and not count:
        print(count)
    return 2 * count
'''
TESTS = """\
import pytest
from tiny.money import price


def test_price():
    assert price(3) == 6
    with pytest.raises(ValueError):
        price(-1)
"""


def test_every_place_is_changed_once_and_stays_a_program():
    found = runpy.run_path(SCRIPT)["mutants"](TINY)
    assert [(each.line, each.old, each.new) for each in found] == [
        (5, 'if count < 0: raise ValueError(f"é {count + 1}")', "pass"),
        (5, "count < 0", "(count <= 0)"),
        (5, "0", "(1)"),
        (7, "sold and not count", "(sold or not count)"),
        (7, "not count", "(count)"),
        (8, "print(count)", "pass"),
        (9, "2", "(3)"),
    ]
    assert "    if count <= 0:" not in TINY
    assert found[1].text == TINY.replace("count < 0", "(count <= 0)")


def test_what_no_test_notices_is_listed(tmp_path):
    module = tmp_path / "src" / "tiny" / "money.py"
    tests = tmp_path / "tests" / "test_money.py"
    for path, text in ((module, TINY), (tests, TESTS)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, SCRIPT, module, "--warm=pytest"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    *survivors, told = done.stdout.splitlines()[-6:]
    lines = [line for line in survivors if "->" in line]
    assert [line.split(": ", 1)[1].split(" -> ")[0] for line in lines] == [
        *("count < 0", "0", "sold and not count", "not count", "print(count)"),
    ]
    assert told == "2 of 7 mutants caught by tests/test_money.py"
    assert done.returncode == 1
    assert module.read_text() == TINY
