"""How tickets are split over rounds and levels."""

import pytest
from arithmetic import SEEDS, Arithmetic, asked, checkpoint
from hypothesis import given
from hypothesis import strategies as st

from specahd.core.program import Level
from specahd.design.coupled import split_tickets


@given(st.integers(0, 2000), st.integers(1, 9), st.floats(0, 1))
def test_every_ticket_has_one_slot(tickets, rounds, share):
    slots = split_tickets(tickets, rounds, share)
    assert len(slots) == rounds
    assert sum(map(sum, slots)) == tickets
    for lower, upper in slots:
        assert abs(lower - tickets * share / rounds) < 1
        assert abs(upper - tickets * (1 - share) / rounds) < 1


@pytest.mark.parametrize(
    ("tickets", "rounds", "share", "slots"),
    [
        (40, 2, 0.5, [(10, 10), (10, 10)]),
        (7, 2, 0.5, [(2, 2), (2, 1)]),
        (9, 3, 1.0, [(3, 0), (3, 0), (3, 0)]),
        # The largest remainder, 0.7 of 2.7 and not 0.3 of 7.3, is rounded up.
        (10, 1, 0.27, [(3, 7)]),
        (5, 2, 0.7, [(2, 1), (2, 0)]),
        (0, 2, 0.5, [(0, 0), (0, 0)]),
    ],
)
def test_by_hand(tickets, rounds, share, slots):
    assert split_tickets(tickets, rounds, share) == slots


def test_tickets_go_to_rounds_and_levels_in_their_shares(trained):
    run = trained(tickets=12, lower_share=0.75)
    # Shares of 4.5 and 1.5: the earlier slots are rounded up.
    assert asked(run) == {(1, "lower"): 5, (1, "upper"): 2, (2, "lower"): 4, (2, "upper"): 1}
    assert run.ledger.read().tickets == 12


def test_what_the_lower_level_cannot_spend_goes_to_the_upper_level(trained):
    # The seed program exposes nothing, so that there is nothing to repair in round 1.
    run = trained(executor=Arithmetic(exposed=lambda number: 2 if number else 0))
    assert asked(run) == {(1, "upper"): 6, (2, "lower"): 3, (2, "upper"): 3}
    assert (run.rounds[0]["exposed"], run.rounds[0]["tasks"]) == (0, 0)
    assert run.rounds[0]["repertoire"] == [SEEDS[Level.LOWER].id]
    assert "J" not in run.rounds[0]


class Late(Arithmetic):
    """Exposes regions from the second round on."""

    def expose(self, programs, incumbents):
        made = super().expose(programs, incumbents)
        return made if len(self.cases["expose"]) > 2 else []


def test_a_round_makes_up_for_what_the_one_before_left(trained):
    run = trained(levels="lower", executor=Late())
    assert asked(run) == {(2, "lower"): 12}


@pytest.mark.parametrize("level", ["lower", "upper"])
def test_one_level_alone_gets_every_ticket(trained, level):
    given = checkpoint() if level == "upper" else None
    run = trained(levels=level, parts={"given": given})
    assert asked(run) == {(1, level): 6, (2, level): 6}
    if level == "upper":
        assert run.cases["expose"] == []
        assert {system.repertoire for system in run.systems} == {(SEEDS[Level.LOWER],)}
    else:
        assert run.cases["utility"] == []
        assert {candidate.upper for candidate in run.candidates} == {SEEDS[Level.UPPER]}
