"""PartEvo: batches, clusters, operators in turn, draws by fitness, survival, the external set."""

from collections import Counter

import pytest
from asked_in_turn import INSERTION, Chances, Conversation, names, parent, seeds

from specahd.methods.partevo import Cluster, PartEvo, _draw, proportions


def founded(method=None, sizes=(2, 3), seed=0):
    """Return a round whose clusters a0, a1; b0, b1, b2; … are set, scores rising from 1."""
    talk = Conversation(method or PartEvo(), [parent("x", 0.0), parent("y", 0.5)], seed=seed)
    score = iter(range(1, 99))
    talk.method._clusters = [
        Cluster([parent(f"{name}{place}", next(score)) for place in range(size)], size)
        for name, size in zip("abcd", sizes, strict=False)
    ]
    talk.method._external = [one for cluster in talk.method._clusters for one in cluster.members]
    talk.method._external.reverse()
    return talk


def test_an_iteration_is_a_summary_then_re_cc_se_lge_of_every_cluster():
    talk = founded(sizes=(2, 3, 4, 7))
    asked = Counter()
    order = []
    for _ in range(1 + 8 + 8 + 8 + 8 + 16):
        query = talk.step(text="A text.")
        asked[query.operator.name] += 1
        order.append(query.operator.name)
    assert list(dict.fromkeys(order)) == ["summary", "reflection", "re", "cc", "se", "lge"]
    assert asked == {"summary": 1, "reflection": 8, "re": 8, "cc": 8, "se": 8, "lge": 16}
    assert order == sorted(order, key=list(dict.fromkeys(order)).index)
    assert talk.step().operator.name == "summary"


def test_weights_are_one_more_than_the_distance_from_the_worst():
    # Costs 10, 10.5 and 12 weigh 3, 2.5 and 1.
    assert proportions([-10.0, -10.5, -12.0]) == pytest.approx([3 / 6.5, 2.5 / 6.5, 1 / 6.5])
    assert proportions([0.02, 0.02]) == pytest.approx([0.5, 0.5])
    members = [parent("a", -10.0), parent("b", -10.5), parent("c", -12.0)]
    chances = Chances()
    assert names(_draw(members, 2, chances)) == ["b", "c"]
    assert chances.seen == [pytest.approx([0.4615, 0.3846, 0.1538], abs=5e-5)]
    assert names(_draw(members, 3, None)) == names(_draw(members, 9, None)) == ["a", "b", "c"]


def test_initial_programs_come_in_batches_that_know_the_ideas_before():
    talk = Conversation(PartEvo(6))
    batches = []
    for _ in range(2):
        batches.append([talk.ask() for _ in range(3)])
        assert talk.ask() is None
        for _ in range(3):
            talk.tell(1.0 + talk.index, at=0)
    assert {one.operator.name for batch in batches for one in batch} == {"init"}
    assert {one.hints for one in batches[0]} == {"Ideas of other programs:\n- Idea of seed."}
    [hints] = {one.hints for one in batches[1]}
    assert hints.splitlines()[1:] == [
        "- Idea of seed.",
        *(f"- Idea of p{index}." for index in range(3)),
    ]
    # The seed program and six more: the worst has gone.
    assert talk.step().operator.name == "summary"
    assert sum(cluster.capacity for cluster in talk.method._clusters) == 6
    assert "seed" not in [name for one in talk.method._clusters for name in names(one.members)]


def test_a_child_joins_its_parents_cluster_which_is_cut_back():
    talk = founded(PartEvo(operators=["se"]))
    assert talk.step(text="Depots matter.").operator.name == "summary"
    asked = [talk.ask() for _ in range(4)]
    assert talk.ask() is None
    assert [names(one.parents)[0][0] for one in asked] == ["a", "a", "b", "b"]
    for score in (50.0, None, 60.0, None):
        talk.tell(score, at=0)
    assert talk.method.members[:2] == [parent("p3", 60.0), parent("p1", 50.0)]
    talk.ask()
    clusters = [set(names(cluster.members)) for cluster in talk.method._clusters]
    assert [len(cluster) for cluster in clusters] == [2, 3]
    assert clusters[0] <= {"a0", "a1", "p1"}
    assert clusters[1] <= {"b0", "b1", "b2", "p3"}
    assert names(talk.method._external[:3]) == ["p3", "p1", "b2"]


def test_survival_is_a_draw_by_fitness():
    talk = founded(PartEvo(operators=["se"]), sizes=(1,))
    talk.step(text="")
    talk.step(3.0)
    talk.rng = Chances()
    talk.ask()
    assert names(talk.method._clusters[0].members) == ["p1"]
    # Scores 1 and 3 weigh 1 and 3.
    assert talk.rng.seen == [[0.25, 0.75]]


