"""The sentence that each command has for bad input: ``messages/COMMAND.txt`` has all of them.

A line ``$ WORDS`` is a command line, what follows is what the command says on standard error. With
``SPECAHD_WRITE_MESSAGES=1`` the files are written anew, for somebody to read.
"""

import logging
import os
import re
import shlex
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from commands import call
from frozen import freeze_seeds

HERE = Path(__file__).parent
COMMANDS = sorted(path.stem for path in (HERE / "messages").iterdir())


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where a user stands, with good files and bad ones."""
    tiny = (HERE / "data" / "tiny.vrp").read_text()
    for name, text in {
        "my.vrp": tiny,
        "exact.vrp": tiny.replace("EUC_2D", "EXACT_2D"),
        "torn.vrp": tiny[: tiny.index("DEMAND_SECTION") + 18],
        "small.vrp": re.sub(r"CAPACITY.*", "CAPACITY : 1", tiny).replace("\n5 1\n", "\n5 3\n"),
    }.items():
        (tmp_path / name).write_text(text)
    for name, source in (("STOPS.TXT", "stops.csv"), *((each, each) for each in
                         ("tiny.sol", "nine.tsp", "stops.csv"))):  # fmt: skip
        shutil.copy(HERE / "data" / source, tmp_path / name)
    for folder in ("empty", "sets/cvrp_small"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(HERE / "data" / "nine.tsp", tmp_path / "sets" / "cvrp_small")
    (tmp_path / "sets" / "bks.csv").touch()
    for name in ("seeds", "altered"):
        freeze_seeds("cvrp", tmp_path / name)
    path = tmp_path / "altered" / "responses.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def own_log():
    """Take back the log of a command: its run, and the file of its log, are gone afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def tree(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def lines_of(command):
    text = (HERE / "messages" / f"{command}.txt").read_text()
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_gets_one_sentence_and_leaves_nothing(command, place, monkeypatch, capfd):
    main = import_module(f"specahd.{command}").main
    before, told = tree(place), []
    for line in lines_of(command):
        monkeypatch.setattr(sys, "argv", [command, *shlex.split(line)])
        status = main()
        out, err = capfd.readouterr()
        assert (status, out, len(err.splitlines())) == (2, "", 1), (line, status, out, err)
        assert tree(place) == before, line
        told.append(f"$ {line}\n{err.replace(f'{place}/', '')}")
    path = HERE / "messages" / f"{command}.txt"
    if os.environ.get("SPECAHD_WRITE_MESSAGES"):
        path.write_text("".join(told))
    assert "".join(told) == path.read_text()


def test_a_process_refuses_with_the_same_sentence_and_status(place):
    done = call("train", "problem=nope", cwd=place, check=False, cold=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"$ problem=nope\n{done.stderr}" in (HERE / "messages" / "train.txt").read_text()
