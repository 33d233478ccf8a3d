"""What the scripted model of every framework does, call by call: two calls at once, then one, then it answers."""

from __future__ import annotations

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


def question(turn: int) -> str:
    return f"Question {turn}: what is the weather, and how do I get there?"
