"""Write the diagrams of the documentation: the layers, from the linter's contract, and the method.

    python scripts/diagrams.py [FOLDER]

Writes ``layers.svg`` and ``method.svg`` into docs/pictures, or into the folder.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLUE, ORANGE, GREEN, GREY = "#dcebf5", "#fbe6d6", "#dcf1ea", "#efefef"
TEXT = 'font-family="sans-serif" fill="#222"'
ARROW = 'stroke="#555" stroke-width="1.5" fill="none" marker-end="url(#head)"'


def layers() -> str:
    """Draw the layers of pyproject.toml, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [names] = [each["layers"] for each in contracts["contracts"] if each["type"] == "layers"]
    parts = []
    for row, layer in enumerate(names):
        packages = [name.strip() for name in layer.split("|")]
        top, width = 12 + 46 * row, 736 / len(packages)
        for place, package in enumerate(packages):
            parts.append(box(12 + width * place, top, width - 6, 34, [package], BLUE))
    bottom = 12 + 46 * len(names)
    parts.append(f'<path d="M766 20 V{bottom - 20}" {ARROW}/>')
    middle = bottom / 2
    place = f'x="780" y="{middle:g}" transform="rotate(90 780 {middle:g})" text-anchor="middle"'
    parts.append(f'<text {place} font-size="13" {TEXT}>imports go down only</text>')
    return svg(800, bottom, parts)


def method() -> str:
    """Draw how the two searches take turns, and what a checkpoint does."""
    parts = [
        label(20, 28, "Training: rounds of two searches"),
        box(20, 44, 150, 62, ["upper program g", "opens regions"], ORANGE),
        box(220, 44, 150, 62, ["repair tasks", "of the round"], GREY),
        box(420, 44, 170, 62, ["lower search", "every h on every task"], BLUE),
        box(640, 44, 140, 62, ["responses s", "archive 𝓐"], GREEN),
        box(640, 152, 140, 62, ["repertoire H", "greedy on J"], GREEN),
        box(420, 152, 170, 62, ["upper search", "H and 𝓐 frozen, U − λΩ"], ORANGE),
        box(220, 152, 150, 62, ["selection", "scores the pair"], GREY),
        arrow(170, 75, 220, 75), arrow(370, 75, 420, 75), arrow(590, 75, 640, 75),
        arrow(710, 106, 710, 152), arrow(640, 183, 590, 183), arrow(420, 183, 370, 183),
        f'<path d="M220 183 H95 V110" {ARROW}/>',
        f'<text x="106" y="176" font-size="12" {TEXT}>the next round</text>',
        label(20, 262, "Checkpoint: no language model"),
        box(20, 278, 130, 62, ["solution y", "of any solver"], GREY),
        box(180, 278, 130, 62, ["g opens", "regions"], ORANGE),
        box(340, 278, 130, 62, ["router ρ", "picks h in H"], GREEN),
        box(500, 278, 130, 62, ["h rebuilds", "the region"], BLUE),
        box(660, 278, 120, 62, ["checker F", "merge or undo"], GREY),
        *(arrow(x, 309, x + 30, 309) for x in (150, 310, 470, 630)),
        f'<path d="M720 340 V362 H405 V344" {ARROW}/>',
        f'<text x="500" y="378" font-size="12" {TEXT}>the next region</text>',
    ]  # fmt: skip
    return svg(800, 390, parts)


def box(x: float, y: float, width: float, height: float, lines: list[str], colour: str) -> str:
    middle = y + height / 2 + 5 - 9 * (len(lines) - 1)
    where = f'x="{x + width / 2:g}" text-anchor="middle" font-size="13" {TEXT}'
    words = "".join(
        f'<text y="{middle + 18 * row:g}" {where}>{line}</text>' for row, line in enumerate(lines)
    )
    frame = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"'
    return f'<rect {frame} fill="{colour}" stroke="#888"/>{words}'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M{x:g} {y:g} L{to_x:g} {to_y:g}" {ARROW}/>'


def label(x: float, y: float, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="15" font-weight="bold" {TEXT}>{words}</text>'


def svg(width: float, height: float, parts: list[str]) -> str:
    head = (
        '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" '
        'orient="auto"><path d="M0 0 L9 4 L0 8 Z" fill="#555"/></marker></defs>'
    )
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    paper = '<rect width="100%" height="100%" fill="white"/>'
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([frame, head, paper, *parts, "</svg>", ""])


def main(folder: str = str(ROOT / "docs" / "pictures")) -> None:
    for draw in (layers, method):
        (Path(folder) / f"{draw.__name__}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
