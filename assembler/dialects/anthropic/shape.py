"""What the Messages API takes of messages and tools."""

from __future__ import annotations

from typing import Any

from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.shapes import MESSAGE, PARTS, Shape, declare_shape, fields_named


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
            MESSAGE: {**dict.fromkeys(OF_CHAT), **fields_named(content=PARTS)},
            "text": fields_named("text citations"),
            "thinking": fields_named("signature", thinking=PARTS),
            "redacted_thinking": fields_named("data"),
            "image": fields_named(source=fields_named("data url")),
            "document": fields_named("title context citations", source=fields_named("data url content")),
            "tool_use": fields_named("name input caller"),
            "tool_result": fields_named(content=PARTS),
        },
    )
)
