"""Breaks the rules of OpenAI Chat Completions, Mistral and the plain dialect, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn import breach
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request

_SPOKEN: Request = {"role": "assistant", "content": "a"}


def _call_missing(draw: DrawFn, request: Request) -> None:
    history, place = breach.history_of(request), breach.pick(draw, request, "tool_calls")
    del history[place]["tool_calls"][0]
    if not history[place]["tool_calls"]:
        history[place] = _SPOKEN.copy()


def _first_function(change: Request) -> breach.Breach:
    """Change the name or the arguments of a message's first call."""
    return breach.changed("tool_calls", lambda message: message["tool_calls"][0]["function"].update(change))


_ID_TWICE = breach.changed(
    "tool_calls", lambda message: message["tool_calls"].append(breach.same(message["tool_calls"][0]))
)
_LONG = "x" * 40
_STRANGER: Request = {"role": "robot", "content": "a"}
_UNKNOWN_PART: Request = {"role": "user", "content": [{"type": "hologram"}]}
_NO_PART_TEXT: Request = {"role": "user", "content": [{"type": "text"}]}

OPENAI_CHAT: Mapping[str, breach.Breach] = {
    "O0": breach.nothing_said,
    "O1": _call_missing,
    "O2": breach.gone("tool"),
    "O3": breach.before_a_question({"role": "assistant", "content": "a", "tool_calls": []}),
    "O4": _ID_TWICE,
    "O5": breach.with_ids("call_", f"call_{_LONG}"),
    "O6": breach.before_a_question({"role": "assistant", "content": None}),
    "O7": _first_function({"name": "look up"}),
    "O10": breach.before_a_question({"role": "assistant", "content": "a", "function_call": None}),
    "S5": breach.pinned,
    "N2": breach.doubled("tool"),
    "S1": _first_function({"arguments": {"q": "a"}}),
    "S3": breach.before_a_question(_STRANGER),
    "S4": breach.before_a_question(_UNKNOWN_PART),
}

MISTRAL: Mapping[str, breach.Breach] = {
    "M1": breach.last(_SPOKEN),
    "M2": breach.last({"role": "user", "content": "a"}),
    "M3": _call_missing,
    "M4": breach.with_ids("0", "-"),
    "S5": breach.pinned,
    "N2": breach.doubled("tool"),
    "N3": _ID_TWICE,
    "N4": breach.before_a_question({"role": "assistant", "content": None}),
    "S1": breach.before_a_question(_NO_PART_TEXT),
    "S3": breach.before_a_question(_STRANGER),
    "S4": breach.before_a_question(_UNKNOWN_PART),
}

PLAIN: Mapping[str, breach.Breach] = {
    "N1": breach.first(_SPOKEN),
    "N2": _call_missing,
    "N3": _ID_TWICE,
    "N4": breach.before_a_question({"role": "user", "content": ""}),
    "N5": breach.last(_SPOKEN),
    "N7": breach.without("tools"),
    "S1": breach.before_a_question(_NO_PART_TEXT),
    "S3": breach.before_a_question(_STRANGER),
}
