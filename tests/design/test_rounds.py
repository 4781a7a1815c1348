"""What a round of the coupled search looks at, measures, keeps and hands on."""

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from arithmetic import (
    BROKEN,
    INCUMBENTS,
    POOLS,
    PROBLEM,
    SEEDS,
    Arithmetic,
    number_of,
    response,
    task,
)
from msgspec import convert

from specahd.core.budget import Allowance
from specahd.core.errors import RunFailed
from specahd.core.journal import read_records
from specahd.core.program import Level, Outcome
from specahd.core.seeding import generator
from specahd.core.settings import Accept
from specahd.design.coupled import Coupled
from specahd.design.facts import Facts
from specahd.methods.eoh import EoH
from specahd.repair.cases import make_case
from specahd.repair.racing import FIRST
from specahd.repair.repertoire import objective
from specahd.routing.base import contracts
from specahd.routing.operators import RegionOperator
from specahd.runs.records import Tasks
from specahd.search.replay import NOT_REPRODUCED, Replay


def test_each_part_of_a_round_looks_at_its_own_pool(trained):
    run = trained()
    assert {part: sorted(set(cases)) for part, cases in run.cases.items()} == {
        "expose": POOLS["lower_train"],
        "utility": POOLS["upper_train"],
        "repair": POOLS["selection"],
    }
    # Regions are exposed once a round, and a candidate is scored once.
    assert run.cases["expose"] == POOLS["lower_train"] * 2
    assert run.cases["repair"] == POOLS["selection"] * 2


def test_the_tasks_of_a_round_are_what_the_present_upper_program_exposes(trained):
    run = trained()
    exposed = [line["tasks"] for line in run.responses if "tasks" in line]
    numbers = [0, number_of(run.candidates[0].upper)]
    assert numbers[1] > 0
    for tasks, number in zip(exposed, numbers, strict=True):
        assert tasks == [
            made.record() for made in Arithmetic().expose([_upper(number)], INCUMBENTS)
        ]


def _upper(number):
    operator = "seed" if number == 0 else "i1"
    return SimpleNamespace(idea=f"Try {number}.", operator=operator)


def test_upper_programs_are_told_what_the_lower_ones_save_and_what_was_repaired(
    trained, tmp_path, monkeypatch
):
    repaired = []
    monkeypatch.setattr(Facts, "upper", lambda self, *told: repaired.append(told[3]) or [])
    trained(incumbents="repaired")
    prompts = list(read_records(tmp_path / "prompts.jsonl"))
    upper = [each["prompt"] for each in prompts if each["sample"].startswith("upper")]
    told = "With the best of the kept programs on each, regions save "
    assert upper
    assert all(prompt.count(told) == 1 for prompt in upper)
    assert repaired == [0, len(POOLS["upper_train"])]


def test_a_round_is_told_by_its_measures(trained):
    run = trained(3, 4, 5)
    first, second = run.rounds
    lower = [sample for sample in run.samples if (sample["round"], sample["level"]) == (1, "lower")]
    upper = [sample for sample in run.samples if (sample["round"], sample["level"]) == (1, "upper")]
    assert (first["round"], second["round"]) == (1, 2)
    assert (first["exposed"], first["tasks"]) == (4, 4)
    assert first["J"] == lower[-1]["best"] > 0
    assert first["utility"] == upper[-1]["best"] == pytest.approx(0.05 - 0.01)
    assert first["selection"] == pytest.approx(0.05)
    assert first["repertoire_size"] == len(first["repertoire"])
    assert first["upper"] == upper[2]["sample"]
    assert not first.keys() & {"selection_failed", "uppers"}
    assert "gain" not in upper[0]
    assert [candidate.round for candidate in run.candidates] == [1, 2]


