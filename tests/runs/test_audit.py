"""``report audit=RUN``: what a run states follows from its files, or what does not is named.

Whole audits start real processes; what is compared afterwards is tried on copies.
"""

import json
import shutil

import pytest

from commands import call
from specahd.runs import files
from specahd.runs.audit import _broken, _unselected
from specahd.runs.reading import read_run

pytestmark = pytest.mark.integration


@pytest.fixture
def place(small_runs, tmp_path):
    shutil.copytree(small_runs / "pools", tmp_path / "pools")
    shutil.copytree(small_runs / "run2", tmp_path / "run")
    return tmp_path


def edit(path, change, wanted=lambda record: True):
    """Change the first record of a file that is wanted."""
    lines = path.read_text().splitlines()
    number, record = next(
        (number, record) for number, record in enumerate(map(json.loads, lines)) if wanted(record)
    )
    change(record)
    lines[number] = json.dumps(record, sort_keys=True, separators=(",", ":"))
    path.write_text("".join(f"{line}\n" for line in lines))
    return record


def audit(place, check=True):
    return call("report", "audit=run", cwd=place, check=check)


def test_a_run_that_is_as_it_was_written_passes(place):
    samples = len(read_run(place / "run").samples)
    done = audit(place)
    assert done.stdout.startswith(f"run: {samples} programs, the checkpoint and ")
    # Nothing is left, neither here nor of the copy.
    assert sorted(path.name for path in place.iterdir()) == ["pools", "reports", "run"]
    assert not list((place / "reports").iterdir())
    assert "specahd-audit-" not in done.stderr


@pytest.mark.parametrize(("field", "value"), [("score", 0.5), ("parents", ["lower-1-0000"])])
def test_a_record_that_was_edited_is_named(place, field, value):
    def change(record):
        record[field] = value

    record = edit(place / "run" / files.JOURNAL, change, lambda record: field in record)
    done = audit(place, check=False)
    assert done.returncode == 1
    assert f"is not reproduced ({field} of {record['sample']})" in done.stderr
    assert done.stderr.endswith("run could not be repeated.\n")


def test_a_run_that_has_not_ended_is_refused(place):
    (place / "run" / "validation.jsonl").unlink()
    done = audit(place, check=False)
    assert done.returncode == 2
    assert done.stderr == "run has not ended: validation.jsonl is missing.\n"


@pytest.fixture
def copies(small_runs, tmp_path):
    ours, again = tmp_path / "ours", tmp_path / "again"
    for folder in (ours, again):
        shutil.copytree(small_runs / "run2", folder)
    assert not [*_broken(ours, again), *_unselected(read_run(ours), ours)]
    return ours, again


def program(run):
    return next((run / "checkpoint" / "programs").iterdir()).relative_to(run)


def shorten(path):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    return f"line {len(lines)} is not reproduced."


def test_a_file_of_the_checkpoint_that_differs_is_named(copies):
    ours, again = copies
    name = program(ours)
    source = (ours / name).read_text()
    (ours / name).write_text(f"{source}\n")
    assert list(_broken(*copies)) == [f"{ours / name} is reproduced with other bytes."]
    (ours / name).unlink()
    assert list(_broken(*copies)) == [f"{ours / name} is missing."]
    (ours / name).write_text(source)
    (again / name).unlink()
    assert list(_broken(*copies)) == [f"{ours / name} is not reproduced."]


def test_a_row_or_a_record_that_differs_is_named(copies):
    ours, _ = copies
    for name in (files.JOURNAL, files.RESPONSES):
        end = shorten(ours / name)
        assert f"{ours / name}: {end}" in list(_broken(*copies))
    record = edit(ours / "validation.jsonl", lambda record: record.update(cost=1.0))
    said = f"line 1 is not reproduced (cost of {record['instance']})."
    assert f"{ours}/validation.jsonl: {said}" in list(_broken(*copies))
    assert len(list(_broken(*copies))) == 3


def test_a_selection_that_no_rows_have_is_named(copies):
    ours, _ = copies
    path = ours / files.JOURNAL
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record.get("record") == "round":
            record["selection"] = 0.5
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    [said] = _unselected(read_run(ours), ours)
    assert said.startswith(f"{path}: no round has the selection ")
