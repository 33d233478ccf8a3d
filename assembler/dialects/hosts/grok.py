"""Grok's generations, as xAI and Azure bill them: rows of the table in `assembler.dialects.hosts.families`."""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Evidence, about, guess, recorded
from assembler.dialects.hosts.framing import Definitions, Family, named
from assembler.dialects.standin import StandIn
from budgets.count import NOTHING

# Each server hides a prompt. A system text takes the place of a line of it.

GROK = StandIn(ceiling=1.02)
"""No tokenizer is published; texts of 300 recordings differ from `o200k_base` by a few tokens."""

GROK_LATER = Family(
    name="grok",
    names=named("grok"),
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
    names=named(r"grok-(beta|vision|1|2)"),
    evidence=recorded(55, 2),
    opening=about(2, 1),
    schema=guess(31, 36),
    system=about(4, 1),
    user=about(4, 0),
    assistant=about(4, 1),
    tool_role=guess(4, 5),
    tooling=guess(72, 76),
    tool=guess(1, 3),
    call=guess(12, 15),
    argument=guess(6, 11),
    result=guess(4, 5),
)
GROK_3 = attrs.evolve(
    GROK_2,
    name="grok-3",
    names=named("grok-3"),
    evidence=recorded(29, 1),
    tooling=guess(205, 209),
    call=guess(12, 13),
    argument=guess(6, 6),
)
GROK_3_MINI = attrs.evolve(
    GROK_3,
    name="grok-3-mini",
    names=named("grok-3-mini"),
    evidence=recorded(57, 3),
    opening=about(3, 1),
    tooling=guess(228, 232),
    tool=guess(0, 2),
)
# A past call brings back the reasoning that led to it, which the request does not show: so for all that reason.
GROK_4 = attrs.evolve(
    GROK_LATER,
    name="grok-4",
    names=named("grok-4"),
    evidence=recorded(26, 2),
    opening=guess(680, 684),
    tooling=guess(153, 160),
    tool=guess(0, 6),
    call=guess(240, 500),
)
GROK_4_FAST = attrs.evolve(
    GROK_LATER,
    name="grok-4-fast",
    names=named(r"grok-4([.-]\d+)?-fast"),
    evidence=recorded(47, 2),
    opening=guess(152, 154),
    schema=guess(28, 44),
    system=about(0, 2),
    tooling=guess(150, 154),
    tool=guess(0, 3),
    call=guess(100, 420),
)
GROK_4_FAST_STRAIGHT = attrs.evolve(
    GROK_4_FAST,
    name="grok-4-fast-non-reasoning",
    names=named(r"grok-4([.-]\d+)?-fast-non-reasoning"),
    evidence=recorded(93, 2),
    opening=guess(164, 165),
    schema=guess(41, 43),
    user=about(4, 0),
    assistant=guess(6, 7),
    tool_role=guess(4, 5),
    tooling=guess(151, 154),
    tool=guess(0, 2),
    call=guess(9, 11),
    argument=guess(6, 6),
    result=guess(4, 5),
)
# Azure hides no prompt of its own before the first message.
GROK_4_FAST_ON_AZURE = attrs.evolve(
    GROK_4_FAST_STRAIGHT,
    name="grok-4-fast-azure",
    names=re.compile(r"azure/.*grok-4.*fast"),
    evidence=recorded(48, 1),
    opening=NOTHING,
    user=about(3, 1),
    tooling=guess(148, 152),
)
GROK_CODE = attrs.evolve(
    GROK_4_FAST,
    name="grok-code",
    names=named("grok-code"),
    evidence=recorded(34, 2),
    opening=guess(200, 204),
    tooling=guess(132, 140),
    tool=guess(0, 8),
    call=guess(140, 700),
)
GROK_4_3 = attrs.evolve(
    GROK_LATER,
    name="grok-4.3",
    names=named(r"grok-4[.-]3"),
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

GROKS = (
    *(GROK_4_FAST_ON_AZURE, GROK_CODE, GROK_4_FAST_STRAIGHT, GROK_4_FAST, GROK_4_3, GROK_4),
    *(GROK_3_MINI, GROK_3, GROK_2, GROK_LATER),
)
