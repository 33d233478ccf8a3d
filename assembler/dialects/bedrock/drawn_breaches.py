"""What breaks the rules of Bedrock Converse, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.breach import (
    Breach,
    before_a_question,
    first,
    history_of,
    pick,
    pinned,
    same,
    with_ids,
    without,
)
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request


def _result(draw: DrawFn, request: Request) -> Request:
    blocks = history_of(request)[pick(draw, request, "toolResult")]["content"]
    result: Request = blocks[0]["toolResult"]
    return result


def _failed_without_words(draw: DrawFn, request: Request) -> None:
    _result(draw, request).update(status="error", content=[])


def _answers_another(draw: DrawFn, request: Request) -> None:
    _result(draw, request)["toolUseId"] = "nobody"


def _step_again(_draw: DrawFn, request: Request) -> None:
    history = history_of(request)
    history.extend(same(history[-2:]))


def _blank_question(draw: DrawFn, request: Request) -> None:
    history = history_of(request)
    history[pick(draw, request, "text")]["content"].append({"text": " "})


def _input_as_text(draw: DrawFn, request: Request) -> None:
    blocks = history_of(request)[pick(draw, request, "toolUse")]["content"]
    blocks[-1]["toolUse"]["input"] = "{}"


def _unknown_block(draw: DrawFn, request: Request) -> None:
    history_of(request)[pick(draw, request, "text")]["content"].append({"hologram": {}})


BREACHES: Mapping[str, Breach] = {
    "B1": before_a_question({"role": "user", "content": [{"text": "a"}]}),
    "B2": _blank_question,
    "B3": without("toolConfig"),
    "B4": _failed_without_words,
    "B5": first({"role": "assistant", "content": [{"text": "a"}]}),
    "N2": _answers_another,
    "N3": _step_again,
    "L3": with_ids("tooluse_", "tooluse_" + "x" * 64),
    "S1": _input_as_text,
    "S4": _unknown_block,
    "S5": pinned,
}
