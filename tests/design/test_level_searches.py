"""What each level measures, ranks, recalls and learns, by hand."""

import json
from dataclasses import replace
from math import isnan
from types import SimpleNamespace

import pytest
from arithmetic import PROBLEM, WIDTH, task

from specahd.core.contract import Context
from specahd.core.errors import RunFailed
from specahd.core.plain import convert
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Penalty, Settings
from specahd.design.lower import LowerSearch
from specahd.design.upper import UpperSearch
from specahd.engine.orders import Work
from specahd.repair.cases import Incumbent
from specahd.repair.evaluator import LowerResult, UpperResult
from specahd.repair.responses import Response
from specahd.routing.base import contracts
from specahd.runs.records import Measured
from specahd.search import request_pool

TASKS = [task(4, (1, 2), 0.5), task(4, (3, 5), 1.5), task(6, (2, 4), 2.5), task(7, (1, 3), 3.5)]
CONTRACTS = contracts(PROBLEM.operator)


def program(name, level=Level.LOWER):
    return Program(name, level, "", f"Idea of {name}.", "i1", contract=CONTRACTS[level].id)


def answered(*costs, tier=Tier.COMPILED):
    """Return a result with these merged costs from 100; None where the program timed out."""
    made = tuple(
        Response(Outcome.TIMEOUT if cost is None else Outcome.OK, 100.0, cost, fallbacks=place)
        for place, cost in enumerate(costs)
    )
    return LowerResult(True, tier, Outcome.OK, "", made)


def lower(*, beta=0.5, size=10, judged_singly=False, known=(), **results):
    """Return a lower round with programs admitted in this order, all of them members."""
    search = LowerSearch(
        number=1,
        contract=CONTRACTS[Level.LOWER],
        method=SimpleNamespace(members=[]),
        tasks=TASKS,
        executor=None,
        settings=Settings(beta=beta, repertoire_size=size),
        coordinates=PROBLEM.descriptor_names,
        known=known,
        judged_singly=judged_singly,
    )
    programs = [program(name) for name in results]
    for one, result in zip(programs, results.values(), strict=True):
        search.admit(one, result)
    search.method.members = search.rank(programs)
    return search


def names(parents):
    return [parent.program.id for parent in parents]


def test_the_lower_score_is_the_mean_response_and_failures_count_zero():
    measured = lower().measure(answered(90.0, None, 110.0, 70.0))
    assert measured.responses == pytest.approx((0.1, 0.0, 0.0, 0.3))
    assert measured.score == pytest.approx(0.1)
    assert (measured.retained, measured.tier) == (True, Tier.COMPILED)
    assert measured.vector["cost_merged"] == [90.0, None, 110.0, 70.0]
    assert measured.record == {"tasks": {"ok": 3, "timeout": 1}}


@pytest.mark.parametrize("judged_singly", [False, True])
def test_what_fails_on_every_task_is_not_retained_if_judged_singly_and_what_does_not_launch_never(
    judged_singly,
):
    search = lower(judged_singly=judged_singly)
    unfit = LowerResult(False, Tier.INTERPRETED, Outcome.LAUNCH_FAILED, "why", ())
    measured = search.measure(unfit)
    assert (measured.score, measured.retained, measured.detail) == (None, False, "why")
    failed = replace(answered(None, None, None, None), outcome=Outcome.TIMEOUT, detail="slow")
    measured = search.measure(failed)
    assert (measured.score, measured.retained) == (0.0, not judged_singly)
    assert (measured.outcome, measured.detail) == (Outcome.TIMEOUT, "slow")
    assert search.measure(answered(None, 110.0, None, None)).retained


def measurement(record):
    return convert(json.loads(json.dumps({"sample": "a", "round": 1, **record})), Measured)


def test_a_recalled_lower_result_is_the_one_that_was_recorded():
    search, result = lower(), answered(90.0, None, 110.0, 70.0)
    measured = search.measure(result)
    record = {"outcome": "ok", "detail": "", "tier": str(measured.tier), **measured.vector}
    assert search.recall(measurement(record)) == result
    failed = search.recall(measurement({"outcome": "launch_failed", "detail": "why"}))
    unfit = LowerResult(False, Tier.INTERPRETED, Outcome.LAUNCH_FAILED, "why", ())
    assert failed == unfit
    shorter = {name: values[:-1] for name, values in measured.vector.items()}
    for change in (shorter, *({name: values} for name, values in shorter.items())):
        with pytest.raises(RunFailed):
            search.recall(measurement({**record, **change}))


