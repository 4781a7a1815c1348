"""--help shows the options that there are, and --version is our own."""

import pytest
from hydra import compose, initialize_config_dir

from run_directories import write_run
from specahd import __version__
from specahd.config import CONF_DIR
from specahd.config.cli import run_command, with_folders
from specahd.config.help import flat_options, help_text
from specahd.config.schemas import register_schemas
from specahd.routing.formats.kinds import STOP_COLUMNS
from specahd.solve import main as solve_main


def test_what_is_particular_to_a_command_is_what_its_help_says():
    register_schemas()
    assert "for equal repairs" in help_text("solve", ["instance=i.vrp"])
    assert "whatever the number of workers" in help_text("train")


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_help_shows_each_option_once(command, capsys):
    assert run_command(lambda config: None, command, ["--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"specahd {command} [option=value …]\n")
    assert "Hydra" not in shown
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose(command)
    for keys, _ in flat_options(config):
        name = ".".join(keys)
        assert sum(line.startswith(f"  {name}=") for line in shown.splitlines()) == 1, name


def test_help_has_the_columns_of_tables(capsys):
    assert run_command(lambda config: None, "solve", ["--help"]) == 0
    shown = capsys.readouterr().out.splitlines()
    for column, words in STOP_COLUMNS.items():
        assert any(line.split() == [column, *words.split()] for line in shown), column


def test_help_follows_the_groups_that_are_chosen(capsys):
    register_schemas()
    assert "llm.output_price" not in help_text("train")
    words = ["llm=deepseek", "-m", "seed=0,1", "--help"]
    assert run_command(lambda config: None, "train", words) == 0
    shown = capsys.readouterr().out
    assert "llm.output_price=1.2 " in shown
    assert "offline, openai" in shown
    assert run_command(lambda config: None, "train", ["llm=nobody", "-h"]) == 2
    refused = capsys.readouterr().err
    assert "llm=nobody is not a choice" in refused
    assert "Did you mean" not in refused
    assert run_command(lambda config: None, "train", ["method=eoh-s", "-h"]) == 2
    assert capsys.readouterr().err.endswith(" Did you mean eoh_s?\n")


def test_help_has_what_a_folder_of_the_users_adds(tmp_path, capsys):
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "mine.yaml").write_text("_target_: mine.Problem\nsteepness: 3\n")
    words = ["problem=mine", f"hydra.searchpath=[file://{tmp_path}]", "--help"]
    assert run_command(lambda config: None, "train", words) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["problem.steepness=3", *["an", "option", "of", "problem=mine"]] in shown
    assert any(line[:1] == ["problem=mine"] and "mine," in line for line in shown)


def test_help_and_solving_know_the_folder_of_a_checkpoint(tmp_path, monkeypatch, capsys):
    places = {name: tmp_path / name / "conf" for name in ("one", "two")}
    for name, place in places.items():
        (place / "problem").mkdir(parents=True)
        (place / "problem" / f"{name}.yaml").write_text(f"_target_: {name}.Problem\nsteepness: 3\n")
        run = tmp_path / name / "run"
        folders = {"hydra.searchpath": f"['file://{place}']"}
        write_run(run, problem=name, choices=folders)
        (run / "checkpoint").mkdir()
    monkeypatch.chdir(tmp_path)
    first, second = (f"hydra.searchpath=['file://{place}'" for place in places.values())
    assert with_folders(["checkpoint=one/run"]) == ["checkpoint=one/run", f"{first}]"]
    assert with_folders(["checkpoint='two/run/checkpoint'"])[1:] == [f"{second}]"]
    both = with_folders(["-m", "checkpoint=one/run,two/run"])[2]
    assert both == f"{first},'file://{places['two']}']"
    for words in (["checkpoint=by-hand"], ["checkpoint=one/run", "hydra.searchpath=[]"]):
        assert with_folders(words) == words
    monkeypatch.setattr("sys.argv", ["solve", "a.vrp", "checkpoint=one/run", "problem=one", "-h"])
    assert solve_main() == 0
    assert "problem.steepness=3" in capsys.readouterr().out
    # Folders are no values of a sweep.
    assert run_command(lambda config: None, "train", [both, "problem=two", "-h"]) == 0
    assert "problem.steepness=3" in capsys.readouterr().out


def test_the_version_is_our_own(capsys):
    assert run_command(lambda config: None, "train", ["--version"]) == 0
    assert capsys.readouterr().out == f"specahd {__version__}\n"
