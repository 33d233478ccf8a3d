"""What Converse takes of messages and tools."""

from __future__ import annotations

from typing import Any

from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.shapes import MESSAGE, PARTS, UNSENT, Shape, declare_shape, known


def _write_failed_block(call_id: str | None, text: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": text}], "status": "error"}}


SHAPE = declare_shape(
    Shape(
        name="bedrock",
        named_by="key",
        system_parts=("guardContent",),
        failed_block=_write_failed_block,
        is_form_of=lambda fields: "toolSpec" in fields,
        # Kinds are found by their keys, in this order. A text may stand beside another kind.
        known_fields={
            "toolUse": known(UNSENT, toolUse=known("name input")),
            "toolResult": known(UNSENT, toolResult=known(content=PARTS)),
            "reasoningContent": known(reasoningContent=known(reasoningText=known("text signature"))),
            "image": known(image=known(source=known())),
            "document": known(document=known("context citations", source=known("text content"))),
            "video": known(video=known(source=known())),
            "audio": known(audio=known(source=known())),
            "json": known("json"),
            "text": known(UNSENT),
            "cachePoint": known(cachePoint=known()),
            MESSAGE: {**dict.fromkeys(OF_CHAT), **known(content=PARTS)},
        },
    )
)
