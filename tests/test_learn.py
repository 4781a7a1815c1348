"""``specahd learn FOLDER``: from a folder of days to a sentence that says whether programs pay."""

import json
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from commands import call, start
from specahd.api.learning import verdict
from test_own_pools import write_days

TINY = ["capacity=150", "budget.programs=4", "budget.rounds=1", "problem.repairs_per_customer=20"]
TINY += ["problem.final_repairs_per_customer=80", "executor.workers=1", "time_limit=0.05"]
SENTENCE = re.compile(
    r"On (\d) days that were not seen, at 0\.05 s, the learned programs cost ([+-][\d.]+)% ± "
    r"([\d.]+)% against those by hand, PyVRP "
    r"(?:[+-][\d.]+%(?: on \d of them)?|without feasible routes)\. "
    r"(They do not pay; nothing changes\.|Use them: specahd solve today\.csv capacity=150 "
    r"checkpoint=learned/cvrp-[0-9a-f]{8})"
)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder of days, and what was learned from it."""
    place = tmp_path_factory.mktemp("learned")
    write_days(place / "days", 8, stops=12)
    done = call("learn", "days", *TINY, cwd=place)
    return place, done


@pytest.mark.integration
def test_it_ends_with_a_sentence_and_the_same_command_measures_nothing_again(learned):
    place, done = learned
    *_, last = done.stdout.splitlines()
    found = SENTENCE.fullmatch(last)
    assert found, last
    assert found[1] == "2"
    [run] = (place / "learned").iterdir()
    rows = records(run / "days.jsonl")
    assert [row["solver"] for row in rows].count("learned") == 2
    assert len(rows) == 6
    named = {row["solver"]: row["programs"] for row in rows}
    assert (named["present"], named["pyvrp"]) == ("by-hand", "pyvrp")
    assert len(named["learned"]) == 64
    assert {row["instance"] for row in rows} == {
        row["instance"] for row in records(run / "validation.jsonl")
    }
    pays = float(found[2]) + float(found[3]) < 0
    assert pays == found[4].startswith("Use")
    before = (run / "days.jsonl").read_bytes(), (run / "journal.jsonl").read_bytes()
    again = call("learn", "days", *TINY, cwd=place)
    assert again.stdout == done.stdout
    assert before == ((run / "days.jsonl").read_bytes(), (run / "journal.jsonl").read_bytes())


@pytest.mark.integration
def test_what_was_learned_solves_and_is_a_run_like_others(learned):
    place, _ = learned
    [run] = (place / "learned").iterdir()
    words = ["instance=days/day-0.csv", "capacity=150", f"checkpoint={run}", "time_limit=0.1"]
    call("solve", *words, "out=a.sol", cwd=place)
    assert "Cost" in (place / "a.sol").read_text()
    assert "follow from its replies" in call("report", f"audit={run}", cwd=place).stdout


@pytest.mark.integration
@pytest.mark.parametrize(
    ("file", "number"), [("responses.jsonl", signal.SIGKILL), ("days.jsonl", signal.SIGINT)]
)
def test_the_same_command_goes_on(learned, tmp_path, file, number):
    place, _ = learned
    shutil.copytree(place / "days", tmp_path / "days")
    process = start("specahd.learn", "days", *TINY, cwd=tmp_path)
    while not any(path.stat().st_size for path in tmp_path.glob(f"learned/*/{file}")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert err.endswith("Go on with the same command.\n"), err
    again = call("learn", "days", *TINY, cwd=tmp_path)
    [run], [whole] = (list((folder / "learned").iterdir()) for folder in (tmp_path, place))
    for name in ("journal.jsonl", "checkpoint/SHA256SUMS"):
        assert (run / name).read_bytes() == (whole / name).read_bytes()
    assert SENTENCE.fullmatch(again.stdout.splitlines()[-1])
    keys = [(row["instance"], row["solver"]) for row in records(run / "days.jsonl")]
    assert len(keys) == len(set(keys)) == 6


def rows_of(learned, present, pyvrp, programs="by-hand"):
    for solver, costs in (("learned", learned), ("present", present), ("pyvrp", pyvrp)):
        for place, cost in enumerate(costs):
            named = programs if solver == "present" else solver
            yield {"solver": solver, "instance_hash": place, "cost": cost, "programs": named}


COMMAND = "specahd solve today.csv checkpoint=x"


@pytest.mark.parametrize(
    ("learned", "says"),
    [
        ([99.0, 99.1, 98.9], f"cost -1.00% ± 0.25% against those by hand. Use them: {COMMAND}"),
        ([99.0, 101.5, 98.9], "cost -0.20% ± 3.66% against those by hand. They do not pay"),
        ([101.0, 101.1, 101.2], "cost +1.10% ± 0.25% against those by hand. They do not pay"),
        ([100 - 1e-9] * 3, "cost +0.00% ± 0.00% against those by hand. They do not pay"),
        ([99.997] * 3, "cost +0.00% ± 0.00% against those by hand. They do not pay"),
    ],
)
def test_programs_pay_where_the_whole_interval_is_below_zero(learned, says):
    told = verdict(list(rows_of(learned, [100.0] * 3, [])), 10.0, COMMAND)
    assert told.startswith("On 3 days that were not seen, at 10 s, the learned programs ")
    assert says in told


def test_a_day_that_pyvrp_does_not_solve_is_left_out_of_its_mean():
    rows = list(rows_of([99.0, 99.1], [100.0, 200.0], [102.0, None], programs="evolved"))
    told = verdict(rows, 0.5, COMMAND)
    assert "against those that come with specahd, PyVRP +2.00% on 1 of them. " in told
    assert Path(COMMAND).name in told or "do not pay" in told
    told = verdict(list(rows_of([99.0], [100.0], [None])), 0.5, COMMAND)
    assert "against those by hand, PyVRP without feasible routes. " in told
