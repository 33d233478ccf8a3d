"""What Mistral's chat API takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import (
    MESSAGE,
    PARTS,
    UNSENT,
    MediaOfResults,
    Shape,
    declare_shape,
    fields_named,
)
from assembler.dialects.writing.call_ids import legal_id, make_nine_characters

SHAPE = declare_shape(
    Shape(
        name="mistral",
        named_by="type",
        accepts=("openai",),
        # OpenAI's web search and code interpreter are only in Mistral's conversations API (mistralai 3.7.0, models
        # ChatCompletionRequest and ConversationRequest; read 2026-11).
        accepts_tools={"responses": ("image_generation",)},
        system_parts=(),
        # From tokenizer 15 on it takes pictures in results (mistral-common 1.13.1, validator, read 2026-11).
        media_of_results=MediaOfResults.AFTER,
        call_id=lambda call_id: make_nine_characters(legal_id(call_id)),
        known_fields={
            MESSAGE: fields_named(UNSENT, content=PARTS, tool_calls=PARTS),
            "thinking": fields_named("signature", thinking=fields_named("text")),
            "image_url": fields_named(image_url=fields_named("url")),
            "audio_url": fields_named(audio_url=fields_named("url")),
            "input_audio": fields_named("input_audio"),
            "document_url": fields_named("document_url"),
            "function": fields_named(UNSENT, function=fields_named("name arguments")),
        },
    )
)
