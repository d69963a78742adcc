"""How far ahead, or behind, as a picture: one bar for each library and workload, on a logarithmic scale, as SVG.

A bar ends at how many times longer a library takes than ours; left of the line at 1 ours is slower.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from benchmarks.ranking import OURS, judged, ratio, time, times
from benchmarks.report import is_main, median_of
from benchmarks.workloads import find

COLOURS = {
    "jax": "#0072b2",
    "torch": "#d55e00",
    "pytensor": "#009e73",
    "autograd": "#cc79a7",
    "mygrad": "#e69f00",
    "numpy": "#999999",
}
"""Told apart by eyes of every kind (Okabe and Ito)."""
NAMES = {"torch": "PyTorch", "jax": "JAX", "pytensor": "PyTensor", "mygrad": "MyGrad", "numpy": "NumPy by hand"}
STYLE = 'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222222"'
NOTE = "medians of interleaved rounds; bars with a red edge: ours is slower"
LEFT, WIDTH, BAR, GAP, TOP = 330, 900, 10, 14, 92


def bars(result: Mapping[str, Any]) -> list[tuple[str, float]]:
    """For each library the best of its forms."""
    found: dict[str, float] = {}
    for name, row in result["rows"].items():
        kind, factor = name.split()[0], ratio(result, name)
        if kind in COLOURS and row["agrees"] and factor is not None:
            found[kind] = min(found.get(kind, math.inf), factor)
    return [(kind, found[kind]) for kind in COLOURS if kind in found]


def svg(found: Mapping[str, Any]) -> str:
    """The picture, as text."""
    groups = [one for one in found["results"] if is_main(one) and one["threads"] == 1 and OURS in one["rows"]]
    factors = [factor for one in groups for _, factor in bars(one)]
    low = 10 ** math.floor(math.log10(min([0.5, *factors])))
    high = 10 ** math.ceil(math.log10(max([10.0, *factors])))

    def across(factor: float) -> float:
        return LEFT + (WIDTH - LEFT - 70) * math.log(factor / low) / math.log(high / low)

    body: list[str] = []
    y = TOP
    for one in groups:
        y = _group(body, one, across, y)
    return "\n".join([*_frame(found, y, low, high, across), *body, "</svg>\n"])


def _group(body: list[str], result: Mapping[str, Any], across: Any, y: float) -> float:
    """The bars of one workload; where the next one begins."""
    mine = bars(result)
    label = f"{result['workload']}  {escaped(result['title'])}"
    height = BAR * len(mine)
    goal = find(result["workload"]).goals[:1]
    met = judged(goal[0], result).met if goal else None
    colour = {True: "#1a7f37", False: "#b42318", None: "#555555"}[met]
    note = f"{time(median_of(result['rows'][OURS]))}" + (f"; goal {goal[0].text}" if goal else "")
    middle = y + height / 2
    body.append(f'<text x="{LEFT - 12}" y="{middle - 3:.1f}" text-anchor="end">{label}</text>')
    body.append(
        f'<text x="{LEFT - 12}" y="{middle + 11:.1f}" text-anchor="end" fill="{colour}" font-size="11">'
        f"ours {escaped(note)}{'' if met is None else ', met' if met else ', not met'}</text>"
    )
    for k, (kind, factor) in enumerate(mine):
        start, end = sorted((across(1.0), across(factor)))
        top = y + k * BAR
        edge = ' stroke="#b42318" stroke-width="1.5"' if factor < 1 else ""
        body.append(
            f'<rect x="{start:.1f}" y="{top:.1f}" width="{max(end - start, 0.8):.1f}" height="{BAR - 1.5}" '
            f'fill="{COLOURS[kind]}"{edge}/>'
        )
        body.append(f'<text x="{end + 4:.1f}" y="{top + 8:.1f}" font-size="9">{times(factor)}</text>')
    return y + max(height, 26) + GAP


def _frame(found: Mapping[str, Any], bottom: float, low: float, high: float, across: Any) -> list[str]:
    """Title, legend, scale."""
    title = "How many times longer than symbolic (its own choice of machine), one thread"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 20:.0f}" {STYLE}>',
        f'<rect width="{WIDTH}" height="{bottom + 20:.0f}" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="16" font-weight="bold">{title}</text>',
        f'<text x="16" y="42" font-size="11">{escaped(found["machine"]["processor"])}; {NOTE}</text>',
    ]
    x = 16.0
    for kind, colour in COLOURS.items():
        name = NAMES.get(kind, kind)
        lines.append(f'<rect x="{x:.0f}" y="54" width="10" height="10" fill="{colour}"/>')
        lines.append(f'<text x="{x + 14:.0f}" y="63">{name}</text>')
        x += 36 + 7 * len(name)
    factor = low
    while factor <= high * 1.001:
        heavy = ' stroke="#222222" stroke-width="1.5"' if abs(factor - 1) < 1e-9 else ' stroke="#dddddd"'
        lines.append(f'<line x1="{across(factor):.1f}" y1="84" x2="{across(factor):.1f}" y2="{bottom:.0f}"{heavy}/>')
        lines.append(f'<text x="{across(factor):.1f}" y="80" text-anchor="middle" font-size="10">{factor:g}×</text>')
        factor *= 10
    return lines


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
