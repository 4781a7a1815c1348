"""FunSearch: draws of clusters and programs, islands, repeated prompts, resets."""

import numpy as np
import pytest
from scipy.stats import chisquare

from specahd.core.errors import ConfigError
from specahd.methods.fun_search import FunSearch, Island, by_length, by_score
from specahd.search.versions import completion_prompt
from told import CONTRACT, failed, measured, parent, start

HEAD = f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    return depot"


def long(name, score, length, responses=None):
    """Return a program of so many characters."""
    source = HEAD + "#" * (length - len(HEAD))
    return parent(name, score, responses or (score,), source)


def test_clusters_are_drawn_by_their_scores():
    # After 3 programs of 30,000 the temperature of 0.1 is 0.09999.
    island = Island()
    for number, score in enumerate((-6.0, -7.0, -8.0)):
        island.register(parent(str(number), score, (score,)))
    cooled = island.cooled(0.1, 30_000)
    assert cooled == pytest.approx(0.09999)
    expected = [0.7307, 0.2093, 0.0600]
    assert by_score([-6, -7, -8], cooled) == pytest.approx(expected, abs=5e-5)
    rng = np.random.default_rng(3)
    drawn = [one.program.id for _ in range(5000) for one in island.draw(cooled, rng)]
    found = [drawn.count(name) for name in "012"]
    assert len(drawn) == 10_000
    assert chisquare(found, np.array(expected) / sum(expected) * len(drawn)).pvalue > 0.01


def test_small_scores_differ_and_equal_ones_are_not():
    small = by_score([-0.06, -0.07, -0.08], 0.1)
    assert small == pytest.approx(by_score([-6, -7, -8], 0.1))
    assert by_score([0.0, 0.0], 0.1) == pytest.approx([0.5, 0.5])


def test_short_programs_of_a_cluster_are_likelier():
    expected = [0.4224, 0.3458, 0.2318]
    assert by_length([400, 600, 1000]) == pytest.approx(expected, abs=5e-5)
    island = Island()
    for name, length in zip("abc", (400, 600, 1000), strict=True):
        island.register(long(name, 0.02, length))
    assert len(island.clusters) == 1
    rng = np.random.default_rng(4)
    drawn = [one.program.id for _ in range(6000) for one in island.draw(0.1, rng)]
    found = [drawn.count(name) for name in "abc"]
    assert len(drawn) == 6000
    assert chisquare(found, np.array(expected) / sum(expected) * len(drawn)).pvalue > 0.01


def test_the_temperature_falls_and_starts_again():
    island = Island()
    found = []
    for number in range(8):
        found.append(island.cooled(0.1, 4))
        island.register(parent(str(number), 0.01))
    assert found == pytest.approx([0.1, 0.075, 0.05, 0.025] * 2)


def test_equal_means_with_other_responses_are_other_clusters():
    island = Island()
    island.register(parent("a", 0.02, (0.01, 0.03)))
    island.register(parent("b", 0.02, (0.03, 0.01)))
    island.register(parent("c", 0.02, (0.01, 0.03)))
    assert [[p.program.id for p in programs] for programs in island.clusters.values()] == [
        ["a", "c"],
        ["b"],
    ]


def test_a_prompt_shows_the_worse_version_first():
    method = FunSearch(islands=1)
    method.begin(start(long("seed", 0.01, 400)))
    rng = np.random.default_rng(0)
    method.ask(0, rng)
    method.tell(measured(0, long("better", 0.02, 500)), rng)
    queries = (method.ask(index, rng) for index in range(1, 200))
    both = next(query for query in queries if len(query.parents) == 2)
    assert [one.program.id for one in both.parents] == ["better", "seed"]
    sources = [one.program.source for one in reversed(both.parents)]
    assert both.prompt == completion_prompt(CONTRACT, sources)


def test_each_prompt_is_sent_four_times():
    method = planted(*(0.01 * number for number in range(1, 11)), samples_per_prompt=4)
    rng = np.random.default_rng(0)
    queries = [method.ask(index, rng) for index in range(40)]
    blocks = [queries[first : first + 4] for first in range(0, 40, 4)]
    assert all(query is block[0] for block in blocks for query in block)
    assert len({block[0].parents[0].program.id for block in blocks}) > 3


