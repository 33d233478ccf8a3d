"""The facts of Chat Completions: its cache and its usage fields."""

from __future__ import annotations

from assembler.dialects.api import Api
from assembler.dialects.caching.prefixes import PrefixCache
from assembler.dialects.openai_chat.shape import SHAPE

_PAGE = (
    "OpenAI docs, Prompt caching, and OpenAI Cookbook, Prompt Caching 201: 1,024 and steps of 128; for models before "
    "gpt-5.6 the page of 2026-09 says 2,048 and that of 2026-10 that it varies: the cookbook's figure is kept"
)
_DEEPSEEK_PAGE = "DeepSeek API docs, news of 2024-08-02: units of 64; newer pages give no number, a measurement 128"

OF_OPENAI = (
    PrefixCache(r"^gpt-3|^gpt-4(?!o|\.)", None, 1, _PAGE),
    PrefixCache(r"^(?:chatgpt-|gpt-4o|gpt-4\.|gpt-(?:[5-9]|1\d)|o[134]|codex)", 1_024, 128, _PAGE),
    PrefixCache(r"^$", 1_024, 128, _PAGE),
)
CACHES = (*OF_OPENAI, PrefixCache(r"^deepseek-(?!.*(?:llama|qwen))", 64, 64, _DEEPSEEK_PAGE))

API = Api(
    provider="openai",
    shape=SHAPE.name,
    priced=("response_format", "tool_choice", "function_call", "thinking", "reasoning", "reasoning_effort"),
    caches=CACHES,
    # The first includes cached tokens: OpenAI API reference, read 2026-11. Cohere's second API and Ollama's own take
    # such a body too. `tokens` counts Cohere's preamble, which `billed_units` leaves out. Ollama's answer has no usage.
    # The last is of OpenRouter's record of a generation, whose `tokens_prompt` is not the model's own count.
    usage=(("prompt_tokens",), ("tokens.input_tokens",), ("prompt_eval_count",), ("native_tokens_prompt",)),
)
