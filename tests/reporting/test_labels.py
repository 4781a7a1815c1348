"""Labels are given by level, problem and source alone, and both are kept."""

import pytest

from run_directories import write_run
from specahd.core.errors import FileError
from specahd.reporting.labels import apply_labels, read_labels
from specahd.runs.reading import read_runs

HEAD = "level,problem,source,label,note\n"


def test_a_label_replaces_the_source_where_level_and_problem_match(tmp_path):
    for number, (problem, method, level) in enumerate(
        [("cvrp", "old", "both"), ("tsp", "old", "both"), ("cvrp", "old", "lower")]
    ):
        write_run(
            tmp_path / "runs" / str(number), problem=problem, method=method,
            choices={"ablation": "no_filter"}, options={"search": {"levels": level}},
        )  # fmt: skip
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEAD}both,cvrp,old,new,batch of June\nlower,cvrp,no_filter,w/o filter,\n")
    runs, section = apply_labels(read_runs(tmp_path / "runs"), read_labels(path))
    assert [run.kind.method for run in runs] == ["new", "old", "old"]
    assert [run.kind.values(["ablation"]) for run in runs][2] == ["w/o filter"]
    assert section.parts[1].rows == [
        ["0", "0", "both", "cvrp", "old", "new", "batch of June"],
        ["2", "0", "lower", "cvrp", "no_filter", "w/o filter", ""],
    ]
    same, nothing = apply_labels(read_runs(tmp_path / "runs"), [])
    assert (same, nothing) == (read_runs(tmp_path / "runs"), None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n", "expected the columns level, problem, source, label, note in its first line"),
        (f"{HEAD}both,cvrp,old\n", "line 2 lacks one of"),
        (f"{HEAD}all,cvrp,old,new,\n", "line 2 has the level all, expected both, lower, upper"),
        (f"{HEAD}both,cvrp,a,b,\nboth,cvrp,a,c,\n", "line 3 maps both, cvrp, a again"),
    ],
)
def test_a_file_that_is_no_mapping_gets_one_sentence(tmp_path, text, told):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=told):
        read_labels(path)
