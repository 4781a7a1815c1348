"""HillClimb: the incumbent is shown, and only a better program takes its place."""

import numpy as np

from specahd.methods.hill_climb import HillClimb
from specahd.search.versions import completion_prompt
from told import CONTRACT, failed, measured, parent, start

RNG = np.random.default_rng(0)
HEAD = f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    return "


def test_only_a_better_program_becomes_the_incumbent():
    method = HillClimb()
    method.begin(start(parent("worse", 0.01), parent("good", 0.02)))
    incumbents = []
    told = [failed(0)] + [
        measured(index, parent(name, score))
        for index, (name, score) in enumerate([("tie", 0.02), ("less", 0.0), ("more", 0.021)], 1)
    ]
    for sample in told:
        method.tell(sample, RNG)
        incumbents.append(method.members[0].program.id)
    assert incumbents == ["good", "good", "good", "more"]


def test_the_incumbent_is_the_version_to_improve():
    method = HillClimb()
    method.begin(start(parent("seed", 0.01)))
    better = parent("better", 0.02, source=HEAD + "depot\n")
    method.tell(measured(0, better), RNG)
    query = method.ask(1, RNG)
    assert query.parents == (better,)
    assert query.prompt == completion_prompt(CONTRACT, [better.program.source])
    assert "return depot" in query.prompt


def test_the_seed_program_is_shown_while_none_was_measured():
    method = HillClimb()
    method.begin(start())
    query = method.ask(0, RNG)
    assert query.parents == ()
    assert query.prompt == completion_prompt(CONTRACT, [CONTRACT.seed.source])
    method.tell(failed(0), RNG)
    assert list(method.members) == []
    method.tell(measured(1, parent("first", 0.0)), RNG)
    assert [kept.program.id for kept in method.members] == ["first"]
