"""What ``python -m specahd.embed`` refuses: one sentence, status 2, and nothing loaded."""

import subprocess
import sys

import pytest

from specahd.config.cli import run_command
from specahd.core import extras
from specahd.core.errors import ConfigError
from specahd.core.serving import ServedModel, ServerSettings
from specahd.embed import embed

TINY = ["+models={bert:{}}", "serve=[bert]", "device=cpu", "port=0"]


def refused(capsys, *arguments):
    assert run_command(embed, "embed", arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    [sentence] = errors.splitlines()
    return sentence


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("serve", ["gpt"]),
        ("serve", []),
        ("port", 70000),
        ("device", "tpu"),
        ("batch_size", 0),
        ("wait_ms", -1),
        ("queue", 255),
        ("max_texts", 0),
        ("max_characters", 0),
        ("timeout", 0),
        ("connections", 0),
    ],
)
def test_an_option_out_of_range_is_refused_by_its_name(name, value):
    with pytest.raises(ConfigError, match=rf"^Expected {name} "):
        ServerSettings(**{"models": {"bert": ServedModel()}, name: value})


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("port=x", "port"),
        ("port=70000", "port"),
        ("+models={a:{max_tokens:0}}", "models.a.max_tokens"),
        ("+models={a:{folder:b}}", "folder"),
    ],
)
def test_the_command_refuses_an_option_in_one_sentence(capsys, argument, named):
    assert named in refused(capsys, argument)


def test_without_the_extra_it_says_what_to_install(capsys, monkeypatch):
    # Whatever is installed here.
    monkeypatch.setattr(extras, "requires", lambda name: ["is-nowhere>=1; extra == 'embed'"])
    assert "pip install 'specahd[embed]'" in refused(capsys)


def test_the_command_loads_no_library_of_the_extra():
    code = "import sys, specahd.embed; print({'torch', 'fastapi', 'uvicorn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_missing_folder_and_one_that_is_no_model(capsys, tiny_models, tmp_path):
    folder = f"models_dir={tmp_path}"
    sentence = refused(capsys, folder)
    assert sentence.startswith("intfloat/multilingual-e5-large-instruct is not there: no folder ")
    assert "models_dir" in sentence
    (tmp_path / "bert").mkdir()
    assert "bert is no model" in refused(capsys, folder, *TINY)
    (tmp_path / "bert" / "config.json").write_text("{}")
    assert "bert is no model that can be loaded: " in refused(capsys, folder, *TINY)


def test_a_port_that_is_taken_and_a_host_of_another_machine(capsys, tiny_models):
    from specahd.memory.serving.app import listen

    folder = f"models_dir={tiny_models}"
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        sentence = refused(capsys, folder, *TINY, f"port={port}")
        assert sentence.startswith(f"Cannot listen at 127.0.0.1:{port}: Address already in use")
    sentence = refused(capsys, folder, *TINY, "host=192.0.2.1")
    assert sentence.startswith("Cannot listen at 192.0.2.1:0: Cannot assign requested address")
    assert "Cannot listen at no.such.host.invalid" in refused(
        capsys, folder, *TINY, "host=no.such.host.invalid"
    )
