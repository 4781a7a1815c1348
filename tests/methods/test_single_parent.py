"""RandSample and HillClimb: prompts of code; only a better program replaces the kept one."""

import pytest
from asked_in_turn import CONTRACT, Conversation, names, parent

from specahd.methods.hill_climb import HillClimb
from specahd.methods.rand_sample import RandSample
from specahd.search.versions import completion_prompt

SEED_PROMPT = completion_prompt(CONTRACT, [CONTRACT.seed.source])


@pytest.mark.parametrize("make", [RandSample, HillClimb])
def test_only_a_better_program_is_kept(make):
    talk = Conversation(make(), [parent("worse", 0.01), parent("good", 0.02)])
    kept = names(talk.method.members)
    for score in (None, 0.02, 0.0, 0.021):
        talk.step(score)
        kept += names(talk.method.members)
    assert kept == ["good"] * 4 + ["p3"]


@pytest.mark.parametrize("make", [RandSample, HillClimb])
def test_without_a_program_the_seed_program_is_shown(make):
    talk = Conversation(make(), [])
    query = talk.step()
    assert (query.parents, query.prompt) == ((), SEED_PROMPT)
    assert talk.method.members == []
    talk.step(0.0)
    assert names(talk.method.members) == ["p1"]


def test_the_incumbent_is_the_version_to_improve():
    talk = Conversation(HillClimb(), [parent("seed", 0.01)])
    talk.ask()
    better = talk.tell(0.02)
    query = talk.ask()
    assert query.parents == (better,)
    assert query.prompt == completion_prompt(CONTRACT, [better.program.source])


def test_every_query_of_random_samples_is_the_same_whatever_came():
    talk = Conversation(RandSample(), [parent("seed", 0.01)])
    first = talk.step(0.02)
    assert talk.ask() == first
    assert (first.parents, first.prompt) == ((), SEED_PROMPT)
