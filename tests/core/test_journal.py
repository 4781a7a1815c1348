"""Journals survive a kill at any byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.core.errors import FileError, JournalError, RunFailed
from specahd.core.journal import JournalFile, describe_difference, dumps, read_records

RECORDS = [{"b": 1, "a": "é\n"}, {"x": [1.5, None, True]}, {"y": {"z": "end"}}]


def test_equal_records_are_equal_bytes():
    assert dumps({"b": 1, "a": 2}) == dumps({"a": 2, "b": 1}) == '{"a":2,"b":1}'


def test_a_number_that_json_lacks_is_refused():
    with pytest.raises(ValueError, match="Out of range"):
        dumps({"a": float("nan")})


@given(cut=st.integers(min_value=0, max_value=1000))
def test_a_torn_end_is_cut_off_and_appending_goes_on(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    file = JournalFile(path)
    for record in RECORDS:
        file.append(record)
    file.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: min(cut, len(whole))])
    kept = path.read_bytes().count(b"\n")
    assert list(read_records(path)) == RECORDS[:kept]

    file = JournalFile(path)
    for record in RECORDS[kept:]:
        file.append(record)
    file.close()
    assert path.read_bytes() == whole


def test_an_altered_line_is_not_passed_over(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"a":1}\nnot json\n{"a":2}\n')
    with pytest.raises(FileError, match="line 2"):
        list(read_records(path))


def test_a_journal_that_cannot_be_written_stops_the_run(tmp_path):
    with pytest.raises(JournalError, match="Cannot write"):
        JournalFile(tmp_path / "missing" / "journal.jsonl")


def test_a_full_disk_stops_the_run():
    file = JournalFile(Path("/dev/full"))
    with pytest.raises(JournalError, match="No space left"):
        file.append({"a": 1})


def test_a_run_that_is_repeated_must_say_the_same_and_writes_nothing_twice(tmp_path):
    path = tmp_path / "journal.jsonl"
    file = JournalFile(path)
    for record in RECORDS:
        file.append(record)
    file.close()
    whole = path.read_bytes()

    again = JournalFile(path, repeat=True)
    for record in RECORDS:
        assert again.repeating
        again.append(record)
    assert not again.repeating
    assert path.read_bytes() == whole
    again.append({"new": 1})
    again.close()
    assert path.read_bytes() == whole + b'{"new":1}\n'


@pytest.mark.parametrize(
    ("known", "again", "words"),
    [
        ('{"sample":"a","score":1}', '{"sample":"a","score":2}', " (score of a)"),
        ('{"carried":"b","x":1,"y":1}', '{"carried":"b","x":1}', " (y of b)"),
        ('{"x":1}', '{"x":2}', " (x)"),
        ('{"x": 1}', '{"x":1}', " (spelling)"),
        ("torn", '{"x":1}', ""),
    ],
)
def test_the_field_that_differs_is_named(known, again, words):
    assert describe_difference(known.encode(), again.encode()) == words


def test_a_run_that_diverges_is_ended_and_the_file_left_as_it_was(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"a":1}\n{"a":2}\n')
    file = JournalFile(path, repeat=True)
    file.append({"a": 1})
    with pytest.raises(RunFailed, match=r"journal\.jsonl: line 2 is not reproduced"):
        file.append({"a": 3})
    assert path.read_text() == '{"a":1}\n{"a":2}\n'
