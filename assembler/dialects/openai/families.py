"""The constants of OpenAI's bill: a table of families for each API. Adding a generation adds one row.

Every number is measured. `docs/how-it-counts-openai.md` says how, and on how many recordings.
"""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Evidence, evidence_of, first_match, is_forwarded
from assembler.dialects.openai.framing import (
    ENVELOPE,
    Arguments,
    CallFraming,
    Family,
    OpenAIApi,
    SchemaFraming,
    ToolFraming,
)
from assembler.dialects.openai.tool_text import ToolText
from budgets.count import Grade, Tokens
from budgets.models.names import bare

_BY_ANALOGY = evidence_of(0, 0)

# ── Chat Completions

_NAMESPACE = ToolFraming(
    opening="namespace functions {\n\n", closing="} // namespace functions", alone=9, beside_system=5, slack=2
)
_CALLS = CallFraming(arguments=Arguments.COMPACT, recipient="functions.", one=4, several=12, beside_text=4, slack=1)
_TABLE_CALLS = CallFraming(arguments=Arguments.AS_WRITTEN, recipient="", one=2, several=12, slack=3)
_SCHEMA = SchemaFraming(alone=12, beside_system=8, beside_tools=5, each_answer=4)

_PREAMBLE: Tokens = 78
"""`# Tools` and the paragraph "Tools are grouped by namespace …", as public quotes of this generation's prompts
have them: 78 tokens of o200k_base, and the recordings show 78."""
_HARMONY = ToolFraming(
    opening="## Namespace: functions\n\n### Target channel: commentary\n\n### Tool definitions\n",
    closing="",
    alone=_PREAMBLE + ENVELOPE,
    beside_system=_PREAMBLE + 3,
    slack=2,
)
_HARMONY_CALLS = CallFraming(arguments=Arguments.COMPACT, recipient="functions.", one=10, several=18, slack=2)

