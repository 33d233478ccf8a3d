"""What generateContent takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.shapes import (
    MESSAGE,
    PARTS,
    Known,
    MediaOfResults,
    Shape,
    declare_shape,
    fields_named,
)


def _name_both_ways(kinds: str, inside: Known) -> dict[str, Known]:
    """What is known of a kind of part, by its names in the SDK and on the wire."""
    return {kind: {kind: inside} for kind in kinds.split()}


SHAPE = declare_shape(
    Shape(
        name="gemini",
        named_by="key",
        system_parts=(),
        # From version 3 on it takes pictures in results (google-genai 3.4.0, FunctionResponse, read 2026-11).
        media_of_results=MediaOfResults.AFTER_OTHERS,
        is_form_of=lambda fields: "function_declarations" in fields or "functionDeclarations" in fields,
        tool_fields=("response", "response_json_schema", "responseJsonSchema"),
        known_fields={
            **_name_both_ways("function_call functionCall", fields_named("name args")),
            **_name_both_ways("function_response functionResponse", fields_named("name response", parts=PARTS)),
            **_name_both_ways("inline_data inlineData", fields_named("data")),
            **_name_both_ways("file_data fileData", fields_named("file_uri fileUri")),
            "text": fields_named("text"),
            MESSAGE: {**dict.fromkeys(OF_CHAT), **fields_named(parts=PARTS)},
        },
    )
)