def test_lower_programs_rank_by_greedy_gain_then_by_their_means():
    search = lower(
        beta=0.0,
        size=2,
        middling=answered(92.0, 92.0, 100.0, 100.0),
        nothing=answered(100.0, 100.0, 100.0, 100.0),
        best=answered(90.0, 90.0, 90.0, 100.0),
        other=answered(100.0, 100.0, 100.0, 94.0),
        # Adds to the coverage of the two that are chosen, but there are two already.
        third=answered(89.0, 100.0, 100.0, 100.0),
    )
    # ``other`` alone does anything on the last task, so it comes before ``middling``.
    assert names(search.method.members) == ["best", "other", "middling", "third", "nothing"]
    first = search.method.members[0]
    assert first.score == pytest.approx(0.075)
    assert first.responses == pytest.approx((0.1, 0.1, 0.1, 0.0))
    assert [member.id for member in search.repertoire()] == ["best", "other"]
    # Coverage alone: the mean over tasks of the better of the two.
    assert search.best() == pytest.approx((0.1 + 0.1 + 0.1 + 0.06) / 4)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_plain_lower_programs_rank_by_their_means_whatever_the_repertoire(size, beta):
    results = {
        "middling": answered(92.0, 92.0, 100.0, 100.0),
        "nothing": answered(100.0, None, 101.0, 100.0),
        "best": answered(90.0, 90.0, 90.0, 100.0),
        "other": answered(100.0, 100.0, 100.0, 94.0),
        "again": answered(100.0, 100.0, 92.0, 92.0),
    }
    search = lower(beta=beta, size=size, judged_singly=True, **results)
    assert names(search.method.members) == ["best", "middling", "again", "other", "nothing"]


@pytest.mark.parametrize("size", [1, 3])
def test_a_plain_lower_round_tells_its_facts_only(size):
    results = {
        CONTRACTS[Level.LOWER].seed.id: answered(99.0, 99.0, 99.0, 99.0),
        "best": answered(90.0, 90.0, 90.0, 90.0),
    }
    shown = [program(name) for name in results]
    plain = lower(size=size, judged_singly=True, known=["4 regions."], **results)
    assert plain.context(shown[:1]) == plain.context(shown) == Context(("4 regions.",))
    told = lower(size=size, known=["4 regions."], **results).context(shown[:1])
    assert [told.example, told.best] == pytest.approx([0.01, 0.1])
    assert told.best_idea == "Idea of best."
    assert set(told.measured) == {shown[0].id}
    kept = ["Programs that are the best on some regions are kept beside those of the best mean."]
    first, *others, served = told.facts
    assert [first, *others] == ["4 regions."] + (kept if size > 1 else [])
    assert "regions save 10.000 % on those of " in served


@pytest.mark.parametrize("level", Level)
def test_an_idea_that_was_not_kept_is_told(level):
    if level is Level.UPPER:
        search = upper(good=scored([0.2, 0.2], [0.0, 0.0]), poor=scored([0.1, 0.1], [0.0, 0.0]))
    else:
        good, poor = (answered(*[cost] * len(TASKS)) for cost in (90.0, 99.0))
        search = lower(good=good, poor=poor)
    search.method.members = search.method.members[:1]
    share = "10.000 %" if level is Level.UPPER else "1.000 %"
    told = f"Tried lately and not kept: Idea of poor ({share})."
    assert search.context([]).facts[-1] == told


def test_quality_has_the_weight_beta_over_q():
    search = lower(
        beta=0.5, size=4, a=answered(90.0, 90.0, 90.0, 90.0), b=answered(90.0, 80.0, 90.0, 90.0)
    )
    assert names(search.method.members) == ["b", "a"]
    assert search.best() == pytest.approx(0.5 / 4 * (0.1 + 0.125) + 0.5 * 0.125)


def test_without_any_gain_the_first_member_stands_alone():
    nothing = answered(100.0, None, 101.0, 100.0)
    search = lower(old=nothing, new=nothing)
    assert [member.id for member in search.repertoire()] == ["old"]
    assert search.best() == 0.0
    assert lower().repertoire() == []


