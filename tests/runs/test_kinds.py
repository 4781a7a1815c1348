from specahd.runs.kinds import RunKind, name_kinds, varying_options


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
