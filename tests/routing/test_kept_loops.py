"""What numba compiled from files that changed since is compiled again."""

import os

import pytest

from specahd.routing.kernels import forget_older


def made(path, time):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time, time))
    return path


@pytest.mark.parametrize("changed", ["inner/called.py", "outer/interfaces.py"])
def test_all_goes_if_any_is_older_than_a_compiled_file(tmp_path, changed):
    made(tmp_path / "inner" / "called.py", 100)
    made(tmp_path / "outer" / "calls.py", 100)
    # Nothing of it is compiled.
    made(tmp_path / "outer" / "other.py", 900)
    kept = [
        made(tmp_path / "outer" / "__pycache__" / "calls.g-7.py311.nbi", 200),
        made(tmp_path / "outer" / "__pycache__" / "gone.h-1.py311.nbi", 300),
    ]
    # Of what others have compiled in, the code alone may be there.
    code = made(tmp_path / "inner" / "__pycache__" / "called.f-3.py311.1.nbc", 200)
    forget_older(tmp_path)
    assert all(index.exists() for index in kept)

    made(tmp_path / changed, 250)
    forget_older(tmp_path)
    assert not any(index.exists() for index in kept)
    assert code.exists()


def test_a_package_without_any_is_left_as_it_is(tmp_path):
    source = made(tmp_path / "plain.py", 100)
    forget_older(tmp_path)
    forget_older(tmp_path / "nowhere")
    assert source.exists()
