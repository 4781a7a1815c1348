"""The command that compiles all loops does so once, and says where they are."""

import re

import pytest

from commands import call
from specahd import compile as command
from specahd.core import loop_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of the cache of one test."""
    monkeypatch.setenv(loop_cache.VARIABLE, str(tmp_path / "loops"))
    loop_cache.folders.cache_clear()
    yield tmp_path / "loops"
    loop_cache.folders.cache_clear()


def run(*words):
    return command.run_command(command.compile_loops, "compile", words)


def test_a_second_call_does_nothing_and_says_so(folder, monkeypatch, capsys):
    done = []
    monkeypatch.setattr(command, "steps", lambda problem: [lambda place: done.append(problem.name)])
    assert run("problem=tsp") == 0
    assert re.fullmatch(
        rf"tsp: all loops are compiled, in \d+ s; {folder} holds 0 MiB.\n", capsys.readouterr().out
    )
    assert run("problem=tsp") == 0
    said = capsys.readouterr()
    assert said.out == f"tsp: all loops are compiled already; {folder} holds 0 MiB.\n"
    assert (said.err, done) == ("", ["tsp"])
    assert run() == 0
    assert done == ["tsp", "cvrp", "sdvrp", "tsp", "vrptw"]


def test_without_a_folder_it_is_refused_in_one_sentence(folder, monkeypatch, capsys):
    folder.touch()
    monkeypatch.setattr(loop_cache, "_places_of_user", lambda: iter(()))
    assert run("problem=tsp") == 2
    said = capsys.readouterr().err
    assert said.startswith("Compiled loops cannot be kept: set SPECAHD_CACHE to a folder")
    assert len(said.splitlines()) == 1


@pytest.mark.integration
def test_after_it_nothing_is_compiled(tmp_path):
    problem = ["problem=cvrp"]
    call("compile", *problem, cwd=tmp_path, cold=True, timeout=3000)
    assert "already" in call("compile", *problem, cwd=tmp_path, cold=True).stdout
    for programs in ("by-hand", "evolved"):
        words = ["instance=samples/cvrp.vrp", "repairs=100", f"checkpoint={programs}"]
        assert "compiling" not in call("solve", *words, cwd=tmp_path, cold=True).stderr
