"""Conversations that hold whatever most policies act on, for the check of policies."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assembler.text.fields import texts_in

_LOG = "\n".join(f"line {number}: the request to /orders/{number * 7} took {number * 3} ms" for number in range(40))
_TABLE = "| order | state |\n|---|---|\n" + "\n".join(f"| {number} | open |" for number in range(30))
_CODE = "```python\n" + "\n".join(f"total_{number} = {number} + 1" for number in range(30)) + "\n```"
_ROWS = json.dumps([{"order": number, "state": "open", "note": "none so far"} for number in range(20)])
_PROSE = "It was late. The lorry stood at the gate. Nobody had the key. " * 8
_OLDER = (_PROSE, _TABLE, _CODE, _ROWS, "Thanks, that helps.")
"""What the assistant answered before: prose, a table, code, JSON, and one short line."""
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_PAGE = base64.b64encode(
    b"%PDF-1.4\n1 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n2 0 obj<</Type/Page>>endobj"
).decode()
_IN_CHAT: Mapping[int, dict[str, Any]] = {
    1: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}},
    3: {"type": "file", "file": {"filename": "orders.pdf", "file_data": f"data:application/pdf;base64,{_PAGE}"}},
}
_IN_BLOCKS: Mapping[int, dict[str, Any]] = {
    1: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}},
    3: {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": _PAGE}},
}
"""An image and a document of one page, in the questions of these numbers."""
_STEPS = 6
_SHORTEST = 16
"""The shortest text by which a quotation is told from words that any reason may hold."""


def draw_requests() -> Iterator[dict[str, Any]]:
    """Requests with older turns of several forms and many steps in the newest, as OpenAI and Anthropic have them.

    Results are long, and two are equal. Older questions hold an image and a document. The second request also holds the
    model's reasoning.
    """
    yield {"messages": [*_write_turns(_write_chat_step, None, _IN_CHAT)], "tools": [_make_tool()]}
    yield {"messages": [*_write_turns(_write_block_step, "signed", _IN_BLOCKS)], "tools": [_make_tool()]}


def write_requests(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Requests in which each text is a question, a result and an answer, as OpenAI and Anthropic have them.

    In the newest turn each is a result once more.
    """
    yield {"messages": [*_write_turns_of(texts, _write_chat_step)], "tools": [_make_tool()]}
    yield {"messages": [*_write_turns_of(texts, _write_block_step)], "tools": [_make_tool()]}


def _make_tool() -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}},
    }


def _write_turns_of(texts: Sequence[str], step: Any) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(texts):
        yield {"role": "user", "content": text}
        yield from step(f"older_{number}", text)
        yield {"role": "assistant", "content": text}
    yield {"role": "user", "content": "And what is open now?"}
    for number, text in enumerate(texts):
        yield from step(f"newest_{number}", text)


def _write_turns(step: Any, signature: str | None, media: Mapping[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(_OLDER):
        asked = f"Question {number}: what became of it? {'And why? ' * (number % 3)}"
        shown = media.get(number)
        yield {"role": "user", "content": asked if shown is None else [_write_text(asked), {**shown}]}
        yield from step(f"older_{number}", _LOG if number % 2 else _ROWS, signature)
        if signature is not None:
            yield {"role": "assistant", "content": [_write_thought(f"On to the answer {number}.", signature)]}
        yield {"role": "assistant", "content": _write_content(text, number, signature)}
    yield {"role": "user", "content": "And what is open now?"}
    for number in range(_STEPS):
        if number == _STEPS - 1:
            yield {"role": "assistant", "content": "One moment, please."}
        yield from step(f"newest_{number}", f"{number} of these: {_LOG}", signature)


def _write_content(text: str, number: int, signature: str | None) -> str | list[dict[str, Any]]:
    if signature is None:
        return text
    return [_write_thought(f"Let me see. {number}", signature), _write_text(text)]


def _write_thought(text: str, signature: str | None) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature}


def _write_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _write_chat_step(call_id: str, result: str, _: str | None = None) -> Iterator[dict[str, Any]]:
    function = {"name": "look_up", "arguments": json.dumps({"where": f"in {call_id}", "words": "late lorry " * 9})}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": call_id, "content": result}


def _write_block_step(call_id: str, result: str, signature: str | None = None) -> Iterator[dict[str, Any]]:
    thoughts = [] if signature is None else [_write_thought(f"I should look in {call_id}.", signature)]
    given = {"where": f"in {call_id}", "words": "late lorry " * 9}
    yield {
        "role": "assistant",
        "content": [*thoughts, {"type": "tool_use", "id": call_id, "name": "look_up", "input": given}],
    }
    yield {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]}


def long_texts(raws: Sequence[object]) -> Iterator[str]:
    """Every text in the dicts of a history that no reason holds by chance."""
    return (text for raw in raws for text in texts_in(raw) if len(text) >= _SHORTEST)
