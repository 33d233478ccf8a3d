"""Conversations with which a dialect is checked: parts that only some APIs have, and what seldom occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

History = Sequence[Mapping[str, Any]]

TOOL: Mapping[str, Any] = {
    "name": "look",
    "description": "Looks around.",
    "parameters": {"type": "object", "properties": {"corner": {"type": "string"}}},
}
OTHER_TOOL: Mapping[str, Any] = {
    "name": "wait",
    "description": "Waits.",
    "parameters": {"type": "object", "properties": {}},
}
SCHEMA: Mapping[str, Any] = {
    "title": "weather",
    "type": "object",
    "properties": {"rainfall": {"type": "string"}},
    "required": ["rainfall"],
    "additionalProperties": False,
}

UNNAMED: History = (
    {"role": "user", "parts": [{"text": "Look twice."}]},
    {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}} for _ in range(2)]},
    {"role": "user", "parts": [{"function_response": {"name": "look", "response": {}}} for _ in range(2)]},
)
"""Two calls without ids, in Gemini's form, and their answers."""

_CUSTOM = {"name": "look", "input": "north by northwest"}
_FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [{"title": "Northwest", "url": "n.example"}],
}
_USED: Mapping[str, Any] = {"type": "tool_use", "id": "c1", "name": "look", "input": {"corner": "northwest"}}
_SEEN: Mapping[str, Any] = {"type": "tool_result", "tool_use_id": "c1", "content": "a road"}
_FAILED = {"type": "tool_result", "tool_use_id": "c1", "content": "too dark to look", "is_error": True}

OF_OTHERS: Mapping[str, History] = {
    "a call of a custom tool": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "custom", "custom": _CUSTOM}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a road"},
    ),
    "an item that calls a custom tool": (
        {"role": "user", "content": "Look around."},
        {"type": "custom_tool_call", "call_id": "c1", **_CUSTOM},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a road"},
    ),
    "the result of a search": (
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [_FOUND, {"type": "text", "text": "It is a road."}]},
        {"role": "user", "content": "And then?"},
    ),
    "a call that failed": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, _USED]},
        {"role": "user", "content": [_FAILED, {"type": "text", "text": "Again."}]},
    ),
    "two results in one message": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [_USED, {**_USED, "id": "c2"}]},
        {"role": "user", "content": [{**_SEEN, "tool_use_id": call_id} for call_id in ("c1", "c2")]},
    ),
    "a cache mark of Bedrock": (
        {"role": "user", "content": [{"text": "Look around."}, {"cachePoint": {"type": "default"}}]},
    ),
    "an empty text beside another": (
        {"role": "user", "content": [{"type": "text", "text": "Look around."}, {"type": "text", "text": ""}]},
    ),
    "two messages of each side in a row": (
        {"role": "user", "content": "Look around."},
        {"role": "user", "content": "And be quick."},
        {"role": "assistant", "content": "I see a road."},
        {"role": "assistant", "content": "It is wet."},
        {"role": "user", "content": "And then?"},
    ),
    "a greeting before the first question": (
        {"role": "assistant", "content": "Good morning, traveller."},
        {"role": "user", "content": "Look around."},
    ),
    "a text of three thousand words": ({"role": "user", "content": "wander " * 3_000 + "home"},),
    "sixty messages": (
        *({"role": ("user", "assistant")[place % 2], "content": f"step number {place}"} for place in range(60)),
        {"role": "user", "content": "Look around."},
    ),
}
"""Parts that only some APIs have, in their form, and conversations that seldom occur."""

_RAIN = "It rained on the road."
_ANSWER = {"type": "text", "text": "Wet."}
_LISTED = [{"type": "text", "text": _RAIN}]

