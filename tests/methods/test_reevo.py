"""ReEvo: generations of pairs, reflections and mutations, as its authors' code has them."""

from collections import Counter

import numpy as np
import pytest
from asked_in_turn import INSERTION, Conversation, names, parent, seeds

from specahd.methods.reevo import (
    CROSSOVER,
    LONG_REFLECTION,
    MUTATION,
    SHORT_REFLECTION,
    START,
    ReEvo,
)

GENERATION = [*[SHORT_REFLECTION] * 10, *[CROSSOVER] * 10, LONG_REFLECTION, *[MUTATION] * 5]


def test_generations_follow_thirty_initial_programs():
    talk = Conversation(ReEvo())
    assert talk.operators(30 + 2 * 26) == [START] * 30 + GENERATION * 2
    # 15 programs and 11 texts a generation.
    assert sum(not one.wants_text for one in GENERATION) == 15
    assert sum(one.wants_text for one in GENERATION) == 11


def test_a_generation_takes_the_place_of_the_one_before_but_for_the_elitist():
    talk = Conversation(ReEvo(4, initial=6))
    talk.operators(6, lambda index: 100.0 if index == 2 else 1.0 + index)
    assert names(talk.method.members)[0] == "p2"
    pairs = []
    for _ in range(4):
        pairs.append(talk.step(text="Go far.").parents)
    assert {one.program.id for pair in pairs for one in pair} <= {f"p{index}" for index in range(6)}
    talk.operators(4)  # p10 to p13
    talk.step(text="Go far.")
    assert [one.parents[0].program.id for one in (talk.step(), talk.step())] == ["p2", "p2"]
    drawn = [one.program.id for _ in range(4) for one in talk.step(text="?").parents]
    # The two mutants failed; the initial programs are gone, the elitist is not.
    assert set(drawn) <= {"p2", "p10", "p11", "p12", "p13"}


def drawn_for_pairs(talk):
    """Begin a generation; return the names of all that may be of one of its pairs."""
    talk.ask()
    rng = np.random.default_rng(0)
    pairs = [pair for _ in range(5) for pair in talk.method._draw_pairs(rng)]
    return {name for pair in pairs for name in names(pair)}


def test_mutants_join_the_crossovers():
    talk = Conversation(ReEvo(4, initial=6))
    talk.operators(17)  # 4 crossovers, p10 to p13, and 2 mutants, p15 and p16
    drawn = drawn_for_pairs(talk)
    assert drawn == {"p10", "p11", "p12", "p13", "p15", "p16"}


def test_the_elitist_may_be_of_a_pair_whatever_became_of_its_generation():
    talk = Conversation(ReEvo(4, initial=4))
    talk.operators(4, lambda index: 90.0 - index)
    talk.operators(8, lambda index: 1.0 + index)
    assert talk.step().operator is LONG_REFLECTION
    talk.operators(2, lambda index: 20.0 + index)
    drawn = drawn_for_pairs(talk)
    assert drawn >= {"p0", "p8", "p14"}
    assert not drawn & {"p1", "p2", "p3"}


def test_pairs_are_uniform_among_those_of_different_scores():
    carried = [
        parent(name, score) for name, score in (("a", 1.0), ("b", 1.0), ("c", 2.0), ("d", 3.0))
    ]
    talk = Conversation(ReEvo(90), carried)
    found = Counter(
        tuple(sorted(names(pair))) for _ in range(100) for pair in talk.method._draw_pairs(talk.rng)
    )
    assert sorted(found) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    # Four standard errors of a fifth of 9000.
    assert [count / 9000 for count in found.values()] == pytest.approx([0.2] * 5, abs=0.017)


