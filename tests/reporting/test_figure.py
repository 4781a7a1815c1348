"""Panels of one problem can be compared by eye."""

from matplotlib.figure import Figure

from specahd.reporting.figure import _share


def test_panels_of_a_problem_have_one_scale_and_an_empty_one_says_so():
    first, second, empty, other = Figure().subplots(1, 4, squeeze=False)[0]
    first.plot([0, 1], [0.0, 1.0])
    second.plot([0, 1], [3.0, 5.0])
    other.plot([0, 1], [90.0, 91.0])
    _share([first, second, empty, other], ["cvrp", "cvrp", "cvrp", "tsp"])
    assert first.get_ylim() == second.get_ylim()
    low, high = first.get_ylim()
    assert low <= 0.0 < 5.0 <= high < 90.0
    assert [text.get_text() for text in empty.texts] == ["none"]
    assert not first.texts
    assert other.get_ylim()[0] > 80.0
