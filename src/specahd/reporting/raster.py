"""Conversion of this package's SVG drawings to PNG: straight lines, shapes and words."""

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, fromstring

from specahd.reporting.figure import fixed_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 72
"""Points per inch; a unit of a drawing is one point of the picture."""
_DOTS_PER_INCH = 110
_STEP = re.compile(r"([ML])([-\d.]+) ([-\d.]+)")


def rasterise(svg: str) -> bytes:
    """Return the PNG of a drawing (:func:`specahd.reporting.charts.drawing`)."""
    from matplotlib.figure import Figure

    root = fromstring(svg)
    width, height = (float(word) for word in root.attrib["viewBox"].split()[2:])
    with fixed_style():
        figure = Figure(figsize=(width / _POINTS, height / _POINTS))
        panel = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, width), ylim=(height, 0))
        panel.set_axis_off()
        for group in root:
            moved = re.search(r"translate\(([-\d.]+)", group.get("transform", ""))
            shift = float(moved[1]) if moved else 0.0
            for element in group:
                _draw(panel, element, shift)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return image.getvalue()


def _draw(panel: "Axes", element: Element, shift: float) -> None:
    attributes = element.attrib

    def number(name: str, default: float = 0.0) -> float:
        return float(attributes.get(name, default))

    match element.tag.rpartition("}")[2]:
        case "text":
            panel.text(number("x") + shift, number("y"), element.text or "", fontsize=12)
        case "rect":
            x, y, right = number("x"), number("y"), number("x") + number("width")
            low = y + number("height")
            _fill(panel, [(x, y), (right, y), (right, low), (x, low)], attributes, shift)
        case "polygon":
            corners = [each.partition(",") for each in attributes["points"].split()]
            _fill(panel, [(float(x), float(y)) for x, _, y in corners], attributes, shift)
        case "path":
            _trace(panel, attributes, shift)


def _trace(panel: "Axes", attributes: Mapping[str, str], shift: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    steps = _STEP.findall(attributes["d"])
    if attributes.get("stroke-linecap") == "round":
        # Lines of length 0 with round ends are points.
        xs, ys = [float(x) + shift for _, x, _ in steps], [float(y) for _, _, y in steps]
        style = _style(attributes)
        size, colour = style["linewidth"], style["edgecolor"]
        panel.plot(xs, ys, "o", color=colour, markersize=size, markeredgewidth=0)
    elif steps:
        codes = [Path.MOVETO if code == "M" else Path.LINETO for code, _, _ in steps]
        path = Path([(float(x) + shift, float(y)) for _, x, y in steps], codes)
        panel.add_patch(PathPatch(path, **_style(attributes)))


def _fill(
    panel: "Axes", corners: list[tuple[float, float]], attributes: Mapping[str, str], shift: float
) -> None:
    from matplotlib.patches import Polygon

    panel.add_patch(Polygon([(x + shift, y) for x, y in corners], **_style(attributes)))


def _style(attributes: Mapping[str, str]) -> dict[str, Any]:
    from matplotlib.colors import to_rgba

    return {
        "edgecolor": attributes.get("stroke", "none"),
        "facecolor": to_rgba(
            attributes.get("fill", "black"), float(attributes.get("fill-opacity", 1))
        ),
        "linewidth": float(attributes.get("stroke-width", 1)),
        "linestyle": "--" if "stroke-dasharray" in attributes else "-",
    }
