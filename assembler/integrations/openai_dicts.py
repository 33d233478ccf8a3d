"""Makes dicts of OpenAI's two APIs, for reading several frameworks' messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def text_of(parts: Sequence[object]) -> str:
    """Join the texts of parts by line breaks."""
    return "\n".join(part for part in parts if isinstance(part, str))


def chat_call(call_id: str | None, name: str, arguments: str) -> dict[str, Any]:
    """Return a call for `tool_calls` of Chat Completions."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def call_item(call_id: str | None, name: str, arguments: str) -> dict[str, Any]:
    """Return a call as an item of the Responses API."""
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def message_item(text: str) -> dict[str, Any]:
    """Return a text of the model as an item of the Responses API, which may stand between a call and its output."""
    return {"type": "message", "role": "assistant", "content": text}


def reasoning_item(item_id: str, text: str | None, sealed: str | None) -> dict[str, Any]:
    """Return reasoning as an item of the Responses API."""
    summary = [{"type": "summary_text", "text": text}] if text else []
    seal = {"encrypted_content": sealed} if sealed else {}
    return {"type": "reasoning", "id": item_id, "summary": summary, **seal}