GPT_35 = Family(
    name="gpt-3.5",
    names=re.compile(r"gpt-3\.?5(-|$)"),
    evidence=evidence_of(233, 10),
    encoding="cl100k_base",
    primer=3,
    tools=_NAMESPACE,
    calls=attrs.evolve(_CALLS, slack=6),
    schema=_SCHEMA,
    system_newline_with_tools=True,
    text_grade=Grade.BOUNDED,  # a name may mean one of several snapshots that are billed differently
    text_slack=1,
)
GPT_35_ALIAS = attrs.evolve(
    GPT_35,
    name="gpt-3.5-turbo",
    names=re.compile(r"gpt-3\.?5-turbo(-16k)?$"),
    evidence=evidence_of(26, 4),
    calls=_TABLE_CALLS,
    results_in_one=False,
)
GPT_35_0613 = attrs.evolve(
    GPT_35_ALIAS,
    name="gpt-3.5-0613",
    names=re.compile(r"gpt-3\.?5-(turbo-)?(16k-)?0613$"),
    evidence=evidence_of(27, 4),
    tools=attrs.evolve(_NAMESPACE, text=ToolText.FIRST),
)
GPT_35_0301 = attrs.evolve(
    GPT_35_0613,
    name="gpt-3.5-0301",
    names=re.compile(r"gpt-3\.?5-(turbo-)?0301$"),
    evidence=evidence_of(10, 2),
    per_message=4,
    per_name=-1,
)
GPT_4_TURBO = attrs.evolve(
    GPT_35,
    name="gpt-4-turbo",
    names=re.compile(r"gpt-4(-|$)"),
    evidence=evidence_of(14, 2),
    text_grade=Grade.EXACT,
    text_slack=0,
)
GPT_4 = attrs.evolve(
    GPT_4_TURBO,
    name="gpt-4",
    names=re.compile(r"gpt-4(-32k)?(-0613|-0314)?$"),
    evidence=evidence_of(124, 10),
    tools=attrs.evolve(_NAMESPACE, text=ToolText.FIRST, slack=3),
    calls=_TABLE_CALLS,
    results_in_one=False,
    forced_tool=3,
)
GPT_4O = attrs.evolve(
    GPT_4_TURBO,
    name="gpt-4o",
    names=re.compile(r"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-audio)(-|$)"),
    evidence=evidence_of(1970, 24),
    encoding="o200k_base",
    calls=_CALLS,
)
GPT_AUDIO = attrs.evolve(
    GPT_4O,
    name="gpt-audio",
    names=re.compile(r"gpt-(audio|realtime|4o(-mini)?-(audio|realtime|transcribe|tts))"),
    evidence=_BY_ANALOGY,
    text_grade=Grade.BOUNDED,
    text_slack=ENVELOPE,
)
GPT_5_CHAT = attrs.evolve(GPT_4O, name="gpt-5-chat", names=re.compile(r"gpt-5-chat(-|$)"), evidence=evidence_of(8, 1))
GPT_5 = Family(
    name="gpt-5",
    names=re.compile(r"gpt-5(\.1)?(-|$)"),
    evidence=evidence_of(349, 13),
    encoding="o200k_base",
    primer=2,
    tools=_HARMONY,
    calls=_HARMONY_CALLS,
    schema=SchemaFraming(alone=8, beside_system=7, beside_tools=4, each_answer=4),
    system_newline_with_tools=True,
    assistant_text=2,
    forced_tool=None,
    no_tool=0,
)
GPT_5_2 = attrs.evolve(
    GPT_5, name="gpt-5.2", names=re.compile(r"gpt-([5-9]|[1-9]\d)([.-]|$)"), evidence=evidence_of(52, 4)
)
O_SERIES = attrs.evolve(
    GPT_5,
    name="o",
    names=re.compile(r"o\d(-|$)"),
    evidence=evidence_of(29, 3),
    tools=attrs.evolve(_HARMONY, alone=1, beside_system=0),
    assistant_text=0,
)
O4 = attrs.evolve(O_SERIES, name="o4", names=re.compile(r"(o4|codex)-"), evidence=evidence_of(35, 4), assistant_text=2)
COMPUTER_USE = attrs.evolve(
    GPT_4O,
    name="computer-use",
    names=re.compile(r"computer-use"),
    evidence=evidence_of(1, 1),
    grade=Grade.ESTIMATED,
    text_grade=Grade.ESTIMATED,
)
_ONE_MESSAGE: Tokens = 7
"""The envelope of one message and the primer, which the one recording of a search model was not billed."""
GPT_4O_SEARCH = attrs.evolve(
    GPT_4O,
    name="gpt-4o-search",
    names=re.compile(r"gpt-(4o|5).*-search"),
    evidence=evidence_of(1, 1),
    primer=0,
    per_message=-1,  # its role is not billed either: the text alone
    grade=Grade.ESTIMATED,
    text_grade=Grade.ESTIMATED,
    text_slack=_ONE_MESSAGE,
)
# Billed 8 more than its generation for two messages, once: read as a second envelope around each.
O1_MINI = attrs.evolve(
    O_SERIES,
    name="o1-mini",
    names=re.compile(r"o1-(mini|preview)"),
    evidence=evidence_of(3, 3),
    per_message=2 * ENVELOPE - 1,
    text_grade=Grade.ESTIMATED,
    text_slack=8 * ENVELOPE,  # o1-preview was once billed 30 more
)
UNKNOWN = attrs.evolve(
    GPT_5_2,
    name="unknown",
    names=re.compile(""),
    evidence=_BY_ANALOGY,
    grade=Grade.ESTIMATED,
    text_grade=Grade.ESTIMATED,
    text_slack=GPT_4O.primer - GPT_5_2.primer,  # without a name it may be either of the two
)

CHAT = (
    *(GPT_35_0301, GPT_35_0613, GPT_35_ALIAS, GPT_4O_SEARCH, COMPUTER_USE, GPT_AUDIO, GPT_4O),
    *(GPT_4, GPT_4_TURBO, GPT_35, GPT_5_CHAT, O1_MINI, O4, O_SERIES, GPT_5, GPT_5_2, UNKNOWN),
)

# ── Responses: tools and schemas are in a system message of the server, whose envelope is not billed

_ITEMS = CallFraming(
    arguments=Arguments.COMPACT, recipient="functions.", one=2, several=None, each=6, replayed=3, slack=2
)
_HARMONY_ITEMS = attrs.evolve(_HARMONY_CALLS, one=8, several=None, each=12, slack=3)
_NEW_HARMONY_ITEMS = attrs.evolve(_HARMONY_CALLS, one=11, several=None, each=9, apart=18, slack=3)


