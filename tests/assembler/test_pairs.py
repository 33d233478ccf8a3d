"""Which result answers which call in a broken history: by id, by name, or by position."""

from __future__ import annotations

from typing import Any

import pytest

from assembler.conversation.messages import Call, Message, Result
from assembler.conversation.pairs import Pairs


def read(history: str) -> list[Message]:
    """One message a word: `u` says something, `Ca,b` calls, `Ra,b` are results; `A` before it: in the model's message.

    A call or result is its id, or `.` and its name where it has none; a number behind it tells it from its like.
    """
    return [_message(word) for word in history.split()]


def _message(word: str) -> Message:
    if word == "u":
        return Message("user", ("words",), None, "neutral", {})
    parts: list[Any] = []
    for one in word.lstrip("A").split("+"):
        for name in one[1:].split(","):
            known = name[:1] != "."
            stem = name.lstrip(".").rstrip("0123456789")
            if one[0] == "C":
                parts.append(Call(stem if known else None, "f" if known else stem, name))
            else:
                parts.append(Result(stem if known else None, (name,), None if known else stem or None))
    calls = any(isinstance(part, Call) for part in parts)
    return Message("assistant" if calls or word[0] == "A" else "tool", tuple(parts), None, "neutral", {})


@pytest.mark.parametrize(
    ("history", "matched"),
    [
        ("u Ca Ra", ""),  # in its place, it is not loose
        ("u Ca u Ra1", "a1→a"),
        ("u Ra1 Ca u", "a1→a"),  # the first call behind it, where none stands before
        ("u Ca1 u Ca2 u Ra1", "a1→a2"),  # the nearest call before it
        ("u Ca1 u Ra1 u Ca2 u Ra2", "a1→a1 a2→a2"),
        ("u Ca1 u Ra1 Ra2 u Ca2 u", "a1→a1 a2→a2"),
        ("u Rb1 Ca u", "b1→"),  # nobody asked for it
        ("u C.f,.g u R.g1 R.f1", ".g1→.g .f1→.f"),  # by their names
        ("u C.f,.g u R.1 R.2", ".1→.g .2→.f"),  # and where they have none either by where they stand
        ("u C.f,.g u R.f1 R.2", ".f1→.f .2→.g"),  # those that say more choose first
        ("u C.f,.g u R.1 R.g2", ".1→.f .g2→.g"),
        ("u C.f,.g u R.x1 R.f2", ".x1→.g .f2→.f"),  # a name that no call has says nothing
        ("u C.f R.x", ""),
        ("u C.f R.x1 R.y2", ".y2→"),
        ("u R.g1 C.g2 Ca3 R.f4", ".g1→ .f4→.g2"),  # so behind a call that the model cut off it is its answer
        ("u C.f Ca R.h1 R.f2 Ra", ".f2→.f .h1→"),  # unless another answers that by its name
        ("u C.f C.h R.g1 AR.g2", ".g2→.f"),  # what the model says ends the answers to its calls
        ("u Ca1+Ra1 u Ca2+Ra2 u", "a1→a1 a2→a2"),  # of the model's own message: the call that stands in it
        ("u Ca1,b1 ARa1 Rb1", "a1→a1"),
        ("u Ca1 u Ca2 u Ra1 Ra2 Ra3", "a1→a2 a2→a1 a3→"),
    ],
)
def test_a_loose_result_answers_the_nearest_earlier_call_of_its_id_or_else_the_first_later_one(
    history: str, matched: str
) -> None:
    loose = [given for found in Pairs.of(read(history)).loose.values() for given in found]
    pairs = [f"{given.result.parts[0]}→{given.asked.call.arguments if given.asked else ''}" for given in loose]
    assert pairs == matched.split()
    for given in loose:
        assert given.asked is None or given.asked.answer is given


@pytest.mark.parametrize(
    ("history", "unanswered"),
    [
        ("u Ca,b Ra Rb", {4: []}),
        ("u Ca,b Ra", {3: ["b"]}),
        ("u C.f,.g R.g", {3: [".f"]}),
        ("u Ca,b Ra u", {3: ["b"], 4: []}),
        ("u Ca1 Ca2 Ra", {2: ["a1"], 4: []}),
        ("u Ca1 u Ca2", {2: ["a1"], 4: ["a2"]}),
        ("", {0: []}),
    ],
)
def test_a_call_is_unanswered_if_another_message_precedes_its_result(
    history: str, unanswered: dict[int, list[str]]
) -> None:
    pairs = Pairs.of(read(history))
    assert {place: [asked.call.arguments for asked in step] for place, step in pairs.unanswered.items()} == unanswered
    assert not pairs.repeating
