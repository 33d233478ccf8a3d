"""The law of the one price: a build costs what `count_request` makes of its own request, whatever was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from assembler import Assembler, Context, ContextLengthError, count_request
from assembler.dialects import DIALECTS
from assembler.drawn.spelling import SPELLINGS
from assembler.policies import ClearReasoning, ClearToolResults, Policy, TrimOldest, TrimSteps, Truncate
from assembler.report.cache import CacheMarks
from budgets import Budget, Count, Limit


@attrs.frozen
class Api:
    dialect: str
    model: str | None


APIS = [
    Api("openai_chat", "gpt-4o"),
    Api("openai_chat", "gpt-5"),
    Api("openai_chat", "gpt-5.4"),
    Api("openai_chat", "gpt-3.5-turbo"),
    Api("openai_chat", "deepseek-chat"),
    Api("openai_chat", "llama-3.3-70b-versatile"),
    Api("openai_chat", "nobody-knows-this-model"),
    Api("openai_responses", "gpt-4o"),
    Api("openai_responses", "gpt-5"),
    Api("openai_responses", "gpt-5.4"),
    Api("openai_responses", "grok-4.3"),
    Api("anthropic", "claude-sonnet-4-5"),
    Api("anthropic", "claude-opus-4-7"),
    Api("bedrock", "anthropic.claude-sonnet-4-5"),
    Api("bedrock", "meta.llama3-1-70b-instruct-v1:0"),
    Api("bedrock", "amazon.nova-pro-v1:0"),
    Api("bedrock", "mistral.mistral-large-2407-v1:0"),
    Api("gemini", "gemini-2.5-pro"),
    Api("gemini", "gemini-2.0-flash"),
    Api("mistral", "mistral-large-latest"),
    Api("mistral", "mistral-small-latest"),
    Api("plain", None),
]
APIS += [Api(name, SPELLINGS[name].models[0]) for name in {*DIALECTS} - {api.dialect for api in APIS}]
GATEWAYS = [
    Api("openai_chat", "openrouter/anthropic/claude-sonnet-4-5"),
    Api("openai_chat", "openrouter/anthropic/claude-opus-4.8"),
    Api("openai_chat", "openrouter/google/gemini-2.5-flash"),
    Api("openai_chat", "openrouter/openai/gpt-5"),
    Api("openai_chat", "openrouter/z-ai/glm-4.6"),
    Api("openai_responses", "openrouter/anthropic/claude-sonnet-4-5"),
    Api("openai_responses", "openrouter/anthropic/claude-opus-4.8"),
    Api("openai_responses", "openrouter/google/gemini-2.5-flash"),
    Api("openai_responses", "openrouter/mistralai/mistral-large"),
    Api("openai_responses", "openrouter/deepseek/deepseek-chat"),
    Api("openai_responses", "qwen3-32b"),
    Api("openai_responses", "nobody-knows-this-model"),
]
OF_EACH = {
    dialect: [api for api in (*APIS, *GATEWAYS) if api.dialect == dialect]
    for dialect in sorted({api.dialect for api in APIS})
}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": "Finds what is asked for.", "parameters": {"type": "object", "properties": {"q": {}}}}
    for name in ("search", "refund")
]
TRIM = (TrimOldest(),)
LADDERS: st.SearchStrategy[tuple[Policy, ...]] = st.sampled_from(
    [
        TRIM,
        (TrimOldest(low_water=0.5),),
        (TrimOldest(note="Older turns were left out.", pins={0}),),
        (ClearReasoning(keep=0), ClearToolResults(keep=0), TrimOldest()),
        (TrimSteps(keep=0), Truncate(12), TrimOldest()),
        (Truncate(12, where="head"), TrimSteps(keep=1), TrimOldest()),
        (Truncate(4), TrimOldest(low_water=0.7)),
        (ClearToolResults(keep=0), Truncate(12), TrimOldest(low_water=0.5)),
    ]
)
SHARES = st.floats(0.2, 1.1)
"""Windows as shares of what the whole costs."""


def assembled(
    api: Api,
    history: Iterable[Any],
    window: int = 1_000_000,
    ladder: Sequence[Policy] = TRIM,
    *,
    limits: Mapping[str, Limit] | None = None,
    documents: int = 0,
    schema: Mapping[str, Any] | None = None,
) -> Assembler:
    """An assembler with all regions, whose marks, tools and instruction cost something too."""
    budget = Budget(window, model=api.model, limits=limits or {})
    made = Assembler(budget, dialect=DIALECTS[api.dialect], on_overflow=[*ladder], cache_marks=CacheMarks())
    for number in range(documents):
        made.add_knowledge(f"Fact {number} & all.", type="rag", score=number / 10)
    made.add_instruction("Be <brief>.").add_capability(TOOLS).add_messages(history)
    return made if schema is None else made.add_output_schema(schema, name="said")


def billed(context: Context, api: Api) -> Count:
    return count_request(context.request(), dialect=DIALECTS[api.dialect], model=api.model)


def costs_its_request(context: Context, api: Api) -> None:
    """Holds the law, and that the report and the regions add up to it."""
    assert context.count == billed(context, api)
    adds_up(context)


def adds_up(context: Context) -> None:
    """Holds that the rows of the report and the costs of the regions are parts of the count."""
    rows = context.report.rows
    assert sum(row.after for row in rows) == context.count.tokens == context.costs.total
    for region, tokens in context.costs.to_dict().items():
        assert tokens == sum(row.after for row in rows if row.region == region) >= 0


def costs_its_request_whole_and_cut(
    api: Api, history: Sequence[Any], ladder: Sequence[Policy], share: float, **more: Any
) -> None:
    """Holds the law of the whole, and of what a window of so much of it leaves, if anything fits there."""
    schema, documents = more.get("schema"), more.get("documents", 0)
    whole = assembled(api, history, ladder=ladder, schema=schema, documents=documents).build()
    costs_its_request(whole, api)
    window = max(1, int(whole.count.upper * share))
    try:
        cut = assembled(api, history, window, ladder, **more).build()
    except ContextLengthError as error:
        if error.smallest_window is not None and not more.get("limits"):
            least = assembled(api, history, error.smallest_window, ladder, **more).build()
            assert least.count.upper == error.required
        return
    costs_its_request(cut, api)
    assert cut.count.upper <= window
