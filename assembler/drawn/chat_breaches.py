"""What breaks the rules of OpenAI Chat Completions, of Mistral and of the plain dialect, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.breach import (
    Breach,
    before_a_question,
    first,
    history_of,
    last,
    nothing_said,
    pick,
    pinned,
    same,
    with_ids,
    without,
)
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request

_SPOKEN: Request = {"role": "assistant", "content": "a"}


def _answer_missing(draw: DrawFn, request: Request) -> None:
    del history_of(request)[pick(draw, request, "tool")]


def _answered_twice(draw: DrawFn, request: Request) -> None:
    place = pick(draw, request, "tool")
    history_of(request).insert(place, same(history_of(request)[place]))


def _call_missing(draw: DrawFn, request: Request) -> None:
    history = history_of(request)
    place = pick(draw, request, "tool_calls")
    calls = history[place]["tool_calls"]
    del calls[0]
    if not calls:
        history[place] = {"role": "assistant", "content": "a"}


def _id_twice(draw: DrawFn, request: Request) -> None:
    calls = history_of(request)[pick(draw, request, "tool_calls")]["tool_calls"]
    calls.append(same(calls[0]))


def _arguments_as_object(draw: DrawFn, request: Request) -> None:
    history_of(request)[pick(draw, request, "tool_calls")]["tool_calls"][0]["function"]["arguments"] = {"q": "a"}


def _illegal_name(draw: DrawFn, request: Request) -> None:
    history_of(request)[pick(draw, request, "tool_calls")]["tool_calls"][0]["function"]["name"] = "look up"


_LONG = "x" * 40
_STRANGER: Request = {"role": "robot", "content": "a"}
_UNKNOWN_PART: Request = {"role": "user", "content": [{"type": "hologram"}]}
_NO_PART_TEXT: Request = {"role": "user", "content": [{"type": "text"}]}

OPENAI_CHAT: Mapping[str, Breach] = {
    "O0": nothing_said,
    "O1": _call_missing,
    "O2": _answer_missing,
    "O3": before_a_question({"role": "assistant", "content": "a", "tool_calls": []}),
    "O4": _id_twice,
    "O5": with_ids("call_", f"call_{_LONG}"),
    "O6": before_a_question({"role": "assistant", "content": None}),
    "O7": _illegal_name,
    "O10": before_a_question({"role": "assistant", "content": "a", "function_call": None}),
    "S5": pinned,
    "N2": _answered_twice,
    "S1": _arguments_as_object,
    "S3": before_a_question(_STRANGER),
    "S4": before_a_question(_UNKNOWN_PART),
}

MISTRAL: Mapping[str, Breach] = {
    "M1": last(_SPOKEN),
    "M2": last({"role": "user", "content": "a"}),
    "M3": _call_missing,
    "M4": with_ids("0", "-"),
    "S5": pinned,
    "N2": _answered_twice,
    "N3": _id_twice,
    "N4": before_a_question({"role": "assistant", "content": None}),
    "S1": before_a_question(_NO_PART_TEXT),
    "S3": before_a_question(_STRANGER),
    "S4": before_a_question(_UNKNOWN_PART),
}

PLAIN: Mapping[str, Breach] = {
    "N1": first(_SPOKEN),
    "N2": _call_missing,
    "N3": _id_twice,
    "N4": before_a_question({"role": "user", "content": ""}),
    "N5": last(_SPOKEN),
    "N7": without("tools"),
    "S1": before_a_question(_NO_PART_TEXT),
    "S3": before_a_question(_STRANGER),
}
