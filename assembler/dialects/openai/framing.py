"""The constants of OpenAI's bill, which differ by generation and API.

The values are in `families.toml` in the folder of each API, one row a family.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

from assembler.dialects.openai.tool_text import ToolText
from assembler.dialects.prices.families import Row
from budgets.count import Grade, Tokens

OpenAIApi: TypeAlias = Literal["chat", "responses"]

SHAPE_OF: Mapping[OpenAIApi, str] = {"chat": "openai", "responses": "responses"}
"""The shape of the messages and tools of each API."""

ENVELOPE: Tokens = 4
"""The tokens around a message's text: `<|start|>`, the role, `<|message|>`, `<|end|>`. On Chat Completions, tools
and an output schema need their own system message if there is none."""


class Arguments(enum.Enum):
    """How the prompt contains a past call's arguments."""

    AS_WRITTEN = "the text of the model, byte for byte"
    COMPACT = "read as JSON and written without blanks"


class ToolHeading(enum.Enum):
    """The text around the tools' declarations: before them, and after them."""

    NAMESPACE = ("namespace functions {\n\n", "} // namespace functions")
    HARMONY = ("## Namespace: functions\n\n### Target channel: commentary\n\n### Tool definitions\n", "")


@attrs.frozen(kw_only=True)
class ToolFraming:
    """The text around the tools' declarations, and its cost on top of that text."""

    heading: ToolHeading
    alone: Tokens
    """The cost without a system message."""
    beside_system: Tokens
    text: ToolText = ToolText.CURRENT
    slack: Tokens = 0
    """How far the bill may be above the rule: 0 if all recordings agree."""


@attrs.frozen(kw_only=True)
class CallFraming:
    """What a past call costs on top of its name and arguments, with the author line of its result."""

    arguments: Arguments
    recipient: str = ""
    """The prefix of the name in the call's recipient."""
    author: str = ""
    """The prefix of the name in the author line of its result."""
    one: Tokens
    several: Tokens | None = None
    """The cost of parallel calls wrapped in `multi_tool_use.parallel`; None if each is a separate message."""
    each: Tokens = 0
    """The cost of each parallel call that is a separate message, with its envelope."""
    apart: Tokens = -ENVELOPE
    """What these calls cost more together: less by default, as the message that holds them has an envelope already."""
    replayed: Tokens = 0
    """What a single call costs more if it has the server's `id` and `status`."""
    beside_text: Tokens = 0
    """What calls cost more in a message that also has a text."""
    slack: Tokens = 0
    """The slack of each call."""


@attrs.frozen(kw_only=True)
class SchemaFraming:
    """What an output schema costs on top of its name, its description and its JSON."""

    alone: Tokens
    beside_system: Tokens
    beside_tools: Tokens
    each_answer: Tokens = 0
    """The cost for each text of the assistant in the request."""
    closing: str = ""
    """What ends the first system text before the schema, in a request without tools."""
    names_answer: bool = False
    """Whether the name of the schema is billed once more in a request without tools."""


@attrs.frozen(kw_only=True)
class Family(Row):
    """The bill of one generation of models on one API."""

    api: OpenAIApi = "chat"
    encoding: str
    primer: Tokens
    """`<|start|>assistant<|message|>`, in the harmony generation without the last token."""
    tools: ToolFraming
    calls: CallFraming
    schema: SchemaFraming
    per_message: Tokens = ENVELOPE - 1
    """What a message costs on top of its role (one token each) and its text."""
    per_name: Tokens = 1
    """What a `name` costs on top of its own tokens."""
    assistant_text: Tokens = 0
    """What an assistant message with text costs more: `<|channel|>final` in the harmony generation."""
    results_in_one: bool = True
    """Whether parallel results become one list."""
    empty_assistant: Tokens = ENVELOPE
    """The whole cost of an assistant message with an empty text and no calls."""
    system_newline_with_tools: bool = False
    """Tools end the first system message: a line break is appended to its text before it is counted."""
    forced_tool: Tokens | None = None
    """What `tool_choice` of one function costs on top of `functions.` and its name; None if even the name is free."""
    required_alone_is_forced: bool = False
    """Whether `tool_choice: "required"` with a single tool costs the same as forcing that tool."""
    required_tool: Tokens = 0
    """What `tool_choice: "required"` costs where it is not the same as a forced tool."""
    no_tool: Tokens = 1
    """What `tool_choice: "none"` costs."""
    serial_calls: Tokens = 0
    """What `parallel_tool_calls: false` adds if there are tools."""
    grade: Grade = Grade.EXACT
    """The best grade of the family's rules."""
    text_grade: Grade = Grade.EXACT
    """The grade of a request of plain texts."""
    text_slack: Tokens = 0
    """The slack of a request of plain texts."""
    untooled_slack: Tokens = 0
    """What the server once billed more for a request without tools."""
    tooled_slack: Tokens = 0
    """What the server once billed on top with tools."""