def test_islands_are_drawn_evenly_and_a_child_joins_the_one_it_came_from():
    method = FunSearch(islands=5, samples_per_prompt=1)
    seed = parent("seed", 0.01, (0.01,))
    method.begin(start(seed, tickets=10**6))
    rng = np.random.default_rng(5)
    origins = []
    for index in range(5000):
        method.ask(index, rng)
        origins.append(method._under_way[index])
        method.tell(failed(index), rng)
    assert chisquare([origins.count(number) for number in range(5)]).pvalue > 0.01
    method.ask(5000, rng)
    method.ask(5001, rng)
    first, second = (method._under_way[index] for index in (5000, 5001))
    method.tell(measured(5000, parent("a", 0.03, (0.03,))), rng)
    method.tell(measured(5001, parent("b", 0.02, (0.02,))), rng)
    assert method._islands[first].best.program.id == "a"
    assert (0.02,) in method._islands[second].clusters
    assert (0.03,) in method._islands[first].clusters
    assert sum((0.03,) in island.clusters for island in method._islands) == 1


def planted(*scores, **options):
    """Return a method with one program on each island."""
    method = FunSearch(islands=len(scores), **{"samples_per_prompt": 1, **options})
    method.begin(start(*(parent(str(n), score, (score,)) for n, score in enumerate(scores))))
    return method


def bests(method):
    return [island.best.program.id for island in method._islands]


def test_the_worse_half_begins_again_from_survivors():
    founders = set()
    for seed in range(40):
        method = planted(0.05, 0.01, 0.04, 0.02, 0.03)
        method._reset(np.random.default_rng(seed))
        after = bests(method)
        # 5 // 2 islands are reset: those of 0.01 and 0.02.
        assert [after[number] for number in (0, 2, 4)] == ["0", "2", "4"]
        founders |= {after[1], after[3]}
        assert all(len(island.clusters) == 1 for island in method._islands)
    assert founders == {"0", "2", "4"}


def test_resets_go_by_samples_and_happen_as_a_program_is_registered():
    method = planted(0.05, 0.01, reset_period=3)
    rng = np.random.default_rng(0)
    for index in range(4):
        method.ask(index, rng)
        method.tell(failed(index), rng)
    assert bests(method) == ["0", "1"]
    method.ask(4, rng)
    method.tell(measured(4, parent("child", 0.001, (0.001,))), rng)
    assert bests(method) == ["0", "0"]


def test_a_quarter_of_the_budget_lies_between_resets_unless_it_is_said():
    method = FunSearch()
    method.begin(start(tickets=60))
    assert method._between_resets == 15


def test_members_are_the_best_of_the_islands_each_once():
    method = FunSearch(islands=3)
    method.begin(start(parent("seed", 0.01, (0.01,))))
    assert [one.program.id for one in method.members] == ["seed"]
    method = planted(0.01, 0.03, 0.02)
    method._islands[0].register(parent("more", 0.04, (0.04,)))
    assert [one.program.id for one in method.members] == ["more", "1", "2"]


def test_an_empty_island_shows_the_seed_program():
    method = FunSearch(islands=2)
    method.begin(start())
    query = method.ask(0, np.random.default_rng(0))
    assert query.parents == ()
    assert query.prompt == completion_prompt(CONTRACT, [CONTRACT.seed.source])
    method._reset(np.random.default_rng(0))
    assert list(method.members) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"islands": 0}, "method.policy.islands of at least 1, got 0"),
        ({"samples_per_prompt": 0}, "method.policy.samples_per_prompt of at least 1, got 0"),
        ({"temperature": 0}, "method.policy.temperature of at least 0.001, got 0"),
        ({"temperature": "warm"}, "method.policy.temperature to be a number, got 'warm'"),
        ({"temperature_period": 0}, "method.policy.temperature_period of at least 1, got 0"),
        ({"reset_period": 0}, "method.policy.reset_period of at least 1, got 0"),
        ({"islands": 2.5}, "method.policy.islands to be an integer, got 2.5"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        FunSearch(**options)
