"""Which programs a run's checkpoint holds, what chose each, and the note that says so."""

import json

import pytest
from trial_store import bring, stored
from written_run import SOURCE, WrittenRun

from specahd.reporting.family import read_frozen_programs
from specahd.tracking.description import write_note

SEARCH = {"penalty": {"weight": 1.0}, "beta": 0.5, "repertoire_size": 2}
# Of the best score alone, neither is in the checkpoint.
LOWER = {"lower-1-0002": [0.0, 0.4, 0.0, 0.0], "lower-1-0000": [0.2, 0.0, 0.0, 0.0]}


@pytest.fixture
def run(tmp_path):
    """A run of 20 programs, and what a training freezes after its first round."""
    written = WrittenRun(tmp_path / "run", search=SEARCH)
    written.commit(20)
    freeze(written, "upper-1-0001", LOWER)
    written.finish()
    manifest = {
        "schema": 2,
        "problem": "cvrp",
        "settings": {},
        "accept": "improving",
        "neighbours": 5,
        "descriptor": {"names": [], "mean": [], "scale": []},
        "upper": named("upper-1-0001"),
        "repertoire": [named(name) for name in LOWER],
    }
    checkpoint = written.directory / "checkpoint"
    (checkpoint / "manifest.json").write_text(json.dumps(manifest))
    (checkpoint / "programs").mkdir()
    for name in ("upper-1-0001", *LOWER):
        (checkpoint / "programs" / f"{name}.py").write_text(f"# {name}\n{SOURCE}")
    return written


def named(name):
    known = {"contract": "c", "operator": "i1", "parents": [], "skills": [], "tier": "compiled"}
    return {"id": name, "idea": f"The idea\nof {name}.", **known}


def freeze(run, upper, lower, number=1, selection=0.5, utility=0.25, **more):
    """Append what a round measured of its repertoire, and the round's record."""
    with (run.directory / "responses.jsonl").open("a") as responses:
        for name, gains in lower.items():
            measured = {
                "outcomes": ["ok"] * len(gains),
                "cost_before": [100.0] * len(gains),
                "cost_merged": [100.0 * (1 - gain) for gain in gains],
            }
            record = {"sample": name, "round": number, "outcome": "ok", **measured}
            responses.write(json.dumps(record) + "\n")
    record = {"record": "round", "round": number, "upper": upper, "repertoire": list(lower)}
    with (run.directory / "journal.jsonl").open("a") as journal:
        journal.write(
            json.dumps({**record, "selection": selection, "utility": utility, **more}) + "\n"
        )


def test_each_program_has_its_role_and_what_chose_it(run):
    upper, first, second = read_frozen_programs(run.directory)
    assert (upper.id, upper.role, upper.score) == ("upper-1-0001", "upper", 0.25)
    assert [(each.id, each.role) for each in (first, second)] == [
        ("lower-1-0002", "lower 1 of 2"),
        ("lower-1-0000", "lower 2 of 2"),
    ]
    # By eq. lower_objective: a quarter of the mean for quality, half of it for coverage.
    assert first.score == pytest.approx(0.25 * 0.1 + 0.5 * 0.1)
    assert second.score == pytest.approx(0.25 * 0.05 + 0.5 * 0.05)


def test_of_several_upper_programs_each_has_its_place_and_what_it_added(run):
    uppers = ["upper-1-0001", "upper-1-0003"]
    path = run.directory / "checkpoint" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["uppers"] = [named(name) for name in uppers]
    path.write_text(json.dumps(manifest))
    (run.directory / "checkpoint/programs/upper-1-0003.py").write_text(SOURCE)
    # The record of a round with one upper program is not that of this checkpoint.
    assert [each.score for each in read_frozen_programs(run.directory)] == [None] * 4
    freeze(run, uppers[0], LOWER, uppers=uppers)
    with (run.directory / "responses.jsonl").open("a") as responses:
        for name, gained in zip(uppers, ([0.3, 0.1], [0.0, 0.2]), strict=True):
            record = {"sample": name, "round": 1, "outcome": "ok", "utilities": gained}
            record |= {"penalties": [0.01, 0.01]}
            responses.write(json.dumps(record) + "\n")
    found = read_frozen_programs(run.directory)
    assert [each.role for each in found[:2]] == ["upper 1 of 2", "upper 2 of 2"]
    assert [each.score for each in found[:2]] == pytest.approx([0.2 - 0.01, 0.05 - 0.01])


