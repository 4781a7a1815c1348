"""Which method is better, by hand: no more than instances and seeds tell."""

from math import exp, inf, isnan, log, nan, sqrt

import pytest

from specahd.reporting.document import Strong, Table
from specahd.reporting.ranking import (
    Entry,
    against,
    compare,
    deviation,
    difference,
    holm,
    mean_interval,
)

NAMES = [f"i{number}" for number in range(20)]
SIZES = {"100": NAMES[:10], "200": NAMES[10:]}


def entry(name, *factors, reference=False):
    """Return an entry that costs so many times 100, 101, 102, ... with each seed."""
    costs = [
        {each: factor * (100 + place) for place, each in enumerate(NAMES)} for factor in factors
    ]
    return Entry(name, costs, reference)


def parts(*entries, sizes=SIZES):
    return compare("cvrp", entries, sizes, "60 programs")


def column(table, name):
    assert isinstance(table, Table)
    return [row[table.columns.index(name)] for row in table.rows]


def test_a_difference_is_the_geometric_mean_of_the_ratios():
    first = Entry("a", [{"x": 50.0, "y": 200.0}])
    other = Entry("b", [{"x": 100.0, "y": 100.0}])
    # Half and twice as much: neither is better.
    assert difference(first, other, ["x", "y"]).share == pytest.approx(0.0)
    there = difference(entry("a", 1.2), entry("b", 1.0), NAMES)
    back = difference(entry("b", 1.0), entry("a", 1.2), NAMES)
    assert (1 + there.share) * (1 + back.share) == pytest.approx(1.0)


def test_an_interval_spans_what_instances_vary_by():
    ratios = [0.9, 0.95, 1.0, 1.1, 1.2, 1.3]
    first = Entry("a", [{str(place): ratio for place, ratio in enumerate(ratios)}])
    other = Entry("b", [{str(place): 1.0 for place in range(6)}])
    found = difference(first, other, list(first.seeds[0]))
    # The standard error of the mean of the logarithms, about twice to each side.
    logs = [log(ratio) for ratio in ratios]
    middle = sum(logs) / 6
    error = (sum((each - middle) ** 2 for each in logs) / 36) ** 0.5
    assert found.low == pytest.approx(exp(middle - 1.96 * error) - 1, abs=0.01)
    assert found.high == pytest.approx(exp(middle + 1.96 * error) - 1, abs=0.01)
    assert found == difference(first, other, list(first.seeds[0]))
    alone = difference(first, other, ["0"])
    assert (alone.share, isnan(alone.low), alone.certain) == (pytest.approx(-0.1), True, False)


def test_an_interval_spans_what_seeds_vary_by_too():
    first, other = entry("a", 0.9, 1.0, 1.1), entry("b", 1.0, 1.0, 1.0)
    found = difference(first, other, NAMES)
    # All instances have one ratio, so only the drawn seeds vary: three 0.9 have 1/27.
    assert found.share == pytest.approx(0.0)
    assert (found.low, found.high) == (pytest.approx(-0.1), pytest.approx(0.1))
    assert found.chance > 0.5
    # Paired by seed, what both have in common cancels.
    paired = difference(entry("a", 0.9, 1.0, 1.1), entry("b", 1.8, 2.0, 2.2), NAMES)
    assert (paired.low, paired.high) == (pytest.approx(-0.5), pytest.approx(-0.5))
    assert paired.chance == pytest.approx(2 / 10_001)
    # Two seeds against one.
    assert difference(entry("a", 0.9, 1.1), entry("r", 1.0, reference=True), NAMES).low < -0.05


def test_the_interval_of_a_mean_is_wide_where_there_are_few_values():
    # Student's t of two degrees of freedom, from a table.
    assert mean_interval([-1.0, 1.0, 0.0]) == (0.0, pytest.approx(4.302653 / sqrt(3)))
    assert mean_interval([0.5]) == (0.5, inf)


def test_several_comparisons_are_corrected_step_by_step():
    expected = [0.03, 0.06, 0.06, nan]
    assert holm([0.01, 0.04, 0.03, nan]) == pytest.approx(expected, nan_ok=True)
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_size_differs_after_correction_and_a_small_one_is_told_as_instances():
    sizes = {"100": NAMES[:12], "200": NAMES[12:17], "300": NAMES[17:]}
    rival = entry("theirs", 1.10, 1.11)
    by_size = compare(
        "cvrp", [entry("ours", 1.0, 1.01), rival], sizes, "", limited={"300": "theirs 90%"}
    )[5]
    assert by_size.columns == ("method", "100 (12)", "200 (5)", "300 (3) *")
    [_, theirs] = by_size.rows
    assert theirs[1:] == ["+9.95% (+9.90 to +10.00)", "+9.95%, dearer on 5 of 5", "+9.95%"]
    assert [isinstance(cell, Strong) for cell in theirs] == [False, True, False, False]
    header, _, line = by_size.csv().splitlines()
    assert header.split(",")[4:6] == ["200 (5) (%)", "200 (5) dearer"]
    assert line.split(",")[4:7] == ["+9.95", "5", "5"]
    alone = compare("cvrp", [entry("ours", 1.0), entry("theirs", 1.5)], sizes, "")[5]
    assert not any(isinstance(cell, Strong) for cell in alone.rows[1])


def test_the_deviation_is_that_of_the_seeds():
    assert deviation(entry("a", 0.9, 1.0, 1.1), NAMES) == pytest.approx(0.1)
    assert isnan(deviation(entry("a", 1.0), NAMES))
    assert deviation(entry("r", 1.0, reference=True), NAMES) == 0.0


