"""MLES, PartEvo and ReEvo begin with initial programs, unless a round brings programs of a run."""

import pytest
from asked_in_turn import INSERTION, Conversation, names, parent, seeds

from specahd.core.program import Outcome
from specahd.methods.mles import MLES
from specahd.methods.partevo import PartEvo
from specahd.methods.reevo import ReEvo

INITIAL = {"i1", "init"}
FIRST = {MLES: "e1", PartEvo: "summary", ReEvo: "short_reflection"}
"""What each method asks for first where there is a population."""


@pytest.mark.parametrize("make", FIRST)
def test_a_later_round_goes_on_with_the_programs_carried_over(make):
    method = make(4)
    Conversation(method).operators(20, text="Known.")
    again = Conversation(method, [parent("b", 1.0), parent("a", 2.0)])
    assert names(method.members) == ["a", "b"]
    assert again.ask().operator.name == FIRST[make]


@pytest.mark.parametrize("make", FIRST)
def test_a_seed_program_and_one_of_the_run_are_a_population(make):
    carried = [*seeds(0.1, 0.2), parent("a", 0.3)]
    for programs in (carried, carried[1:]):
        talk = Conversation(make(4), programs, contract=INSERTION)
        assert talk.ask().operator.name == FIRST[make]
    assert Conversation(make(4), carried[2:], contract=INSERTION).ask().operator.name in INITIAL


@pytest.mark.parametrize(
    ("make", "size", "tickets", "tried"),
    [
        (MLES, 5, 1000, 50),
        (MLES, 30, 1000, 60),
        (MLES, 5, 60, 30),
        (PartEvo, 6, 1000, 18),
        (PartEvo, 6, 24, 12),
        (PartEvo, 6, 8, 4),
    ],
)
def test_initial_programs_that_fail_do_not_go_on_for_ever(make, size, tickets, tried):
    talk = Conversation(make(size), tickets=tickets)
    *initial, last = (
        talk.step(outcome=Outcome.PARSE_ERROR).operator.name for _ in range(tried + 1)
    )
    assert set(initial) <= INITIAL
    assert last == FIRST[make]
    talk = Conversation(make(size), carried=(), tickets=tickets)
    assert {talk.step().operator.name for _ in range(tried + 9)} <= INITIAL
    talk.step(1.0)
    assert talk.method.members
