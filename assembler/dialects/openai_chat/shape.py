"""What Chat Completions takes of messages and tools."""

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
        known_fields={
            # The other fields of a message are priced with it (`Message.extra_fields`).
            MESSAGE: known(UNSENT, content=PARTS, tool_calls=PARTS, function_call=known("name arguments")),
            "text": known("text"),
            "refusal": known("refusal"),
            "image_url": known(image_url=known("url detail")),
            "audio_url": known(audio_url=known("url")),
            "video_url": known(video_url=known("url")),
            "audio": known(audio=known("data url")),
            "video": known(video=known("data url")),
            "input_audio": known(input_audio=known("data")),
            "file": known(file=known("file_data")),
            "function": known("id", function=known("name arguments")),
            "custom": known("id", custom=known("name input")),
        },
    )
)
