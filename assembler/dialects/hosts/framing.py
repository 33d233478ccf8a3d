"""What the bill of a chat template on a host is made of. The rows: `families.toml`."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

from assembler.dialects.families import Row
from assembler.dialects.standin import StandIn
from budgets.count import NOTHING, Count


class Definitions(enum.Enum):
    """How a template writes the definitions of tools and the schemas of answers."""

    SPACED = "JSON with a blank after each comma and colon"
    COMPACT = "JSON without blanks"
    INDENTED = "JSON with each value on a line, indented by four"
    DECLARED = "tools and calls as gpt-oss is shown them, schemas as spaced JSON"


@attrs.frozen(kw_only=True)
class Family(Row):
    """One chat template on its hosts: what stands around the texts, in tokens, and which vocabulary prices them."""

    vocabulary: str = "o200k_base"
    """The bundled vocabulary that counts the texts."""
    stand_in: StandIn | None = None
    """How the model's own differs from it; None where they are the same."""
    definitions: Definitions = Definitions.SPACED
    opening: Count
    """What every request costs, the reply's primer included."""
    no_system: Count = NOTHING
    """What the host puts in place of a missing system text."""
    responses: Count = NOTHING
    """What the /responses API adds to the chat API."""
    thinking: Count = NOTHING
    """What `thinking: {"type": "enabled"}` adds."""
    schema: Count = NOTHING
    """The preamble of a requested answer format, beyond the schema itself."""
    system: Count = NOTHING
    user: Count = NOTHING
    assistant: Count = NOTHING
    spoken: Count = NOTHING
    """What an assistant's message costs more that says something."""
    calling: Count = NOTHING
    """What an assistant's message costs more that calls tools, however many."""
    tool_role: Count = NOTHING
    """A message that carries results, beyond each result's own framing."""
    tooling: Count = NOTHING
    """The hidden preamble that any tool brings along."""
    tool: Count = NOTHING
    escapes: Mapping[int, str] = attrs.field(factory=dict[int, str], repr=False)
    """How characters are escaped in definitions, beyond what JSON asks for: a table of `str.translate`."""
    forced: Count = NOTHING
    """What a tool that must be called costs more."""
    call: Count = NOTHING
    argument: Count = NOTHING
    """What each argument of a past call costs beside its name and value, where a template tags them one by one."""
    result: Count = NOTHING
    hides_tools_unchosen: bool = False
    """Whether tools are left out where none may be called."""
    hides_schemas: bool = False
    """Whether the schema of an answer is enforced and not shown. The bound pays for it."""
    silent_beside_calls: bool = False
    """Whether what is said beside calls is left out. The bound pays for it."""
    forgets_thoughts: bool = False
    """Whether the host bills no past reasoning of an answer without calls. The bound pays for it."""
    forgets_callers: bool = False
    """Whether it bills none beside calls either."""
