"""Tables of rows: what a comparison stands on, in one file."""

import json
from collections import defaultdict
from math import isnan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from run_directories import lines, row, write_run
from specahd.core.errors import FileError
from specahd.reporting.collected import collect, read_table, write_table
from specahd.reporting.methods import comparison_tables
from specahd.runs.reading import read_runs


@pytest.fixture
def collected(tmp_path):
    runs = tmp_path / "runs"
    elsewhere = {"search": {"repertoire": "/home/somebody/run"}}
    rows = [row("a", 200, 90.0, limited=1) | {"best_known": 80.0}, row("b", 800, 0.0, status="T")]
    write_run(runs / "eoh", method="eoh", validation=rows, options=elsewhere)
    lines(
        runs / "eoh" / "validation-timings.jsonl", [{"instance": "a", "rebuild": 2, "baseline": 1}]
    )
    write_run(runs / "ours", programs=0, samples=(), validation=[row("a", 200, 70.0)])
    write_run(runs / "partial", method="mles", samples=())
    write_run(runs / "ended", method="lhns", validation=())
    lines(tmp_path / "refs" / "cvrp" / "savings" / "rows.jsonl", [row("a", 200, 60.0)])
    return collect(runs, read_runs(runs), None, tmp_path / "refs", lambda run: f"make {run.name}")


def told(collected):
    return comparison_tables(
        collected.runs,
        defaultdict(dict, collected.seconds),
        collected.references,
        collected.spending,
        collected.baseline_seconds,
    ).markdown()


def test_a_table_gives_the_same_comparison_and_the_same_table(collected, tmp_path):
    write_table(collected, tmp_path / "rows.parquet")
    again = read_table(tmp_path / "rows.parquet")
    assert told(again) == told(collected)
    assert "savings" in told(again)
    assert "specahd, no program" in told(again)
    assert "counted in no mean: ended, partial." in told(again)
    write_table(again, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "rows.parquet").read_bytes()


def test_a_row_has_its_control_its_calls_and_the_command(collected, tmp_path):
    write_table(collected, tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    ended, first, failed, *_, reference = table
    assert (ended["run"], ended["status"], ended["instance"]) == ("ended", "interrupted", None)
    assert [each["control"] for each in table if each["run"] == "ours"] == ["no program"]
    assert (first["run"], first["control"], first["command"]) == ("eoh", "none", "make eoh")
    assert (first["steps"], first["limited"], first["seconds"]) == (2, 1, 2.0)
    assert (first["baseline_seconds"], first["best_known"]) == (1.0, 80.0)
    assert (failed["failed"], failed["cost"]) == (True, None)
    assert (reference["method"], reference["status"], reference["cost"]) == (
        "savings",
        "reference",
        60,
    )
    # No place of a machine is published.
    assert b"somebody" not in (tmp_path / "rows.parquet").read_bytes()
    assert '["search.repertoire", "run"]' in first["options"]
    assert isnan(read_table(tmp_path / "rows.parquet").spending["eoh"].tokens)


def test_rows_with_an_option_that_is_off_are_of_the_kind_of_rows_before_it(collected, tmp_path):
    path = tmp_path / "rows.parquet"
    write_table(collected, path)
    kinds = [run.kind for run in read_table(path).runs]
    table = pq.read_table(path)
    rows = table.to_pylist()
    for each in rows:
        if each["options"]:
            options = [*json.loads(each["options"]), ["search.halving", "False"]]
            each["options"] = json.dumps(sorted(options))
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    assert [run.kind for run in read_table(path).runs] == kinds


def test_what_is_no_table_of_rows_is_refused(collected, tmp_path):
    path = tmp_path / "rows.parquet"
    with pytest.raises(FileError, match="not a table of rows; report writes one as"):
        read_table(path)
    path.write_text("no Parquet")
    with pytest.raises(FileError, match="not a table of rows"):
        read_table(path)
    pq.write_table(pa.table({"run": ["a"]}), path)
    with pytest.raises(FileError, match="not a table of rows"):
        read_table(path)
    write_table(collected, path)
    table = pq.read_table(path)
    for column, value in (("status", "asleep"), ("options", "{"), ("instance", "a")):
        place = table.schema.get_field_index(column)
        values = [value] * len(table)
        changed = table.set_column(place, column, pa.array(values))
        if column == "instance":
            changed = changed.drop_columns("size")
        pq.write_table(changed, path)
        with pytest.raises(FileError, match="not a table of rows"):
            read_table(path)