def test_lower_effects_are_the_childs_minus_the_parents():
    search = lower(parent=answered(90.0, 90.0, None, None), child=answered(80.0, 95.0, 100.0, None))
    effects = search.effects("child", "parent")
    assert effects.differences == pytest.approx([0.1, -0.05, 0.0, 0.0])
    assert effects.descriptors[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert effects.instances.tolist() == [4, 4, 6, 7]
    assert effects.coordinates == tuple(PROBLEM.descriptor_names)
    assert effects.failures == {"timeout": 1}
    assert search.effects("child", "stranger") is search.effects("stranger", "parent") is None
    # A program that has left is still compared.
    search.method.members = []
    search.admit(program("late"), answered(80.0, 90.0, 90.0, 90.0))
    assert search.effects("late", "parent").differences[0] == pytest.approx(0.1)


def scored(utilities, penalties, regions=None):
    regions = regions or [(0.5,) * WIDTH] * len(utilities)
    return UpperResult(Outcome.OK, "", tuple(utilities), tuple(penalties), tuple(regions))


def upper(executor=None, judged_singly=False, known=(), uppers=1, chosen=False, **results):
    search = UpperSearch(
        number=1,
        contract=CONTRACTS[Level.UPPER],
        method=SimpleNamespace(members=[]),
        system="frozen",
        incumbents=[Incumbent(2), Incumbent(3)],
        executor=executor,
        penalty=Penalty(weight=3.0),
        uppers=uppers,
        chosen=chosen,
        coordinates=PROBLEM.descriptor_names,
        known=known,
        judged_singly=judged_singly,
    )
    programs = [program(name, Level.UPPER) for name in results]
    for one, result in zip(programs, results.values(), strict=True):
        search.admit(one, result)
    search.method.members = search.rank(programs)
    return search


def test_an_upper_candidate_runs_the_frozen_system_on_the_training_instances():
    calls = []
    executor = SimpleNamespace(submit=lambda *arguments: calls.append(arguments))
    one = program("a", Level.UPPER)
    upper(executor).submit(one)
    incumbents = Incumbent(2), Incumbent(3)
    assert calls == [("utility", one, "frozen", incumbents, Penalty(weight=3.0), None)]


@pytest.mark.parametrize("level", [lower, upper])
def test_a_stopped_candidate_has_no_score_and_is_recalled(level):
    search = level()
    words = "stopped after 8 of 9"
    if level is lower:
        result = LowerResult(True, Tier.COMPILED, Outcome.STOPPED, words, (), 8)
    else:
        result = UpperResult(Outcome.STOPPED, words, (), (), (), 8)
    measured = search.measure(result)
    assert (measured.outcome, measured.score, measured.retained) == (Outcome.STOPPED, None, False)
    assert (measured.detail, measured.record) == (words, {"tried": 8})
    written = json.loads(json.dumps(request_pool.measurement(1, measured, sample="a")))
    assert search.recall(convert(written, Measured)) == result


def test_the_upper_score_is_the_mean_utility_less_the_penalty():
    measured = upper().measure(scored([0.2, 0.1], [0.01, 0.03]))
    assert measured.score == pytest.approx(0.13)
    assert measured.responses == pytest.approx((0.19, 0.07))
    assert (measured.retained, measured.tier) == (True, Tier.INTERPRETED)
    # One that fails anywhere has none.
    failed = UpperResult(Outcome.TIMEOUT, "x1: slow", (0.9,), (0.0,), (None,))
    measured = upper().measure(failed)
    assert (measured.score, measured.retained, measured.outcome) == (None, False, Outcome.TIMEOUT)
    assert measured.responses == ()


def test_a_recalled_upper_result_is_the_one_that_was_recorded():
    search, result = upper(), scored([0.2, 0.1], [0.01, 0.03], [None, (0.25,) * WIDTH])
    measured = search.measure(result)
    record = {"outcome": "ok", "detail": "", **measured.vector}
    assert search.recall(measurement(record)) == result
    searched = replace(result, work=Work(1, 2, 3, 4, 5, 6))
    record |= search.measure(searched).vector
    assert search.recall(measurement(record)) == searched
    failed = search.recall(measurement({"outcome": "timeout", "detail": "x1: slow"}))
    assert (failed.outcome, failed.utilities) == (Outcome.TIMEOUT, ())
    for change in (
        {"utilities": [0.2], "penalties": [0.01], "regions": [None]},
        {"penalties": [0.01]},
        {"regions": [None]},
        {"regions": [None, [0.25] * (WIDTH - 1)]},
        {"work": [1, 2]},
    ):
        with pytest.raises(RunFailed):
            search.recall(measurement({**record, **change}))


def test_upper_programs_rank_by_score_and_the_older_comes_first_on_ties():
    search = upper(
        old=scored([0.1, 0.1], [0.0, 0.0]),
        best=scored([0.2, 0.1], [0.0, 0.0]),
        # More in all, less after its penalties.
        punished=scored([0.3, 0.1], [0.15, 0.1]),
        new=scored([0.1, 0.1], [0.0, 0.0]),
    )
    assert names(search.method.members) == ["best", "old", "new", "punished"]
    assert search.best() == pytest.approx(0.15)
    assert search.method.members[0].responses == pytest.approx((0.2, 0.1))
    assert upper().best() is None


COMPLEMENTARY = {
    "good": scored([0.3, 0.1], [0.0, 0.0]),
    "copy": scored([0.3, 0.1], [0.0, 0.0]),
    "other": scored([0.0, 0.2], [0.01, 0.01]),
    "dear": scored([0.0, 0.3], [0.15, 0.15]),
    "worse": scored([0.05, -0.2], [0.0, 0.0]),
}


def test_several_upper_programs_are_those_that_add_most_to_each_other():
    search = upper(uppers=3, **COMPLEMENTARY)
    # 0.2, then 0.05 - 0.01; the dear one would add 0.1 - 0.15. The rest by mean U - λΩ.
    assert names(search.method.members) == ["good", "other", "copy", "dear", "worse"]
    assert [member.score for member in search.method.members] == pytest.approx(
        [0.2, 0.09, 0.2, 0.0, -0.075]
    )
    assert search.best() == pytest.approx(0.2)
    assert names(upper(**COMPLEMENTARY).method.members)[:2] == ["good", "copy"]


def test_the_ideas_of_those_kept_are_told():
    shown = [program("good", Level.UPPER)]
    kept = "Kept at present: Idea of good; Idea of other."
    told = upper(uppers=3, known=["2 instances."], **COMPLEMENTARY).context(shown)
    assert told.facts == ("2 instances.", kept)
    assert kept not in upper(**COMPLEMENTARY).context(shown).facts
    assert upper(uppers=3).context([]).facts == ()


def test_what_a_candidate_adds_to_those_kept_is_told_beside_its_score():
    search = upper(uppers=3, **COMPLEMENTARY)
    measured = search.measure(scored([0.5, 0.25], [0.02, 0.0]))
    assert measured.score == pytest.approx(0.375 - 0.01)
    assert measured.record == {"gain": pytest.approx((0.2 + 0.05) / 2 - 0.01)}
    assert upper(**COMPLEMENTARY).measure(scored([0.5, 0.25], [0.02, 0.0])).record == {}
    assert upper(uppers=3).measure(scored([0.5, -0.1], [0.0, 0.0])).record == {"gain": 0.25}
    # Members of the round before, not measured yet.
    search.method.members = [SimpleNamespace(program=program("old", Level.UPPER))]
    assert search.measure(scored([0.5, 0.1], [0.0, 0.0])).record == {"gain": pytest.approx(0.3)}


def test_finalists_are_sets_begun_with_the_next_member():
    def sets(search, count):
        return [[each.id for each in found] for found in search.finalists(count)]

    search = upper(uppers=3, **COMPLEMENTARY)
    assert sets(search, 1) == [["good", "other"]]
    everybody = [each.program.id for each in search.method.members[:3]]
    assert sets(search, 3) == [["good", "other"], everybody, ["copy", "other"]]
    assert sets(search, 9)[3:] == [["copy"], ["worse"]]
    # Where one is chosen for each instance, the choice has to pay beside each one alone.
    first, *alone = [[each.program.id] for each in search.method.members]
    chosen = upper(uppers=3, chosen=True, **COMPLEMENTARY)
    assert sets(chosen, 4) == [first, ["good", "other"], *alone[:2]]
    assert sets(chosen, 1) == [["good", "other"]]
    assert sets(upper(**COMPLEMENTARY), 2) == [["good"], ["copy"]]
    # Where none gains anything the first stands alone.
    assert sets(upper(uppers=3, none=scored([0.0, -0.1], [0.01, 0.01])), 5) == [["none"]]


def test_a_plain_upper_round_tells_its_facts_only():
    results = {
        CONTRACTS[Level.UPPER].seed.id: scored([0.1, 0.1], [0.0, 0.0]),
        "best": scored([0.2, 0.1], [0.0, 0.0]),
    }
    shown = [program(name, Level.UPPER) for name in results]
    plain = upper(judged_singly=True, known=["2 instances."], **results)
    assert plain.context(shown[:1]) == plain.context(shown) == Context(("2 instances.",))
    assert names(plain.method.members) == ["best", shown[0].id]
    told = upper(known=["2 instances."], **results).context(shown[:1])
    assert [told.example, told.best] == pytest.approx([0.1, 0.15])
    assert (told.facts, told.best_idea) == (("2 instances.",), "Idea of best.")
    assert set(told.measured) == {shown[0].id}


def test_upper_effects_are_described_by_the_childs_regions():
    search = upper(
        parent=scored([0.1, 0.1], [0.01, 0.0]),
        child=scored([0.3, 0.1], [0.0, 0.02], [(0.25,) * WIDTH, None]),
    )
    effects = search.effects("child", "parent")
    assert effects.differences == pytest.approx([0.21, -0.02])
    assert effects.descriptors[0].tolist() == [0.25] * WIDTH
    assert all(isnan(value) for value in effects.descriptors[1])
    assert effects.instances.tolist() == [0, 1]
    assert effects.failures == {Outcome.EMPTY_REGIONS: 1}
    assert search.effects("parent", "child").failures == {}
    assert search.effects("child", "stranger") is search.effects("stranger", "parent") is None
