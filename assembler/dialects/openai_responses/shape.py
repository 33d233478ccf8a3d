"""What the Responses API takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import Shape, declare_shape

SHAPE = declare_shape(
    Shape(
        name="responses",
        named_by="type",
        is_form_of=lambda fields: fields.get("type") == "function" and "function" not in fields,
        summary="encrypted_content",
        summary_keeps_users=True,  # `/responses/compact` returns user messages before the summary
    )
)
