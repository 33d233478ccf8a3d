"""The constants of OpenAI's bill, one value a family and API. Knows model names; counts nothing.

Every number here is measured: how, and on how many recordings it holds, is in `docs/how-it-counts-openai.md`.
"""

from __future__ import annotations

import enum
import re
from typing import Literal, TypeAlias

import attrs

from assembler.dialects.openai_tool_text import ToolText
from budgets.count import Grade, Tokens
from budgets.models.names import bare

Api: TypeAlias = Literal["chat", "responses"]

ENVELOPE: Tokens = 4
"""`<|start|>`, the role, `<|message|>`, `<|end|>`: what a message costs beside its text. On Chat Completions, tools and
an output schema need one of their own where there is no system message to stand in."""


class Arguments(enum.Enum):
    """How a past call's arguments reach the prompt."""

    AS_WRITTEN = "the text of the model, byte for byte"
    COMPACT = "read as JSON and written without blanks"


@attrs.frozen(kw_only=True)
class ToolFraming:
    """What stands around the tools' declarations, and what that costs beside its own text."""

    opening: str
    closing: str
    alone: Tokens
    """Where there is no system message."""
    beside_system: Tokens
    text: ToolText = ToolText.CURRENT
    slack: Tokens = 0
    """How far the bill has been, or may be, above the rule: 0 where every recording agrees."""


@attrs.frozen(kw_only=True)
class CallFraming:
    """What a past call costs beside its name and arguments, its result's author line included."""

    arguments: Arguments
    recipient: str
    """What stands before the name where the call is addressed."""
    one: Tokens
    several: Tokens | None
    """For calls side by side, wrapped in `multi_tool_use.parallel`; None: each is a message of its own."""
    slack: Tokens = 0
    """For each call, how far the bill may be above the rule."""


@attrs.frozen(kw_only=True)
class SchemaFraming:
    """What an output schema costs beside its name, its description and itself."""

    alone: Tokens
    beside_system: Tokens
    beside_tools: Tokens


@attrs.frozen(kw_only=True)
class Family:
    """How one generation of models is billed on one API."""

    name: str
    api: Api = "chat"
    encoding: str
    primer: Tokens
    """`<|start|>assistant<|message|>`; the harmony generation is primed without the last of them."""
    tools: ToolFraming
    calls: CallFraming
    schema: SchemaFraming
    per_message: Tokens = ENVELOPE - 1
    """What a message costs beside its role (one token each) and its text."""
    per_name: Tokens = 1
    """What a `name` costs beside its own tokens."""
    assistant_text: Tokens = 0
    """What an assistant message that carries text costs more: `<|channel|>final` in the harmony generation."""
    empty_assistant: Tokens = ENVELOPE
    """What an assistant message with an empty text and no calls costs in all."""
    preamble: Tokens = 0
    """A system message of the host's own, before everything."""
    system_newline_with_tools: bool = False
    """Tools end the first system message: a line break is appended to its text before it is counted."""
    forced_tool: Tokens = 7
    """What `tool_choice` of one function costs beside the function's name; Responses bills no name."""
    serial_calls: Tokens = 0
    """What `parallel_tool_calls: false` adds where there are tools."""
    grade: Grade = Grade.EXACT
    """What the family's rules are worth at best, whatever the request."""
    text_grade: Grade = Grade.EXACT
    """What a request of plain texts is worth."""
    text_slack: Tokens = 0
    """How far the bill of a request of plain texts may be above the rule, once a request."""


# ── Chat Completions

_CHAT_TOOLS = ToolFraming(
    opening="namespace functions {\n\n", closing="} // namespace functions", alone=9, beside_system=5
)
_CHAT_CALLS = CallFraming(arguments=Arguments.COMPACT, recipient="functions.", one=4, several=12)
_TABLE_CALLS = CallFraming(arguments=Arguments.AS_WRITTEN, recipient="", one=2, several=12, slack=3)
_CHAT_SCHEMA = SchemaFraming(alone=12, beside_system=8, beside_tools=5)

