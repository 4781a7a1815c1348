import pytest
from msgspec import Struct

from specahd.core.errors import FileError
from specahd.core.options import Effect
from specahd.runs.configuration import flatten, is_covered_by, options_with, read_configuration


class Seed(Struct):
    seed: int


def test_options_are_told_by_dotted_names():
    nested = {"a": 1, "b": {"c": [1], "d": {"e": None}, "f": {}}, "g": {5: "x"}}
    assert flatten(nested) == {"a": 1, "b.c": [1], "b.d.e": None, "g.5": "x"}


def test_a_group_covers_its_options_and_no_other_name():
    assert is_covered_by("executor", ["executor"])
    assert is_covered_by("executor.workers", ["executor"])
    assert not is_covered_by("executors", ["executor"])
    assert not is_covered_by("search", ["search.samplers"])


def test_what_an_option_changes_is_read_from_the_class_that_takes_it():
    assert options_with(Effect.BOUND) == ("budget.max_cost", "budget.max_tokens")
    assert options_with(Effect.SPEED) == ("executor", "search.samplers")
    assert options_with(Effect.REPLIES, Effect.SEED) == ("seed", "llm")
    of_access = options_with(Effect.ACCESS)
    assert {"pools.dir", "llm.patience", "memory.cache", "memory.base_url"} <= set(of_access)
    # Where requests of a model go tells models of one name apart.
    assert "llm.base_url" not in of_access


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("seed: [", r"\(it is not YAML\)"),
        ("seed: one", r"\(seed: expected int, got str\)"),
        ("- 1", ""),
    ],
)
def test_a_configuration_that_no_run_wrote_is_refused(tmp_path, text, reason):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(
        FileError, match=rf"config\.yaml is not the configuration of a run.*{reason}"
    ):
        read_configuration(path, Seed)


def test_a_configuration_without_bounds_is_not_read(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\n" + "#" * (1 << 18))
    with pytest.raises(FileError, match="has more than 262,144 bytes"):
        read_configuration(path, Seed)
