import pytest
from omegaconf import OmegaConf

from specahd.core.errors import FileError
from specahd.core.options import Effect
from specahd.runs.configuration import (
    RunConfiguration,
    RunKind,
    flatten,
    is_covered_by,
    name_kinds,
    options_with,
    swept_overrides,
    varying_options,
    without_unset,
)


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
        ("seed: 1\nbudget: {name: a, programs: 1}\nchoices: {problem: tsp}", "choices.method"),
    ],
)
def test_a_configuration_that_no_run_wrote_is_refused(tmp_path, text, reason):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(
        FileError, match=rf"config\.yaml is not the configuration of a run.*{reason}"
    ):
        RunConfiguration.read(tmp_path)


def test_a_configuration_without_bounds_is_not_read(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\n" + "#" * (1 << 18))
    with pytest.raises(FileError, match="has more than 262,144 bytes"):
        RunConfiguration.read(tmp_path)


def kind(seed=0, llm="offline", budget="smoke", programs=40, **options):
    return RunKind.of(
        {
            "seed": seed,
            "budget": {"name": budget, "programs": programs},
            "choices": {"problem": "cvrp", "method": "specahd", "llm": llm, "budget": budget},
            **options,
        }
    )


def test_what_enters_into_no_result_makes_no_other_kind():
    first, second = (
        kind(
            seed,
            record=f"{seed}.jsonl",
            resume=str(seed),
            executor={"workers": seed + 1},
            tracking={"uri": str(seed)},
            sandbox={"require": str(seed)},
            pools={"dir": str(seed), "seed": 5},
            memory={"base_url": str(seed), "threshold": 0.5},
            search={"samplers": seed, "beta": 0.5},
        )
        for seed in (0, 1)
    )
    assert first == second
    assert first != kind(pools={"dir": "0", "seed": 5}, memory={"threshold": 0.5})
    # Names that only begin alike are not meant.
    assert kind(seeding=1) != kind(seeding=2)


def test_a_run_older_than_an_option_is_of_the_kind_of_those_without_it():
    older = kind(search={"beta": 0.5})
    newer = kind(search={"beta": 0.5, "halving": False}, limits={"instance": None})
    assert newer == older
    others = kind(search={"beta": 0.5, "halving": True}), kind(limits={"instance": 3})
    assert len({older, *others}) == 3
    # An option that is on by default says something where it is off.
    assert kind(method={"policy": {"distinct": False}}) != kind()
    stored = [("limits.instance", "None"), ("search.beta", "0.5"), ("search.halving", "True")]
    assert without_unset(stored) == tuple(stored[1:])


def test_pools_are_told_by_their_seed_or_by_the_folder_of_ones_own():
    generated = kind(pools={"dir": "pools", "seed": 5})
    newer = {"dir": "pools", "seed": 5, "files": None, "near": 0.8, "shares": [0.3, 0.2, 0.2, 0.3]}
    assert generated == kind(pools=newer) != kind(pools={**newer, "seed": 6})
    own = kind(pools={**newer, "files": "pools/cvrp-1a2b3c4d"})
    assert own != generated
    assert own == kind(pools={**newer, "files": "pools/cvrp-1a2b3c4d", "seed": 6, "capacity": 9})


def test_a_choice_stands_in_place_of_what_it_brings():
    smoke, table = kind(), kind(budget="table", programs=60)
    assert varying_options([smoke, table]) == ["budget"]
    other = kind(budget="table", programs=7)
    keys = varying_options([smoke, table, other])
    assert keys == ["budget", "budget.programs"]
    assert other.values(keys) == ["table", "7"]
    assert varying_options([smoke, smoke]) == []


def test_a_method_is_told_before_the_memory_that_it_brings():
    brought = {"problem": "cvrp", "llm": "offline", "budget": "smoke"}
    kinds = [
        kind(choices={**brought, "method": method, "memory": memory})
        for method, memory in (("specahd", "structural"), ("eoh", "none"))
    ]
    assert varying_options(kinds) == ["method"]


def test_names_tell_the_problem_and_what_differs():
    assert list(name_kinds([kind()]).values()) == ["cvrp"]
    kinds = [kind(), kind(llm="other"), kind(llm="other", search={"beta": 0.9})]
    assert sorted(name_kinds(kinds).values()) == [
        "cvrp-offline",
        "cvrp-other",
        "cvrp-other-search.beta=0.9",
    ]


def test_names_are_names_of_files_and_no_two_are_the_same():
    paths = ("../a", "//a", "x" * 300, "x" * 301)
    names = set(name_kinds([kind(search={"repertoire": path}) for path in paths]).values())
    assert len(names) == 4
    assert all("/" not in name and len(name) < 110 for name in names)


def test_an_option_is_told_only_of_those_that_it_tells_apart():
    kinds = [
        kind(search={"beta": 0.5}),
        kind(budget="quick", search={"beta": 0.5}),
        kind(budget="quick", search={"beta": 0.9}),
    ]
    assert sorted(name_kinds(kinds).values()) == [
        "cvrp-quick-search.beta=0.5",
        "cvrp-quick-search.beta=0.9",
        "cvrp-smoke",
    ]


REEVO = {"_target_": "specahd.methods.reevo.ReEvo", "_partial_": True}


def controlled(
    programs=60, operators=("e1", "m1"), design="coupled.Coupled", lower=None, upper=None, **search
):
    design = {"_target_": f"specahd.design.{design}", "policy": {"operators": list(operators)}}
    design |= {"lower": lower, "upper": upper}
    return kind(programs=programs, method=design, search=search)


def test_controls_are_named_in_words_whatever_made_them(tmp_path):
    run = tmp_path / "run"
    lines = "seed: 3\nbudget: {name: b, programs: 9}\n"
    lines += "choices: {problem: cvrp, method: eoh, llm: offline}\n"
    (run / "checkpoint").mkdir(parents=True)
    (run / "config.yaml").write_text(lines)
    upper = controlled(programs=0, initial_programs=str(run), initial_levels="upper")
    kinds = {
        "none": controlled(),
        "no program": controlled(programs=0),
        "sampled": controlled(operators=["i1"]),
        "programs of eoh": controlled(programs=0, initial_programs=str(run)),
        "upper programs of eoh": upper,
        "all programs of eoh": controlled(initial_programs=str(run), initial_levels="both"),
        "programs of gone": controlled(initial_programs="some/gone"),
        "begun with programs by hand": controlled(design="single.Single", seeds="varied"),
        "searched by ReEvo": controlled(lower=REEVO, upper=REEVO),
    }
    assert {words: each.control for words, each in kinds.items()} == {w: w for w in kinds}
    # With one seed's run or another's it is the same control.
    again = controlled(programs=0, initial_programs=str(run / "checkpoint"))
    assert again == kinds["programs of eoh"]
    for levels in (None, "lower"):
        assert controlled(programs=0, initial_programs=str(run), initial_levels=levels) == again
    names = name_kinds(list(kinds.values())[:5])
    assert sorted(names.values()) == [
        "cvrp-specahd",
        "cvrp-specahd-no_program",
        "cvrp-specahd-programs_of_eoh",
        "cvrp-specahd-sampled",
        "cvrp-specahd-upper_programs_of_eoh",
    ]
    assert controlled(lower=REEVO).control == "none"
    chosen = {"problem": "cvrp", "method": "specahd", "llm": "offline", "control": "no_program"}
    assert kind(programs=0, choices=chosen).control == "no program"
    assert kind(choices=chosen | {"control": "none"}).options == kind(choices=chosen).options


def test_of_a_class_its_name_is_told_and_not_how_it_is_called():
    made = {"_target_": "my.methods.climbing.Climb", "_partial_": True}
    kinds = [kind(method={"lower": None}), kind(method={"lower": made})]
    assert sorted(name_kinds(kinds).values()) == ["cvrp", "cvrp-method.lower=Climb"]


def test_bounds_and_how_a_service_is_reached_make_no_other_kind():
    def bounded(cost, rate):
        return RunKind.of(
            {
                "budget": {"name": "smoke", "programs": 40, "max_cost": cost, "max_tokens": rate},
                "choices": {"problem": "cvrp", "method": "specahd", "llm": "deepseek"},
                "llm": {"model": "m", "requests_per_minute": rate, "input_price": cost},
            }
        )

    assert bounded(None, None) == bounded(2.0, 60)


@pytest.mark.parametrize(
    ("saved", "passes", "repair", "name"),
    [
        ("specahd_passes", 64, "append", "specahd"),
        ("specahd", 1, "append", "specahd_one_pass"),
        ("specahd", 64, "append", "specahd"),
        # There both names stand for the same options.
        ("specahd", 1, "insertion", "specahd"),
        ("eoh", 1, "construct", "eoh"),
    ],
)
def test_a_run_has_the_name_that_its_method_has_today(tmp_path, saved, passes, repair, name):
    (tmp_path / "config.yaml").write_text(
        f"seed: 1\nbudget: {{name: a, programs: 1}}\nproblem: {{repair: {repair}}}\n"
        f"search: {{passes: {passes}}}\nchoices: {{problem: tsp, method: {saved}, llm: offline}}\n"
    )
    read = RunConfiguration.read(tmp_path)
    assert read.choices["method"] == read.values["choices"]["method"] == name
    assert RunKind.of(read.values).method == name


@pytest.mark.parametrize("params", [{"seed": "0,1"}, None])
def test_overrides_of_the_command_line_follow_those_of_an_experiment(params):
    task = ["problem=tsp", "out=${hydra.job.num}"]
    hydra = {"overrides": {"task": task}, "sweeper": {"params": params}}
    found = swept_overrides(OmegaConf.create({"hydra": hydra}))
    assert found == [*(["seed=0,1"] if params else []), *task]
