"""Journals survive a kill at any byte."""

import os
import resource
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


@pytest.mark.parametrize("torn", [65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("kept", [b"", b'{"a":1}\n'])
def test_a_torn_end_of_any_length_is_cut_off(tmp_path, kept, torn):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(kept + b"x" * torn)
    JournalFile(path).close()
    assert path.read_bytes() == kept


def test_what_is_missing_has_no_records_and_what_is_no_file_is_refused(tmp_path):
    assert list(read_records(tmp_path / "missing")) == []
    with pytest.raises(FileError, match="is not a file"):
        list(read_records(tmp_path))


def test_a_second_writer_is_refused(tmp_path):
    first, second = (JournalFile(tmp_path / "journal.jsonl") for _ in range(2))
    first.claim()
    with pytest.raises(FileError, match="Another process"):
        second.claim()
    first.close()
    second.claim()
    second.close()


@pytest.mark.parametrize(("sync", "times"), [(True, [1, 2, 3]), (False, [0, 0, 1])])
def test_a_record_is_on_disk_at_once_if_asked_and_else_at_the_end(
    tmp_path, monkeypatch, sync, times
):
    synced = []
    monkeypatch.setattr("os.fsync", lambda file, sync=os.fsync: synced.append(sync(file)))
    file, seen = JournalFile(tmp_path / "journal.jsonl", sync=sync), []
    for act in (lambda: file.append({"a": 1}), lambda: file.append({"a": 2}), file.close):
        act()
        seen.append(len(synced))
    assert seen == times


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


def test_nothing_follows_a_record_that_did_not_fit(tmp_path):
    path = tmp_path / "journal.jsonl"
    file = JournalFile(path)
    file.append({"a": 1})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12, limits[1]))
    try:
        with pytest.raises(JournalError, match="File too large"):
            file.append({"b": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with pytest.raises(JournalError, match="File too large"):
        file.append({"c": 3})
    file.close()
    assert path.read_text() == '{"a":1}\n'


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
