"""Claude's generations: what Anthropic bills around the texts of a request, in tokens, one row a generation.

Each number was read off recorded bills: the texts, counted with a reconstruction of Claude's vocabulary, leave whole
numbers behind. Rows and repositories are those of public test recordings, fitted on some and checked on the others;
how, and what is not known, is in docs/how-it-counts-claude.md, section Claude. Adding a generation adds one row.
"""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Evidence, Row, about, first_match, guess, recorded
from budgets.count import Count, Tokens
from budgets.models import names


@attrs.frozen
class ToolPrompts:
    """The hidden system prompt that any tool brings along, by what may be called."""

    auto: Count
    """Also for `none`."""
    any: Count
    named: Count
    """One tool by its name, which is billed on top."""
    auto_alone: Count
    """With `disable_parallel_tool_use`."""
    named_alone: Count

    @classmethod
    def of(
        cls, auto: Tokens, any_: Tokens, named: Tokens, *, alone: tuple[Tokens, Tokens] | None = None, slack: Tokens = 3
    ) -> ToolPrompts:
        """Recorded numbers. `alone`: auto and named for calls one at a time, as for calls side by side if not given."""
        return cls(*(about(tokens, slack) for tokens in (auto, any_, named, *(alone or (auto, named)))))


# The numbers of Claude 4, from which the others differ.
_OPENING = about(4, 0)
_MESSAGE = about(3, 0)
_FREE = about(0, 1)
_ONE = about(1, 1)
_THINKING = about(28, 1)
_UNSEEN = about(0, 4)
_TOOL = about(6, 1)
_CALL = about(16, 2)
_PARALLEL = about(26, 6)
_RESULT = about(8, 1)
_FAILED = about(7, 2)
_SCHEMA = about(81, 3)


@attrs.frozen(kw_only=True)
class Family(Row):
    """One generation: what stands around the texts, in tokens. `generation` names the vocabulary of its counter."""

    generation: str
    prompts: ToolPrompts
    opening: Count = _OPENING
    message: Count = _MESSAGE
    system: Count = _FREE
    """What a system text costs beyond its words, where neither tools nor thinking stand beside it."""
    system_beside: Count = _ONE
    """The same where they do: each section of the system prompt is set apart from the next."""
    inline_system: Count = _ONE
    """What a system message among the turns costs more than another."""
    thinking_enabled: Count = _THINKING
    thinking_beside: Count = _ONE
    """What the prompt of enabled thinking costs more beside tools or a system text."""
    thinking_adaptive: Count = _UNSEEN
    keeps_thinking: bool = False
    """Whether reasoning of past turns is billed. If not, only that of a running tool loop is."""
    tool: Count = _TOOL
    call: Count = _CALL
    parallel: Count = _PARALLEL
    """What a message with several calls and their results cost more than each alone, less `PARALLEL_SAVES` a call."""
    result: Count = _RESULT
    failed: Count = _FAILED
    """What a result that is an error costs more."""
    schema: Count = _SCHEMA
    """The prompt of an answer format, beside its schema."""
    image_side: int = 1_568
    image_ceiling: Tokens = 1_600


AFTER_RESULTS = 4
"""What words behind results in one message may cost beyond a message of their own, which is how the model is shown them
(11 recordings of 3 repositories: 2 to 3)."""
BEGUN_BY_MODEL = about(12, 1)
"""A conversation that the assistant begins: a turn of the user's is put before it (3 recordings, 2 repositories)."""
PARALLEL_SAVES = 2
"""Each of several calls is that much cheaper than a lone one; its tool's name is billed again with its result."""
INTERLEAVED = 148
"""Anthropic's beta of thinking between calls adds so much to the tool prompt, and the request's body does not show it:
only its headers do (28 recordings of one repository). It is in the bound wherever thinking and tools meet."""
TASK_BUDGET = guess(35, 60)
"""`output_config.task_budget`: what the model is told of it (2 recordings, one source, 34 and 35)."""
CITED = guess(508, 700)
"""The prompt that asks for citations, of a message whose document or search result enables them (1 recording)."""
LOADED_TOOL = guess(35, 200)
"""A reference to a deferred tool: its definition is billed where it is loaded."""


