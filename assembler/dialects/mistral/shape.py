"""What Mistral's chat API takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import (
    MESSAGE,
    PARTS,
    UNSENT,
    MediaOfResults,
    Shape,
    declare_shape,
    known,
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
            MESSAGE: known(UNSENT, content=PARTS, tool_calls=PARTS),
            "thinking": known("signature", thinking=known("text")),
            "image_url": known(image_url=known("url")),
            "audio_url": known(audio_url=known("url")),
            "input_audio": known("input_audio"),
            "document_url": known("document_url"),
            "function": known(UNSENT, function=known("name arguments")),
        },
    )
)
