"""What Anthropic bills around the texts of a request, in tokens, by generation of Claude. The rows: `families.toml`.

Each number comes from recorded bills, less the texts counted with a reconstruction of Claude's vocabulary. They were
fitted on some public test recordings and checked on others. docs/how-it-counts-claude.md says how, and what is unknown.
"""

from __future__ import annotations

import attrs

from assembler.dialects.prices.families import Row, estimate_with_slack, first_match, guess, price, table_in
from budgets.count import Count
from budgets.models import names


@attrs.frozen(kw_only=True)
class ToolPrompts:
    """The price of the hidden system prompt of a request with tools, by its tool choice."""

    auto: Count
    """Also for `none`."""
    any: Count
    named: Count
    """A tool forced by name. The name is billed on top."""
    auto_alone: Count = attrs.field(default=attrs.Factory(lambda self: self.auto, takes_self=True))
    """With `disable_parallel_tool_use`. The same as without, unless a row says otherwise."""
    named_alone: Count = attrs.field(default=attrs.Factory(lambda self: self.named, takes_self=True))


@attrs.frozen(kw_only=True)
class Family(Row):
    """The prices of one generation, in tokens. `generation` names the vocabulary of its counter."""

    generation: str
    prompts: ToolPrompts
    opening: Count
    message: Count
    system: Count
    """The framing of a system text in a request without tools and thinking."""
    system_beside: Count
    """The framing of a system text in a request with tools or thinking, which separates the sections of the prompt."""
    trims_system: bool = False
    """Whether the model is shown a system text without the blanks around it."""
    inline_system: Count
    """What a system message among the turns costs on top of `message`."""
    thinking_enabled: Count
    thinking_beside: Count
    """What enabled thinking costs on top in a request with tools or a system text."""
    thinking_adaptive: Count
    keeps_thinking: bool
    """Whether the reasoning of past turns is billed. If not, only that of a running tool loop is."""
    seal_header: int
    """The characters of a signature of reasoning that hold no reasoning."""
    seal_characters: float
    """How many characters of the rest are a token of the reasoning."""
    tool: Count
    call: Count
    parallel: Count
    """What several calls in one message add, with their results. `PARALLEL_SAVES` is taken off for each call."""
    result: Count
    awaiting: Count
    """What results cost more as long as the model has said nothing after them."""
    failed: Count
    """What a result that is an error costs on top."""
    schema: Count
    """The prompt of an answer format, without its schema."""
    image_side: int
    ceiling: float = 1.0
    """How many tokens one token of the reconstructed vocabulary may be, at most."""


AFTER_RESULTS = estimate_with_slack(2, 2)
"""What the user's words after results add, in the same message or the next. The model is shown them as a message of
their own, whose framing is priced too (19 recordings of 4 repositories: 2 to 3)."""
BEGUN_BY_MODEL = estimate_with_slack(12, 1)
"""A conversation that starts with the assistant: the API puts a user turn before it (3 recordings, 2 repositories)."""
JOINED_SAVES = 2
"""What a user message right after another user message costs less (41 recordings of 4 repositories)."""
PARALLEL_SAVES = 4
"""How much cheaper each of several calls is than a single one. Its tool's name is billed again with its result."""
INTERLEAVED = 148
"""What Anthropic's beta of thinking between calls adds to the tool prompt (28 recordings of one repository). Only the
request's headers show it, so it is in the bound of every request with thinking and tools."""
TASK_BUDGET = guess(35, 60)
"""The prompt for `output_config.task_budget` (2 recordings, one source, 34 and 35)."""
CITED = guess(508, 700)
"""The prompt for citations, in a message with a document or search result that enables them (1 recording)."""
LOADED_TOOL = guess(35, 200)
"""A reference to a deferred tool. The tool's definition is billed here, not among the tools."""


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
    """The generation of a model name, or the newest without a name. Prefix and suffix of hosts are ignored.

    An unknown name is priced as the newest, as an estimate.
    """
    if not model or not model.strip():
        return NEWEST
    return first_match(FAMILIES, names.bare(model)) or FAMILIES[-1]
