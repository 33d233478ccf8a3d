"""Claude's generations: what Anthropic bills around the texts of a request, in tokens. The rows: `families.toml`.

Each number was read off recorded bills: the texts, counted with a reconstruction of Claude's vocabulary, leave whole
numbers behind. Rows and repositories are those of public test recordings, fitted on some and checked on the others;
how, and what is not known, is in docs/how-it-counts-claude.md, section Claude.
"""

from __future__ import annotations

import attrs

from assembler.dialects.families import Row, estimate_with_slack, first_match, guess, price, table_in
from budgets.count import Count
from budgets.models import names


@attrs.frozen(kw_only=True)
class ToolPrompts:
    """The hidden system prompt that any tool brings along, by what may be called."""

    auto: Count
    """Also for `none`."""
    any: Count
    named: Count
    """One tool by its name, which is billed on top."""
    auto_alone: Count = attrs.field(default=attrs.Factory(lambda self: self.auto, takes_self=True))
    """With `disable_parallel_tool_use`; as without it where no row says more."""
    named_alone: Count = attrs.field(default=attrs.Factory(lambda self: self.named, takes_self=True))


@attrs.frozen(kw_only=True)
class Family(Row):
    """One generation: what stands around the texts, in tokens. `generation` names the vocabulary of its counter."""

    generation: str
    prompts: ToolPrompts
    opening: Count
    message: Count
    system: Count
    """What a system text costs beyond its words, where neither tools nor thinking stand beside it."""
    system_beside: Count
    """The same where they do: each section of the system prompt is set apart from the next."""
    inline_system: Count
    """What a system message among the turns costs more than another."""
    thinking_enabled: Count
    thinking_beside: Count
    """What the prompt of enabled thinking costs more beside tools or a system text."""
    thinking_adaptive: Count
    keeps_thinking: bool
    """Whether reasoning of past turns is billed. If not, only that of a running tool loop is."""
    tool: Count
    call: Count
    parallel: Count
    """What a message with several calls and their results cost more than each alone, less `PARALLEL_SAVES` a call."""
    result: Count
    failed: Count
    """What a result that is an error costs more."""
    schema: Count
    """The prompt of an answer format, beside its schema."""
    image_side: int
    ceiling: float = 1.0
    """Tokens of its vocabulary for one of the reconstruction's, at most."""


AFTER_RESULTS = estimate_with_slack(2, 2)
"""Words of the user behind results, in one message with them or in the next: beyond a message of their own, as which
the model is shown them (19 recordings of 4 repositories: 2 to 3)."""
BEGUN_BY_MODEL = estimate_with_slack(12, 1)
"""A conversation that the assistant begins: a turn of the user's is put before it (3 recordings, 2 repositories)."""
JOINED_SAVES = 2
"""A message of the user's behind another of the user's: 41 recordings of 4 repositories, and no more than that."""
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


FAMILIES = table_in(
    __name__,
    Family,
    {
        "generation": str,
        "prompts": lambda written: ToolPrompts(**{choice: price(tokens) for choice, tokens in written.items()}),
    },
)


NEWEST = next(family for family in FAMILIES if family.name == "claude-5")


def family_of(model: str | None) -> Family:
    """The generation of a model name, its provider's prefix and suffix ignored; without a name the newest one.

    A name that is none of Claude's, or of a generation to come, is priced as the newest and estimated.
    """
    if not model or not model.strip():
        return NEWEST
    return first_match(FAMILIES, names.bare(model)) or FAMILIES[-1]
