"""What the Messages API takes of messages and tools."""

from __future__ import annotations

from typing import Any

from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.shapes import MESSAGE, PARTS, Shape, declare_shape, known


def _write_failed_block(call_id: str | None, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": True}


SHAPE = declare_shape(
    Shape(
        name="anthropic",
        named_by="type",
        system_parts=("tool_addition", "tool_removal"),  # two recorded requests add a tool so
        failed_block=_write_failed_block,
        is_form_of=lambda fields: "input_schema" in fields and fields.get("type") != "function",
        # "about 20 to 50 tokens for simple examples": Anthropic, "Define tools", read 2026-11; not recorded.
        tool_examples="input_examples",
        summary="content",
        known_fields={
            MESSAGE: {**dict.fromkeys(OF_CHAT), **known(content=PARTS)},
            "text": known("text citations"),
            "thinking": known("signature", thinking=PARTS),
            "redacted_thinking": known("data"),
            "image": known(source=known("data url")),
            "document": known("title context citations", source=known("data url content")),
            "tool_use": known("name input caller"),
            "tool_result": known(content=PARTS),
        },
    )
)
