"""Open models and their hosts: what a chat template puts around the texts of a request, one row a generation.

The numbers were read off recorded bills; of models without recordings, off the open template. How, and how well they
hold: docs/how-it-counts-hosts.md. `assemble calibrate` prints such a row for recordings of one's own.
"""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Evidence, about, first_match, guess, recorded
from assembler.dialects.hosts.framing import Definitions, Family, named
from assembler.dialects.hosts.grok import GROKS
from assembler.dialects.standin import StandIn
from budgets.count import NOTHING
from budgets.errors import UnknownModelError

_TEMPLATE = Evidence(source="the model's open chat template", read="2026-11")


JINJA = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "'<>&"})
"""What Jinja's own filter `tojson` escapes, and that of transformers does not: Groq and Cerebras write a description's
apostrophes so (13 recordings of 3 families)."""

LLAMA = StandIn()
"""Llama 3 and GLM 4 add pieces to those of cl100k_base ("The Llama 3 Herd of Models", 3.2; "ChatGLM", 2): their counts
are the same in English and less elsewhere (722 recorded texts: 99 of 100 the same, none more)."""

# ── DeepSeek: `deepseek-chat` stands for one generation after the other, and is priced as the newest that was recorded

DEEPSEEK_V4 = Family(
    name="deepseek-v4",
    names=named("deepseek"),
    evidence=recorded(60, 4),
    vocabulary="deepseek",
    opening=about(3, 2),
    responses=guess(79, 100),
    thinking=guess(79, 84),
    schema=guess(20, 40),
    user=about(1, 1),
    assistant=about(3, 1),
    tooling=guess(220, 222),
    tool=guess(1, 3),
    forced=guess(8, 9),
    call=guess(24, 27),
    argument=guess(11, 12),
    result=guess(10, 12),
)
DEEPSEEK_CHAT = attrs.evolve(
    DEEPSEEK_V4,
    name="deepseek-chat",
    names=named(r"deepseek.*(chat|reasoner|v3[.p-]?2)"),
    evidence=recorded(37, 6),
    tooling=guess(246, 248),
    call=guess(26, 29),
)
DEEPSEEK_V3_1 = attrs.evolve(
    DEEPSEEK_CHAT,
    name="deepseek-v3.1",
    names=named(r"deepseek.*v3[.p-]?1"),
    evidence=recorded(28, 3),
    tooling=guess(95, 110),
    forced=NOTHING,
    call=guess(4, 20),
    argument=NOTHING,
    result=guess(4, 8),
)
DEEPSEEK_V3 = attrs.evolve(
    DEEPSEEK_CHAT,
    name="deepseek-v3",
    names=named(r"deepseek.*(v3|r1)"),
    evidence=recorded(26, 3),
    opening=about(2, 3),
    assistant=about(2, 2),
    tooling=guess(50, 100),
    forced=NOTHING,
    call=guess(12, 30),
    argument=NOTHING,
    result=guess(4, 12),
)
# Azure serves both behind a template that writes each definition out as the request has it.
DEEPSEEK_V3_1_ON_AZURE = attrs.evolve(
    DEEPSEEK_V3_1,
    name="deepseek-v3.1-azure",
    names=re.compile(r"azure/.*deepseek.*v3[.p-]?1"),
    evidence=recorded(12, 1),
    opening=about(6, 2),
    assistant=about(6, 2),
)
DEEPSEEK_V3_ON_AZURE = attrs.evolve(
    DEEPSEEK_V3,
    name="deepseek-v3-azure",
    names=re.compile(r"azure/.*deepseek.*(v3|r1)"),
    evidence=recorded(23, 1),
    opening=about(4, 2),
    tooling=guess(79, 85),
    tool=guess(10, 14),
)
R1_DISTILLED = Family(
    name="deepseek-r1-distilled",
    names=named(r"r1-distill"),
    evidence=recorded(8, 1),
    vocabulary="cl100k_base",
    stand_in=LLAMA,
    definitions=Definitions.COMPACT,
    opening=about(2, 3),
    user=about(1, 1),
    assistant=about(2, 2),
    tooling=guess(85, 120),
    tool=guess(0, 12),
    call=guess(12, 30),
    result=guess(4, 12),
)

# ── Llama