_TOOLS_PREAMBLE: Tokens = 78
"""`# Tools` and the paragraph "Tools are grouped by namespace …", as prompts of this generation are quoted in public:
78 tokens of o200k_base, and 78 is what the recordings ask for."""
_HARMONY_TOOLS = ToolFraming(
    opening="## Namespace: functions\n\n### Target channel: commentary\n\n### Tool definitions\n",
    closing="",
    alone=_TOOLS_PREAMBLE + ENVELOPE,
    beside_system=_TOOLS_PREAMBLE,
    slack=2,
)
_HARMONY_CALLS = CallFraming(arguments=Arguments.COMPACT, recipient="functions.", one=10, several=None, slack=2)

GPT_35 = Family(
    name="gpt-3.5",
    encoding="cl100k_base",
    primer=3,
    tools=_CHAT_TOOLS,
    calls=attrs.evolve(_CHAT_CALLS, slack=2),
    schema=_CHAT_SCHEMA,
    system_newline_with_tools=True,
)
GPT_35_ALIAS = attrs.evolve(GPT_35, name="gpt-3.5-turbo", calls=_TABLE_CALLS)
GPT_35_0613 = attrs.evolve(GPT_35_ALIAS, name="gpt-3.5-0613", tools=attrs.evolve(_CHAT_TOOLS, text=ToolText.FIRST))
GPT_35_0301 = attrs.evolve(GPT_35_0613, name="gpt-3.5-0301", per_message=4, per_name=-1)
GPT_4O = attrs.evolve(GPT_35, name="gpt-4o", encoding="o200k_base", calls=_CHAT_CALLS)
GPT_5 = Family(
    name="gpt-5",
    encoding="o200k_base",
    primer=2,
    tools=_HARMONY_TOOLS,
    calls=_HARMONY_CALLS,
    schema=SchemaFraming(alone=8, beside_system=4, beside_tools=4),
    system_newline_with_tools=True,
    assistant_text=2,
)
O_SERIES = attrs.evolve(GPT_5, name="o", tools=attrs.evolve(_HARMONY_TOOLS, slack=20))
# openai/harmony as Groq serves it: every number is the length of a template's own text, and 7 recordings agree.
_OSS_SYSTEM: Tokens = 65
"""`You are ChatGPT …`, knowledge cutoff, date, reasoning effort and channels: a system message of the host's."""
_OSS_COMMENTARY: Tokens = 15
"""`Calls to these tools must go to the commentary channel: 'functions'.`, at the end of that message."""
_OSS_TOOLS = attrs.evolve(
    _CHAT_TOOLS,
    alone=_OSS_COMMENTARY + ENVELOPE + 6,  # a developer message that opens with "# Tools", "## functions"
    beside_system=_OSS_COMMENTARY + 3 + 7,  # "# Instructions" before the caller's own, and the headings after it
    slack=2,
)
GPT_OSS = attrs.evolve(
    GPT_5,
    name="gpt-oss",
    encoding="o200k_harmony",
    preamble=_OSS_SYSTEM,
    tools=_OSS_TOOLS,
    calls=attrs.evolve(_HARMONY_CALLS, one=8, slack=6),
    system_newline_with_tools=False,
    grade=Grade.BOUNDED,
    text_grade=Grade.BOUNDED,
    text_slack=3,
)
COMPUTER_USE = attrs.evolve(GPT_4O, name="computer-use", grade=Grade.ESTIMATED, text_grade=Grade.ESTIMATED)
_ONE_MESSAGE: Tokens = 7
"""The envelope of one message and the primer: what the one recording of a search model was not billed."""
GPT_4O_SEARCH = attrs.evolve(
    GPT_4O,
    name="gpt-4o-search",
    primer=0,
    per_message=-1,  # its role is not billed either: the text alone
    grade=Grade.ESTIMATED,
    text_grade=Grade.ESTIMATED,
    text_slack=_ONE_MESSAGE,
)
# One recording of two messages, 8 above the generation's rule: read as a second envelope around each.
O1_MINI = attrs.evolve(
    O_SERIES, name="o1-mini", per_message=2 * ENVELOPE - 1, text_grade=Grade.ESTIMATED, text_slack=ENVELOPE
)
UNKNOWN = attrs.evolve(GPT_5, name="unknown", grade=Grade.ESTIMATED, text_grade=Grade.ESTIMATED)

