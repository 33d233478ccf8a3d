"""Open models and their hosts: what a chat template puts around the texts of a request, one row a generation.

The numbers were read off recorded bills; of models without recordings, off the open template. How, and how well they
hold: docs/how-it-counts-hosts.md. `assemble calibrate` prints such a row for recordings of one's own.
"""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Evidence, about, first_match, guess, recorded
from assembler.dialects.hosts.framing import Definitions, Family
from assembler.dialects.standin import StandIn
from budgets.count import NOTHING
from budgets.errors import UnknownModelError

_TEMPLATE = Evidence(source="the model's open chat template", read="2026-11")


def _named(pattern: str) -> re.Pattern[str]:
    """A name with the pattern anywhere in it: hosts put their own words before and after."""
    return re.compile(rf"(?s).*?(?:{pattern})")


LLAMA = StandIn()
"""Llama 3 and GLM 4 add pieces to those of cl100k_base ("The Llama 3 Herd of Models", 3.2; "ChatGLM", 2): their counts
are the same in English and less elsewhere (722 recorded texts: 99 of 100 the same, none more)."""

# ── DeepSeek: `deepseek-chat` stands for one generation after the other, and is priced as the newest that was recorded

DEEPSEEK_V4 = Family(
    name="deepseek-v4",
    names=_named("deepseek"),
    evidence=recorded(60, 4),
    vocabulary="deepseek",
    opening=about(3, 2),
    responses=guess(79, 100),
    thinking=guess(79, 84),
    schema=guess(20, 40),
    user=about(1, 1),
    assistant=about(3, 1),
    tooling=guess(220, 226),
    tool=guess(1, 6),
    call=guess(24, 32),
    argument=guess(11, 15),
    result=guess(10, 14),
)
DEEPSEEK_CHAT = attrs.evolve(
    DEEPSEEK_V4,
    name="deepseek-chat",
    names=_named(r"deepseek.*(chat|reasoner|v3[.p-]?2)"),
    evidence=recorded(37, 6),
    tooling=guess(246, 252),
    call=guess(26, 34),
)
DEEPSEEK_V3_1 = attrs.evolve(
    DEEPSEEK_CHAT,
    name="deepseek-v3.1",
    names=_named(r"deepseek.*v3[.p-]?1"),
    evidence=recorded(28, 3),
    tooling=guess(95, 110),
    call=guess(4, 20),
    argument=NOTHING,
    result=guess(4, 8),
)
DEEPSEEK_V3 = attrs.evolve(
    DEEPSEEK_CHAT,
    name="deepseek-v3",
    names=_named(r"deepseek.*(v3|r1)"),
    evidence=recorded(26, 3),
    opening=about(2, 3),
    assistant=about(2, 2),
    tooling=guess(50, 100),
    call=guess(12, 30),
    argument=NOTHING,
    result=guess(4, 12),
)
R1_DISTILLED = Family(
    name="deepseek-r1-distilled",
    names=_named(r"r1-distill"),
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
    names=_named("llama"),
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
    names=_named(r"llama-?v?3([.p][1-9]|-[1-3](-|$))"),
    evidence=recorded(87, 7),
    opening=about(30, 12),
    system=about(0, 1),
    schema=guess(16, 30),
    tooling=guess(128, 140),
    tool=guess(16, 22),
)
LLAMA_4 = attrs.evolve(
    LLAMA_3,
    name="llama-4",
    names=_named(r"llama-?v?4"),
    evidence=recorded(21, 1),
    tooling=guess(661, 680),
    tool=guess(0, 10),
    call=guess(36, 50),
)
LLAMA_4_FP8 = attrs.evolve(
    LLAMA_4,
    name="llama-4-fp8",
    names=_named(r"llama-?v?4.*-fp8"),
    evidence=recorded(14, 1),
    tooling=guess(90, 680),
)
LLAMA_GUARD = attrs.evolve(
    LLAMA_3,
    name="llama-guard",
    names=_named(r"llama-?guard"),
    evidence=recorded(4, 1),
    opening=guess(102, 110),
    no_system=guess(92, 100),
    system=NOTHING,
)

# ── Qwen, gpt-oss, Kimi, GLM

