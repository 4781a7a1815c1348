"""What the figures of a report show, and what they leave out."""

import io
import re

import pytest
from matplotlib.image import imread

from run_directories import row, sample, write_run
from specahd.core.program import Level
from specahd.reporting.aggregates import convergence_band, group_by_kind
from specahd.reporting.charts import drawing
from specahd.reporting.figure import draw_convergence, draw_seconds
from specahd.reporting.raster import rasterise
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
    assert [len(set(re.findall(r'id="(axes_\d+)"', each.svg))) for each in (one, more)] == [1, 3]


def test_seconds_are_drawn_where_they_are_known(tmp_path):
    groups = group_by_kind(runs_of(tmp_path, 0, validation=[row("a", 9, 90.0)]))
    assert draw_seconds(groups, {}) is None
    drawn = draw_seconds(groups, {"cvrp-0": {"a": 2.0}})
    assert drawn.svg.startswith("<svg")
    assert drawn.png.startswith(b"\x89PNG")


def test_a_drawing_of_ours_becomes_a_picture_with_its_shapes(tmp_path):
    shapes = [
        '<g transform="translate(50 0)"><path d="M0 10L40 10" stroke="#d55e00" fill="none"/>',
        '<path d="M20 30h0" stroke="#000" stroke-width="8" stroke-linecap="round"/>',
        '<text x="0" y="38">a &lt; b</text></g>',
        '<g><rect x="5" y="5" width="30" height="20"/></g>',
    ]
    svg = drawing(shapes, 100, 40, "shapes")
    assert rasterise(svg) == rasterise(svg)
    shown = imread(io.BytesIO(rasterise(svg)))[:, :, :3]
    scale = shown.shape[1] / 100

    def pixel(x, y):
        return shown[int(y * scale), int(x * scale)].round(2).tolist()

    assert shown.shape[0] == pytest.approx(40 * scale, abs=1)
    assert pixel(20, 15) == pixel(70, 30) == [0, 0, 0]
    assert pixel(95, 20) == [1, 1, 1]
    red, green, blue = pixel(60, 10)
    assert red > green > blue
