"""What a run directory tells while another process still writes it."""

import pytest
from written_run import BEGAN, WrittenRun

from specahd.runs.journal import Journal
from specahd.tracking.follower import RunFollower


@pytest.fixture
def run(tmp_path):
    return WrittenRun(tmp_path / "run")


def tickets(follower, **options):
    return [entry.ticket for entry in follower.new_entries(**options)]


def test_what_was_told_is_not_told_again(run):
    follower = RunFollower(run.directory)
    assert follower.new_entries() == []
    run.commit(3)
    assert tickets(follower) == [1, 2, 3]
    run.commit(1)
    run.end_round()
    [sample, end] = follower.new_entries()
    assert (sample.ticket, end.ticket, end.ends_round) == (4, 0, True)
    assert follower.new_entries(final=True) == []


def test_reading_late_tells_the_same_as_reading_along(run):
    along = RunFollower(run.directory)
    read = []
    for _ in range(4):
        run.commit(5)
        read += along.new_entries()
    assert read == RunFollower(run.directory).new_entries()


def test_a_line_that_is_not_whole_waits_for_its_end(run):
    run.commit(2)
    path = run.directory / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    follower = RunFollower(run.directory)
    assert tickets(follower) == [1]
    path.write_bytes(whole)
    assert tickets(follower) == [2]


def test_a_sample_waits_for_its_time_unless_that_will_not_come(run):
    run.commit(3)
    path = run.directory / "timings.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0])
    follower = RunFollower(run.directory)
    # A process that was killed in between never wrote the second one's.
    assert tickets(follower) == [1, 2]
    assert tickets(follower, final=True) == [3]
    late = RunFollower(run.directory).new_entries(final=True)
    assert [entry.at for entry in late] == [1000 * BEGAN] * 3


def test_other_records_of_the_journal_are_passed_over(run):
    with (run.directory / "journal.jsonl").open("a") as file:
        file.write('{"record":"skill","child":"lower-1-0001"}\n')
    [entry] = RunFollower(run.directory).new_entries()
    assert (entry.ticket, entry.measures, entry.ends_round) == (0, (), False)


def test_what_texts_cost_counts_with_the_next_program(run):
    with Journal(run.directory) as journal:
        for index in (7, 8):
            text = f"lower-1-{index:04d}"
            tokens = {"prompt_tokens": 100, "completion_tokens": 0, "cost": 2.0, "refunds": 0}
            journal.wal.append({"sample": text, "reply": "Why.", **tokens})
            journal.samples.append({"record": "text", "text": text, "reply": "Why."})
    follower = RunFollower(run.directory)
    told = [(entry.ticket, entry.measures) for entry in follower.new_entries()]
    assert told == [(0, ())] * 2
    run.commit(2)
    spent = [
        {measure.name: measure.value for measure in entry.measures}
        for entry in follower.new_entries()
    ]
    names = ("spent/prompt_tokens", "spent/cost", "spent/auxiliary_calls", "spent/tickets")
    assert [spent[0][name] for name in names] == [210.0, 4.5, 2.0, 1.0]
    assert spent[1]["spent/prompt_tokens"] == 220.0
    assert "spent/auxiliary_calls" not in spent[1]
