"""What Converse takes of messages and tools."""

from __future__ import annotations

from typing import Any

from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.shapes import MESSAGE, PARTS, UNSENT, Shape, declare_shape, fields_named


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
            "toolUse": fields_named(UNSENT, toolUse=fields_named("name input")),
            "toolResult": fields_named(UNSENT, toolResult=fields_named(content=PARTS)),
            "reasoningContent": fields_named(
                reasoningContent=fields_named(reasoningText=fields_named("text signature"))
            ),
            "image": fields_named(image=fields_named(source=fields_named())),
            "document": fields_named(document=fields_named("context citations", source=fields_named("text content"))),
            "video": fields_named(video=fields_named(source=fields_named())),
            "audio": fields_named(audio=fields_named(source=fields_named())),
            "json": fields_named("json"),
            "text": fields_named(UNSENT),
            "cachePoint": fields_named(cachePoint=fields_named()),
            MESSAGE: {**dict.fromkeys(OF_CHAT), **fields_named(content=PARTS)},
        },
    )
)