_LLAMA_TURN = about(5, 1)
LLAMA_3 = Family(
    name="llama-3",
    names=named("llama"),
    evidence=recorded(3, 3),
    vocabulary="cl100k_base",
    stand_in=LLAMA,
    definitions=Definitions.COMPACT,
    opening=about(5, 2),
    system=_LLAMA_TURN,
    user=_LLAMA_TURN,
    assistant=_LLAMA_TURN,
    tool_role=_LLAMA_TURN,
    tooling=guess(140, 220),
    tool=guess(10, 24),
    call=guess(7, 12),
)
# A system message of the template's own, with dates, takes the system text in.
LLAMA_3_1 = attrs.evolve(
    LLAMA_3,
    name="llama-3.1",
    names=named(r"llama-?v?3([.p][1-9]|-[1-3](-|$))"),
    evidence=recorded(87, 7),
    opening=about(30, 2),
    system=about(0, 1),
    schema=guess(16, 30),
    tooling=guess(128, 132),
    tool=guess(16, 17),
    call=guess(7, 8),
    forced=guess(11, 32),
    escapes=JINJA,
)
LLAMA_3_3 = attrs.evolve(
    LLAMA_3_1,
    name="llama-3.3",
    names=named(r"llama-?v?3[.p-]3"),
    evidence=recorded(55, 6),
    no_system=about(0, 12),  # once, where other requests of that project with a system text paid nothing more
)
# As Llama's open template has it, whose `tojson` does not escape.
LLAMA_3_ON_BEDROCK = attrs.evolve(
    LLAMA_3_3,
    name="llama-3-bedrock",
    names=named(r"meta\.llama-?3-[1-9]"),
    evidence=recorded(16, 1),
    definitions=Definitions.INDENTED,
    tooling=guess(56, 58),
    tool=guess(0, 2),
    call=guess(9, 12),
    escapes={},
)
LLAMA_4 = attrs.evolve(
    LLAMA_3,
    name="llama-4",
    names=named(r"llama-?v?4"),
    evidence=recorded(21, 1),
    tooling=guess(661, 680),
    tool=guess(0, 10),
    call=guess(36, 50),
)
LLAMA_4_FP8 = attrs.evolve(
    LLAMA_4,
    name="llama-4-fp8",
    names=named(r"llama-?v?4.*-fp8"),
    evidence=recorded(14, 1),
    tooling=guess(90, 680),
)
LLAMA_GUARD = attrs.evolve(
    LLAMA_3,
    name="llama-guard",
    names=named(r"llama-?guard"),
    evidence=recorded(4, 1),
    opening=guess(102, 110),
    no_system=guess(92, 100),
    system=NOTHING,
)

# ── Qwen, gpt-oss, Kimi, GLM

