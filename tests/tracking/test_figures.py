"""Pictures say what the records say."""

from itertools import pairwise
from math import cos, sin

import pytest
from matplotlib.colors import to_rgba

from specahd.tracking.figures import draw_convergence, draw_route_map, draw_solving


def record(level, number, best, score=None):
    return {"sample": "x", "level": level, "round": number, "best": best, "score": score}


def test_both_levels_are_drawn_by_ticket():
    figure = draw_convergence(
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
    figure = draw_convergence(records)
    assert len(figure.axes) == 1
    figure.savefig(tmp_path / "picture.png")


def test_only_edges_that_differ_have_colour(tmp_path):
    figure = draw_route_map(
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
    assert "square$5_$6: saves 20.00%" in figure.get_suptitle()
    figure.savefig(tmp_path / "picture.png")


def test_routes_that_were_solved_differ_in_colour_and_style():
    """Beside each other around the depot; in grey, styles tell them apart."""
    angles = [0.4 * place for place in range(12)]
    routes = [[place + 1] for place in (5, 0, 11, 3, 7, 9, 1, 2, 4, 6, 8, 10)]
    figure = draw_solving(
        {
            "instance": "star",
            "coords": [[0, 0], *([cos(angle), sin(angle)] for angle in angles)],
            "before": routes,
            "after": [[1, 2, 3], [*range(4, 13)]],
            "cost_before": 24.0,
            "cost_after": 20.0,
        },
        [(0.0, 24.0, 0), (1.0, 20.0, 10)],
    )
    before, after = (panel.collections[0] for panel in figure.axes[:2])
    looks = list(zip(map(tuple, before.get_colors()), map(str, before.get_linestyles())))
    assert len(set(looks)) == 12
    for (colour, style), (other, otherwise) in pairwise([*looks, looks[0]][:12]):
        assert colour != other
        assert style != otherwise
    assert [len(line) for line in after.get_segments()] in ([5, 11], [11, 5])
    # Of the routes after solving, in the order of the solution.
    [legend] = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["depot", "route 1: 3 stops", "route 2: 9 stops"]
    drawn = dict(zip(map(len, after.get_segments()), map(tuple, after.get_colors()), strict=True))
    assert [to_rgba(line.get_color()) for line in legend.get_lines()[1:]] == [drawn[5], drawn[11]]


def names_in(names, coords):
    drawn = {"instance": "a", "coords": coords, "names": names, "cost_before": 2, "cost_after": 1}
    nodes = list(range(1, len(coords)))
    figure = draw_route_map({**drawn, "before": [nodes], "after": [nodes]})
    return [text.get_text() for text in figure.axes[1].texts]


def test_stops_are_named_where_there_is_room():
    square = [[0, 0], [0, 1], [1, 1], [1, 0]]
    assert names_in(["depot", "$a_", "b\x1b", "c" * 30], square) == [
        "depot",
        "$a_",
        r"b\x1b",
        "c" * 23 + "…",
    ]
    # At one place they are one text, and one that would cover another is left out.
    assert names_in(["depot", "a", "b", "c"], [[0, 0], [0, 0], [0.001, 0], [1, 1]]) == [
        "depot, a",
        "c",
    ]
    assert names_in([str(node) for node in range(61)], [[node, 0] for node in range(61)]) == []


def test_many_stops_cover_no_more_than_few():
    def covered(stops):
        routes = [[*range(1, stops)]]
        figure = draw_solving(
            {
                "instance": "ring",
                "coords": [[cos(stop), sin(stop)] for stop in range(stops)],
                "before": routes,
                "after": routes,
                "cost_before": 2e7,
                "cost_after": 1.9e7,
            },
            [(0.0, 2e7, 0), (1.0, 1.9e7, 10)],
        )
        lines, dots = figure.axes[0].collections
        figure.draw_without_rendering()
        assert figure.axes[2].yaxis.get_offset_text().get_text() == ""
        return stops * dots.get_sizes()[0], stops * lines.get_linewidths()[0] ** 2

    assert covered(500) == pytest.approx((3000.0, 500.0))
    assert covered(2000) == covered(8000) == pytest.approx((12_000.0, 2000.0))