def test_re_shows_a_parent_and_what_an_expert_says_of_it():
    talk = founded(PartEvo(operators=["re"], parents=1))
    talk.step(text="")
    reflections = [talk.ask() for _ in range(2)]
    assert talk.ask() is None
    talk.tell(text="Go near.", at=0)
    child = talk.ask()
    assert child.parents == reflections[0].parents
    assert child.hints == "Suggestions of the expert:\nGo near."
    assert talk.ask() is None
    talk.tell(text="", at=0)
    assert (talk.ask().hints, child.operator.name) == ("", "re")


def test_cc_shows_members_of_two_other_clusters_the_same_for_all_of_one():
    talk = founded(PartEvo(operators=["cc", "se"]), sizes=(2, 2, 3, 3))
    talk.step(text="")
    programs = [talk.step() for _ in range(8)]
    shown = [names(one.parents) for one in programs]
    assert [first[0] for first, *_ in shown] == list("aabbccdd")
    for first, second in zip(shown[::2], shown[1::2], strict=True):
        assert first[0] != second[0]
        assert first[1:] == second[1:]
        assert len({name[0] for name in first}) == 3


@pytest.mark.parametrize(("partners", "shown"), [(1, 2), (3, 4), (9, 4)])
def test_cc_shows_as_many_partners_as_there_are_clusters(partners, shown):
    talk = founded(PartEvo(operators=["cc", "se"], partners=partners), sizes=(2, 2, 3, 3))
    talk.step(text="")
    query = talk.step()
    assert len(query.parents) == shown
    assert query.operator.parents == 1 + partners


def test_cc_takes_no_turn_with_one_cluster():
    talk = founded(PartEvo(operators=["cc", "se"]), sizes=(3,))
    assert talk.step(text="").operator.name == "summary"
    assert talk.step().operator.name == "se"


def test_se_shows_the_external_set_best_first_and_the_summary():
    talk = founded(PartEvo(operators=["se"]))
    assert talk.step(text="Depots matter.").hints.startswith(
        "Programs so far, best first:\n- 500.000 %: Idea of b2.\n- 400.000 %"
    )
    ideas = "\n".join(f"- Idea of {name}." for name in ("b2", "b1", "b0", "a1", "a0"))
    assert talk.step().hints == (
        f"Ideas of programs so far, best first:\n{ideas}\n\nWhat was learned:\nDepots matter."
    )
    for _ in range(3):
        talk.step()
    assert talk.step(text="").hints.endswith("\n\nEarlier summary:\nDepots matter.")
    # Nothing was said, so what was said before stands.
    assert talk.step().hints.endswith("\n\nWhat was learned:\nDepots matter.")


def test_lge_shows_the_best_of_the_cluster_and_of_all():
    talk = founded(PartEvo(operators=["lge"]))
    talk.step(text="")
    asked = [talk.step() for _ in range(5)]
    assert [names(one.parents) for one in asked] == [
        ["a0", "a1", "b2"],
        ["a1", "b2"],
        ["b0", "b2"],
        ["b1", "b2"],
        ["b2"],
    ]
    assert [one.hints for one in asked] == [
        "Program 2 is the best of its group. Program 3 is the best of all.",
        "Program 2 is the best of all.",
        *["Program 2 is the best of its group."] * 2,
        "",
    ]


def test_a_summary_is_made_of_ten_programs_from_all_over_the_external_set():
    talk = founded(PartEvo(archive=40), sizes=(20, 20))
    told = [line.split()[-1] for line in talk.step(text="").hints.splitlines()[1:]]
    assert len(told) == 10
    assert (told[0], told[-1]) == ("b19.", "a0.")


def test_the_external_set_keeps_the_best_of_all_clusters():
    talk = founded(PartEvo(archive=4, operators=["lge"]))
    talk.step(text="")
    for score in (0.1, 3.5, 9.0, 0.2, None):
        talk.step(score)
    talk.ask()
    assert [one.score for one in talk.method._external] == [9.0, 5.0, 4.0, 3.5]


def test_two_seed_programs_are_initial_programs_that_others_join():
    talk = Conversation(PartEvo(5), seeds(0.1, 0.2), contract=INSERTION)
    asked = [talk.step(1.0 + index) for index in range(3)]
    assert [one.operator.name for one in asked] == ["init"] * 3
    assert asked[0].hints.splitlines()[1:] == [f"- {one.idea}" for one in INSERTION.seeds]
    assert talk.step(text="").operator.name == "summary"
    partitioned = {name for one in talk.method._clusters for name in names(one.members)}
    assert partitioned == {"lower-seed", "lower-greedy-with-blinks", "p0", "p1", "p2"}
