"""What the figures of reports, runs and solutions show, and what they leave out."""

from itertools import pairwise
from math import cos, sin

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from run_directories import row, sample, write_run
from specahd.core.program import Level, Outcome
from specahd.reporting.aggregates import convergence_band, group_by_kind
from specahd.reporting.family import Member
from specahd.reporting.figures import (
    LEVELS,
    draw_convergence,
    draw_outcomes,
    draw_routes,
    draw_scores,
    draw_seconds,
    draw_solving,
    draw_total,
    render,
    svg,
)
from specahd.runs.reading import read_runs


def runs_of(folder, *seeds, **options):
    for seed in seeds:
        write_run(folder / f"{options.get('problem', 'cvrp')}-{seed}", seed=seed, **options)
    return read_runs(folder)


def test_a_band_is_mean_and_deviation_over_complete_seeds_where_all_have_points(tmp_path):
    runs = runs_of(tmp_path, 0, 1, 2)
    write_run(tmp_path / "partial", seed=3, samples=[sample("lower", 1, 9.0)] * 2)
    [[(place, mean, spread)]] = convergence_band(read_runs(tmp_path), Level.LOWER)
    assert (place, mean, spread) == (2, pytest.approx(0.02), pytest.approx(0.01))
    assert list(convergence_band(runs[:1], Level.LOWER)) == []


def test_a_band_of_long_runs_begins_after_fifty_programs(tmp_path):
    samples = [sample("lower", 1, 0.1)] * 101
    [part] = convergence_band(runs_of(tmp_path, 0, 1, programs=101, samples=samples), Level.LOWER)
    assert (part[0][0], part[-1][0]) == (51, 101)


def test_there_is_no_empty_panel(tmp_path):
    lower = [sample("lower", 1, 0.1)] * 4
    one = draw_convergence(group_by_kind(runs_of(tmp_path, 0, 1, problem="tsp", samples=lower)))
    more = draw_convergence(group_by_kind(runs_of(tmp_path, 0, 1)))
    assert [sum(each.get_visible() for each in drawn.axes) for drawn in (one, more)] == [1, 3]


def test_a_single_point_is_seen(tmp_path):
    runs = runs_of(tmp_path, 0, samples=[sample("lower", 1, 0.1), sample("lower", 2, 0.2)] * 2)
    [panel] = draw_convergence(group_by_kind(runs)).axes
    _, line, *_ = panel.lines
    assert (len(line.get_xdata()), line.get_marker()) == (1, ".")


def test_files_are_drawn_in_fixed_settings_and_equal(tmp_path):
    groups = group_by_kind(runs_of(tmp_path, 0, validation=[row("a", 9, 90.0)]))
    seconds = {"cvrp-0": {"a": 2.0}}
    drawn = render(draw_seconds, groups, seconds)
    with mpl.rc_context({"axes.facecolor": "red"}):
        assert render(draw_seconds, groups, seconds) == drawn
        assert svg(draw_seconds, groups, seconds) == drawn.svg
    assert drawn.svg.startswith("<svg")
    assert drawn.png.startswith(b"\x89PNG")


def programs(*records):
    fields = ("level", "round", "score", "best", "outcome")
    return [
        Member(**dict(zip(fields, record, strict=True)), sample=str(ticket), ticket=ticket)
        for ticket, record in enumerate(records, 1)
    ]


@pytest.fixture
def searched():
    return programs(
        (Level.LOWER, 1, 0.1, 0.1, Outcome.OK),
        (Level.UPPER, 1, None, None, Outcome.PARSE_ERROR),
        (Level.LOWER, 1, 0.05, 0.1, Outcome.OK),
        (Level.LOWER, 2, 0.2, 0.3, Outcome.OK),
    )


def test_scores_and_the_best_of_each_round_are_drawn_by_ticket(searched):
    lower, upper = draw_scores(searched, LEVELS, 9).axes
    scores, first, second, between = lower.lines
    assert list(zip(*scores.get_data(), strict=True)) == [(1, 0.1), (3, 0.05), (4, 0.2)]
    assert list(zip(*first.get_data(), strict=True)) == [(1, 0.1), (3, 0.1)]
    assert list(zip(*second.get_data(), strict=True)) == [(4, 0.3)]
    assert between.get_xdata() == [3.5, 3.5]
    assert (lower.get_xlim(), lower.get_ylim()[0]) == ((0, 9.5), 0)
    assert (lower.get_ylabel(), upper.get_ylabel()) == ("lower score", "upper score")


