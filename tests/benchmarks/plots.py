"""Draws what three policies do to the session of `session.py`: window fill, cuts, and the share that a cache serves.

    python tests/benchmarks/plots.py [folder]

One SVG a figure, readable on a light and a dark page. The folder is `docs/long-sessions`. The figures are the
referee's, which reads emitted requests; the same session gives the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from session import Referee, judged, session

from assembler import ClearToolResults, TrimOldest
from assembler.report.page import Line, Ticks, chart_svg
from assembler.session import smoothed

FOLDER = Path(__file__).parents[2] / "docs" / "long-sessions"
POLICIES: dict[str, Any] = {
    "TrimOldest()": TrimOldest(),
    "TrimOldest(low_water=0.5)": TrimOldest(low_water=0.5),
    "[ClearToolResults(keep=3), TrimOldest(low_water=0.5)]": [ClearToolResults(keep=3), TrimOldest(low_water=0.5)],
}


def fill(name: str, one: Referee) -> Line:
    return Line(name, one.fills, f"mean {sum(one.fills) / len(one.fills):.0%}")


def cuts(name: str, one: Referee) -> Ticks:
    return Ticks(name, one.cut_at, len(one.fills), f"{len(one.cut_at)} of {len(one.fills)} calls")


def cache(name: str, one: Referee) -> Line:
    return Line(name, smoothed(one.shares), f"{1 - one.outside / one.prompt:.0%} of all prompt tokens")


def drawn(referees: dict[str, Referee]) -> dict[str, str]:
    """The three figures, by file name."""
    figures = {
        "fill.svg": ("How full the window is", fill),
        "cuts.svg": ("Calls whose prompt does not begin like the one before", cuts),
        "cache.svg": ("Share of the prompt that a prefix cache serves, mean of 20 calls", cache),
    }
    return {
        file: chart_svg(title, [panel(name, one) for name, one in referees.items()])
        for file, (title, panel) in figures.items()
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    arrivals = session()
    referees = {name: judged(arrivals, policy) for name, policy in POLICIES.items()}
    for name, referee in referees.items():
        print(f"{name}: {referee.verdict()}")
    for name, text in drawn(referees).items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
