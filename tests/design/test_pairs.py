"""Rounds of two populations: who is rewarded, who leaves, what is asked for and what comes out."""

from functools import partial

import numpy as np
import pytest
from arithmetic import POOLS, PROBLEM, SEEDS, Arithmetic, asked, number_of
from msgspec import convert

from specahd.core.errors import ConfigError, RunFailed
from specahd.core.journal import read_records
from specahd.core.program import Level
from specahd.core.settings import Settings
from specahd.design.pairs import Pairs
from specahd.methods.g_lns import GLNS
from specahd.runs.records import Rewards
from specahd.search.replay import Replay

SETTINGS = {"uppers": 3, "passes": 6}


@pytest.fixture
def paired(trained):
    """Run two populations of three, of which one is renewed in a round."""
    policy = partial(GLNS, 3, 1)
    return partial(trained, kind=Pairs, policy=policy, **SETTINGS)


def rewards_of(folder):
    records = read_records(folder / "journal.jsonl")
    return [one for one in records if one.get("record") == "rewards"]


def test_both_levels_fill_their_places_and_then_renew_the_same_number(paired):
    run = paired(tickets=10)
    # A seed program each at first; then one of three; then one ticket is left.
    assert asked(run) == {
        (1, "upper"): 2,
        (1, "lower"): 2,
        (2, "upper"): 1,
        (2, "lower"): 1,
        (3, "upper"): 1,
        (3, "lower"): 1,
        (4, "upper"): 1,
        (4, "lower"): 1,
    }
    assert run.ledger.left == 0


def test_a_level_without_a_ticket_loses_no_program(paired):
    run = paired(tickets=5)
    [candidate] = run.candidates
    assert asked(run)[2, "upper"] == 1
    assert (len(candidate.uppers), len(candidate.repertoire)) == (3, 3)


def test_without_tickets_the_seed_programs_are_the_result(paired):
    [nothing] = paired(tickets=0).candidates
    assert (nothing.uppers, nothing.repertoire) == ((SEEDS[Level.UPPER],), (SEEDS[Level.LOWER],))


def test_all_pairs_are_rewarded_on_each_training_instance_and_the_worst_leave(paired, tmp_path):
    executor = Arithmetic()
    run = paired(3, 4, 5, 6, tickets=8, executor=executor, parts={"episodes": 2})
    found = rewards_of(tmp_path)
    assert [one["round"] for one in found] == [1, 2, 3, 4]
    by_round = {}
    for uppers, system, case, path in executor.episodes:
        names = [one.id for one in uppers], [one.id for one in system.repertoire]
        by_round.setdefault(path[2], []).append((case, path[-1], names))
    for one in found:
        episodes = by_round[one["round"]]
        assert {names == (one["uppers"], one["lowers"]) for *_, names in episodes} == {True}
        assert sorted(each[:2] for each in episodes) == [
            (case, episode) for case in POOLS["upper_train"] for episode in (0, 1)
        ]
        assert one["improvement"] == np.mean(POOLS["upper_train"]) / 4
    kept = [set(one["uppers"]) for one in found]
    # Numbers decide; the seed program has 0.
    assert kept[0] == {"upper-seed"}
    assert kept[1] == {"upper-seed", "upper-1-0000", "upper-1-0001"}
    assert "upper-seed" not in kept[2]
    assert "lower-seed" in found[1]["lowers"]
    assert "lower-seed" not in found[2]["lowers"]
    [candidate] = run.candidates
    for programs in candidate.uppers, candidate.repertoire:
        numbers = list(map(number_of, programs))
        assert numbers == sorted(numbers, reverse=True)


def test_the_lower_level_is_asked_for_what_the_upper_level_was(paired):
    run = paired(*range(3, 60), tickets=60)
    kinds = {}
    for sample in run.samples:
        kind = sample["operator"].partition("_")[0]
        kinds.setdefault((sample["round"], sample["index"]), []).append(kind)
    assert {kind for kind, *_ in kinds.values()} == {"init", "mutate", "crossover", "joint"}
    for upper, lower in kinds.values():
        assert upper == lower