def test_each_program_is_in_the_row_of_its_outcome(searched):
    [panel] = draw_outcomes(searched).axes
    assert [text.get_text() for text in panel.get_yticklabels()] == ["ok (3)", "parse_error (1)"]
    lower, upper = (each.get_path().vertices.tolist() for each in panel.patches)
    assert [x for x, _ in lower] == [1, 1, 3, 3, 4, 4]
    assert [x for x, _ in upper] == [2, 2]
    # Downwards: the upper level of the second row lies below the lower level of the first.
    assert max(y for _, y in lower) < min(y for _, y in upper) < 1


def test_a_total_begins_at_zero(searched):
    [panel] = draw_total(searched, [1, 2, 3, 15_000], "tokens").axes
    panel.figure.draw_without_rendering()
    assert panel.get_ylim()[0] == 0
    assert "10,000" in [text.get_text() for text in panel.get_yticklabels()]


def improved(coords, before, after, **others):
    costs = {"cost_before": 10.0, "cost_after": 8.0}
    return (
        {"instance": "$5_$6", "coords": coords, "before": before, "after": after} | costs | others
    )


def test_only_edges_that_differ_have_colour(tmp_path):
    square = [[0, 0], [0, 1], [1, 1], [1, 0]]
    figure = draw_routes(improved(square, [[1, 3], [2]], [[1, 2], [3]]))
    for panel, shared, own in zip(figure.axes, (3, 3), (1, 1), strict=True):
        drawn = [len(patch.get_path().vertices) // 2 for patch in panel.patches[:2]]
        assert drawn == [shared, own]
    assert "$5_$6: saves 20.00%" in figure.get_suptitle()
    figure.savefig(tmp_path / "picture.png")


def test_regions_are_outlined_and_stops_are_seen():
    coords = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 1], [3, 2]]
    routes = [[1, 2, 5], [3, 4]]
    figure = draw_routes(improved(coords, routes, routes), [[1, 2, 3, 4, 5], [2], [1, 4]])
    before, after = figure.axes
    hull, point, line = (patch.get_xy().tolist()[:-1] for patch in before.patches[2:])
    assert sorted(hull) == [[0, 4], [2, 1], [4, 0], [4, 4]]
    assert (point, sorted(line)) == ([[4, 4]], [[2, 1], [4, 0]])
    assert [text.get_text() for text in before.texts] == ["1", "2", "3"]
    assert (len(after.patches), len(after.texts)) == (2, 0)
    # Dots are lines of almost no length, which a renderer may leave out.
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    shown = np.asarray(canvas.buffer_rgba())
    for place in coords[1:]:
        x, y = after.transData.transform(place).astype(int)
        assert shown[len(shown) - 1 - y, x, 0] < 100


def test_routes_that_were_solved_differ_in_colour_and_style():
    """Beside each other around the depot; in grey, styles tell them apart."""
    angles = [0.4 * place for place in range(12)]
    routes = [[place + 1] for place in (5, 0, 11, 3, 7, 9, 1, 2, 4, 6, 8, 10)]
    star = [[0, 0], *([cos(angle), sin(angle)] for angle in angles)]
    solved = improved(star, routes, [[1, 2, 3], [*range(4, 13)]])
    figure = draw_solving(solved, [(0.0, 24.0, 0), (1.0, 20.0, 10)])
    before, after = (panel.lines[:-1] for panel in figure.axes[:2])
    looks = [(line.get_color(), line.get_linestyle()) for line in before]
    assert len(set(looks)) == 12
    for (colour, style), (other, otherwise) in pairwise([*looks, looks[0]][:12]):
        assert colour != other
        assert style != otherwise
    drawn = {len(line.get_xdata()): line.get_color() for line in after}
    assert drawn.keys() == {5, 11}
    # Of the routes after solving, in the order of the solution.
    [legend] = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["depot", "route 1: 3 stops", "route 2: 9 stops"]
    assert [line.get_color() for line in legend.get_lines()[1:]] == [drawn[5], drawn[11]]


def names_in(names, coords):
    nodes = list(range(1, len(coords)))
    figure = draw_routes(improved(coords, [nodes], [nodes], names=names))
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
        ring = [[cos(stop), sin(stop)] for stop in range(stops)]
        history = [(0.0, 2e7, 0), (1.0, 1.9e7, 10)]
        figure = draw_solving(improved(ring, routes, routes), history)
        [line], [dots] = figure.axes[0].lines, figure.axes[0].patches
        figure.draw_without_rendering()
        assert figure.axes[2].yaxis.get_offset_text().get_text() == ""
        return stops * dots.get_linewidth() ** 2, stops * line.get_linewidth() ** 2

    assert covered(500) == pytest.approx((3380.0, 500.0))
    assert covered(2000) == covered(8000) == pytest.approx((13_520.0, 2000.0))
