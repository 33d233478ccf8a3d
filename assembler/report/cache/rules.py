"""Which prefixes a provider caches: how long one must be, and in what steps it is served. Data; knows no request.

Each row says where its numbers were read. Prefix caches work on best effort everywhere: a number here is what a cache
may serve while its entry lives, never a promise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from budgets import Tokens
from budgets.models.names import bare

READ = "2026-11"
"""When the sources were read, as stored copies of the pages; a page's own date stands in the row where it has one."""


@attrs.frozen
class PrefixCache:
    """One provider's rule, in tokens: a prefix of `least` or more is served, in whole `step`s from `least` on.

    `least` is None where the provider caches nothing for this model. `marked` tells an API that caches only where the
    request says so (see `CacheMarks`) from one that finds prefixes by itself.
    """

    dialects: tuple[str, ...]
    models: str
    least: Tokens | None
    step: Tokens
    source: str
    marked: bool = False

    def served(self, tokens: Tokens) -> Tokens:
        """How much of a shared prefix of this length is served. Monotone; at most `tokens`."""
        if self.least is None or tokens < self.least:
            return 0
        return self.least + (tokens - self.least) // self.step * self.step


_CLAUDE_PAGE = "Claude docs, Prompt caching, section Minimum cacheable prompt length, 2026-10-08"
_AWS_PAGE = "Claude docs, Prompt caching (Bedrock's own minimums), and litellm docs, Prompt caching, 2026-10-07"
_NOVA_PAGE = "Amazon Bedrock user guide, Prompt caching, by way of third parties' copies of its table: not verified"
_TAKERS_PAGE = "Amazon Bedrock user guide, Prompt caching: of Converse's models Claude and Nova take cache points"
_OPENAI_PAGE = (
    "OpenAI docs, Prompt caching, and OpenAI Cookbook, Prompt Caching 201: 1,024 and steps of 128; for models before "
    "gpt-5.6 the page of 2026-09 says 2,048 and that of 2026-10 that it varies: the cookbook's figure is kept"
)
_GEMINI_PAGE = "Gemini API docs, Context caching, 2026-10-13; no step is published"
_GEMINI_MAY = "Gemini API docs, Context caching, 2026-05-07; no step is published"
_DEEPSEEK_PAGE = "DeepSeek API docs, news of 2024-08-02: units of 64; newer pages give no number, a measurement 128"

_ANTHROPIC = ("anthropic", "bedrock")
_OPENAI = ("openai_chat", "openai_responses")


def _claude(dialects: tuple[str, ...], models: str, least: Tokens | None, source: str = _CLAUDE_PAGE) -> PrefixCache:
    return PrefixCache(dialects, models, least, 1, source, marked=True)


# The first row whose dialect and pattern match decides. An empty pattern takes every model, and a request without one.
RULES: tuple[PrefixCache, ...] = (
    _claude(("bedrock",), r"opus-4[.-]7|4[.-]7-opus", 4_096, _AWS_PAGE),
    _claude(("bedrock",), r"(fable|mythos)-5$", 1_024, _AWS_PAGE),
    _claude(("bedrock",), r"nova", 1_024, _NOVA_PAGE),
    _claude(("bedrock",), r"^(?!.*claude).+", None, _TAKERS_PAGE),
    _claude(_ANTHROPIC, r"claude-(2|instant)", None),
    _claude(_ANTHROPIC, r"(opus|haiku)-4[.-]5|4[.-]5-(opus|haiku)|opus-4[.-]6|4[.-]6-opus", 4_096),
    _claude(_ANTHROPIC, r"opus-4[.-]7|4[.-]7-opus|mythos-preview|haiku-3|3(?:[.-]5)?-haiku", 2_048),
    _claude(_ANTHROPIC, r"sonnet-5[.-]5|5[.-]5-sonnet|(?:opus|haiku)-5|5(?:[.-]0)?-(?:opus|haiku)|fable|mythos", 512),
    _claude(_ANTHROPIC, r"sonnet|opus", 1_024),
    _claude(_ANTHROPIC, r"", 512),
    PrefixCache(_OPENAI, r"^gpt-3|^gpt-4(?!o|\.)", None, 1, _OPENAI_PAGE),
    PrefixCache(_OPENAI, r"^(?:chatgpt-|gpt-4o|gpt-4\.|gpt-(?:[5-9]|1\d)|o[134]|codex)", 1_024, 128, _OPENAI_PAGE),
    PrefixCache(_OPENAI, r"^$", 1_024, 128, _OPENAI_PAGE),
    PrefixCache(("openai_chat",), r"^deepseek-(?!.*(?:llama|qwen))", 64, 64, _DEEPSEEK_PAGE),
    PrefixCache(("gemini",), r"gemini-2\.5", 2_048, 1, _GEMINI_PAGE),
    PrefixCache(("gemini",), r"gemini-(?:pro-|flash-)?[12]\.|gemini-(?:pro|exp)", None, 1, _GEMINI_PAGE),
    PrefixCache(("gemini",), r"gemini-3-flash", 1_024, 1, _GEMINI_MAY),
    PrefixCache(("gemini",), r"^$|gemini-(?!gemma)", 4_096, 1, _GEMINI_PAGE),
)
"""Mistral, Groq, xAI, Qwen and servers of one's own cache prefixes too; their numbers were not verified, so no row."""


def rule_for(dialect: str, model: str | None, rules: Sequence[PrefixCache] = RULES) -> PrefixCache | None:
    """The rule of a model spoken to in a dialect; without a model, that of the newest. None where nothing is known."""
    name = "" if model is None else bare(model)
    return next((rule for rule in rules if dialect in rule.dialects and re.search(rule.models, name)), None)
