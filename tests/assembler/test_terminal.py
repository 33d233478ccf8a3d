"""A terminal gets the same words in colour, and a program gets them plain."""

from __future__ import annotations

import io
import re
import sys

import pytest

from assembler import Assembler, CitedSources, TrimOldest
from assembler.cli.terminal import show
from budgets import Budget

REPORT = "item        tokens\nknowledge       12  ███\n  page  12  dropped: no room\nnote: [bold]kept[/bold] as it is"
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLORTERM": "", **variables}.items():
        monkeypatch.setenv(name, value)
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    show(REPORT)
    return screen.getvalue()


def test_colour_adds_no_word_and_takes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    written = shown(monkeypatch)
    assert ANSI.sub("", written) == REPORT + "\n"
    assert written != REPORT + "\n"


def test_red_begins_where_a_row_says_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[31mdropped: no room\x1b[0m" in shown(monkeypatch)


def test_no_colour_is_printed_if_the_reader_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, NO_COLOR="1") == REPORT + "\n"


def test_a_process_without_an_output_shows_nothing_and_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    show(REPORT)


def test_a_reason_is_written_in_full_once_and_then_by_its_policy() -> None:
    history = [{"role": role, "content": f"{at} " * 9} for at in range(8) for role in ("user", "assistant")]
    pinned = TrimOldest(pins={4})
    assembler = Assembler(Budget(170, model="gpt-4o"), on_overflow=pinned).set_messages([*history, history[0]])
    lines = [line.strip() for line in str(assembler.build().report).splitlines()]
    assert lines.count("TrimOldest: older turns do not fit") == 1
    assert [line.split("  ")[-1] for line in lines if "dropped" in line] == ["dropped", "dropped: TrimOldest"]


def test_a_reason_stands_beside_its_row_where_short_names_leave_the_place() -> None:
    bot = Assembler(Budget(2_000, model="gpt-4o"), strategy=CitedSources(per_document=1))
    for at in range(3):
        bot.add_knowledge(f"Fact {at}.", type="rag", source="a.md", score=1 / (at + 1))
    lines = str(bot.add_message(("user", "Well?")).build().report).splitlines()
    assert len([line for line in lines if line.endswith("  dropped: over per_document")]) == 2


@pytest.mark.parametrize(("model", "expected"), [("gpt-4o", "full"), ("claude-sonnet-5", "full by the upper bound")])
def test_the_terminal_says_if_less_is_left_than_the_count_leaves(model: str, expected: str) -> None:
    text = str(Assembler(Budget(100, model=model)).add_message(("user", "Hello there")).build().report)
    (left,) = [line for line in text.splitlines() if line.startswith("left")]
    assert left.endswith(expected)