@pytest.mark.parametrize(
    ("outcomes", "selection", "failed"),
    [
        (["ok", "empty_regions"], 0.25, None),
        (["ok", "timeout"], 0.5, 1),
        (["timeout", "crashed"], None, 2),
    ],
)
def test_a_failed_instance_enters_into_no_selection_score(trained, outcomes, selection, failed):
    class Partial(Arithmetic):
        def repair(self, uppers, system, case):
            made = super().repair(uppers, system, case)
            outcome = Outcome(outcomes[POOLS["selection"].index(case)])
            return replace(made, outcome=outcome, cost=50.0 if outcome == "ok" else 100.0)

    run = trained(rounds=1, executor=Partial())
    [record] = run.rounds
    assert record["selection"] == selection
    assert record.get("selection_failed") == failed
    [candidate] = run.candidates
    assert candidate.failed == (failed or 0)
    assert candidate.selection == pytest.approx(selection or nan, nan_ok=True)


class Contrary(Arithmetic):
    """On the selection pool the smaller of two numbers is the better one."""

    def repair(self, uppers, system, case):
        made = super().repair(uppers, system, case)
        return replace(made, cost=made.baseline_cost * (0.5 + 0.01 * number_of(uppers[0])))


def test_selection_decides_between_the_finalists_of_a_round(trained):
    run = trained(3, 8, 5, 2, executor=Contrary(), finalists=2)
    # 8 and 5 are the best in training, and in the second round 8 and another 8.
    assert [number_of(candidate.upper) for candidate in run.candidates] == [5, 8]
    assert run.rounds[0]["upper"] == run.candidates[0].upper.id
    assert run.rounds[0]["utility"] == pytest.approx(0.08 - 0.01)
    assert run.rounds[0]["selection"] == pytest.approx(0.45)
    assert run.cases["repair"] == POOLS["selection"] * 4


@pytest.mark.parametrize("executor", [Arithmetic, Contrary])
def test_a_finalist_that_selection_would_not_choose_is_stopped(trained, executor):
    selection = list(range(10, 20))
    run = trained(
        *(3, 8, 5, 2),
        executor=executor(),
        tickets=8,
        finalists=2,
        racing=True,
        rounds=1,
        parts={"pools": {**POOLS, "selection": selection}},
    )
    [record] = run.rounds
    if executor is Contrary:
        # The second one is better, so it goes on to the end.
        assert sorted(run.cases["repair"]) == sorted(selection * 2)
        assert (number_of(run.candidates[0].upper), "finalists_stopped" in record) == (5, False)
        return
    assert run.cases["repair"][:10] == selection
    assert len(run.cases["repair"]) == 10 + FIRST
    assert set(run.cases["repair"][10:]) < set(selection)
    assert (number_of(run.candidates[0].upper), record["finalists_stopped"]) == (8, 1)
    assert record["selection"] == pytest.approx(0.08)


class Hasty(Contrary):
    """On the selection pool the larger of two numbers is the better one, in short searches."""

    def repair(self, uppers, system, case):
        kind = Contrary if system.repairs is None else Arithmetic
        return kind.repair(self, uppers, system, case)


def test_finalists_leave_rung_by_rung_and_the_last_meet_in_whole_searches(trained, monkeypatch):
    monkeypatch.setattr(RegionOperator, "repairs_per_customer", 10)
    monkeypatch.setattr(RegionOperator, "final_repairs_per_customer", 40)
    run = trained(
        *(3, 4, 5, 6, 7, 8),
        executor=Hasty(),
        tickets=12,
        policy=lambda: EoH(7),
        finalists=6,
        halving=True,
        rounds=1,
    )
    searches = run.systems[-22:]
    rungs = [10] * 6 * 2 + [20] * 3 * 2 + [None] * 2 * 2
    assert [system.repairs for system in searches] == rungs
    # All of a rung draw the same numbers, those of no other, and the last those of an evaluation.
    assert [system.seed for system in searches] == [(1, each) if each else () for each in rungs]
    # 8 and 7 are the last, and of them 7 is better in the end.
    [candidate] = run.candidates
    assert (number_of(candidate.upper), run.rounds[0]["finalists_stopped"]) == (7, 4)
    assert candidate.selection == pytest.approx(0.5 - 0.07)


