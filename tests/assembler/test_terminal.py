"""What a terminal is shown: the same words in colour where somebody looks, plain where a program reads."""

from __future__ import annotations

import io
import re
import sys

import pytest

from assembler.cli.terminal import show

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


def test_no_colour_where_the_reader_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, NO_COLOR="1") == REPORT + "\n"


def test_a_process_without_an_output_shows_nothing_and_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    show(REPORT)
