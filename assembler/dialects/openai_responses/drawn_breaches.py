"""What breaks the rules of OpenAI Responses, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.breach import (
    Breach,
    before_a_question,
    history_of,
    last,
    nothing_said,
    pick,
    pinned,
    same,
    with_ids,
)
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request


def _answered_twice(draw: DrawFn, request: Request) -> None:
    place = pick(draw, request, "function_call_output")
    history_of(request).insert(place, same(history_of(request)[place]))


def _answer_missing(draw: DrawFn, request: Request) -> None:
    del history_of(request)[pick(draw, request, "function_call_output")]


def _id_twice(draw: DrawFn, request: Request) -> None:
    place = pick(draw, request, "function_call")
    history_of(request).insert(place, same(history_of(request)[place]))


def _arguments_as_object(draw: DrawFn, request: Request) -> None:
    history_of(request)[pick(draw, request, "function_call")]["arguments"] = {"q": "a"}


BREACHES: Mapping[str, Breach] = {
    "N1": nothing_said,
    "R0": last({"type": "function_call_output", "output": "a"}),
    "R1": last({"type": "function_call_output", "call_id": "nobody", "output": "a"}),
    "R2": _answer_missing,
    "R3": before_a_question({"type": "reasoning", "id": "rs_lost", "summary": []}),
    "N2": _answered_twice,
    "N3": _id_twice,
    "L1": with_ids("call_", "call_" + "x" * 64),
    "S1": _arguments_as_object,
    "S3": before_a_question({"role": "robot", "content": "a"}),
    "S4": before_a_question({"type": "hologram"}),
    "S5": pinned,
}
