"""A folder appears whole or not at all."""

import pytest

from specahd.core.folders import whole


def test_the_new_takes_the_place_of_the_old(tmp_path):
    target = tmp_path / "deep" / "folder"
    for text in ("old", "new"):
        with whole(target) as draft:
            (draft / text).write_text(text)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert list(target.parent.iterdir()) == [target]


def test_a_failure_leaves_the_old_and_no_draft(tmp_path):
    with whole(tmp_path / "folder") as draft:
        (draft / "old").write_text("old")

    def fail():
        with whole(tmp_path / "folder") as draft:
            (draft / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "old"]
