"""What generateContent takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import MediaOfResults, Shape, declare_shape

SHAPE = declare_shape(
    Shape(
        name="gemini",
        named_by="key",
        system_parts=(),
        # From version 3 on it takes pictures in results (google-genai 3.4.0, FunctionResponse, read 2026-11).
        media_of_results=MediaOfResults.AFTER_OTHERS,
        is_form_of=lambda fields: "function_declarations" in fields or "functionDeclarations" in fields,
        tool_fields=("response", "response_json_schema", "responseJsonSchema"),
    )
)
