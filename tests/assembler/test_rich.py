"""rich prints the same words as `str` of a report, a context, a plan and a budget, at the given width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from assembler import Assembler
from budgets import Budget
from tests.interpreter import ran

MODEL = "gpt-4o [bold red]not markup[/bold red]"


def printed(value: object, width: int, *, colour: bool = False) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=colour, color_system="256" if colour else None).print(value)
    return stream.getvalue()


def gathered() -> Assembler:
    assembler = Assembler(Budget(400, max_output_tokens=50, model=MODEL, counter=len))
    return assembler.add_knowledge("k", type="[red]", source="[red]x[/red].md").add_messages([("user", "hi")])


@pytest.mark.parametrize("width", [70, 100, 140])
def test_a_report_takes_the_width_of_the_console_and_has_the_words_of_its_text(width: int) -> None:
    context = gathered().build()
    text = context.report.text(width)
    lines = [line.rstrip() for line in printed(context.report, width).splitlines()]
    assert lines == [line.rstrip() for line in text.splitlines()]
    assert printed(context, width) == printed(gathered().plan(), width) == printed(context.report, width)


def test_a_name_is_never_read_as_markup() -> None:
    assert "[red]x[/red].md" in printed(gathered().build(), 100)
    assert printed(Budget(400, model=MODEL, counter=len), 100).startswith(
        f"400 tokens of input for {MODEL} = 400 context_window"
    )


def test_colour_says_nothing_that_the_words_do_not() -> None:
    coloured = printed(gathered().build(), 100, colour=True)
    assert "\x1b[" in coloured
    assert "conversation" in coloured


def test_nothing_of_rich_is_loaded_before_rich_asks() -> None:
    code = "import sys, assembler.report.report, assembler.context, budgets; print('rich' in sys.modules)"
    done = ran(code)
    assert done.strip() == "False"
