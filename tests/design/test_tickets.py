"""How tickets are split over rounds and levels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
