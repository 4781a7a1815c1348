"""What a ``_target_`` names: found, or refused in one sentence that tells what is wrong with it."""

import sys

import pytest
from omegaconf import OmegaConf

from commands import call
from specahd.config.targets import check_targets, instantiate_group
from specahd.core.errors import ConfigError

OWN = {
    "__init__.py": "",
    "boom.py": "def first():\n    return 1 / 0\n\n\nfirst()\n",
    "torn.py": "class Method(:\n",
    "lacking.py": "import no_such_package\n",
    "good.py": (
        "class Method:\n"
        "    def __init__(self, needed, depth=1): ...\n\n\n"
        "class Failing:\n"
        "    def __init__(self):\n"
        "        raise ValueError('no luck')\n"
    ),
}
NEAR = "Did you mean specahd.methods.eoh.EoH?"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A package of a user's own."""
    folder = tmp_path / "own_classes"
    folder.mkdir()
    for name, text in OWN.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_classes"]:
        del sys.modules[name]


def refusal(target, **options):
    config = OmegaConf.create({"method": {"lower": {"_target_": target, **options}}})
    with pytest.raises(ConfigError) as caught:
        check_targets(config)
    told = str(caught.value)
    assert "\n" not in told
    return told.removeprefix(f"method.lower._target_={target}"), caught.value


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("specahd.methods.eho.EoH", ("no module specahd.methods.eho", NEAR)),
        ("specahd.methods.eoh.eoh", ("has no eoh", NEAR)),
        ("spechad.methods.eoh.EoH", ("no module spechad", NEAR)),
        ("specahd.qqqqqq", ("no module or name specahd.qqqqqq.",)),
        ("specahd.methods", ("got a module",)),
        ("EoH", ("method.lower._target_", "MODULE.NAME", "'EoH'")),
        ("specahd..EoH", ("method.lower._target_", "MODULE.NAME", "'specahd..EoH'")),
    ],
)
def test_a_mistake_in_a_dotted_name_is_told_with_what_is_near(target, said):
    told, _ = refusal(target)
    assert all(words in told for words in said)
    assert (NEAR in told) == (NEAR in said)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("boom", "line 2: ZeroDivisionError"),
        ("torn", "line 1: SyntaxError"),
        ("lacking", "line 1: ModuleNotFoundError: No module named 'no_such_package'"),
    ],
)
def test_what_an_own_module_raises_is_told_with_its_line(own, module, said):
    told, error = refusal(f"own_classes.{module}.Method")
    assert f"{own}/{module}.py, {said}" in told
    assert error.__cause__ is not None


def test_wrong_arguments_of_an_own_class_are_named(own):
    target = "own_classes.good.Method"
    told, _ = refusal(target, needed=1, dept=2)
    assert told.startswith("method.lower.dept: ")
    assert told.endswith("needed, depth. Did you mean depth?")
    assert "+method.lower.needed=VALUE" in refusal(target)[0]
    # Who makes it later gives the rest.
    check_targets(OmegaConf.create({"method": {"_target_": target, "_partial_": True}}))
    assert "dept" in refusal(target, dept=2, _partial_=True)[0]


def test_what_an_own_class_raises_is_told_with_its_line(own):
    config = OmegaConf.create({"_target_": "own_classes.good.Failing"})
    with pytest.raises(ConfigError, match=r"llm cannot be made: .*good.py, line 7: ValueError: no"):
        instantiate_group(config, "llm")


def test_what_hydra_does_not_call_is_refused_in_its_words():
    config = OmegaConf.create({"_target_": "os.system", "command": "true"})
    with pytest.raises(ConfigError, match=r"^llm: Target 'os.system' is blocklisted"):
        instantiate_group(config, "llm")


def test_a_search_method_in_place_of_rounds_is_told_where_it_goes(tmp_path):
    target = "specahd.methods.eoh.EoH"
    words = ["tracking=none", f"method._target_={target}"]
    done = call("train", *words, cwd=tmp_path, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert f"method.policy._target_={target}" in done.stderr
    assert list(tmp_path.iterdir()) == []
