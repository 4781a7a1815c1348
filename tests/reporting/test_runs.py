import pytest

from specahd.core.errors import FileError
from specahd.reporting.runs import choose, read_runs

from .written import lines, row, write_run


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


def test_the_run_that_counts_is_chosen_before_any_score(tmp_path):
    write_run(tmp_path / "2026-01", validation=[row("a", 10, 99.0)])
    write_run(tmp_path / "2026-02", validation=[row("a", 10, 50.0)], samples=[])
    write_run(tmp_path / "2026-03", validation=[row("a", 10, 100.0)])
    write_run(tmp_path / "2026-04", seed=1, validation=[])
    write_run(tmp_path / "2026-05", seed=1, samples=[])
    # The last complete one; of partial ones that with more programs.
    assert [run.name for run in choose(read_runs(tmp_path))] == ["2026-03", "2026-04"]


def test_a_folder_without_runs_is_refused(tmp_path):
    (tmp_path / "journal.jsonl").write_text("")
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(FileError, match="holds no run"):
            read_runs(folder)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("config.yaml", "seed: [", FileError),
        ("config.yaml", "seed: 1\nchoices: {}\nbudget: {}", FileError),
        ("validation.jsonl", '{"instance": "a"}\n', FileError),
        ("journal.jsonl", '{"sample": "x", "level": "middle", "best": 1}\n', FileError),
        ("selection.jsonl", "{\n", FileError),
    ],
)
def test_a_file_that_no_run_wrote_is_refused_by_its_name(tmp_path, name, text, error):
    (write_run(tmp_path / "run") / name).write_text(text)
    with pytest.raises(error, match=name):
        read_runs(tmp_path)


def test_a_torn_last_line_is_passed_over(tmp_path):
    directory = write_run(tmp_path / "run")
    with (directory / "validation.jsonl").open("a") as file:
        file.write('{"instance": "torn')
    [run] = read_runs(tmp_path)
    assert len(run.validation) == 2
