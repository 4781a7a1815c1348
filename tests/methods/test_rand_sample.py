"""RandSample: one query for ever, and the best of what came."""

import numpy as np

from specahd.methods.rand_sample import RandSample
from specahd.search.versions import completion_prompt
from told import CONTRACT, failed, measured, parent, start

RNG = np.random.default_rng(0)


def test_every_query_is_the_same_whatever_came():
    method = RandSample()
    method.begin(start(parent("seed", 0.01)))
    first = method.ask(0, RNG)
    method.tell(measured(0, parent("better", 0.02)), RNG)
    assert method.ask(1, RNG) == first
    assert first.parents == ()
    assert first.prompt == completion_prompt(CONTRACT, [CONTRACT.seed.source])


def test_the_best_is_kept_and_the_older_on_ties():
    method = RandSample()
    method.begin(start(parent("worse", 0.01), parent("good", 0.02)))
    assert [kept.program.id for kept in method.members] == ["good"]
    method.tell(failed(0), RNG)
    for index, (name, score) in enumerate([("tie", 0.02), ("best", 0.03), ("less", 0.025)], 1):
        method.tell(measured(index, parent(name, score)), RNG)
    assert [kept.program.id for kept in method.members] == ["best"]
    method.tell(measured(4, parent("late", 0.03)), RNG)
    assert [kept.program.id for kept in method.members] == ["best"]


def test_a_round_without_a_program_begins_all_the_same():
    method = RandSample()
    method.begin(start())
    assert list(method.members) == []
    assert method.ask(0, RNG).prompt == completion_prompt(CONTRACT, [CONTRACT.seed.source])
    method.tell(measured(0, parent("first", 0.0)), RNG)
    assert [kept.program.id for kept in method.members] == ["first"]