def test_draws_of_every_episode_are_its_own(paired):
    executor = Arithmetic()
    paired(tickets=6, executor=executor, parts={"episodes": 3})
    paths = [path for *_, path in executor.episodes]
    assert len(set(paths)) == len(paths)
    assert {path[:2] for path in paths} == {(5, "episode")}


def test_a_frozen_system_is_known_by_what_is_in_it(paired):
    executor = Arithmetic()
    # At last the newest are put in their places.
    paired(9, 1, tickets=6, executor=executor, incumbents="repaired")
    systems = [*executor.systems, *(system for _, system, *_ in executor.episodes)]
    programs = {}
    for system in systems:
        names = [program.id for program in system.repertoire]
        assert programs.setdefault(system.key, names) == names


def test_lower_programs_are_measured_on_one_set_of_tasks_and_the_last_on_another(paired):
    run = paired(tickets=10)
    exposed = [line for line in run.responses if "tasks" in line]
    assert [line["round"] for line in exposed] == [1, 6]
    [candidate] = run.candidates
    final = {program.id for program in candidate.repertoire}
    again = {line["carried"] for line in run.responses if line["round"] == 6 and "carried" in line}
    assert again == final
    tasks = {task["key"] for line in exposed for task in line["tasks"]}
    assert {
        (task, program) for task, program in candidate.archive.responses if program in final
    } == {(task, program) for task in tasks for program in final}


def test_the_last_populations_are_selected_once(paired):
    run = paired(tickets=10)
    [end] = run.rounds
    [candidate] = run.candidates
    assert end["uppers"] == candidate.names
    assert run.cases["repair"][-2:] == POOLS["selection"]


def test_an_interrupted_run_has_a_draft(paired):
    run = paired(tickets=4)
    assert run.draft.repertoire


def test_what_was_rewarded_comes_again(trained, paired, tmp_path):
    paired(tickets=6)
    found = rewards_of(tmp_path)
    recorded = {one["round"]: convert(one, Rewards) for one in found}
    executor = Arithmetic()
    for name in ("journal.jsonl", "responses.jsonl", "wal.jsonl"):
        (tmp_path / name).unlink()
    paired(tickets=6, executor=executor, replay=Replay(rewards=recorded))
    assert executor.episodes == []
    assert rewards_of(tmp_path) == found
    other = {1: convert({**found[0], "lowers": ["another"]}, Rewards)}
    with pytest.raises(RunFailed):
        paired(tickets=6, replay=Replay(rewards=other))


@pytest.mark.parametrize("levels", ["lower", "upper"])
def test_one_level_alone_has_no_pairs(levels):
    repertoire = "given" if levels == "upper" else None
    with pytest.raises(ConfigError, match=f"search.levels=both .*, got {levels}"):
        Pairs.admit(PROBLEM, Settings(levels=levels, repertoire=repertoire))


def test_all_programs_are_measured_to_the_end():
    with pytest.raises(ConfigError, match=r"search\.racing=false for pairs of programs, got true"):
        Pairs.admit(PROBLEM, Settings(racing=True))


@pytest.mark.parametrize("repair", ["insertion", "construct"])
def test_pairs_need_regions_that_are_rebuilt_one_by_one(repair):
    problem = type(PROBLEM)(repair=repair)
    with pytest.raises(ConfigError, match=r"problem\.repair=append for pairs"):
        Pairs.admit(problem, Settings())


@pytest.mark.parametrize(
    ("option", "value"), [("episodes", 0), ("iterations", 0), ("temperature", -0.1)]
)
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(ConfigError, match=rf"method\.{option} of at least"):
        Pairs.check(policy=GLNS, **{option: value})
