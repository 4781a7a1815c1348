"""Pictures say what the records say."""

import pytest

from specahd.tracking.figures import convergence, route_map


def record(level, number, best, score=None):
    return {"sample": "x", "level": level, "round": number, "best": best, "score": score}


def test_both_levels_are_drawn_by_ticket():
    figure = convergence(
        [
            record("lower", 1, 0.1, 0.1),
            record("upper", 1, None),
            {"record": "round", "round": 1},
            record("lower", 2, 0.3, 0.2),
        ]
    )
    lower, upper = figure.axes
    starts, scores, best = lower.lines
    assert starts.get_xdata() == [2.5, 2.5]
    assert list(zip(*best.get_data(), strict=True)) == [(1, 0.1), (3, 0.3)]
    assert list(scores.get_ydata()) == [0.1, 0.2]
    assert (lower.get_ylabel(), upper.get_ylabel()) == ("lower level", "upper level")


@pytest.mark.parametrize("records", [[], [record("upper", 1, 0.5, 0.5)]])
def test_a_search_of_one_level_or_none_is_one_panel(records, tmp_path):
    figure = convergence(records)
    assert len(figure.axes) == 1
    figure.savefig(tmp_path / "picture.png")


def test_only_edges_that_differ_have_colour(tmp_path):
    figure = route_map(
        {
            "instance": "square$5_$6",
            "coords": [[0, 0], [0, 1], [1, 1], [1, 0]],
            "before": [[1, 3], [2]],
            "after": [[1, 2], [3]],
            "cost_before": 10.0,
            "cost_after": 8.0,
        }
    )
    for panel, shared, own in zip(figure.axes, (3, 3), (1, 1), strict=True):
        drawn = [len(collection.get_segments()) for collection in panel.collections[:2]]
        assert drawn == [shared, own]
    assert "square$5_$6: +20.00%" in figure.get_suptitle()
    figure.savefig(tmp_path / "picture.png")