def _on_responses(family: Family, evidence: Evidence = _BY_ANALOGY) -> Family:
    shared = attrs.evolve(
        family,
        evidence=evidence,
        api="responses",
        empty_assistant=1,
        results_in_one=False,
        system_newline_with_tools=False,
        required_alone_is_forced=True,
        text_grade=max(family.text_grade, Grade.BOUNDED),
        text_slack=family.text_slack + 1,
    )
    if family.encoding == "o200k_base" and family.forced_tool is None:
        return attrs.evolve(
            shared,
            tools=attrs.evolve(_HARMONY, alone=0, beside_system=0, slack=3),
            calls=_HARMONY_ITEMS,
            schema=SchemaFraming(alone=4, beside_system=4, beside_tools=4),
            serial_calls=_PREAMBLE,
        )
    return attrs.evolve(
        shared,
        tools=attrs.evolve(family.tools, alone=3, beside_system=3),
        calls=_ITEMS,
        schema=SchemaFraming(alone=5, beside_system=5, beside_tools=5),
    )


def _less(tokens: Tokens, family: Family) -> Family:
    """Return a family whose tools cost less than their text, because these models do not get its heading."""
    return attrs.evolve(family, tools=attrs.evolve(family.tools, alone=-tokens, beside_system=-tokens))


_GPT_4O_ON_RESPONSES = attrs.evolve(
    _on_responses(GPT_4O, evidence_of(620, 14)),
    names=re.compile(r"(chat)?gpt-4o(-|$)"),
    untooled_slack=18,  # March 2025, 11 recordings of 4 repositories
)
_GPT_4O_0806_ON_RESPONSES = attrs.evolve(
    _GPT_4O_ON_RESPONSES,
    name="gpt-4o-2024-08-06",
    names=re.compile(r"gpt-4o(-2024-08-06)?$"),
    tooled_slack=216,  # March 2025, 13 recordings of 3 repositories
)
RESPONSES = (
    *(_on_responses(family) for family in (GPT_35_0301, GPT_35_0613, GPT_35_ALIAS, GPT_4O_SEARCH, COMPUTER_USE)),
    *(_GPT_4O_0806_ON_RESPONSES, _GPT_4O_ON_RESPONSES),
    attrs.evolve(_on_responses(GPT_4O, evidence_of(363, 15)), name="gpt-4.1"),
    attrs.evolve(_on_responses(GPT_4, evidence_of(8, 3)), primer=2),
    *map(_on_responses, (GPT_4_TURBO, GPT_35)),
    _on_responses(GPT_5_CHAT, evidence_of(6, 1)),
    _less(2, _on_responses(O1_MINI)),
    _less(3, _on_responses(O4, evidence_of(65, 6))),
    _less(2, _on_responses(O_SERIES, evidence_of(56, 5))),
    _on_responses(GPT_5, evidence_of(226, 13)),
    attrs.evolve(_on_responses(GPT_5_2, evidence_of(223, 7)), calls=_NEW_HARMONY_ITEMS),
    attrs.evolve(_on_responses(UNKNOWN), calls=_NEW_HARMONY_ITEMS),
)


_FORWARDED_SLACK: Tokens = 1
"""The minimum slack for what a gateway may add."""


def family_of(model: str | None, api: OpenAIApi = "chat") -> Family:
    """Return the family that prices `model` on `api`, by the name without `openai/` and `ft:`.

    An unknown name, and None, get the newest family's rules, graded estimated. OpenRouter forwards OpenAI's bill, but
    none of these recordings went through it, so its counts are never exact.
    """
    name = "" if model is None else bare(model)
    table = CHAT if api == "chat" else RESPONSES
    family = first_match(table, name) or table[-1]
    if model is None or not is_forwarded(model):
        return family
    if family.forced_tool is None and family.grade is not Grade.ESTIMATED and api == "chat":
        family = _asked_by_responses(family, first_match(RESPONSES, name) or family)
    return attrs.evolve(
        family, text_grade=max(family.text_grade, Grade.BOUNDED), text_slack=max(family.text_slack, _FORWARDED_SLACK)
    )


def _asked_by_responses(on_chat: Family, on_responses: Family) -> Family:
    """Return the family of a reasoning model on OpenRouter, which forwards a Chat request to Responses.

    Its answers show that: finish reasons are statuses of Responses, and reasoning has the format `openai-responses-v1`
    (OpenRouter, "Reasoning Tokens", read 2026-11). Chat bills more for tools, and the bound includes that, in case
    OpenRouter uses Chat again.
    """
    more = on_chat.tools.alone - on_responses.tools.alone + 2 * ENVELOPE  # Chat frames calls and results differently
    return attrs.evolve(on_responses, api="chat", tooled_slack=more)
