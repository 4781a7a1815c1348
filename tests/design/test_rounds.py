"""Rounds with the real loop, method, archive and router; only the measures are made up."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from arithmetic import BROKEN, PROBLEM, Arithmetic, InTurn, number_of, response, task

from specahd.checkpoint import Checkpoint
from specahd.core.budget import Allowance, Budget, Ledger
from specahd.core.errors import ConfigError, RunFailed
from specahd.core.events import Observer
from specahd.core.journal import read
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.core.settings import Accept, Settings
from specahd.design.coupled import Coupled
from specahd.design.single import Single
from specahd.memory.memory import Memory
from specahd.methods.eoh import EoH
from specahd.repair.archive import ResponseArchive
from specahd.repair.repertoire import objective
from specahd.routing.base import contracts
from specahd.runs.journal import Journal
from specahd.search.engine import Engine
from specahd.search.replay import NOT_REPRODUCED, Replay

POOLS = {"lower_train": [0, 1], "upper_train": [2, 3], "selection": [4, 5], "validation": [6, 7]}
SEEDS = {level: contract.seed for level, contract in contracts(PROBLEM.operator).items()}


@pytest.fixture
def trained(tmp_path):
    def train(
        *numbers,
        tickets=12,
        kind=Coupled,
        executor=None,
        replay=None,
        allowance=None,
        stop=None,
        parts=None,
        **settings,
    ):
        """Run to the end and return all that there is to look at."""
        executor = executor or Arithmetic()
        split = {name: settings.pop(name) for name in ("rounds", "lower_share") if name in settings}
        if settings.get("levels") == "upper":
            settings["repertoire"] = "given"
        ledger = Ledger(tickets)
        with (
            Journal(tmp_path) as journal,
            Engine(
                seed=5,
                lag=1,
                samplers=1,
                proposer=InTurn(*(numbers or (3, 4, 5, 6, 7, 8))),
                ledger=ledger,
                journal=journal,
                memories={level: Memory() for level in Level},
                observer=Observer(),
                replay=replay,
                allowance=allowance,
            ) as engine,
        ):
            search = kind(
                problem=PROBLEM,
                engine=engine,
                executor=executor,
                policy=lambda: EoH(3),
                pools=POOLS,
                budget=Budget(tickets, **{"rounds": 2, **split}),
                settings=Settings(**settings),
                journal=journal,
                observer=Observer(),
                **(parts or {}),
            )
            candidates = []
            for candidate in search.rounds():
                candidates.append(candidate)
                engine.stopped = stop or engine.stopped
        records = list(read(tmp_path / "journal.jsonl"))
        return SimpleNamespace(
            candidates=candidates,
            cases=executor.cases,
            draft=search.draft(),
            ledger=ledger,
            responses=list(read(tmp_path / "responses.jsonl")),
            rounds=[record for record in records if record.get("record") == "round"],
            samples=[record for record in records if "sample" in record],
            systems=executor.systems,
        )

    return train


def asked(run):
    """Return how many programs each round asked of each level."""
    counts = {}
    for sample in run.samples:
        slot = sample["round"], sample["level"]
        counts[slot] = counts.get(slot, 0) + 1
    return counts


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
        assert tasks == [made.record() for made in Arithmetic().expose(_upper(number), [0, 1])]


def _upper(number):
    operator = "seed" if number == 0 else "i1"
    return SimpleNamespace(idea=f"Try {number}.", operator=operator)


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
    assert "selection_failed" not in first


class Contrary(Arithmetic):
    """On the selection pool the smaller of two numbers is the better one."""

    def repair(self, upper, system, case):
        made = super().repair(upper, system, case)
        return replace(made, cost=made.baseline_cost * (0.5 + 0.01 * number_of(upper)))


def test_selection_decides_between_the_finalists_of_a_round(trained):
    run = trained(3, 8, 5, 2, executor=Contrary(), finalists=2)
    # 8 and 5 are the best in training, and in the second round 8 and another 8.
    assert [number_of(candidate.upper) for candidate in run.candidates] == [5, 8]
    assert run.rounds[0]["upper"] == run.candidates[0].upper.id
    assert run.rounds[0]["utility"] == pytest.approx(0.08 - 0.01)
    assert run.rounds[0]["selection"] == pytest.approx(0.45)
    assert run.cases["repair"] == POOLS["selection"] * 4


def test_what_is_broken_off_while_selection_decides_has_the_best_upper_program(trained):
    begun = []

    class Noted(Coupled):
        def __init__(self, **parts):
            super().__init__(**parts)
            begun.append(self)

    class BrokenOff(Arithmetic):
        def repair(self, upper, system, case):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(3, 8, 5, 2, kind=Noted, executor=BrokenOff(), finalists=2)
    assert number_of(begun[0].draft().upper) == 8


def test_the_best_upper_program_is_the_candidates(trained):
    run = trained(3, 8, 5, 2)
    assert [number_of(candidate.upper) for candidate in run.candidates] == [8, 8]
    assert [candidate.round for candidate in run.candidates] == [1, 2]
    assert run.candidates[0].selection == pytest.approx(0.08)


def test_the_repertoire_is_frozen_anew_each_round_and_scores_the_uppers(trained):
    run = trained(neighbours=1, accept=Accept.FEASIBLE)
    # Workers keep a launched repertoire by this key.
    assert {system.key for system in run.systems} == {"round-1", "round-2"}
    assert {system.accept for system in run.systems} == {Accept.FEASIBLE}
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

    def expose(self, program, cases):
        made = super().expose(program, cases)
        return made if len(self.cases["expose"]) > 2 else []


def test_a_round_makes_up_for_what_the_one_before_left(trained):
    run = trained(levels="lower", executor=Late())
    assert asked(run) == {(2, "lower"): 12}


def checkpoint(portfolio=False):
    """Return a checkpoint with the seed programs."""
    archive = ResponseArchive(PROBLEM.descriptor_names)
    return Checkpoint(
        problem="arithmetic",
        settings={},
        upper=SEEDS[Level.UPPER],
        repertoire=(SEEDS[Level.LOWER],),
        archive=archive,
        statistics=archive.statistics(),
        accept=Accept.IMPROVING,
        neighbours=5,
        portfolio=portfolio,
    )


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


def test_more_tasks_than_cells_allow_are_drawn_evenly_and_kept_in_order(trained):
    # A population of 3 and 14 cells: 4 of 20 tasks.
    run = trained(rounds=1, cells=14, executor=Arithmetic(exposed=lambda number: 10))
    drawn = generator(5, "tasks", 1).choice(20, size=4, replace=False)
    everything = Arithmetic(exposed=lambda number: 10).expose(_upper(0), [0, 1])
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


def test_a_candidate_stays_as_it_was_when_later_rounds_go_on(trained):
    first, second = trained().candidates
    assert first.archive is not second.archive
    assert first.archive.tasks.keys() < second.archive.tasks.keys()
    assert first.archive.responses.keys() < second.archive.responses.keys()


def test_a_run_that_is_stopped_begins_no_round(trained):
    run = trained(stop="enough")
    assert [candidate.round for candidate in run.candidates] == [1]


def test_what_replies_may_cost_stops_the_run(trained):
    # A prompt has thousands of bytes, and here as many tokens.
    run = trained(allowance=Allowance(tokens=20_000))
    spent = run.ledger.read()
    paid = spent.prompt_tokens + spent.completion_tokens
    assert 10_000 < paid <= 20_000
    assert (len(run.samples), len(run.candidates)) == (4, 1)


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


@pytest.mark.parametrize("strange", STRANGE)
def test_a_recalled_task_of_another_run_is_refused(trained, strange):
    record = {**OURS.record(), **STRANGE[strange]}
    with pytest.raises(RunFailed, match=NOT_REPRODUCED[:30]):
        trained(replay=Replay(tasks={1: {"tasks": [record]}}))


def test_recalled_tasks_are_not_exposed_again(trained):
    run = trained(rounds=1, replay=Replay(tasks={1: {"tasks": [OURS.record()]}}))
    assert run.cases["expose"] == []
    assert list(run.candidates[0].archive.tasks) == [OURS.key]


@pytest.mark.parametrize(("portfolio", "most"), [(1, 1), (2, 2)])
def test_a_single_level_has_one_round_and_a_portfolio(trained, portfolio, most):
    run = trained(kind=Single, parts={"portfolio": portfolio}, levels="both", rounds=4)
    assert asked(run) == {(1, "lower"): 12}
    [candidate] = run.candidates
    assert len(candidate.repertoire) == most
    assert candidate.portfolio is (portfolio > 1)
    rows = {}
    for (_, program), found in candidate.archive.responses.items():
        rows.setdefault(program, []).append(found.score)
    best = max(map(np.mean, rows.values()))
    # Numbers come twice; the older program stands first.
    assert candidate.repertoire[0].id == min(
        program for program, scores in rows.items() if np.mean(scores) == best
    )


@pytest.mark.parametrize("portfolio", [False, True])
def test_a_portfolio_that_is_given_stays_one(trained, portfolio):
    given = checkpoint(portfolio)
    for kind, parts in ((Coupled, {}), (Single, {"portfolio": 3})):
        run = trained(kind=kind, levels="upper", rounds=1, parts={"given": given, **parts})
        [candidate] = run.candidates
        assert candidate.portfolio is portfolio


@pytest.mark.parametrize("portfolio", [0, True, 1.5])
def test_a_portfolio_out_of_range_is_refused(portfolio):
    with pytest.raises(ConfigError, match=r"method\.portfolio (of at least 1|to be an integer)"):
        Single.check(policy=lambda: EoH(2), portfolio=portfolio)
