"""MCTS-AHD: bounds, widening, the tree, what an iteration asks for, and how it goes on."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from asked_in_turn import Chances, Conversation, names, parent

from specahd.core.program import Outcome
from specahd.methods.mcts_ahd import MCTSAHD, confidence_bound, is_widened

MIX = ["e2", "m1", "m1", "m2", "m2"]
FOUR = (("a", 0.4), ("b", 0.3), ("c", 0.2), ("d", 0.1))
"""Children of the root; on such a node there is no path that s1 could show."""


def begun(carried=FOUR, tickets=1000, seed=0, **options):
    method = MCTSAHD(**options)
    talk = Conversation(method, [parent(*one) for one in carried], tickets, seed)
    return method, talk


def all_asked(talk):
    """Ask until the method waits; return what it asked for."""
    asked = list(islice(iter(talk.ask, None), 50))
    assert len(asked) < 50
    return asked


def fail_all(talk, outcome=Outcome.TIMEOUT):
    """Tell that all that is under way failed."""
    while talk.queries:
        talk.tell(at=0, outcome=outcome)


def grow(talk, score=0.9, text="It does."):
    """Let an iteration bring one program, by its first expansion, and describe it."""
    all_asked(talk)
    talk.tell(score, at=0)
    fail_all(talk)
    return talk.step(text=text)


def operators(queries):
    return [query.operator.name for query in queries]


def find(method, name, node=None):
    """Return the node of a program."""
    node = node or method.root
    for child in node.children:
        if child.program.program.id == name:
            return child
        found = find(method, name, child)
        if found:
            return found
    return None


def test_the_bound_of_a_child_by_hand():
    # Q = -6.5 in [-8, -6]; λ0 = .1, 40 % of the budget used; 9 visits above, 3 of its own.
    assert confidence_bound(-6.5, (-8.0, -6.0), 0.1 * 0.6, 9, 3) == pytest.approx(0.8026, abs=5e-5)
    assert confidence_bound(0.2, (0.2, 0.2), 0.0, 9, 3) == 0.0


def test_a_node_of_nine_visits_is_widened_up_to_three_children():
    assert [is_widened(9, children, 0.5) for children in (2, 3)] == [True, False]


@pytest.mark.parametrize(
    ("carried", "asked"),
    [([], ["i1", "e1", "e1", "e1"]), ([("seed", 0.0)], ["i1", "e1", "e1"])],
)
def test_i1_then_e1_one_by_one_until_the_root_has_four_children(carried, asked):
    method, talk = begun(carried)
    for number, name in enumerate(asked, 1):
        query = talk.ask()
        assert (query.operator.name, bool(query.parents)) == (name, name == "e1")
        assert talk.ask() is None
        talk.tell(0.1 * number)
        assert talk.ask().operator.name == "describe"
        assert talk.ask() is None
        talk.tell(text="It does.")
    assert len(method.root.children) == 4
    assert operators(all_asked(talk)) == MIX


def test_what_scores_like_another_child_of_the_root_is_abandoned():
    method, talk = begun(FOUR[:3])
    talk.step(0.3)
    assert len(method.root.children) == 3
    assert talk.ask().operator.name == "e1"


def test_an_iteration_expands_where_it_ends_and_s1_shows_the_path_to_there():
    _, talk = begun(exploration=0.0)
    queries = all_asked(talk)
    assert operators(queries) == MIX
    assert [names(query.parents)[0] for query in queries] == ["a"] * 5
    for score in (0.9, 0.5, 0.3):
        talk.tell(score, at=0)
    fail_all(talk)
    assert operators(all_asked(talk)) == ["describe"] * 3
    while talk.queries:
        talk.tell(text="It does.", at=0)
    # The root has 7 visits and 4 children, a has 4 and 3.
    queries = all_asked(talk)
    assert operators(queries) == [*MIX, "s1"]
    assert [names(query.parents)[0] for query in queries] == ["p0"] * 6
    assert names(queries[-1].parents) == ["p0", "a"]


def test_nodes_on_the_way_are_widened_by_e1_below_the_root_and_else_by_e2():
    method, talk = begun(exploration=0.0)
    grow(talk)
    method.root.visits, find(method, "a").visits = 25, 4
    queries = all_asked(talk)
    assert operators(queries) == ["e1", "e2", *MIX, "s1"]
    assert names(queries[1].parents)[0] == "a"
    assert [names(query.parents)[0] for query in queries[2:]] == ["p0"] * 6
    talk.tell(0.7, at=1)
    assert [names([node.program])[0] for node in find(method, "a").children] == ["p0", "p7"]


def test_new_scores_go_up_the_tree():
    method, talk = begun(exploration=0.0)
    all_asked(talk)
    node = find(method, "a")
    # The value of a node is its best child's, even if its own score is better.
    for score, value in ((0.05, 0.05), (0.9, 0.9), (0.5, 0.9)):
        talk.tell(score, at=0)
        assert node.value == value
    assert (node.visits, method.root.visits) == (4, 7)
    assert names(one.program for one in node.below) == ["a", "p0", "p1", "p2"]
    assert find(method, "p0").visits == 1
    assert names(method.members) == ["p1", "p2", "a", "b", "c", "d", "p0"]


def test_exploration_falls_to_nothing_with_the_tickets():
    method, talk = begun(exploration=1e6, tickets=5)
    find(method, "a").visits = 50
    assert names(all_asked(talk)[1].parents) == ["b"]
    fail_all(talk)
    assert names(all_asked(talk)[1].parents) == ["a"]


def test_no_descent_goes_below_the_depth():
    _, talk = begun(exploration=0.0, depth=2, widening=0.0)
    deepest = []
    for number in range(4):
        queries = all_asked(talk)
        [first] = [query for query in queries if query.operator.name == "e2"]
        deepest.append(names(first.parents)[0])
        talk.tell(0.5 + 0.1 * number, at=0)
        fail_all(talk)
        talk.step(text="It does.")
    # a, then its child, then that child again: what is below it is never reached.
    assert deepest == ["a", "p0", "p0", "p0"]


def test_e1_shows_two_to_five_programs_of_the_subtrees():
    method, talk = begun([*FOUR, ("e", 0.05), ("f", 0.04)], exploration=0.0)
    grow(talk)
    seen, counts = Counter(), Counter()
    for _ in range(300):
        method.root.visits = 49
        query = talk.ask()
        assert query.operator.name == "e1"
        counts[len(query.parents)] += 1
        seen.update(names(query.parents))
        all_asked(talk)
        fail_all(talk)
    assert counts.keys() == {2, 3, 4, 5}
    # Each child of the root stands for a sixth, a shares its own with p0.
    total = seen.total()
    assert [seen[name] / total for name in "bcdef"] == pytest.approx([1 / 6] * 5, abs=0.05)
    assert [seen[name] / total for name in ("a", "p0")] == pytest.approx([1 / 12] * 2, abs=0.04)


def test_e1_draws_with_replacement():
    _, talk = begun(FOUR[:1])
    talk.step(outcome=Outcome.TIMEOUT)
    assert {len(talk.step(outcome=Outcome.TIMEOUT).parents) for _ in range(20)} == {1}
    _, talk = begun(FOUR[:2])
    talk.step(outcome=Outcome.TIMEOUT)
    shown = {" ".join(names(talk.step(outcome=Outcome.TIMEOUT).parents)) for _ in range(60)}
    assert shown == {"a a", "a b", "b a", "b b"}


def test_e2_shows_the_node_and_another_of_the_elite():
    _, talk = begun(exploration=0.0)
    talk.rng = Chances()
    assert names(all_asked(talk)[0].parents) == ["a", "d"]
    weights = np.array([1 / 4, 1 / 5, 1 / 6])
    assert talk.rng.seen == [pytest.approx((weights / weights.sum()).tolist())]


def test_a_failed_expansion_is_tried_three_times_but_not_after_a_timeout():
    _, talk = begun(exploration=0.0)
    all_asked(talk)
    talk.tell(at=0, outcome=Outcome.CRASHED)
    assert operators(all_asked(talk)) == ["e2"]
    talk.tell(outcome=Outcome.PARSE_ERROR)
    assert operators(all_asked(talk)) == ["e2"]
    talk.tell(outcome=Outcome.DUPLICATE)
    assert all_asked(talk) == []
    talk.tell(at=0, outcome=Outcome.TIMEOUT)
    assert all_asked(talk) == []


def test_a_program_that_is_in_the_tree_is_no_success():
    method, talk = begun(exploration=0.0)
    all_asked(talk)
    talk.tell(0.9, at=0, source=parent("b", 0.0).program.source)
    assert find(method, "a").children == []
    assert operators(all_asked(talk)) == ["e2"]


def test_the_expansions_of_an_iteration_are_under_way_together_and_the_next_waits():
    _, talk = begun(exploration=0.0)
    assert len(all_asked(talk)) == 5
    for _ in range(4):
        talk.tell(at=0, outcome=Outcome.TIMEOUT)
        assert talk.ask() is None
    talk.tell(0.9)
    # The description comes at once, and the next iteration after it.
    assert operators(all_asked(talk)) == ["describe"]
    talk.tell(text="It does.")
    assert len(all_asked(talk)) > 1


@pytest.mark.parametrize(
    ("text", "idea"),
    [("It goes to the nearest node.", "It goes to the nearest node."), ("", "Idea of p0.")],
)
def test_a_description_takes_the_place_of_the_idea_unless_it_is_empty(text, idea):
    _, talk = begun(exploration=0.0)
    described = grow(talk, text=text)
    assert (described.operator.name, names(described.parents)) == ("describe", ["p0"])
    view = all_asked(talk)[0].views[0]
    assert view.startswith(f"Its idea: {idea}\n\n```python")


def test_the_elite_are_the_best_of_different_scores():
    method, _ = begun([("a", 0.1), ("b", 0.3), ("c", 0.3), ("d", 0.2)], elite=2)
    assert names(method.members) == ["b", "d"]
    assert len(method.root.children) == 4


def test_scores_below_zero_are_as_good_as_others():
    method, talk = begun([(name, score - 1) for name, score in FOUR], exploration=0.0)
    assert names(all_asked(talk)[1].parents) == ["a"]
    assert names(method.members) == ["a", "b", "c", "d"]


def test_a_later_round_plants_a_new_tree():
    method, talk = begun(exploration=0.0)
    grow(talk, text="It goes.")
    again = Conversation(method, [parent("x", 0.1), parent("p0", 0.2)])
    assert method.root.visits == 2
    assert names(method.members) == ["p0", "x"]
    again.index = 7
    assert again.step(0.3).operator.name == "i1"
    again.step(text="")
    query = again.ask()
    assert query.operator.name == "e1"
    # What was described stays so.
    assert any("It goes." in view for view in query.views) == ("p0" in names(query.parents))
