"""What Converse takes of messages and tools."""

from __future__ import annotations

from typing import Any

from assembler.conversation.messages.shapes import Shape, declare_shape


def _failed_block(call_id: str | None, text: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": text}], "status": "error"}}


SHAPE = declare_shape(
    Shape(
        name="bedrock",
        named_by="key",
        system_parts=("guardContent",),
        failed_block=_failed_block,
        is_form_of=lambda fields: "toolSpec" in fields,
    )
)