@pytest.mark.parametrize(("selection", "score"), [(0.4, 0.25), (0.5, 0.25), (0.6, 0.75)])
def test_of_rounds_that_froze_the_same_the_first_best_counts(run, selection, score):
    freeze(run, "upper-1-0001", LOWER, number=2, selection=selection, utility=0.75)
    assert read_frozen_programs(run.directory)[0].score == score


def test_candidates_in_the_checkpoint_are_marked_once_it_is_final_and_no_others(run, tmp_path):
    bring(run, tmp_path, "interrupted")
    _, training, table = stored(run.directory, tmp_path)
    assert len(table) == 20
    assert table["role"].isna().all()
    assert "upper-1-0001" in training.data.tags["mlflow.note.content"]
    bring(run, tmp_path)
    _, _, table = stored(run.directory, tmp_path)
    chosen = table[table["role"].notna()]
    assert chosen["role"].to_dict() == {
        "upper-1-0001": "upper",
        "lower-1-0002": "lower 1 of 2",
        "lower-1-0000": "lower 2 of 2",
    }
    assert chosen.loc["upper-1-0001", "checkpoint_score"] == 0.25
    best = table["score"].idxmax()
    assert best not in chosen.index
    assert table["checkpoint_score"].isna()[best]


def note_of(run, uri="x", limit=5000):
    return write_note(run.directory, read_frozen_programs(run.directory), "a" * 32, uri, limit)


def test_the_note_has_results_command_and_sources(run):
    note = note_of(run, "sqlite:///mlflow.db")
    assert "- selection (3): nearest 8.0, repaired 7.0, improvement +50.00%\n" in note
    place = f"checkpoint=runs:/{'a' * 32}/checkpoint"
    uri = "tracking.uri=sqlite:///mlflow.db"
    assert f"specahd.evaluate {place} \\\n        pool=validation {uri}\n" in note
    assert str(run.directory / "checkpoint") in note
    for name in ("upper-1-0001", *LOWER):
        assert f"    # The idea of {name}.\n    # {name}\n    def select_next_node(" in note


def test_a_note_names_the_sources_for_which_it_has_no_room(run):
    limit = len(note_of(run)) - 1
    note = note_of(run, limit=limit)
    assert len(note) <= limit
    assert "# The idea of lower-1-0002." in note
    assert "The sources of lower-1-0000 are in `checkpoint/programs/`." in note
    assert note_of(run, limit=40) == note[:40]


def test_no_line_of_a_program_is_wider_than_a_page(run):
    long = f"    score = {' + '.join(['distance'] * 40)}\n\n    return 0\n"
    (run.directory / "checkpoint/programs/upper-1-0001.py").write_text(f"def f():\n{long}")
    note = note_of(run)
    assert "\n        score = distance + distance" in note
    assert max(len(line) for line in note.splitlines() if line.startswith("    ")) <= 104


@pytest.mark.parametrize("damage", ["manifest", "source", "round", "responses"])
def test_what_is_not_as_a_run_writes_it_is_left_out(run, damage):
    checkpoint = run.directory / "checkpoint"
    if damage == "manifest":
        (checkpoint / "manifest.json").write_text('{"upper": {"id": "../a", "idea": ""}}')
    elif damage == "source":
        (checkpoint / "programs" / "lower-1-0000.py").unlink()
    else:
        name = {"round": "journal", "responses": "responses"}[damage]
        path = run.directory / f"{name}.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    found = read_frozen_programs(run.directory)
    scores = {"round": [None] * 3, "responses": [0.25, None, None]}
    assert [each.score for each in found] == scores.get(damage, [])