@pytest.mark.parametrize(
    ("rival", "verdict"),
    [
        ((1.10, 1.11), "dearer"),
        # Every instance is dearer by 3%, but the seeds are 14% apart.
        ((0.93, 1.13), "no"),
        ((1.0, 1.01), "no"),
    ],
)
def test_methods_differ_by_more_than_instances_and_seeds_vary(rival, verdict):
    _, table, *_ = parts(entry("ours", 1.0, 1.01), entry("theirs", *rival))
    assert dict(zip(column(table, "method"), column(table, "differs"), strict=True)) == {
        "ours": "–", "theirs": verdict,
    }  # fmt: skip


def test_one_seed_tells_nothing_of_methods():
    said, table, *_ = parts(entry("ours", 1.0), entry("theirs", 1.5))
    assert column(table, "differs") == ["–", "no"]
    assert said == (
        "ours has the lowest costs, but these runs cannot tell it from theirs. "
        "(20 instances, 1 seed of 60 programs.)"
    )


def test_the_answer_comes_first():
    said, *_ = parts(
        entry("worst", 1.3, 1.3), entry("ours", 1.0, 1.0), entry("next", 1.1, 1.1),
        entry("savings", 0.9, reference=True), entry("nearest", 1.4, reference=True),
    )  # fmt: skip
    assert said == (
        "ours finds cheaper solutions than every other method; next, the next, costs 10.00% more "
        "(95% interval 10.00 to 10.00%). Untrained references cheaper than every method: savings. "
        "(20 instances, 2 seeds of 60 programs.)"
    )


def test_the_tables_are_in_the_order_of_costs():
    _, table, _, wins, _, by_size = parts(
        entry("b", 1.2, 1.2), entry("a", 1.0, 1.0), entry("r", 0.5, reference=True)
    )
    assert column(table, "method") == ["r", "a", "b"]
    assert column(table, "difference") == ["-50.00%", "cheapest", "+20.00%"]
    assert column(wins, "other methods") == ["20 / 0 / 0", "20 / 0 / 0", "0 / 0 / 20"]
    assert column(wins, "r") == ["–", "0 / 0 / 20", "0 / 0 / 20"]
    assert column(table, "±") == ["–", "0.00", "0.00"]
    assert by_size.columns == ("method", "100 (10)", "200 (10)")
    assert by_size.rows[2] == ["b", *["+20.00% (+20.00 to +20.00)"] * 2]
    assert isinstance(by_size.rows[1][0], Strong)


def test_every_two_are_compared_on_demand():
    entries = entry("a", 1.0, 1.001), entry("b", 1.1, 1.1), entry("c", 1.2, 1.201)
    *_, table = compare("cvrp", entries, SIZES, "60 programs", pairs=True)
    assert table.name == "cvrp-pairs"
    assert column(table, "method") == ["a", "a", "b"]
    assert column(table, "other") == ["b", "c", "c"]
    assert column(table, "instances") == ["20 / 0 / 0"] * 3
    assert column(table, "differs") == ["yes"] * 3
    assert column(table, "difference")[2] == "+9.14%"
    assert "cvrp-pairs" not in [each.name for each in parts(*entries) if isinstance(each, Table)]


def test_ties_are_counted_apart():
    one = Entry("a", [{"x": 1.0, "y": 2.0, "z": 3.0}])
    other = Entry("b", [{"x": 1.0, "y": 3.0, "z": 2.0}])
    third = Entry("c", [{"x": 9.0, "y": 9.0, "z": 9.0}])
    assert against(one, [other, third], ["x", "y", "z"]) == (1, 1, 1)
    assert against(third, [one, other], ["x", "y", "z"]) == (0, 0, 3)


def test_what_not_every_method_solves_is_left_out_and_counted():
    # No ratio to a cost of 0.
    costs = {name: 1.0 for name in NAMES}
    failing = Entry("b", [costs | {NAMES[0]: 0.0}, costs])
    said, *_, by_size = parts(entry("a", 1.0, 1.0), failing)
    assert "(19 instances, 2 seeds of 60 programs; left out: 1 instance that" in said
    assert by_size.columns == ("method", "100 (9)", "200 (10)")


def test_a_reference_that_lacks_an_instance_is_left_out():
    lacking = Entry("r", [{name: 1.0 for name in NAMES[1:]}], reference=True)
    _, table, *_ = parts(entry("a", 1.0, 1.0), entry("b", 1.1, 1.1), lacking)
    assert column(table, "method") == ["a", "b"]


@pytest.mark.parametrize(
    "entries",
    [
        (entry("a", 1.0, 1.0), entry("r", 1.0, reference=True)),
        (entry("a", 1.0), Entry("b", [])),
        (entry("a", 1.0), Entry("b", [{}])),
    ],
)
def test_nothing_is_said_where_nothing_can_be_compared(entries):
    assert parts(*entries) == []


def test_settings_that_changed_nothing_are_named():
    alike = [entry(name, 1.1, 1.2) for name in "bcd"]
    said = parts(entry("a", 1.0, 1.0), *alike)[0]
    assert said.count("Equal costs") == 1
    assert " Equal costs on every instance and seed: b, c, d. (" in said
    assert "Equal costs" not in parts(entry("a", 1.0, 1.1), entry("b", 1.1, 1.0))[0]
