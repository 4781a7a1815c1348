"""Compiled loops are found again by their content, wherever a user may keep them."""

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from specahd.core import loop_cache
from specahd.engine import passes
from specahd.engine.steps import FAMILIES

INNER = "from specahd.core.loop_cache import njit\n\n\n@njit()\ndef inner(value):\n    return {}\n"
OUTER = """
from specahd.core.loop_cache import njit
from specahd.inner import inner


@njit(cache=True)
def outer(value):
    return inner(value)
"""
NAMES = (loop_cache.VARIABLE, "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR")
NOBODY = 12345


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    """Begin without variables of the cache, and without what a process has found out before."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    forget()
    yield
    forget()


def forget():
    for known in (loop_cache.folders, loop_cache.digest, loop_cache._source):
        known.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return what loads ``outer`` from a package of two modules in a folder, each time anew."""
    # Bytecode is found again by the second and the size, which two versions may share.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(folder="package", inner="2 * value"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "inner.py").write_text(INNER.format(inner))
        (place / "outer.py").write_text(OUTER)
        monkeypatch.setattr(loop_cache, "_PACKAGE", place)
        forget()
        for name in ("inner", "outer"):
            spec = importlib.util.spec_from_file_location(f"specahd.{name}", place / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, spec.name, module)
            spec.loader.exec_module(module)
        return module.outer

    return load


def hits(loop):
    """Return how many of a loop's signatures were read from disk."""
    return sum(loop.stats.cache_hits.values())


def test_the_same_sources_are_read_from_another_folder_and_at_another_time(
    package, tmp_path, monkeypatch
):
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "loops"))
    first = package()
    assert (first(2), hits(first)) == (4, 0)
    again = package("elsewhere")
    os.utime(tmp_path / "elsewhere" / "outer.py", (1, 1))
    assert (again(2), hits(again)) == (4, 1)


def test_a_change_of_what_a_loop_calls_is_noticed(package, tmp_path, monkeypatch):
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "loops"))
    assert package()(2) == 4
    changed = package(inner="3 * value")
    assert (changed(2), hits(changed)) == (6, 0)
    before = package()
    assert (before(2), hits(before)) == (4, 1)


def test_a_change_of_the_cache_itself_compiles_nothing_again():
    place = Path(loop_cache.__file__).parents[1]
    _, imported = loop_cache._source(place / "routing" / "kernels" / "construction.py")
    assert place / "routing" / "kernels" / "distances.py" in imported
    assert Path(loop_cache.__file__) not in imported


def test_the_engines_loop_is_found_by_the_sources_of_every_family():
    found, todo = set(), [Path(passes.__file__)]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += loop_cache._source(path)[1]
    assert {Path(family.__file__) for family in FAMILIES.values()} <= found


def test_of_a_module_the_last_versions_stay(package, tmp_path, monkeypatch):
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "loops"))
    monkeypatch.setattr(loop_cache, "_VERSIONS_KEPT", 2)
    kept = []
    for number in range(3):
        package(inner=f"value + {number}")(2)
        kept.append({path.name for path in (tmp_path / "loops").iterdir()})
        for path in (tmp_path / "loops").iterdir():
            os.utime(path, ns=(path.stat().st_mtime_ns - 10**9,) * 2)
    assert list(map(len, kept)) == [1, 2, 2]
    assert kept[2] & kept[1] == kept[1] - kept[0]


@pytest.mark.parametrize("spoil", [lambda data: data[:-9], lambda data: b"x" * 99])
def test_what_is_not_what_was_written_is_compiled_again(package, tmp_path, monkeypatch, spoil):
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "loops"))
    package()(2)
    [file] = (tmp_path / "loops").rglob("*.loop")
    file.write_bytes(spoil(file.read_bytes()))
    loop = package()
    assert (loop(2), hits(loop)) == (4, 0)
    loop = package()
    assert (loop(2), hits(loop)) == (4, 1)