# ── Responses: the system message that holds tools and schemas is the server's own and is not billed

_HIDDEN_BLOCK: Tokens = 18
"""A block that the Responses API of March 2025 put before every request, and that no request shows."""

_ODD_REQUESTS: Tokens = 4
"""The most that requests to the harmony generation on Responses were billed above the rule for plain texts."""


def _on_responses(family: Family) -> Family:
    shared = attrs.evolve(
        family,
        api="responses",
        empty_assistant=1,
        system_newline_with_tools=False,
        forced_tool=0,
        text_grade=max(family.text_grade, Grade.BOUNDED),
    )
    return _harmony_on_responses(shared) if family.calls.several is None else _namespace_on_responses(shared)


def _namespace_on_responses(family: Family) -> Family:
    return attrs.evolve(
        family,
        tools=attrs.evolve(family.tools, alone=3, beside_system=3, slack=1),
        calls=attrs.evolve(family.calls, one=family.calls.one + 1, slack=1),
        schema=SchemaFraming(alone=5, beside_system=5, beside_tools=5),
        text_slack=family.text_slack + _HIDDEN_BLOCK,
    )


def _harmony_on_responses(family: Family) -> Family:
    return attrs.evolve(
        family,
        tools=attrs.evolve(family.tools, alone=0, beside_system=0, slack=1),
        calls=attrs.evolve(family.calls, one=13),
        schema=SchemaFraming(alone=4, beside_system=4, beside_tools=4),
        serial_calls=_TOOLS_PREAMBLE,
        text_slack=family.text_slack + _ODD_REQUESTS,
    )


_CHAT = (
    *(GPT_35, GPT_35_ALIAS, GPT_35_0613, GPT_35_0301, GPT_4O, GPT_4O_SEARCH, COMPUTER_USE),
    *(GPT_5, O_SERIES, O1_MINI, GPT_OSS, UNKNOWN),
)
_RESPONSES = {family.name: _on_responses(family) for family in _CHAT}

_BY_NAME = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"gpt-3\.?5-(turbo-)?0301$", GPT_35_0301),
        (r"gpt-3\.?5-(turbo-)?(16k-)?0613$", GPT_35_0613),
        (r"gpt-3\.?5-turbo(-16k)?$", GPT_35_ALIAS),
        (r"gpt-oss(-|$|:)", GPT_OSS),
        (r"gpt-(4o|5).*-search", GPT_4O_SEARCH),
        (r"computer-use", COMPUTER_USE),
        (r"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-audio)(-|$)", GPT_4O),
        (r"(gpt-3\.?5|gpt-4)(-|$)", GPT_35),
        (r"o1-(mini|preview)", O1_MINI),
        (r"o\d(-|$)|codex-", O_SERIES),
        (r"gpt-([5-9]|[1-9]\d)([.-]|$)", GPT_5),
    )
)


def family_of(model: str | None, api: Api = "chat") -> Family:
    """The family whose rules price `model` on `api`: a pure rule on the name, `openai/` and `ft:` marks put aside.

    A name that fits none, and None, get the newest family's rules, graded estimated.
    """
    plain = bare(model) if model is not None else ""
    family = next((family for pattern, family in _BY_NAME if pattern.match(plain)), UNKNOWN)
    return family if api == "chat" else _RESPONSES[family.name]
