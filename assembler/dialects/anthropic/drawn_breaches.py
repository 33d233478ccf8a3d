"""What breaks the rules of Anthropic's Messages, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.drawn.breach import (
    Breach,
    before_a_question,
    first,
    history_of,
    last,
    pick,
    pinned,
    same,
    with_ids,
    without,
)
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request


def _blocks(draw: DrawFn, request: Request, kind: str) -> tuple[list[Request], int]:
    """The blocks of a message that holds one of this type, and the place of the first such block."""
    blocks: list[Request] = history_of(request)[pick(draw, request, kind)]["content"]
    return blocks, next(place for place, block in enumerate(blocks) if block["type"] == kind)


def _gone(kind: str) -> Breach:
    def breach(draw: DrawFn, request: Request) -> None:
        blocks, place = _blocks(draw, request, kind)
        blocks[place] = {"type": "text", "text": "a"}
        if kind == "tool_result":  # other results go on leading
            blocks.append(blocks.pop(place))

    return breach


def _doubled(kind: str) -> Breach:
    def breach(draw: DrawFn, request: Request) -> None:
        blocks, place = _blocks(draw, request, kind)
        blocks.insert(place, same(blocks[place]))

    return breach


def _words_before_results(draw: DrawFn, request: Request) -> None:
    blocks, _ = _blocks(draw, request, "tool_result")
    blocks.insert(0, {"type": "text", "text": "a"})


def _input_as_text(draw: DrawFn, request: Request) -> None:
    blocks, place = _blocks(draw, request, "tool_use")
    blocks[place]["input"] = "{}"


def _user(*blocks: Any) -> Breach:
    return before_a_question({"role": "user", "content": [*blocks]})


_MARKED = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}

BREACHES: Mapping[str, Breach] = {
    "A1": before_a_question({"role": "user", "content": ""}),
    "A2": first({"role": "assistant", "content": "a"}),
    "A3": _user({"type": "text", "text": ""}),
    "A4": _user({"type": "text", "text": " \n"}),
    "A5": _gone("tool_result"),
    "A6": _words_before_results,
    "A7": _doubled("tool_use"),
    "A8": _gone("tool_use"),
    "A9": _doubled("tool_result"),
    "A10": _user({"type": "thinking", "thinking": "a", "signature": "c2ln"}),
    "A12": last({"role": "assistant", "content": "a "}),
    "A13": _user(*[_MARKED] * 5),
    "A14": without("tools"),
    "L2": with_ids("toolu_", "toolu."),
    "S1": _input_as_text,
    "S3": before_a_question({"role": "robot", "content": "a"}),
    "S4": _user({"type": "hologram"}),
    "S5": pinned,
}