@pytest.mark.parametrize(
    ("halving", "seeds"), [(False, {()}), (True, {(1,), (2,), ()})], ids=["whole", "halving"]
)
def test_what_was_kept_is_measured_again_with_other_random_numbers(trained, halving, seeds):
    assert {system.seed for system in trained(halving=halving).systems} == seeds


def test_what_is_broken_off_while_selection_decides_has_the_best_upper_program(trained):
    begun = []

    class Noted(Coupled):
        def __init__(self, **parts):
            super().__init__(**parts)
            begun.append(self)

    class BrokenOff(Arithmetic):
        def repair(self, uppers, system, case):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(3, 8, 5, 2, kind=Noted, executor=BrokenOff(), finalists=2)
    assert number_of(begun[0].draft().upper) == 8


class Complementary(Arithmetic):
    """A program of an odd number saves on the first instance, of an even one on the second."""

    def utility(self, program, system, incumbents, penalty, race):
        made = super().utility(program, system, incumbents, penalty, race)
        gained = [
            utility * (place % 2 == (number_of(program) + 1) % 2)
            for place, utility in enumerate(made.utilities)
        ]
        return replace(made, utilities=tuple(gained), penalties=(0.0,) * len(gained))


class ByRouter(Complementary):
    """On an instance of selection a choice saves more than any program alone."""

    def repair(self, uppers, system, case):
        made = super().repair(uppers, system, case)
        return made if system.choice is None else replace(made, cost=10.0)


def test_one_of_several_upper_programs_is_chosen_for_a_search(trained, monkeypatch):
    monkeypatch.setattr(RegionOperator, "repairs_per_customer", 10)
    case = make_case(PROBLEM, next(PROBLEM.generate("lower_train", 3)))
    run = trained(
        *(3, 8, 5, 2),
        executor=ByRouter(),
        uppers=3,
        finalists=3,
        rounds=1,
        parts={"cases": [case] * 8},
    )
    [candidate] = run.candidates
    assert [number_of(program) for program in candidate.uppers] == [8, 5]
    # Each saves on the instances of upper_train that the other does not save on.
    saved = np.array(candidate.utilities.saved)
    assert saved.tolist() == [[0.0, 0.08], [0.05, 0.0]]
    assert candidate.utilities.descriptors == (tuple(case.describe(PROBLEM).tolist()),) * 2
    # Beside them each of the best searches alone.
    tried = [system.choice is not None for system in run.systems if system.router][-6:]
    assert tried == [False] * 2 + [True] * 2 + [False] * 2
    [first] = {system.choice for system in run.systems if system.choice is not None}
    assert first.estimate(case.describe(PROBLEM)).tolist() == pytest.approx([0.04, 0.025])


def test_programs_that_complement_each_other_are_kept_and_expose_together(trained):
    run = trained(3, 8, 5, 2, executor=Complementary(), uppers=3, passes=6)
    first, second = run.candidates
    assert [number_of(program) for program in first.uppers] == [8, 5]
    assert run.rounds[0]["upper"] == first.upper.id
    assert run.rounds[0]["uppers"] == [program.id for program in first.uppers]
    assert [number_of(program) for program in second.uppers] == [8, 5]
    exposed = [line["tasks"] for line in run.responses if "tasks" in line]
    both = Arithmetic().expose(first.uppers, INCUMBENTS)
    assert exposed[1] == [made.record() for made in both]
    # 8 and 5 together, on each instance of the pool.
    assert first.selection == pytest.approx(0.13)
    assert run.draft.uppers == second.uppers
    uppers = [sample for sample in run.samples if sample["level"] == "upper"]
    # 3 comes first, 8 and 5 add what is beyond it.
    assert [sample["gain"] for sample in uppers[:3]] == pytest.approx([0.015, 0.04, 0.01])
    # Candidates make one pass each, what is kept makes several.
    assert [system.passes for system in run.systems[:4]] == [1] * 4
    assert {system.passes for system in run.systems} == {1, 6}


