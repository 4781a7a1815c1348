import pytest

from run_directories import lines, row, sample, write_run
from specahd.config.resume import with_choices
from specahd.core.errors import FileError
from specahd.runs.reading import RunStatus, choose_runs, read_run, read_runs, require_current
from specahd.search.replay import Replay


def test_a_run_is_told_by_its_files(tmp_path):
    write_run(tmp_path / "runs" / "cvrp" / "one", seed=3)
    [run] = read_runs(tmp_path / "runs")
    assert (run.name, run.kind.problem, run.kind.budget, run.seed) == (
        "cvrp/one",
        "cvrp",
        "smoke",
        3,
    )
    assert [sample.best for sample in run.samples] == [None, 0.04, 0.02, 0.06]
    assert [found.cost for found in run.validation] == [90.0, 80.0]
    assert run.complete


def test_rows_of_an_evaluation_take_the_place_of_the_runs_own(tmp_path):
    write_run(tmp_path / "runs" / "one")
    write_run(tmp_path / "runs" / "two", seed=1)
    lines(tmp_path / "evaluations" / "one" / "rows.jsonl", [row("c", 30, 70.0)])
    one, two = read_runs(tmp_path / "runs", tmp_path / "evaluations")
    assert [found.instance for found in one.validation] == ["c"]
    assert not two.validation
    assert not two.complete


def test_a_run_is_complete_when_its_tickets_are_spent_and_its_rows_are_there(tmp_path):
    quarter = [sample("lower", 1, 0.1)]
    told = {
        "whole": write_run(tmp_path / "whole"),
        "no tickets": write_run(tmp_path / "zero", programs=0, samples=[]),
        "stopped": write_run(tmp_path / "stopped", samples=quarter),
        "stopped at once": write_run(tmp_path / "at once", samples=[]),
        "no rows": write_run(tmp_path / "rows", selection=(), validation=()),
        "no validation": write_run(tmp_path / "validation", validation=()),
        "no selection": write_run(tmp_path / "selection", selection=()),
    }
    assert {name: str(read_run(directory).status) for name, directory in told.items()} == {
        "whole": "complete",
        "no tickets": "complete",
        "stopped": "partial",
        "stopped at once": "partial",
        "no rows": "interrupted",
        "no validation": "interrupted",
        "no selection": "interrupted",
    }


def test_a_text_that_a_method_asked_for_spends_no_ticket(tmp_path):
    texts = [{"record": "text", "text": "t", "sample": "s", "level": "lower", "round": 1}] * 4
    assert read_run(write_run(tmp_path / "run", samples=texts)).status is RunStatus.PARTIAL


def test_the_newest_complete_run_counts_by_recorded_time_and_not_by_name(tmp_path):
    write_run(tmp_path / "2026-03", recorded=100.0)
    write_run(tmp_path / "2026-01", recorded=300.5)
    write_run(tmp_path / "2026-02", recorded=200.0)
    # Later, but not complete.
    write_run(tmp_path / "2026-04", recorded=400.0, samples=[sample("lower", 1, 0.9)])
    write_run(tmp_path / "2026-05", recorded=500.0, validation=())
    # A time that nobody recorded is none.
    write_run(tmp_path / "2026-06")
    assert [run.name for run in choose_runs(read_runs(tmp_path))] == ["2026-01"]


def test_a_complete_run_comes_before_partial_ones_even_if_nobody_recorded_its_time(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b", samples=[sample("lower", 1, 0.9)] * 3, recorded=400.0)
    assert [run.name for run in choose_runs(read_runs(tmp_path))] == ["a"]


def test_of_partial_runs_that_with_most_samples_counts(tmp_path):
    two, one = ([sample("lower", 1, 0.1)] * count for count in (2, 1))
    write_run(tmp_path / "a", samples=two, recorded=100.0)
    write_run(tmp_path / "b", samples=one, recorded=300.0)
    write_run(tmp_path / "c", samples=two, recorded=200.0, validation=())
    assert [run.name for run in choose_runs(read_runs(tmp_path))] == ["c"]


def test_runs_of_another_seed_or_option_do_not_compete(tmp_path):
    write_run(tmp_path / "a", recorded=1.0)
    write_run(tmp_path / "b", recorded=2.0, seed=1)
    write_run(tmp_path / "c", recorded=3.0, options={"search": {"beta": 0.9}})
    assert len(choose_runs(read_runs(tmp_path))) == 3


def test_only_the_version_that_wrote_a_run_goes_on_with_it(tmp_path):
    old = {key: value for key, value in sample("lower", 1, 0.1).items() if key != "contract"}
    given = {"record": "given", "repertoire": ""}
    directory = write_run(tmp_path / "run", samples=[given, old])
    with pytest.raises(FileError, match="was written by an older version of specahd, which alone"):
        require_current(directory)
    (directory / "machine.json").write_text('{"version.specahd": "0.8.1"}')
    with pytest.raises(FileError, match=r"run was written by specahd 0\.8\.1, which alone"):
        Replay.read(directory)
    with pytest.raises(FileError, match=r"specahd 0\.8\.1"):
        with_choices([f"resume={directory}"])
    # Its results are read as ever.
    assert len(read_run(directory).samples) == 1


def test_a_run_of_this_version_and_one_without_samples_may_go_on(tmp_path):
    require_current(write_run(tmp_path / "new"))
    require_current(write_run(tmp_path / "empty", samples=[]))
    (tmp_path / "none").mkdir()
    require_current(tmp_path / "none")


def test_a_folder_without_runs_is_refused(tmp_path):
    (tmp_path / "journal.jsonl").write_text("")
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(FileError, match="holds no run"):
            read_runs(folder)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", "seed: 1\nchoices: {}\nbudget: {}"),
        ("validation.jsonl", '{"instance": "a"}\n'),
        ("journal.jsonl", '{"sample": "x", "level": "middle", "best": 1}\n'),
        ("selection.jsonl", "{\n"),
        ("timings.jsonl", '{"at": "now"}\n'),
    ],
)
def test_a_file_that_no_run_wrote_is_refused_by_its_name(tmp_path, name, text):
    (write_run(tmp_path / "run") / name).write_text(text)
    with pytest.raises(FileError, match=name):
        read_runs(tmp_path)


def test_a_torn_last_line_is_passed_over(tmp_path):
    directory = write_run(tmp_path / "run")
    with (directory / "validation.jsonl").open("a") as file:
        file.write('{"instance": "torn')
    [run] = read_runs(tmp_path)
    assert len(run.validation) == 2
