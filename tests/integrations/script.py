"""What the scripted model of every framework does, call by call: two calls at once, then one, then it answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from assembler import Assembler
from assembler.policies import ClearReasoning, ClearToolResults, TrimOldest, Truncate

TURNS = 50
CALLS_OF_A_TURN = 3
WINDOW, ANSWER = 3_000, 200
"""Tokens: about eight of the fifty turns fit."""


def wanted(call: int) -> list[tuple[str, str]] | None:
    """The tool calls, as (id, question), that the model makes at its `call`-th call, from 0; None for an answer."""
    step = call % CALLS_OF_A_TURN
    if step == 0:
        return [(f"call_{call}_a", f"weather in {call}"), (f"call_{call}_b", f'straße {call} \n "quoted"')]
    return [(f"call_{call}", f"route {call}")] if step == 1 else None


def answer(call: int) -> str:
    return f"Answer {call}: take the train, it leaves at {call % 24}:00. 😀"


def looked_up(question: str) -> str:
    return f"{question}: " + "sunny, 21 degrees, light wind from the west; " * 6


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


def question(turn: int) -> str:
    return f"Question {turn}: what is the weather, and how do I get there?"


class Summarizer:
    """Writes summaries, and notes how many messages each of them is about.

    `text` may speak of the summary before (`{previous}`) and of the `{number}` of messages.
    """

    def __init__(self, text: str = "They talked about the weather.") -> None:
        self.text = text
        self.written: list[int] = []

    def __call__(self, dropped: Any, previous: str | None, most: int) -> str:
        self.written.append(len(dropped))
        return self.text.format(previous=previous or "They talked", number=len(dropped))


MORE = "{previous}, {number} more."
"""A summary that tells each earlier one too."""


def librarian(assembler: Assembler) -> Assembler:
    """With the instruction and the notice that agents of a library are given."""
    assembler.add_instruction("Answer from the archive.")
    return assembler.add_knowledge("The archive is closed on Mondays & Tuesdays.", type="notice", source="notice.txt")


def planner(assembler: Assembler) -> Assembler:
    """With the instruction and the knowledge that agents which plan trips are given."""
    return assembler.add_instruction("Be brief.").add_knowledge("The user lives in Köln & Bonn.", type="entity")


class Trip(BaseModel):
    """Where to go."""

    town: str


def shortening(tokens: int) -> dict[str, Any]:
    """Ladders that shorten before they drop, to `tokens` at most where they truncate, by name."""
    return {
        "clear": (ClearToolResults(keep=1), TrimOldest()),
        "clear-truncate": (ClearToolResults(keep=1), Truncate(tokens), TrimOldest()),
        "truncate": (Truncate(tokens), TrimOldest()),
        "ladder": (ClearReasoning(), ClearToolResults(keep=1), TrimOldest()),
    }
