"""The facts of the Responses API: content that the server adds, its cache and its usage fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assembler.dialects.api import Api, Wordless
from assembler.dialects.openai_chat.api import OF_OPENAI
from assembler.dialects.openai_responses.shape import SHAPE
from assembler.text.fields import fields_in

if TYPE_CHECKING:
    from assembler.regions.tools import Tool

STORED = ("previous_response_id", "conversation", "prompt")
"""With one of these keys the server adds stored items to the request, and bills them."""


class SearchTool:
    """The tool search of the Responses API ("Tool search", read 2026-11)."""

    def definition(self) -> dict[str, Any]:
        """The tool that searches."""
        return {"type": "tool_search"}

    def marked(self, tool: Tool) -> dict[str, Any]:
        """The definition with the mark `defer_loading`. A new one says that it is not strict."""
        came = fields_in(tool.seen)
        if came.get("type") == "function" and "name" in came:
            return {**came, "defer_loading": True}
        from assembler.regions.tools.deferred import deferred_fields  # for tools that wait alone

        fields, schema = deferred_fields(tool)
        strict = tool.extra.get("strict") is True
        return {"type": "function", **fields, "parameters": schema, "strict": strict}


API = Api(
    provider="openai",
    shape=SHAPE.name,
    held=STORED,
    priced=("text", "tool_choice", "reasoning", "thinking"),
    history="input",
    search=SearchTool(),
    wordless=Wordless.NONE,
    caches=OF_OPENAI,
    usage=(("input_tokens",),),
)
"""The number includes cached tokens: OpenAI API reference, read 2026-11."""
