"""FunSearch: draws of clusters and programs, islands, repeated prompts, resets."""

from collections import Counter

import pytest
from asked_in_turn import CONTRACT, Chances, Conversation, names, parent
from scipy.stats import chisquare

from specahd.methods.fun_search import FunSearch, Island, by_length, by_score
from specahd.search.versions import completion_prompt


def test_clusters_are_drawn_by_their_scores():
    # After 3 programs of 30,000 the temperature of 0.1 is 0.09999.
    island = Island()
    for score in (-6.0, -7.0, -8.0):
        island.register(parent(str(score), score))
    cooled = island.cooled(0.1, 30_000)
    assert cooled == pytest.approx(0.09999)
    expected = [0.7307, 0.2093, 0.0600]
    assert by_score([-6, -7, -8], cooled) == pytest.approx(expected, abs=5e-5)
    chances = Chances()
    assert names(island.draw(cooled, chances)) == ["-8.0", "-7.0"]
    assert chances.seen[0] == pytest.approx(expected, abs=5e-5)
    # Small scores differ as much, and equal ones not at all.
    assert by_score([-0.06, -0.07, -0.08], cooled) == pytest.approx(expected, abs=5e-5)
    assert by_score([0.0, 0.0], 0.1) == pytest.approx([0.5, 0.5])


def test_short_programs_of_a_cluster_are_likelier():
    expected = [0.4224, 0.3458, 0.2318]
    assert by_length([400, 600, 1000]) == pytest.approx(expected, abs=5e-5)
    island = Island()
    for name, length in zip("abc", (400, 600, 1000), strict=True):
        island.register(parent(name, 0.02, source="#" * length))
    assert len(island.clusters) == 1
    chances = Chances()
    assert names(island.draw(0.1, chances)) == ["c"]
    assert chances.seen == [[1.0], pytest.approx(expected, abs=5e-5)]


def test_the_temperature_falls_and_starts_again():
    island = Island()
    found = []
    for number in range(8):
        found.append(island.cooled(0.1, 4))
        island.register(parent(str(number), 0.01))
    assert found == pytest.approx([0.1, 0.075, 0.05, 0.025] * 2)


def test_equal_means_with_other_responses_are_other_clusters():
    island = Island()
    for name, responses in (("a", (0.01, 0.03)), ("b", (0.03, 0.01)), ("c", (0.01, 0.03))):
        island.register(parent(name, 0.02, responses))
    assert list(map(names, island.clusters.values())) == [["a", "c"], ["b"]]


def test_a_prompt_shows_the_worse_version_first():
    talk = Conversation(FunSearch(islands=1, samples_per_prompt=1), [parent("seed", 0.01)])
    talk.step(0.02)
    queries = (talk.step() for _ in range(200))
    both = next(query for query in queries if len(query.parents) == 2)
    assert names(both.parents) == ["p0", "seed"]
    sources = [one.program.source for one in reversed(both.parents)]
    assert both.prompt == completion_prompt(CONTRACT, sources)


def planted(*scores, seed=0, **options):
    """Return a round with one program on each island."""
    method = FunSearch(islands=len(scores), **{"samples_per_prompt": 1, **options})
    return Conversation(
        method, [parent(str(number), score) for number, score in enumerate(scores)], seed=seed
    )


def test_each_prompt_is_sent_four_times():
    talk = planted(*(0.01 * number for number in range(1, 11)), samples_per_prompt=4)
    queries = [talk.ask() for _ in range(40)]
    blocks = [queries[first : first + 4] for first in range(0, 40, 4)]
    assert all(query is block[0] for block in blocks for query in block)
    assert len({block[0].parents[0].program.id for block in blocks}) > 3


def test_islands_are_drawn_evenly():
    talk = planted(0.01, 0.02, 0.03, 0.04, 0.05, reset_period=10**6)
    origins = Counter(name for _ in range(400) for name in names(talk.step().parents))
    assert len(origins) == 5
    assert chisquare(list(origins.values())).pvalue > 0.01


def test_a_child_joins_the_island_it_came_from():
    talk = planted(*(0.01 * number for number in range(1, 6)))
    places = [int(names(talk.ask().parents)[0]) for _ in range(2)]
    assert places[0] != places[1]
    for score in (0.5, 0.4):
        talk.tell(score, at=0)
    for place, score in zip(places, (0.5, 0.4), strict=True):
        holding = [(score,) in island.clusters for island in talk.method._islands]
        assert (holding.index(True), sum(holding)) == (place, 1)


def bests(talk):
    return names(island.best for island in talk.method._islands)


def test_the_worse_half_begins_again_from_survivors():
    founders = set()
    for seed in range(40):
        talk = planted(0.05, 0.01, 0.04, 0.02, 0.03, seed=seed)
        talk.method._reset(talk.rng)
        after = bests(talk)
        # 5 // 2 islands are reset: those of 0.01 and 0.02.
        assert [after[number] for number in (0, 2, 4)] == ["0", "2", "4"]
        founders |= {after[1], after[3]}
        assert all(len(island.clusters) == 1 for island in talk.method._islands)
    assert founders == {"0", "2", "4"}


def test_resets_go_by_samples_and_happen_as_a_program_is_registered():
    talk = planted(0.05, 0.01, reset_period=3)
    for _ in range(4):
        talk.step()
    assert bests(talk) == ["0", "1"]
    talk.step(0.001)
    assert bests(talk) == ["0", "0"]


def test_a_quarter_of_the_budget_lies_between_resets_unless_it_is_said():
    assert Conversation(FunSearch(), tickets=60).method._between_resets == 15


def test_members_are_the_best_of_the_islands_each_once():
    assert names(Conversation(FunSearch(islands=3)).method.members) == ["seed"]
    method = planted(0.01, 0.03, 0.02).method
    method._islands[0].register(parent("more", 0.04))
    assert names(method.members) == ["more", "1", "2"]


def test_an_empty_island_shows_the_seed_program():
    talk = Conversation(FunSearch(islands=2), [])
    query = talk.ask()
    assert query.parents == ()
    assert query.prompt == completion_prompt(CONTRACT, [CONTRACT.seed.source])
    talk.method._reset(talk.rng)
    assert list(talk.method.members) == []
