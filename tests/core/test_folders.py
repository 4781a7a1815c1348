"""A folder appears whole or not at all."""

import pytest

from specahd.core.errors import WriteError
from specahd.core.folders import (
    atomic_files,
    atomic_folder,
    make_new_folder,
    safe_file_name,
    write_atomically,
    write_together,
)


def test_the_new_takes_the_place_of_the_old(tmp_path):
    target = tmp_path / "deep" / "folder"
    for text in ("old", "new"):
        with atomic_folder(target) as draft:
            (draft / text).write_text(text)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert list(target.parent.iterdir()) == [target]


def test_others_may_read_it_and_the_draft_of_a_killed_writer_goes(tmp_path):
    (tmp_path / ".folder-killed").mkdir()
    with atomic_folder(tmp_path / "folder"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o755


def test_a_name_that_is_taken_gets_a_number(tmp_path):
    made = [make_new_folder(tmp_path / "runs" / "one").name for _ in range(3)]
    assert made == ["one", "one-2", "one-3"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == made


def test_a_failure_leaves_the_old_and_no_draft(tmp_path):
    with atomic_folder(tmp_path / "folder") as draft:
        (draft / "old").write_text("old")

    def fail():
        with atomic_folder(tmp_path / "folder") as draft:
            (draft / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "old"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file.json"
    write_atomically(path, "old")
    write_atomically(path, "new")
    assert path.read_text() == "new"
    with pytest.raises(WriteError, match=r"Cannot write .*nowhere/file: No such file"):
        write_atomically(tmp_path / "nowhere" / "file", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteError, match=r"Cannot write .*folder: Is a directory"):
        write_atomically(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.json", "folder"]


def test_files_of_one_result_are_all_written_or_none(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    write_together({one: "old", two: b"old"})
    (tmp_path / "folder").mkdir()
    for last in (tmp_path / "folder", tmp_path / "nowhere" / "file"):
        with pytest.raises(WriteError, match=last.name):
            write_together({one: "new", two: "new", last: "new"})
        assert (one.read_text(), two.read_text()) == ("old", "old")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "one", "two"]


def test_a_planted_link_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    for name in (".file.json.draft", "file.json"):
        (tmp_path / name).symlink_to(victim)
    write_atomically(tmp_path / "file.json", "mine")
    assert (tmp_path / "file.json").read_text() == "mine"
    assert not (tmp_path / "file.json").is_symlink()
    assert victim.read_text() == "theirs"


def test_files_appear_together_or_not_at_all(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with atomic_files(tmp_path) as draft:
        (draft / "one").write_text("1")
        write_atomically(draft / "two", "2")
        assert not (tmp_path / "one").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "one", "two"]
    with pytest.raises(WriteError) as refused, atomic_files(tmp_path) as draft:
        write_atomically(draft / "folder" / "three", "3")
    # The draft's own name would tell nobody anything.
    assert f"Cannot write {tmp_path}/folder/three:" in str(refused.value)
    with pytest.raises(KeyboardInterrupt), atomic_files(tmp_path) as draft:
        raise KeyboardInterrupt
    assert (tmp_path / "one").read_text() == "1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "one", "two"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("X-n101-k25", "X-n101-k25"),
        ("C101.25", "C101.25"),
        ("a/b\\c d:e", "a_b_c_d_e"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("...", "solution"),
        ("Köln", "Köln"),
    ],
)
def test_any_words_make_a_name(words, name):
    assert safe_file_name(words, "solution") == name


@pytest.mark.parametrize("letter", ["x", "é", "漢", "\N{OLD PERSIAN SIGN A}"])
def test_the_longest_words_make_a_name_that_file_systems_take(tmp_path, letter):
    for shift in range(4):
        name = safe_file_name("y" * shift + letter * 5000, "solution")
        (tmp_path / f"{name}.sol").write_text("")
        assert len(name.encode()) > 190
