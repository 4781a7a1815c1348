"""What every problem of conf/problem keeps, so that the search can trust it without knowing it."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from small_cases import SEED, pool_of, smallest

from offered import arrays_of
from problems.described import described
from specahd.routing.base import POOLS
from specahd.routing.pools import refuse_overlap

# Pools and files.


def test_pools_are_as_the_specification_has_them(name, pool):
    instances = pool_of(name, pool)
    assert instances
    count, sizes = described(name).pools[pool]
    found = {instance.size for instance in instances}
    assert len(instances) == count
    if isinstance(sizes, set):
        assert found == sizes
    else:
        assert sizes[0] <= min(found) <= max(found) <= sizes[1]


def test_names_are_unique_and_carry_problem_and_seed(name, problem):
    pools = {pool: [x.name for x in pool_of(name, pool)] for pool in POOLS}
    refuse_overlap(
        {pool: {x.name: problem.dumps(x) for x in pool_of(name, pool)} for pool in POOLS}
    )
    names = list(itertools.chain(*pools.values()))
    serials = [int(instance.rpartition("-s")[2]) for instance in names]
    assert len(serials) == len(set(serials))
    assert all(instance.startswith(f"{name}-") for instance in names)
    assert {serial // 1000 for serial in serials} == {SEED}


def test_an_instance_under_another_name_is_the_same_instance(name, problem):
    one, other = pool_of(name, "lower_train")[:2]
    text = problem.dumps(one)
    copy = problem.dumps(dataclasses.replace(one, name="another", comment="Made by somebody else."))
    assert copy != text
    refuse_overlap({"selection": {"one": text}, "validation": {"other": problem.dumps(other)}})
    with pytest.raises(ValueError, match="validation/copy is the same instance as selection/one"):
        refuse_overlap({"selection": {"one": text}, "validation": {"copy": copy}})
    with pytest.raises(ValueError, match="the name one occurs twice"):
        refuse_overlap({"selection": {"one": text}, "validation": {"one": problem.dumps(other)}})


def test_the_seed_alone_decides_the_bytes(name, problem, pool):
    first = [problem.dumps(x) for x in pool_of(name, pool)[:3]]
    again = problem.generate(pool, SEED)
    assert [problem.dumps(next(again)) for _ in first] == first
    other = problem.generate(pool, SEED + 1)
    assert all(problem.dumps(next(other)) != text for text in first)


def test_files_are_read_back_as_they_were(name, problem, pool, tmp_path):
    instances = pool_of(name, pool)
    for instance in (instances[0], min(instances, key=lambda x: x.size)):
        path = tmp_path / f"{instance.name}{problem.suffix}"
        path.write_text(problem.dumps(instance))
        again = problem.read(path)
        assert (again.name, again.size) == (instance.name, instance.size)
        assert problem.dumps(again) == problem.dumps(instance)
        for array, other in zip(
            arrays_of(problem, again).values(), arrays_of(problem, instance).values(), strict=True
        ):
            np.testing.assert_array_equal(array, other)


# Solutions.


def test_every_baseline_is_feasible_and_repeats_itself(name, problem):
    instance = smallest(name).instance
    assert set(problem.references) <= set(problem.baselines)
    assert problem.baseline_name in problem.baselines
    for baseline in problem.baselines:
        solution = problem.baseline(instance, baseline)
        assert problem.check(instance, solution) == (), baseline
        assert problem.baseline(instance, baseline) == solution
        assert 0 < problem.cost(instance, solution) < math.inf


def test_what_stands_at_once_is_feasible(name, problem):
    for instance in (smallest(name).instance, *pool_of(name, "selection")[:2]):
        solution = problem.trivial_solution(instance)
        if solution is None:
            assert not problem.engine
            continue
        assert problem.check(instance, solution) == ()
        assert problem.cost(instance, solution) > problem.cost(
            instance, problem.baseline(instance, problem.construction)
        )


def test_solution_files_are_read_back_as_they_were(name, problem, tmp_path):
    case = smallest(name)
    for baseline in problem.baselines:
        solution = problem.baseline(case.instance, baseline)
        cost = problem.cost(case.instance, solution)
        files = problem.solution_files(case.instance.name, solution, cost)
        assert ".sol" in files
        for suffix, text in files.items():
            path = tmp_path / f"{baseline}{suffix}"
            path.write_text(text)
            again, stated = problem.read_solution(path)
            # A tour may start elsewhere; what is written of it is the same.
            written = problem.solution_files(case.instance.name, again, cost)
            assert written[suffix] == text, path.name
            assert stated in (None, cost)
            assert problem.check(case.instance, again) == ()
            assert problem.cost(case.instance, again) == cost
        assert problem.read_solution(tmp_path / f"{baseline}.sol")[1] == cost