QWEN_3 = Family(
    name="qwen-3",
    names=_named("qwen"),
    evidence=recorded(36, 3),
    vocabulary="qwen",
    # Thinking disabled adds four tokens, an empty thought; the prompt does not say.
    opening=about(3, 5),
    system=about(5, 1),
    user=about(5, 1),
    assistant=about(5, 1),
    tool_role=about(5, 1),
    # A preamble, each definition as JSON on a line, calls and responses between tags.
    tooling=guess(86, 100),
    tool=guess(9, 24),
    call=guess(16, 22),
    result=guess(7, 9),
)
QWEN_3_CODER = attrs.evolve(
    QWEN_3,
    name="qwen-3-coder",
    names=_named(r"qwen.*coder"),
    evidence=recorded(21, 2),
    tooling=guess(212, 230),
    tool=guess(10, 24),
    call=guess(0, 8),
    argument=guess(8, 14),
    result=guess(0, 8),
)
GPT_OSS = Family(
    name="gpt-oss",
    names=_named("gpt-oss"),
    evidence=recorded(55, 3),
    vocabulary="o200k_base",
    definitions=Definitions.DECLARED,
    opening=about(67, 4),
    schema=guess(19, 24),
    system=about(3, 5),
    user=about(4, 1),
    assistant=about(4, 1),
    tool_role=about(4, 1),
    tooling=guess(27, 33),
    tool=guess(0, 4),
    # The open template: ` to=functions.`, channel, ` json` about a call; `functions.NAME to=assistant` before a result.
    call=guess(6, 14),
    result=guess(6, 12),
)
KIMI = StandIn(ceiling=1.06, flat=2)
KIMI_K2 = Family(
    name="kimi-k2",
    names=_named(r"kimi|moonshot"),
    evidence=recorded(46, 2),
    vocabulary="o200k_base",
    stand_in=KIMI,
    opening=about(3, 2),
    no_system=about(18, 2),
    system=about(4, 1),
    user=about(4, 1),
    assistant=about(4, 1),
    tool_role=about(4, 1),
    tooling=guess(13, 17),
    tool=guess(10, 14),
    call=guess(15, 20),
    result=guess(3, 8),
)
GLM = Family(
    name="glm",
    names=_named("glm"),
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

# ── Grok and Groq's compound systems: their servers hide prompts. A system text takes the place of a line of it.

GROK = StandIn(ceiling=1.05, flat=2)
"""No tokenizer is published; texts of 300 recordings differ from `o200k_base` by a few tokens."""

GROK_LATER = Family(
    name="grok",
    names=_named("grok"),
    evidence=Evidence(source="by analogy to the generations that were recorded", read="2026-11"),
    vocabulary="o200k_base",
    stand_in=GROK,
    definitions=Definitions.COMPACT,
    opening=guess(188, 700),
    schema=guess(30, 60),
    system=about(2, 3),
    user=about(4, 1),
    assistant=guess(6, 10),
    tool_role=guess(4, 8),
    tooling=guess(150, 240),
    tool=guess(2, 20),
    call=guess(60, 500),
    argument=guess(6, 9),
    result=guess(4, 12),
)
GROK_2 = attrs.evolve(
    GROK_LATER,
    name="grok-2",
    names=_named(r"grok-(beta|vision|1|2)"),
    evidence=recorded(55, 2),
    opening=about(2, 2),
    schema=guess(29, 36),
    system=about(4, 2),
    assistant=about(4, 2),
    tool_role=guess(4, 6),
    tooling=guess(72, 82),
    tool=guess(1, 5),
    call=guess(12, 16),
    argument=guess(6, 7),
    result=guess(4, 6),
)
GROK_3 = attrs.evolve(
    GROK_2,
    name="grok-3",
    names=_named("grok-3"),
    evidence=recorded(29, 1),
    tooling=guess(205, 212),
)
GROK_3_MINI = attrs.evolve(
    GROK_2,
    name="grok-3-mini",
    names=_named("grok-3-mini"),
    evidence=recorded(57, 3),
    opening=about(3, 1),
    tooling=guess(228, 236),
    tool=guess(0, 4),
)
# A past call brings back the reasoning that led to it, which the request does not show: so for all that reason.
GROK_4 = attrs.evolve(
    GROK_LATER,
    name="grok-4",
    names=_named("grok-4"),
    evidence=recorded(26, 2),
    opening=guess(680, 684),
    tooling=guess(153, 160),
    tool=guess(0, 6),
    call=guess(240, 500),
)
GROK_4_FAST = attrs.evolve(
    GROK_LATER,
    name="grok-4-fast",
    names=_named(r"grok-4([.-]\d+)?-fast"),
    evidence=recorded(47, 2),
    opening=guess(152, 154),
    schema=guess(28, 44),
    system=about(0, 2),
    tooling=guess(150, 156),
    tool=guess(0, 6),
    call=guess(100, 420),
)
GROK_4_FAST_STRAIGHT = attrs.evolve(
    GROK_4_FAST,
    name="grok-4-fast-non-reasoning",
    names=_named(r"grok-4([.-]\d+)?-fast-non-reasoning"),
    evidence=recorded(93, 2),
    opening=guess(164, 166),
    schema=guess(41, 46),
    tooling=guess(151, 156),
    tool=guess(0, 6),
    call=guess(9, 14),
)
GROK_CODE = attrs.evolve(
    GROK_4_FAST,
    name="grok-code",
    names=_named("grok-code"),
    evidence=recorded(34, 2),
    opening=guess(200, 204),
    tooling=guess(132, 140),
    tool=guess(0, 8),
    call=guess(140, 700),
)
GROK_4_3 = attrs.evolve(
    GROK_LATER,
    name="grok-4.3",
    names=_named(r"grok-4[.-]3"),
    evidence=recorded(59, 2),
    definitions=Definitions.SPACED,
    opening=guess(126, 190),
    schema=guess(11, 40),
    system=about(3, 3),
    user=about(4, 2),
    assistant=guess(6, 60),
    tooling=guess(44, 60),
    tool=guess(2, 12),
    call=guess(4, 60),
)
COMPOUND = attrs.evolve(
    LLAMA_3,
    name="groq-compound",
    names=_named("compound"),
    evidence=Evidence(source="recordings of tests in public repositories, 491 to 8,500 tokens short", read="2026-11"),
    opening=guess(900, 10_000),
)

FAMILIES: tuple[Family, ...] = (
    *(R1_DISTILLED, DEEPSEEK_CHAT, DEEPSEEK_V3_1, DEEPSEEK_V3, DEEPSEEK_V4),
    *(LLAMA_GUARD, LLAMA_4_FP8, LLAMA_4, LLAMA_3_1, LLAMA_3),
    *(QWEN_3_CODER, QWEN_3, GPT_OSS, KIMI_K2, GLM),
    *(GROK_CODE, GROK_4_FAST_STRAIGHT, GROK_4_FAST, GROK_4_3, GROK_4, GROK_3_MINI, GROK_3, GROK_2, GROK_LATER),
    COMPOUND,
)

HIDES_UNCHOSEN = frozenset(family.name for family in FAMILIES if family.name.startswith(("deepseek-v", "deepseek-c")))
"""Templates that leave the tools out when none may be called: DeepSeek's (3 recordings)."""

FORGETS_CALLERS = frozenset(family.name for family in FAMILIES if family.name.startswith("grok"))
"""Hosts that bill no text of past reasoning, not even beside a call (xAI, 5 recordings). The bound pays."""

FORGETS_THOUGHTS = FORGETS_CALLERS | HIDES_UNCHOSEN
"""Hosts that leave past reasoning out of an answer without calls (DeepSeek, 2 recordings). The bound pays."""

SILENT_BESIDE_CALLS = frozenset({"gpt-oss"})
"""Hosts that bill no reasoning at the head of a text that stands beside calls (2 recordings of Groq, one source; a text
without calls is billed whole, 1). The bound pays for it."""


def family_of(model: str) -> Family:
    """The chat template of a model name, its host's prefix ignored. Raises `UnknownModelError`: nothing is guessed."""
    family = first_match(FAMILIES, model.lower())
    if family is None:
        raise UnknownModelError(model, nearest=[row.name for row in FAMILIES])
    return family
