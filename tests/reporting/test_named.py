"""Public sets from rows, by hand: gaps, wins against an envelope, and costs over time."""

import json

import pytest

import commands
from run_directories import lines, row, write_run
from specahd.core.errors import FileError
from specahd.reporting.document import Figure, Strong, Table
from specahd.reporting.named import named_sections


def named(instance, cost, *, best=50.0, **others):
    known = {"set": "cvrp_x", "best_known": best, "baseline_gap": 100 / best - 1}
    gap = None if cost is None else cost / best - 1
    status = "T" if cost is None else "ok"
    return row(instance, 10, cost, status=status) | known | {"gap": gap} | others


@pytest.fixture
def folder(tmp_path):
    ours = [named("a", 60.0), named("b", 70.0), named("c", None, feasible=False)]
    lines(tmp_path / "ours" / "cvrp_x" / "rows.jsonl", ours)
    lines(tmp_path / "ours" / "cvrp_x" / "rows-timings.jsonl", [{"instance": "a", "x": 3.0}])
    lines(tmp_path / "eoh" / "rows.jsonl", [named("a", 80.0), named("b", 70.0), named("c", 90.0)])
    lines(tmp_path / "last" / "rows.jsonl", [named("a", 55.0), named("b", 75.0)])
    histories = {0: [[0.1, 90.0, 0], [1.0, 60.0, 5]], 1: [[0.2, 80.0, 0], [2.0, 50.0, 5]]}
    peer = [
        named("a", told[-1][1], solver="PyVRP", seed=seed, seconds=10.0, history=told)
        for seed, told in histories.items()
    ]
    lines(tmp_path / "peers" / "rows.jsonl", peer)
    return tmp_path


def tables(sections):
    return {part.name: part for each in sections for part in each.parts if isinstance(part, Table)}


def test_a_set_has_gaps_and_wins_against_the_envelope_and_against_pyvrp(folder):
    found = tables(named_sections(folder))["sets"]
    assert found.columns[4:6] == ("other methods", "PyVRP, 10 s")
    told = {line[1]: line for line in found.rows}
    assert list(told) == ["PyVRP, 10 s", "eoh", "last", "ours"]
    # 60 and 70 of a best 50; on a another is cheaper, on b one costs as much.
    assert told["ours"] == [
        "cvrp_x", "ours", "3", "+30.00%", "0 / 1 / 1", "0 / 0 / 1", "67%", "1", "3", "nearest",
        "+100.00%",
    ]  # fmt: skip
    # What only one method solved has no envelope: eoh alone has c.
    assert told["eoh"][4:6] == ["0 / 1 / 1", "0 / 0 / 1"]
    assert told["last"][4:6] == ["1 / 0 / 1", "0 / 1 / 0"]
    # The mean over the seeds is 55, as cheap as the cheapest method.
    assert told["PyVRP, 10 s"][4:9] == ["0 / 1 / 0", "–", "100%", "0", "10"]


def test_each_instance_has_its_costs_gaps_and_failures(folder):
    found = tables(named_sections(folder))["instances-cvrp_x"]
    assert found.columns == ("instance", "size", "best known", "PyVRP, 10 s", "eoh", "last", "ours")
    first, _, third = found.rows
    assert first == ["a", "10", "50", *["55.0 (+10.00%)", "80.0 (+60.00%)"], "55.0 (+10.00%)",
                     "60.0 (+20.00%)"]  # fmt: skip
    assert [isinstance(cell, Strong) for cell in first[3:]] == [True, False, True, False]
    assert third[3:] == ["–", "90.0 (+80.00%)", "–", "T"]


def test_curves_are_means_over_the_seeds_of_what_was_known_by_then(folder, monkeypatch):
    drawn = {}

    def render(draw, panels):
        drawn.update(panels)
        return "<svg/>", b""

    monkeypatch.setattr("specahd.reporting.named.render", render)
    [section, _] = named_sections(folder)
    assert isinstance(section.parts[-1], Figure)
    curve = drawn["cvrp_x"]["PyVRP, 10 s"]
    assert (curve[0][0], curve[-1][0]) == (pytest.approx(0.2), pytest.approx(10.0))
    # 90 and 80, then 60 and 80 after a second, 60 and 50 after two; of a best 50.
    shares = {round(share, 6) for _, share in curve}
    assert shares == {0.7, 0.4, 0.1}
    assert next(share for second, share in curve if second > 1.0) == pytest.approx(0.4)


def test_what_solve_wrote_counts_and_a_folder_without_rows_is_refused(tmp_path):
    solved = named("a", 60.0, history=[[0.1, 90.0, 0]], seconds=2.0) | {"routes": [[1]]}
    (tmp_path / "solve").mkdir()
    with pytest.raises(FileError, match="holds no row of a named instance"):
        list(named_sections(tmp_path))
    (tmp_path / "solve" / "a.json").write_text(json.dumps(solved, indent=2))
    (tmp_path / "solve" / "evaluation.json").write_text("{}")
    [line] = tables(named_sections(tmp_path))["sets"].rows
    assert line[1:] == [
        "solve", "1", "+20.00%", "–", "100%", "0", "2", "nearest", "+100.00%",
    ]  # fmt: skip


def test_the_command_reports_the_sets_of_a_folder(folder):
    write_run(folder / "runs" / "a")
    words = ("runs=runs", "tracking=none", "hydra.run.dir=report")
    done = commands.call("report", *words, "sets=runs", cwd=folder, check=False)
    assert done.returncode == 2
    assert not (folder / "report").exists()
    commands.call("report", *words, "sets=.", cwd=folder)
    assert (folder / "report" / "tables" / "instances-cvrp_x.csv").is_file()
    for ending in ("svg", "png"):
        assert (folder / "report" / f"anytime.{ending}").stat().st_size > 1000