def test_the_repertoire_is_frozen_anew_each_round_and_scores_the_uppers(trained):
    run = trained(neighbours=1, accept=Accept.FEASIBLE, passes=4, tries=3)
    # Workers keep a launched repertoire by this key.
    assert {system.key for system in run.systems} == {"round-1", "round-2"}
    assert {system.accept for system in run.systems} == {Accept.FEASIBLE}
    assert {(system.passes, system.tries) for system in run.systems} == {(4, 3)}
    for system in run.systems:
        candidate = run.candidates[int(system.key[-1]) - 1]
        assert system.repertoire == candidate.repertoire
        names = [program.id for program in candidate.repertoire]
        router = candidate.archive.router(names, n_neighbors=1)
        query = np.arange(len(PROBLEM.descriptor_names), dtype=float)
        assert system.router.estimate(query).tolist() == router.estimate(query).tolist()


def test_the_archive_grows_by_the_rows_of_the_survivors(trained):
    run = trained()
    first, second = (candidate.archive for candidate in run.candidates)
    assert [record["archive"] for record in run.rounds] == [4, 8]
    assert (len(first.tasks), len(second.tasks)) == (4, 8)
    last = {}
    for sample in run.samples:
        if sample["level"] == "lower":
            last[sample["round"]] = set(sample["survivors"])
    for number, tasks in ((1, list(second.tasks)[:4]), (2, list(second.tasks)[4:])):
        for name in tasks:
            assert {program for key, program in second.responses if key == name} == last[number]


def test_the_repertoire_is_greedy_on_the_survivors_table(trained):
    run = trained(3, 4, 5, 6, tickets=24, rounds=1, beta=0.5, repertoire_size=2)
    [candidate] = run.candidates
    scores = np.array(
        [
            [response(number_of(program), place).score for place in range(4)]
            for program in candidate.repertoire
        ]
    )
    assert len(candidate.repertoire) == 2
    value = objective(scores, [0, 1], beta=0.5, budget=2)
    assert run.rounds[0]["J"] == pytest.approx(value)
    everyone = np.array([[response(n, place).score for place in range(4)] for n in (3, 4, 5, 6)])
    best = max(
        objective(everyone, [one, other], beta=0.5, budget=2)
        for one in range(4)
        for other in range(4)
        if one != other
    )
    assert value >= (1 - 1 / np.e) * best


def test_more_tasks_than_cells_allow_are_drawn_evenly_and_kept_in_order(trained):
    # A population of 3 and 14 cells: 4 of 20 tasks.
    run = trained(rounds=1, cells=14, executor=Arithmetic(exposed=lambda number: 10))
    drawn = generator(5, "tasks", 1).choice(20, size=4, replace=False)
    everything = Arithmetic(exposed=lambda number: 10).expose([_upper(0)], INCUMBENTS)
    expected = [everything[index].key for index in sorted(drawn.tolist())]
    assert list(run.candidates[0].archive.tasks) == expected
    assert (run.rounds[0]["exposed"], run.rounds[0]["tasks"]) == (20, 4)
    # The run directory has them all.
    assert len(run.responses[0]["tasks"]) == 20


def test_as_many_tasks_as_cells_allow_are_all_kept(trained):
    run = trained(rounds=1, cells=12)
    assert (run.rounds[0]["exposed"], run.rounds[0]["tasks"]) == (4, 4)


def test_programs_carry_over_and_are_measured_again(trained):
    run = trained()
    carried = {}
    for line in run.responses:
        if "carried" in line:
            carried.setdefault(line["round"], []).append(line["carried"])
    assert carried[1] == [SEEDS[Level.LOWER].id, SEEDS[Level.UPPER].id]
    last = {sample["level"]: sample["survivors"] for sample in run.samples if sample["round"] == 1}
    assert carried[2] == [*last["lower"], *last["upper"]]


def test_a_program_that_fails_leaves_what_there_was(trained):
    run = trained(BROKEN, rounds=1)
    [candidate] = run.candidates
    assert candidate.upper.id == SEEDS[Level.UPPER].id
    assert [program.id for program in candidate.repertoire] == [SEEDS[Level.LOWER].id]
    assert {sample["outcome"] for sample in run.samples} == {"launch_failed", "crashed"}
    assert {sample["score"] for sample in run.samples} == {None}