QWEN_3 = Family(
    name="qwen-3",
    names=named("qwen"),
    evidence=recorded(36, 3),
    vocabulary="qwen",
    # Thinking disabled adds four tokens, an empty thought; the prompt does not say.
    opening=about(3, 5),
    system=about(5, 1),
    user=about(5, 1),
    assistant=about(5, 1),
    tool_role=about(5, 1),
    # A preamble, each definition as JSON on a line, calls and responses between tags.
    tooling=guess(82, 86),
    tool=guess(10, 12),
    call=guess(16, 18),
    result=guess(7, 8),
    escapes=JINJA,
)
QWEN_3_CODER = attrs.evolve(
    QWEN_3,
    name="qwen-3-coder",
    names=named(r"qwen.*coder"),
    evidence=recorded(21, 2),
    tooling=guess(212, 230),
    tool=guess(10, 24),
    call=guess(0, 8),
    argument=guess(8, 14),
    result=guess(0, 8),
)
GPT_OSS = Family(
    name="gpt-oss",
    names=named("gpt-oss"),
    evidence=recorded(176, 7),
    vocabulary="o200k_base",
    definitions=Definitions.DECLARED,
    opening=about(67, 2),
    schema=guess(19, 24),
    system=about(3, 1),
    user=about(4, 0),
    spoken=about(6, 0),
    tooling=about(14, 3),
    call=about(8, 4),  # Cerebras 4 more; without tools in the request up to 5 less
    result=about(6, 0),
)
# Bedrock leaves parts of the system message out where there are no tools, which ones depends on the day.
GPT_OSS_ON_BEDROCK = attrs.evolve(
    GPT_OSS,
    name="gpt-oss-bedrock",
    names=named(r"openai\.gpt-oss"),
    evidence=recorded(76, 5),
    opening=about(63, 2),
    system=about(4, 1),
    tooling=about(18, 0),
)
KIMI = StandIn(ceiling=1.02)
KIMI_K2 = Family(
    name="kimi-k2",
    names=named(r"kimi|moonshot"),
    evidence=recorded(46, 2),
    vocabulary="o200k_base",
    stand_in=KIMI,
    opening=about(3, 2),
    no_system=about(18, 2),
    system=about(4, 1),
    user=about(4, 1),
    assistant=about(4, 1),
    tool_role=about(4, 1),
    tooling=guess(11, 13),
    tool=guess(10, 10),
    call=guess(15, 16),
    result=guess(3, 4),
    escapes=JINJA,
)
# K2.5 behind Azure: no prompt is hidden, and past reasoning is not billed. Its tools are shown shorter than here.
KIMI_ON_AZURE = attrs.evolve(
    KIMI_K2,
    name="kimi-azure",
    names=re.compile(r"azure/.*kimi"),
    evidence=recorded(33, 1),
    no_system=about(0, 2),
)
GLM = Family(
    name="glm",
    names=named("glm"),
    evidence=_TEMPLATE,  # zai-org/GLM-4.5, chat_template.jinja
    vocabulary="cl100k_base",
    stand_in=LLAMA,
    opening=guess(4, 12),
    schema=guess(20, 60),
    system=guess(2, 4),
    user=guess(2, 4),
    assistant=guess(5, 8),
    tool_role=guess(2, 4),
    tooling=guess(150, 260),
    tool=guess(4, 16),
    call=guess(4, 12),
    argument=guess(6, 12),
    result=guess(6, 12),
)

# ── Groq's compound systems hide prompts of their own

COMPOUND = attrs.evolve(
    LLAMA_3,
    name="groq-compound",
    names=named("compound"),
    evidence=Evidence(source="recordings of tests in public repositories, 491 to 8,500 tokens short", read="2026-11"),
    opening=guess(900, 10_000),
)

FAMILIES: tuple[Family, ...] = (
    *(R1_DISTILLED, DEEPSEEK_V3_1_ON_AZURE, DEEPSEEK_V3_ON_AZURE),
    *(DEEPSEEK_CHAT, DEEPSEEK_V3_1, DEEPSEEK_V3, DEEPSEEK_V4),
    *(LLAMA_GUARD, LLAMA_4_FP8, LLAMA_4, LLAMA_3_ON_BEDROCK, LLAMA_3_3, LLAMA_3_1, LLAMA_3),
    *(QWEN_3_CODER, QWEN_3, GPT_OSS_ON_BEDROCK, GPT_OSS, KIMI_ON_AZURE, KIMI_K2, GLM),
    *GROKS,
    COMPOUND,
)

HIDES_UNCHOSEN = frozenset(family.name for family in FAMILIES if family.name.startswith(("deepseek-v", "deepseek-c")))
"""Templates that leave the tools out when none may be called: DeepSeek's (3 recordings)."""

FORGETS_CALLERS = frozenset(family.name for family in FAMILIES if family.name.startswith("grok"))
"""Hosts that bill no text of past reasoning, not even beside a call (xAI, 5 recordings). The bound pays."""

FORGETS_THOUGHTS = FORGETS_CALLERS | HIDES_UNCHOSEN | {KIMI_ON_AZURE.name}
"""Hosts that leave past reasoning out of an answer without calls (DeepSeek 2 recordings, Kimi 5). The bound pays."""

SILENT_BESIDE_CALLS = frozenset({"gpt-oss", "gpt-oss-bedrock"})
"""Templates that leave out what is said beside calls (3 recordings of 2 hosts). The bound pays for it."""


def family_of(model: str) -> Family:
    """The chat template of a model name, its host's prefix ignored. Raises `UnknownModelError`: nothing is guessed."""
    family = first_match(FAMILIES, model.lower())
    if family is None:
        raise UnknownModelError(model, nearest=[row.name for row in FAMILIES])
    return family
