"""What every problem refuses of its options, where it is made."""

import re

import pytest

from offered import PROBLEMS, problem
from specahd.core.errors import ConfigError

LEAST = {
    "max_regions": 1,
    "repairs_per_customer": 1,
    "final_repairs_per_customer": 1,
    "max_size": 2,
    "solver_iterations": 1,
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("option", LEAST)
def test_numbers_have_a_least_value(name, option):
    least = 4 if (name, option) == ("tsp", "max_size") else LEAST[option]
    make = type(problem(name))
    if (name, option) == ("tsp", "solver_iterations"):
        with pytest.raises(TypeError, match=option):
            make(solver_iterations=1)
        return
    make(**{option: least})
    with pytest.raises(ConfigError, match=rf"\b{option} of at least {least}\b"):
        make(**{option: least - 1})


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_baseline_is_chosen_by_its_name(name):
    make, names = type(problem(name)), problem(name).baselines
    chosen = next(each for each in names if each != problem(name).baseline_name)
    other, usual = make(baseline=chosen), problem(name)
    instance = min(usual.generate("lower_train", 1), key=lambda each: each.size)
    assert other.baseline(instance) == other.baseline(instance, chosen)
    assert other.baseline(instance, usual.baseline_name) == usual.baseline(instance)
    assert other.baseline(instance) != usual.baseline(instance)
    for refused in (lambda: make(baseline="best"), lambda: usual.baseline(instance, "best")):
        with pytest.raises(ConfigError, match=re.escape(", ".join(names))):
            refused()


def test_the_solver_works_for_as_many_iterations_as_it_is_told():
    make = type(problem("vrptw"))
    instance = next(problem("vrptw").generate("selection", 0))
    costs = []
    for iterations in (3, 30):
        solver = make(solver_iterations=iterations)
        costs.append(solver.cost(instance, solver.baseline(instance, "pyvrp")))
    assert costs[1] < costs[0]


def test_there_is_a_first_customer():
    with pytest.raises(ConfigError, match=r"\bcustomers of at least 1\b"):
        type(problem("vrptw"))(customers=0)


@pytest.mark.parametrize("name", ["cvrp", "vrptw"])
def test_a_convention_is_one_of_two(name):
    make = type(problem(name))
    other = {"cvrp": "dimacs", "vrptw": "rounded"}[name]
    with pytest.raises(ConfigError, match=rf"convention .*{other}"):
        make(convention=other)


@pytest.mark.parametrize("name", PROBLEMS)
def test_regions_are_as_many_and_as_large_as_suits_how_they_are_rebuilt(name):
    make, largest = type(problem(name)), {"cvrp": 200, "vrptw": 400, "sdvrp": 500, "tsp": 200}
    found = [make(repair=repair) for repair in ("append", "insertion")]
    assert [(each.max_regions, each.max_size) for each in found] == [
        (16, largest[name]),
        (3 if name == "tsp" else 8, 50),
    ]
    given = make(repair="append", max_regions=2, max_size=9)
    assert (given.max_regions, given.max_size) == (2, 9)