THOUGHT = _RAIN
"""The reasoning in each of `THOUGHTS`."""
THOUGHTS: Mapping[str, Mapping[str, Any]] = {
    "in a field of its own": {"content": "Wet.", "reasoning_content": _RAIN},
    "under a signature": {"content": [{"type": "thinking", "thinking": _RAIN, "signature": "c2ln"}, _ANSWER]},
    "without a signature": {"content": [{"type": "thinking", "thinking": _RAIN}, _ANSWER]},
    "in a list of texts": {"content": [{"type": "thinking", "thinking": _LISTED}, _ANSWER]},
}
"""Messages of an assistant with reasoning in four forms."""

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

SEEN_OR_NOTED: Mapping[str, tuple[str, History]] = {
    "a speaker's name": ("wanderer_7", ({"role": "user", "name": "wanderer_7", "content": "Look around."},)),
    "a field that nobody reads": ("drizzling", ({"role": "user", "content": "Look around.", "weather": "drizzling"},)),
    "the text of a failed call": ("too dark to look", OF_OTHERS["a call that failed"]),
    "the arguments of a call": ("northwest", OF_OTHERS["a call that failed"]),
    "the input of a custom tool": ("north by northwest", OF_OTHERS["a call of a custom tool"]),
    "an image": (
        _PIXEL,
        (
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}},
                ],
            },
        ),
    ),
    "an image of Anthropic's": (
        _PIXEL,
        (
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}},
                    {"type": "text", "text": "What is this?"},
                ],
            },
        ),
    ),
    "an image in the result of a call": (
        _PIXEL,
        (
            {"role": "user", "content": "Look around."},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": TOOL["name"], "input": {"where": "north"}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [
                            {"type": "text", "text": "A picture."},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}},
                        ],
                    }
                ],
            },
        ),
    ),
    "a text in another script": ("привет, 世界", ({"role": "user", "content": "привет, 世界"},)),
    "the end of a long text": ("home", OF_OTHERS["a text of three thousand words"]),
    "an early message of many": ("step number 2", OF_OTHERS["sixty messages"]),
}
"""What a request holds, or a note says that it was left out: a text in it, and the conversation."""

GROWING: Sequence[History] = (
    (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", **THOUGHTS["under a signature"]},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "Clouds."},
        {"role": "user", "content": "Thanks."},
    ),
    tuple(
        message
        for _ in range(2)
        for message in (
            {"role": "user", "content": "Look around."},
            {"role": "assistant", "content": [_USED]},
            {"role": "user", "content": [_SEEN]},
            {"role": "assistant", "content": "There is a road."},
        )
    )[:-1],
)
"""Conversations that `emit_after` may append to wrongly: one with a note, and one with a call id that comes again."""

NEIGHBOURS: History = (
    {"role": "user", "content": "Look around."},
    {"role": "user", "content": "Look again."},
    {"role": "assistant", "content": "Clouds."},
    {"role": "assistant", "content": [_USED]},
    {"role": "user", "content": [_SEEN]},
    {"role": "user", "content": "Thanks."},
)
"""A conversation in which each side speaks twice in a row, and the user right after a result. Many APIs are sent
neighbours as one message."""

ITEM_BY_ITEM: History = (
    {"role": "user", "content": "Look around."},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"corner": "north"}'},
    {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"corner": "south"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "a road"},
    {"type": "function_call_output", "call_id": "c2", "output": "a river"},
)
"""A step of two calls in Responses' form, where each call and each result is an item of its own."""

MORE = "wander " * 300
PLACES = ("the user's text", "the assistant's text", "the arguments of a call", "the result of a call")


def with_longer(longest: str | None) -> History:
    """A conversation whose text at one of `PLACES` is much longer; at none of them for None."""
    asked, words, given, found = (MORE if place == longest else "" for place in PLACES)
    function = {"name": "look", "arguments": f'{{"corner": "north{given}"}}'}
    return (
        {"role": "user", "content": f"Look around.{asked}"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": f"a road{found}"},
        {"role": "assistant", "content": f"There is a road.{words}"},
        {"role": "user", "content": "And then?"},
    )
