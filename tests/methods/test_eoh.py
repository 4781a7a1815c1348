"""EoH: founding, operators in turn, rank-weighted parents, survival."""

import numpy as np
import pytest

from specahd.core.contract import Operator, Parent, Request
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Outcome, Program
from specahd.methods.eoh import OPERATORS, EoH
from specahd.search.base import RoundStart, Sample

RNG = np.random.default_rng(0)


def program(name):
    return Program(name, Level.LOWER, "", "", "i1", contract="append")


def by_score(programs):
    """Scores are the numbers in the names; ties keep the order given."""
    parents = [Parent(p, float(p.id.split("=")[1])) for p in programs]
    return sorted(parents, key=lambda parent: -parent.score)


def begin(policy, *carried):
    policy.begin(RoundStart(None, 60, tuple(by_score(carried)), by_score))


def tell(policy, name=None):
    """Tell of a sample that was retained, or of one that failed."""
    request = Request(None, 0, Level.LOWER, 1, 0, Operator("i1", ""))
    if name is None:
        sample = Sample(request, "?", Outcome.PARSE_ERROR)
    else:
        score = float(name.split("=")[1])
        made = program(name)
        sample = Sample(request, "", Outcome.OK, program=made, score=score, retained=True)
    policy.tell(sample, RNG)


def founded(count=4, size=4, policy=None):
    policy = policy or EoH(size)
    begin(policy)
    for index in range(count):
        tell(policy, f"{index}={index}")
    return policy


def test_i1_until_founded_then_in_turn():
    policy = EoH(3)
    begin(policy, program("seed=0"))
    rng = np.random.default_rng(0)
    asked = []
    for index in range(9):
        asked.append(policy.ask(index, rng).operator.name)
        tell(policy, f"{index}={index}")
    assert asked == ["i1", "i1", "i1", "m2", "m3", "e1", "e2", "m1", "m2"]


def test_twice_the_population_tried_also_founds():
    policy = EoH(3)
    begin(policy, program("seed=0"))
    for _ in range(5):
        tell(policy)
    assert policy.ask(5, np.random.default_rng(0)).operator.name == "i1"
    tell(policy)
    assert policy.ask(6, np.random.default_rng(0)).operator.name != "i1"


def test_without_members_only_fresh_samples_can_be_asked_for():
    policy = EoH(2)
    begin(policy)
    for _ in range(4):
        tell(policy)
    assert policy.ask(4, np.random.default_rng(0)).operator.name == "i1"


def test_parents_follow_the_rank_weights():
    # EoH's selection by rank (Liu et al. 2024): N = 4 gives p = (.3292, .2633, .2194, .1881).
    policy = founded()
    rng = np.random.default_rng(1)
    drawn = [policy.ask(2, rng).parents[0].program.id for _ in range(20000)]
    found = [drawn.count(member.program.id) / len(drawn) for member in policy.members]
    # Four standard errors.
    assert found == pytest.approx([0.32916, 0.26333, 0.21944, 0.18808], abs=0.0135)


def test_the_original_weighs_ranks_from_one():
    policy = founded(policy=EoH(4, rank_offset=1))
    rng = np.random.default_rng(1)
    drawn = [policy.ask(2, rng).parents[0].program.id for _ in range(20000)]
    found = [drawn.count(member.program.id) / len(drawn) for member in policy.members]
    assert found == pytest.approx([0.31525, 0.26270, 0.22518, 0.19703], abs=0.0135)


def test_recombination_shows_two_parents_best_first():
    policy = founded()
    rng = np.random.default_rng(1)
    pairs = [policy.ask(0, rng).parents for _ in range(50)]
    assert all(len(pair) == 2 and pair[0].score >= pair[1].score for pair in pairs)


def test_the_worst_leaves_and_the_older_wins_ties():
    policy = founded(4, 4)
    tell(policy, "late=1")
    assert [member.program.id for member in policy.members] == ["3=3", "2=2", "1=1", "late=1"]
    tell(policy, "later=1")
    assert "later=1" not in [member.program.id for member in policy.members]


def test_an_equal_score_is_dropped_if_programs_are_to_be_distinct():
    for distinct, kept in ((True, ["a=2", "c=1"]), (False, ["a=2", "b=2"])):
        policy = EoH(2, distinct=distinct)
        begin(policy)
        for name in ("a=2", "b=2", "c=1"):
            tell(policy, name)
        assert [member.program.id for member in policy.members] == kept


def test_operators_of_ones_own():
    assert EoH(2, ["i1"]).operators == (OPERATORS["i1"],)
    with pytest.raises(ConfigError, match="got e9"):
        EoH(2, ["e9"])
    with pytest.raises(ConfigError, match="at least 2, got 1"):
        EoH(1)
    with pytest.raises(ConfigError, match="rank_offset of at least 0, got -1"):
        EoH(2, rank_offset=-1)
