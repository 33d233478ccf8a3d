"""Draws what three policies do to the session of `session.py`: window fill, cuts, and the share that a cache serves.

    python tests/benchmarks/plots.py [folder]

One SVG a figure, drawn with the standard library alone, readable on a light and a dark page. The folder is
`docs/long-sessions`. The same session gives the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from session import Referee, judged, session

from assembler import ClearToolResults, TrimOldest

FOLDER = Path(__file__).parents[2] / "docs" / "long-sessions"
POLICIES: dict[str, tuple[str, Any]] = {
    "TrimOldest()": ("#d1495b", TrimOldest()),
    "TrimOldest(low_water=0.5)": ("#2f7fc1", TrimOldest(low_water=0.5)),
    "[ClearToolResults(keep=3), TrimOldest(low_water=0.5)]": (
        "#3a9d5d",
        [ClearToolResults(keep=3), TrimOldest(low_water=0.5)],
    ),
}
WIDTH, PANEL, LEFT, TOP, GAP = 760, 96, 46, 34, 30
"""Pixels: the picture, the height of one policy's panel, the margins, and the space between panels."""
WINDOW = 20
"""Builds: a share is drawn as the mean of so many, since that of one build jumps."""

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .axis { stroke: #999; stroke-width: 1; fill: none }
  .grid { stroke: #999; stroke-opacity: .25; fill: none }
  .line { fill: none; stroke-width: 1.3; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .axis { stroke: #888 } }
"""


def smoothed(values: Sequence[float], window: int = WINDOW) -> list[float]:
    """The mean of the last `window` values, at each."""
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    return [(sums[at + 1] - sums[max(0, at + 1 - window)]) / min(at + 1, window) for at in range(len(values))]


def picture(title: str, panels: Sequence[str]) -> str:
    height = TOP + len(panels) * (PANEL + GAP) + 14
    bottom = height - 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<text x="{LEFT}" y="16" font-weight="bold">{escape(title)}</text>\n'
        + "\n".join(panels)
        + f'\n<text x="{WIDTH - 10}" y="{bottom}" text-anchor="end">model calls, from first to last</text>\n</svg>\n'
    )


def frame(place: int, name: str, note: str) -> str:
    top = TOP + place * (PANEL + GAP) + 14
    middle, bottom, right = top + PANEL // 2, top + PANEL, WIDTH - 10
    return (
        f'<text x="{LEFT}" y="{top - 4}">{escape(name)}</text>'
        f'<text x="{right}" y="{top - 4}" text-anchor="end">{escape(note)}</text>\n'
        f'<path class="grid" d="M{LEFT} {top}H{right}M{LEFT} {middle}H{right}"/>'
        f'<path class="axis" d="M{LEFT} {top}V{bottom}H{right}"/>\n'
    )


def scale(place: int) -> str:
    top = TOP + place * (PANEL + GAP) + 14
    return "".join(
        f'<text x="{LEFT - 6}" y="{top + PANEL * (100 - share) // 100 + 4}" text-anchor="end">{share}%</text>'
        for share in (0, 50, 100)
    )


def across(at: int, number: int) -> float:
    return LEFT + (WIDTH - 10 - LEFT) * at / max(1, number - 1)


def line_panel(place: int, name: str, note: str, colour: str, values: Sequence[float]) -> str:
    top = TOP + place * (PANEL + GAP) + 14
    points = " ".join(
        f"{across(at, len(values)):.1f},{top + PANEL * (1 - min(value, 1)):.1f}" for at, value in enumerate(values)
    )
    return frame(place, name, note) + scale(place) + f'\n<polyline class="line" stroke="{colour}" points="{points}"/>'


def tick_panel(place: int, name: str, note: str, colour: str, marks: Sequence[int], number: int) -> str:
    top = TOP + place * (PANEL + GAP) + 14
    path = "".join(f"M{across(mark, number):.1f} {top + 10}V{top + PANEL}" for mark in marks)
    return frame(place, name, note) + f'<path class="line" stroke="{colour}" d="{path}"/>'


def drawn(referees: dict[str, Referee]) -> dict[str, str]:
    """The three figures, by file name."""

    def figure(title: str, panel: Callable[[int, str, str, Referee], str]) -> str:
        return picture(
            title, [panel(i, name, POLICIES[name][0], one) for i, (name, one) in enumerate(referees.items())]
        )

    def fill(place: int, name: str, colour: str, one: Referee) -> str:
        return line_panel(place, name, f"mean {sum(one.fills) / len(one.fills):.0%}", colour, one.fills)

    def cuts(place: int, name: str, colour: str, one: Referee) -> str:
        note = f"{len(one.cut_at)} of {len(one.fills)} calls"
        return tick_panel(place, name, note, colour, one.cut_at, len(one.fills))

    def cache(place: int, name: str, colour: str, one: Referee) -> str:
        note = f"{1 - one.outside / one.prompt:.0%} of all prompt tokens"
        return line_panel(place, name, note, colour, smoothed(one.shares))

    return {
        "fill.svg": figure("How full the window is", fill),
        "cuts.svg": figure("Calls whose prompt does not begin like the one before", cuts),
        "cache.svg": figure(f"Share of the prompt that a prefix cache serves, mean of {WINDOW} calls", cache),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    arrivals = session()
    referees = {name: judged(arrivals, policy) for name, (_, policy) in POLICIES.items()}
    for name, referee in referees.items():
        print(f"{name}: {referee.verdict()}")
    for name, text in drawn(referees).items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
