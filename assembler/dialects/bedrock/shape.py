"""What Converse takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import Shape, declare_shape

SHAPE = declare_shape(
    Shape(
        name="bedrock",
        named_by="key",
        system_parts=("guardContent",),
        is_form_of=lambda fields: "toolSpec" in fields,
    )
)