def test_without_a_folder_loops_run_and_nothing_is_written(package, monkeypatch):
    monkeypatch.setattr(loop_cache, "_places_of_user", lambda: iter(()))
    loop = package()
    assert (loop(2), hits(loop)) == (4, 0)
    assert loop_cache.folder_to_write() is None
    assert loop_cache.variables() == {}


def test_no_folder_is_made_but_the_one_that_is_used(tmp_path, monkeypatch):
    places = [tmp_path / name for name in ("first", "second")]
    monkeypatch.setattr(loop_cache, "_places_of_user", lambda: iter(places))
    assert loop_cache.folders() == (places[0],)
    assert not places[1].exists()


def test_a_user_names_the_folder_or_it_is_looked_for(tmp_path, monkeypatch):
    nowhere = tmp_path / "file"
    nowhere.touch()
    wanted = {
        "TMPDIR": tmp_path / f"specahd-{os.geteuid()}",
        "HOME": tmp_path / ".cache" / "specahd",
        "XDG_CACHE_HOME": tmp_path / "specahd",
        "NUMBA_CACHE_DIR": tmp_path / "specahd",
        loop_cache.VARIABLE: tmp_path,
    }
    monkeypatch.setenv("HOME", str(nowhere / "below"))
    for name, folder in wanted.items():
        monkeypatch.setenv(name, str(tmp_path))
        loop_cache.folders.cache_clear()
        assert loop_cache.folders() == (folder,)
        assert loop_cache.folder_to_write() == folder
        assert loop_cache.variables() == {loop_cache.VARIABLE: str(folder)}
    # One that cannot be made is no reason to have none.
    monkeypatch.setenv(loop_cache.VARIABLE, str(nowhere / "below"))
    loop_cache.folders.cache_clear()
    assert loop_cache.folder_to_write() == tmp_path / "specahd"


@pytest.mark.parametrize("fault", ["link", "mode", "owner", "parent", "file", "disk"])
def test_a_temporary_folder_that_somebody_else_can_write_is_not_used(tmp_path, monkeypatch, fault):
    folder = tmp_path / f"specahd-{os.geteuid()}"
    if fault == "link":
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    elif fault == "file":
        folder.touch()
    elif fault == "disk":
        folder.mkdir()
        monkeypatch.setattr(loop_cache, "_writable", lambda _: False)
    else:
        folder.mkdir(mode=0o700)
        if fault == "mode":
            folder.chmod(0o770)
        elif os.geteuid():
            pytest.skip("only root can give a folder to another user")
        else:
            os.chown(folder if fault == "owner" else tmp_path, NOBODY, NOBODY)
    assert not loop_cache._owned(folder)
    monkeypatch.undo()
    os.chown(tmp_path, os.geteuid(), os.getegid())
    folder.unlink() if fault in ("link", "file") else shutil.rmtree(folder)
    assert loop_cache._owned(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("home", [None, "/root", "/proc"])
def test_another_user_reads_what_root_compiled_and_keeps_the_rest(package, monkeypatch, home):
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        monkeypatch.setenv(loop_cache.VARIABLE, str(place / "shipped"))
        assert package()(2) == 4
        (place / "temporary").mkdir()
        (place / "temporary").chmod(0o1777)
        monkeypatch.setenv("TMPDIR", str(place / "temporary"))
        if home is not None:
            monkeypatch.setenv("HOME", home)
        # A fork, because the interpreter may be where only root may look.
        loop = package()
        pid = os.fork()
        if not pid:
            status = 1
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                loop_cache.folders.cache_clear()
                results = (loop(2), hits(loop), loop(2.0), hits(loop))
                status = 0 if results == (4, 1, 4.0, 1) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        [kept] = (place / "temporary" / f"specahd-{NOBODY}").rglob("*.loop")
        assert kept.stat().st_uid == NOBODY
