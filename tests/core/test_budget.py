"""The ledger counts exactly, from any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from specahd.core.budget import Allowance, Ledger
from specahd.core.proposer import Reply


def test_tickets_are_exact_with_many_threads():
    ledger = Ledger(1000)
    with ThreadPoolExecutor(7) as threads:
        taken = sum(threads.map(lambda _: ledger.take(), range(5000)))
    assert taken == 1000
    assert ledger.read().tickets == 1000


def test_a_refund_gives_the_ticket_back():
    ledger = Ledger(1)
    assert ledger.take()
    assert not ledger.take()
    ledger.refund()
    assert ledger.take()
    assert (ledger.read().tickets, ledger.read().refunds) == (1, 1)


def test_tokens_money_and_auxiliary_calls_add_up():
    ledger = Ledger(2)
    ledger.count(Reply("a", 10, 5, 0.25))
    ledger.count(Reply("b", 1, 2, 0.5), auxiliary=True)
    spent = ledger.read()
    assert (spent.prompt_tokens, spent.completion_tokens, spent.cost) == (11, 7, 0.75)
    assert spent.auxiliary_calls == 1


def test_what_two_replies_cost_adds_up_without_their_texts():
    assert Reply("a", 1, 2, 0.5) + Reply("b", 3, 4, 0.25) == Reply("", 4, 6, 0.75)


def test_refunds_of_an_earlier_process_count_again():
    ledger = Ledger(3)
    ledger.count(Reply("a"), refunds=2)
    ledger.take()
    ledger.refund()
    assert (ledger.read().refunds, ledger.read().tickets, ledger.left) == (3, 0, 3)


@pytest.mark.parametrize("spent", [Reply("", 7, 3), Reply("", 10, 0), Reply("", 0, 10)])
def test_a_bound_on_tokens_is_reached_by_prompt_and_completion_together(spent):
    free, more = Reply(""), Reply("", 1, 1)
    assert "10 are spent" in Allowance(tokens=10).objection(spent, free)
    assert Allowance(tokens=11).objection(spent, free) is None
    assert "one may take 2" in Allowance(tokens=11).objection(spent, more)
    assert Allowance(tokens=12).objection(spent, more) is None
    assert Allowance().objection(spent, more) is None
