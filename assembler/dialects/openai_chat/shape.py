"""What Chat Completions takes of messages and tools."""

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
            MESSAGE: fields_named(
                UNSENT, content=PARTS, tool_calls=PARTS, function_call=fields_named("name arguments")
            ),
            "text": fields_named("text"),
            "refusal": fields_named("refusal"),
            "image_url": fields_named(image_url=fields_named("url detail")),
            "audio_url": fields_named(audio_url=fields_named("url")),
            "video_url": fields_named(video_url=fields_named("url")),
            "audio": fields_named(audio=fields_named("data url")),
            "video": fields_named(video=fields_named("data url")),
            "input_audio": fields_named(input_audio=fields_named("data")),
            "file": fields_named(file=fields_named("file_data")),
            "function": fields_named("id", function=fields_named("name arguments")),
            "custom": fields_named("id", custom=fields_named("name input")),
        },
    )
)
