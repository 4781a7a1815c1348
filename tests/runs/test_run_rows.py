from math import isnan, nan

import pytest

from run_directories import lines, row
from specahd.core.errors import FileError
from specahd.runs.rows import average_rows, read_rows
from specahd.tracking.follower import check_records


def read(path, *records):
    lines(path / "rows.jsonl", records)
    return read_rows(path / "rows.jsonl")


def test_a_failed_instance_is_counted_and_never_imputed(tmp_path):
    old = {**row("d", 10, 1e9), "status": "T"}
    rows = read(
        tmp_path,
        row("a", 10, 90.0),
        row("b", 10, 60.0, rollbacks=3),
        row("c", 10, 0.0, baseline_cost=900.0, status="T"),
        # Rows of failed instances had numbers once.
        old,
    )
    found = average_rows(rows)
    assert (found.rows, found.failed, found.steps, found.rollbacks) == (4, 2, 7, 3)
    assert found.measures() == {"baseline_cost": 100.0, "cost": 75.0, "improvement": 0.25}


def test_there_is_no_mean_of_nothing(tmp_path):
    assert isnan(average_rows([]).improvement)
    assert average_rows(read(tmp_path, row("c", 10, nan, status="T"))).measures() == {}
    assert read_rows(tmp_path / "gone.jsonl") == ()


@pytest.mark.parametrize("name", ["cost", "improvement", "baseline_cost", "steps", "instance"])
def test_a_row_that_lacks_a_field_is_refused(tmp_path, name):
    torn = {key: value for key, value in row("a", 10, 90.0).items() if key != name}
    with pytest.raises(FileError, match=rf"rows\.jsonl: line 1 .*missing required field {name}"):
        read(tmp_path, torn)


WRONG = {
    "journal.jsonl": [
        ({"sample": "a"}, "missing required field"),
        ({"record": "round", "round": "1", "upper": "a"}, "round: expected int, got str"),
    ],
    "responses.jsonl": [
        ({"round": 1, "tasks": [{"key": 3}]}, r"tasks\[0\]\.key: expected str, got int"),
        ({"round": 1, "outcome": "fine", "sample": "a"}, "outcome: invalid enum value 'fine'"),
        ({"round": 1, "outcome": "ok"}, "missing required field sample"),
        (
            {"round": 1, "outcome": "ok", "sample": "a", "utilities": [True]},
            r"utilities\[0\]: expected int \| float, got bool",
        ),
    ],
    "wal.jsonl": [({"sample": "a b"}, "sample: expected str of another form")],
    "timings.jsonl": [({"sample": "a", "at": "now"}, "at: expected float, got str")],
    "prompts.jsonl": [({"sample": "a"}, "missing required field prompt")],
    "routes.json": [({"instance": 3}, "instance: expected str, got int")],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_record_of_a_wrong_type_is_told_by_file_and_field(tmp_path, name):
    for record, words in WRONG[name]:
        lines(tmp_path / name, [record])
        with pytest.raises(FileError, match=rf"{name}: line 1 .*{words}"):
            check_records(tmp_path)