_NAMES = r"claude-(opus|sonnet|haiku)-"
_NEWER = Family(
    name="claude-4.7",
    names=re.compile(_NAMES + r"4[-.]7"),
    evidence=recorded(20, 2),
    generation="claude-4.7",
    prompts=ToolPrompts.of(677, 804, 806, slack=40),
    opening=about(6, 1),
    message=about(5, 1),
    system=about(1, 1),
    system_beside=about(1, 1),
    thinking_enabled=guess(29, 40),
    thinking_beside=about(0, 1),
    keeps_thinking=True,
    parallel=about(26, 12),
    image_side=2_576,
    image_ceiling=4_784,
)
_SINCE_4_8 = attrs.evolve(
    _NEWER,
    name="claude-5",
    names=re.compile(""),
    evidence=recorded(45, 2),
    generation="claude-4.8",
    prompts=ToolPrompts.of(355, 475, 477),
    opening=about(4, 1),
    message=about(2, 1),
    inline_system=about(0, 1),
    call=about(0, 4),
    result=about(6, 2),
)


def _row(name: str, names: str, evidence: Evidence, prompts: ToolPrompts) -> Family:
    return attrs.evolve(_CLAUDE_4, name=name, names=re.compile(names), evidence=evidence, prompts=prompts)


_CLAUDE_4 = Family(
    name="claude-4",
    names=re.compile(_NAMES + r"4([-.][01](?!\d)|-2\d{7}|$)"),
    evidence=recorded(468, 12),
    generation="claude-3",
    prompts=ToolPrompts.of(313, 315, 317, alone=(313, 275)),
)
_CLAUDE_4_6 = attrs.evolve(
    _CLAUDE_4,
    name="claude-4.6",
    names=re.compile(_NAMES + r"4[-.]6"),
    evidence=recorded(210, 7),
    prompts=ToolPrompts.of(497, 589, 591),
    system=about(1, 1),
    thinking_enabled=about(29, 1),
    thinking_beside=about(0, 1),
    thinking_adaptive=about(0, 17),
    keeps_thinking=True,
)

FAMILIES: tuple[Family, ...] = (
    attrs.evolve(
        _CLAUDE_4,
        name="claude-2",
        names=re.compile("claude-(2|instant)"),
        evidence=recorded(1, 1),
        opening=about(4, 5),
    ),
    _row("claude-3-haiku", "claude-3-haiku", recorded(65, 9), ToolPrompts.of(264, 355, 357)),
    _row("claude-3-sonnet", "claude-3-sonnet", recorded(30, 5), ToolPrompts.of(159, 250, 252)),
    _row("claude-3-opus", "claude-3-opus", recorded(44, 6), ToolPrompts.of(533, 296, 298)),
    _row("claude-3.5-haiku", "claude-3[-.]5-haiku", recorded(372, 10), ToolPrompts.of(264, 355, 357)),
    _row("claude-3.5-sonnet-june", "claude-3[-.]5-sonnet-20240620", recorded(91, 7), ToolPrompts.of(294, 276, 278)),
    _row("claude-3.5-sonnet", "claude-3[-.][57]", recorded(102, 10), ToolPrompts.of(313, 314, 316)),
    _row(
        "claude-4.5",
        _NAMES + r"4[-.]5",
        recorded(721, 16),
        ToolPrompts.of(496, 588, 590, alone=(288, 592)),
    ),
    attrs.evolve(
        _CLAUDE_4_6,
        name="claude-opus-4.6",
        names=re.compile("claude-opus-4[-.]6"),
        evidence=recorded(7, 2),
        thinking_adaptive=about(17, 3),
    ),
    _CLAUDE_4_6,
    _CLAUDE_4,
    _NEWER,
    attrs.evolve(
        _SINCE_4_8,
        name="claude-4.8",
        names=re.compile(_NAMES + r"4[-.][89]"),
        evidence=recorded(7, 1),
        prompts=attrs.evolve(ToolPrompts.of(292, 411, 413, slack=40), auto=about(292, 150)),
    ),
    attrs.evolve(
        _SINCE_4_8,
        name="claude-opus-5",
        names=re.compile("claude-opus-5"),
        evidence=recorded(0, 0),
        prompts=ToolPrompts.of(288, 408, 410, slack=150),
    ),
    _SINCE_4_8,
)
"""Most specific first. The last is the newest, and takes every name that no other knows."""


def family_of(model: str | None) -> Family:
    """The generation of a model name, its provider's prefix and suffix ignored; an unknown name is the newest one."""
    found = first_match(FAMILIES, names.bare(model)) if model and model.strip() else None
    return FAMILIES[-1] if found is None else found
