"""What Chat Completions takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import MediaOfResults, Shape, declare_shape
from assembler.dialects.writing.call_ids import legal_id

SHAPE = declare_shape(
    Shape(
        name="openai",
        named_by="type",
        shows_media=False,  # openai 3.54.0, ChatCompletionAssistantMessageParam
        fields_of_answers=True,
        media_of_results=MediaOfResults.AFTER,  # openai 3.54.0, ChatCompletionToolMessageParam
        call_id=legal_id,
        is_form_of=lambda fields: fields.get("type") == "function" and "function" in fields,
        # Nothing is billed for `returns` (10 recordings, one repository). The others repeat what is in `function`.
        tool_fields=("returns", "name", "description", "parameters"),
    )
)
