"""Draws panels below one another as one SVG, readable on a light and a dark page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, assert_never

import attrs

from assembler.report.page.escaping import escape_text
from assembler.report.rows import shown_name
from assembler.validation import A_TEXT, as_tuple, finite, finite_numbers, must_be
from budgets.numbers import as_whole_number

_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP, _GAP = 760, 96, 46, 10, 34, 30
"""Pixels: the picture, the height of a panel, the margins, and the space between panels."""
_PALETTE = ("#d1495b", "#2f7fc1", "#3a9d5d", "#b4690e", "#8a63d2", "#7a828c")
"""At least 3:1 against white and against #16181c (WCAG 2.2, 1.4.11)."""

_STYLE = """
  .paper { fill: #fcfcfa }
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 650 }
  .axis { stroke: #888; stroke-width: 1; fill: none }
  .grid { stroke: #888; stroke-opacity: .3; fill: none }
  .line { fill: none; stroke-width: 1.3; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) { .paper { fill: #16181c } text { fill: #ddd } }
"""


def _check_values(given: Sequence[float]) -> Sequence[float]:
    return finite_numbers("Line: values", given)


def _check_places(given: Sequence[float]) -> Sequence[float]:
    return finite_numbers("Ticks: at", given)


def _check_number_of_calls(given: int) -> int:
    finite("Ticks: calls", given)
    return as_whole_number(given, "Ticks: calls")


@attrs.frozen
class Line:
    """Shares over the calls, from 0 to 1; larger ones are drawn at 1. Raises `BudgetError` for other values."""

    name: str = attrs.field(validator=A_TEXT)
    values: Sequence[float] = attrs.field(converter=_check_values)
    note: str = attrs.field(default="", validator=A_TEXT)


@attrs.frozen
class Ticks:
    """The calls, out of `calls`, at which something happened. Raises `BudgetError` for other values."""

    name: str = attrs.field(validator=A_TEXT)
    at: Sequence[float] = attrs.field(converter=_check_places)
    calls: int = attrs.field(converter=_check_number_of_calls)
    note: str = attrs.field(default="", validator=A_TEXT)


Panel: TypeAlias = Line | Ticks


def chart_svg(title: str, panels: Sequence[Panel], *, across: str = "model calls, from first to last") -> str:
    """Draw a panel for each series, each in its own colour. The same numbers give the same bytes. O(values).

    Raises `BudgetError` for a title or a panel of the wrong type.
    """
    must_be("title", title, (str,), "a text (str)")
    must_be("across", across, (str,), "a text (str)")
    for place, panel in enumerate(as_tuple("panels", panels, "panels")):
        must_be(f"panels[{place}]", panel, (Line, Ticks), "a Line or Ticks")
    height = _TOP + len(panels) * (_PANEL + _GAP) + 14
    drawn = "\n".join(_draw_panel(panel, place, _PALETTE[place % len(_PALETTE)]) for place, panel in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">\n'
        f"<title>{_write_text(title)}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>\n'
        f'<text class="title" x="{_LEFT}" y="16">{_write_text(title)}</text>\n{drawn}\n'
        f'<text x="{_WIDTH - _RIGHT}" y="{height - 8}" text-anchor="end">{_write_text(across)}</text>\n</svg>\n'
    )


def _write_text(text: str) -> str:
    return str(escape_text(shown_name(text)))


def _draw_panel(panel: Panel, place: int, colour: str) -> str:
    top = _TOP + place * (_PANEL + _GAP) + 14
    frame = _draw_frame(top, panel.name, panel.note)
    match panel:
        case Line():
            points = " ".join(_place_points(panel.values, top))
            return f'{frame}{_write_scale(top)}\n<polyline class="line" stroke="{colour}" points="{points}"/>'
        case Ticks():
            path = "".join(f"M{_place_across(mark, panel.calls):.1f} {top + 10}V{top + _PANEL}" for mark in panel.at)
            return f'{frame}<path class="line" stroke="{colour}" d="{path}"/>'
        case _ as never:
            assert_never(never)


def _place_points(values: Sequence[float], top: int) -> Iterator[str]:
    for at, value in enumerate(values):
        yield f"{_place_across(at, len(values)):.1f},{top + _PANEL * (1 - min(max(value, 0), 1)):.1f}"


def _draw_frame(top: int, name: str, note: str) -> str:
    middle, bottom, right = top + _PANEL // 2, top + _PANEL, _WIDTH - _RIGHT
    return (
        f'<text x="{_LEFT}" y="{top - 4}">{_write_text(name)}</text>'
        f'<text x="{right}" y="{top - 4}" text-anchor="end">{_write_text(note)}</text>\n'
        f'<path class="grid" d="M{_LEFT} {top}H{right}M{_LEFT} {middle}H{right}"/>'
        f'<path class="axis" d="M{_LEFT} {top}V{bottom}H{right}"/>\n'
    )


def _write_scale(top: int) -> str:
    return "".join(
        f'<text x="{_LEFT - 6}" y="{top + _PANEL * (100 - share) // 100 + 4}" text-anchor="end">{share}%</text>'
        for share in (0, 50, 100)
    )


def _place_across(at: float, number: int) -> float:
    return _LEFT + (_WIDTH - _RIGHT - _LEFT) * at / max(1, number - 1)