def test_a_run_that_is_stopped_begins_no_round(trained):
    run = trained(stop="enough")
    assert [candidate.round for candidate in run.candidates] == [1]


def test_what_replies_may_cost_stops_the_run(trained):
    # A prompt has thousands of bytes, and here as many tokens.
    run = trained(allowance=Allowance(tokens=24_000))
    spent = run.ledger.read()
    paid = spent.prompt_tokens + spent.completion_tokens
    assert 10_000 < paid <= 24_000
    assert (len(run.samples), len(run.candidates)) == (4, 1)


def test_later_rounds_train_on_what_the_system_makes_of_solutions_too(trained):
    run = trained(incumbents="repaired")
    # Workers keep the programs of a system by its key.
    repertoires = {(system.key, system.repertoire) for system in run.systems}
    assert len(repertoires) == len({key for key, _ in repertoires}) == 2
    first, second = [line["tasks"] for line in run.responses if "tasks" in line]
    assert all("solution" not in task for task in first)
    repaired = [task for task in second if "solution" in task]
    assert [task["solution"] for task in repaired] == [[[0]], [[0]], [[1]], [[1]]]
    assert len(repaired) == len(second) / 2
    assert len({task["key"] for task in second}) == len(second)
    lower, upper = POOLS["lower_train"], POOLS["upper_train"]
    assert run.cases["repair"] == [*POOLS["selection"], *lower, *upper, *POOLS["selection"]]
    # Every candidate of the second round is scored on both solutions of an instance.
    assert run.cases["utility"][-2 * len(upper) :] == upper * 2
    measured = [line for line in run.responses if line["round"] == 2 and "utilities" in line]
    assert {len(line["utilities"]) for line in measured} == {2 * len(upper)}


def test_what_gained_nothing_is_trained_on_once(trained):
    run = trained(BROKEN, incumbents="repaired")
    assert not any("solution" in task for line in run.responses for task in line.get("tasks", ()))


def test_varied_seeds_expose_together_from_the_first_round(trained):
    run = trained(seeds="varied", uppers=3, passes=3)
    varied = contracts(PROBLEM.operator, varied=True)[Level.UPPER].seeds
    assert len(varied) == 6
    exposed = next(line["tasks"] for line in run.responses if "tasks" in line)
    assert exposed == [made.record() for made in Arithmetic().expose(varied[:3], INCUMBENTS)]
    first = {line.get("carried") for line in run.responses if line["round"] == 1}
    lower = contracts(PROBLEM.operator, varied=True)[Level.LOWER].seeds
    assert len(lower) == 6
    assert first >= {program.id for program in (*varied, *lower)}


def test_the_draft_of_a_run_without_rounds_in_hand_is_its_last_state(trained):
    run = trained()
    last = run.candidates[-1]
    assert (run.draft.round, run.draft.upper) == (0, last.upper)
    assert run.draft.repertoire == last.repertoire
    assert run.draft.archive.responses == last.archive.responses


OURS = task(0, (5, 7))
STRANGE = {
    "another case": {"case": 6},
    "another name": {"key": "x0#000000000000"},
    "other customers": {"nodes": [5, 8]},
    "another descriptor": {"descriptor": [0.5]},
}


def recorded(task):
    return Replay(tasks={1: convert({"round": 1, "tasks": [task]}, Tasks)})


@pytest.mark.parametrize("strange", STRANGE)
def test_a_recalled_task_of_another_run_is_refused(trained, strange):
    record = {**OURS.record(), **STRANGE[strange]}
    with pytest.raises(RunFailed, match=NOT_REPRODUCED[:30]):
        trained(replay=recorded(record))


def test_recalled_tasks_are_not_exposed_again(trained):
    run = trained(rounds=1, replay=recorded(OURS.record()))
    assert run.cases["expose"] == []
    assert list(run.candidates[0].archive.tasks) == [OURS.key]