def test_the_better_program_of_a_pair_comes_first_and_its_reflection_goes_along():
    talk = Conversation(ReEvo(2, initial=4))
    talk.operators(4)
    asked = [talk.step(text=text) for text in ("Look near.", "Look far.")]
    crossovers = [talk.step(9.0), talk.step(9.5)]
    for reflection, crossover in zip(asked, crossovers, strict=True):
        assert reflection.parents == crossover.parents
        assert crossover.parents[0].score > crossover.parents[1].score
    assert [one.hints for one in crossovers] == [
        "Reflection:\nLook near.",
        "Reflection:\nLook far.",
    ]
    long = talk.step(text="Look around.")
    assert long.hints == "New reflections:\n- Look near.\n- Look far."
    assert talk.step(1.0).hints == "Reflection:\nLook around."
    talk.operators(4, text="Look back.")
    assert talk.step().hints == (
        "Earlier reflection:\nLook around.\n\nNew reflections:\n- Look back.\n- Look back."
    )
    # Nothing was said, so what was said before stands.
    assert talk.step().hints == "Reflection:\nLook around."


def test_what_experts_know_is_the_first_long_reflection():
    talk = Conversation(ReEvo(2, initial=2, knowledge="Depots matter."))
    assert talk.step(1.0).hints == talk.step(2.0).hints == "What experts know:\nDepots matter."
    talk.operators(4, text="?")
    assert talk.step(text="").hints.startswith("Earlier reflection:\nDepots matter.")
    assert talk.step().hints == "What experts know:\nDepots matter."


def test_a_crossover_waits_for_its_reflection_and_a_stage_for_its_programs():
    talk = Conversation(ReEvo(2, initial=4))
    for _ in range(4):
        talk.ask()
    assert talk.ask() is None
    for score in (1.0, 2.0, 3.0):
        talk.tell(score, at=0)
    assert talk.ask() is None
    talk.tell(4.0)
    assert [talk.ask().operator for _ in range(2)] == [SHORT_REFLECTION] * 2
    assert talk.ask() is None
    talk.tell(text="One.", at=0)
    assert talk.ask().operator is CROSSOVER
    assert talk.ask() is None
    talk.tell(text="Other.", at=0)
    assert [talk.ask().operator for _ in range(2)] == [CROSSOVER, LONG_REFLECTION]
    talk.tell(text="Both.", at=2)
    talk.tell(5.0, at=1)
    # What a mutation starts from is known when all crossovers are.
    assert talk.ask() is None
    talk.tell(6.0, at=0)
    assert names(talk.ask().parents) == ["p6"]


def test_without_two_scores_the_elitist_is_mutated():
    talk = Conversation(ReEvo(4, initial=4))
    assert talk.operators(6, lambda index: 0.0) == [START] * 4 + [MUTATION] * 2
    assert talk.step(1.0).parents[0].program.id == "seed"


def test_without_any_program_the_population_begins_anew():
    talk = Conversation(ReEvo(4, initial=4), carried=())
    assert [talk.step().operator for _ in range(12)] == [START] * 12
    assert talk.method.members == []
    talk.operators(4)
    assert talk.ask().operator is SHORT_REFLECTION


@pytest.mark.parametrize(("tickets", "initial"), [(1000, 30), (60, 30), (24, 12), (3, 2)])
def test_initial_programs_take_at_most_half_of_the_tickets(tickets, initial):
    talk = Conversation(ReEvo(), tickets=tickets)
    asked = [one.wants_text for one in talk.operators(initial + 1)]
    assert asked == [False] * initial + [True]


def test_two_seed_programs_are_no_population_and_the_better_is_the_elitist():
    talk = Conversation(ReEvo(4, initial=4), seeds(0.1, 0.2), contract=INSERTION)
    assert names(talk.method.members) == ["lower-greedy-with-blinks"]
    assert talk.operators(4, lambda index: 0.0) == [START] * 4
    # The initial programs all score the same, so that each pair has the elitist.
    assert names(talk.step(text="?").parents)[0] == "lower-greedy-with-blinks"
    assert "lower-seed" not in names(talk.method.members)
