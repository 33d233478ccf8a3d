"""Assigns pricing rules, a vocabulary and a dialect to a model by its name.

Models whose recorded counts do not differ are one family:

| family           | models                                      | why it is one |
|------------------|---------------------------------------------|---|
| `gpt-3.5-0301`   | gpt-3.5-turbo-0301                          | 4 tokens per message, names replace the role |
| `gpt-4`          | gpt-3.5*, gpt-35*, gpt-4, gpt-4-*           | cl100k_base, the first tool format |
| `gpt-4o`         | gpt-4o*, gpt-4.1*, gpt-4.5*, gpt-audio*     | o200k_base, the second tool format |
| `gpt-5`          | o1*, o3*, o4*, codex-*, gpt-5* and later    | reply primer of 2; 6 and later by analogy |
| `gpt-oss`        | gpt-oss-*                                   | o200k_harmony, a hidden system message |
| `claude-3`       | Claude 2 to 4.5                             | one tokenizer, never published |
| `claude-4.6`     | Claude 4.6                                  | between the two, assigned to neither |
| `claude-4.7`     | Claude 4.7 and later, or no version         | a tokenizer of about half as many tokens again |
| `gemini-2.0`     | Gemini 1.0, 1.5, 2.0                        | the gemma 1 vocabulary |
| `gemini-2.5`     | Gemini 2.5                                  | the gemma 3 vocabulary |
| `gemini-3`       | Gemini 3 and later, and `gemini-…-latest`   | the gemma 3 vocabulary as far as recorded |
| `gemma` … `grok` | also `mistral`, `deepseek`, `llama`, `qwen` | a distilled model counts as what it was made from |
"""

from __future__ import annotations

import functools
import re

from budgets.lazy_patterns import compile_later
from budgets.models.names import bare

_FAMILIES = tuple(
    (compile_later(pattern), family)
    for pattern, family in (
        (r"gpt-3\.?5-(turbo-)?0301$", "gpt-3.5-0301"),
        (r"gpt-oss(-|$)", "gpt-oss"),
        (r"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-audio)(-|$)", "gpt-4o"),
        (r"(gpt-3\.?5|gpt-4)(-|$)", "gpt-4"),
        (r"(gpt-([5-9]|1\d)([.-]|$)|o[134](-|$)|codex-)", "gpt-5"),
        (r"(gpt-)?(chat|daybreak-\w+)-latest$", "gpt-5"),
        (r"(qwen|qwq|qvq)|deepseek-.*-qwen", "qwen"),
        (r"(llama|(cerebras|groq)-llama)|deepseek-.*-llama", "llama"),
        (r"deepseek", "deepseek"),
        (r"(labs-|open-)?(mi|code|dev|magi|mini|lean)stral|(open-)?mixtral|(pix|vox)tral", "mistral"),
        (r"grok-", "grok"),
        (r"gemma(-|\d)|gemini-gemma", "gemma"),
    )
)

_ENCODINGS = {
    "gpt-3.5-0301": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss": "o200k_harmony",
}
# tiktoken 0.14 maps gpt-5* and o1, o3, o4-mini to o200k_base, and has no mapping for later models.
_UNPUBLISHED = compile_later(r"gpt-([6-9]|1\d)|(gpt-)?(chat|daybreak-\w+)-latest$")

_DIALECTS = {
    "anthropic": "anthropic",
    "google": "gemini",
    "mistral": "mistral",
}
_AS_CHAT = compile_later(r"kimi|moonshot-|(chat)?glm-?\d|command-|c4ai-|phi-?\d|sonar(-|$)")
"""Models without a family whose makers and hosts use OpenAI's chat format: Moonshot, Zhipu, Perplexity, Phi's hosts,
and Cohere, whose second chat API is similar (their API references, read 2026-11)."""
_OPENAI_COMPATIBLE = ("openai", "deepseek", "meta", "qwen", "xai", "groq", "bedrock", "openrouter")

_CLAUDE = compile_later(
    r"claude-(?!(?!opus|sonnet|haiku|instant)[a-z]{2,}-[1-4])(?:[a-z]+-)?v?(\d+)(?:[.-](\d{1,2})(?!\d))?"
)
"""A name with a new word, such as `claude-mythos-1`, begins its own count of versions: it is one of the newest."""
_GEMINI = compile_later(r"gemini-(?:[a-z-]+-)?(\d+)(?:\.(\d+))?(?![\d])")


def family_of(name: str) -> str | None:
    """The family whose pricing rules a model follows, or None. Accepts any spelling, also of unknown models."""
    plain = bare(name)
    if _is_claude(plain):
        return _find_claude_family(plain)
    if plain.startswith("gemini-") and not plain.startswith("gemini-gemma"):
        return _find_gemini_family(plain)
    return next((family for pattern, family in _FAMILIES if pattern.match(plain)), None)


_WORD = compile_later(r"(?<![a-z0-9])(?=[a-z])")
_RUN_TOGETHER = compile_later(r"(?<![a-z])(gpt|claude|gemini)(?=\d)")
_CLAUDES = compile_later(r"(?<![a-z])(?<!claude-)(opus|sonnet|haiku)-?(?=\d)")


@functools.lru_cache(maxsize=1024)
def model_within(name: str) -> str | None:
    """A guess at the model in the name of a deployment: `gpt-4o-eastus` for `prod-gpt4o-eastus`.

    None if the name itself has a family, or holds no name with one.
    """
    plain = bare(name).replace("_", "-")
    if family_of(name) is not None:
        return None
    plain = _CLAUDES.sub(r"claude-\1-", _RUN_TOGETHER.sub(r"\1-", plain))
    return next((plain[at.start() :] for at in _WORD.finditer(plain) if family_of(plain[at.start() :])), None)


def encoding_of(name: str) -> str | None:
    """The bundled OpenAI vocabulary of a model; None if it has another one or an unpublished one.

    Source: tiktoken 0.14, `tiktoken/model.py`, read 2026-11.
    """
    if _UNPUBLISHED.match(bare(name)):
        return None
    return _ENCODINGS.get(family_of(name) or "")


_OPEN = {
    "deepseek": "deepseek",
    "gemini-2.0": "gemma",
    "gemini-2.5": "gemma",
    "gemini-3": "gemma",
    "gemma": "gemma",
    "mistral": "tekken",
    "qwen": "qwen",
}


def open_vocabulary_of(name: str) -> str | None:
    """The bundled open vocabulary for a model, or None.

    Google's own SDK counts Gemini by Gemma 3 (google-genai, `local_tokenizer`, read 2026-11).
    """
    return _OPEN.get(family_of(name) or "")


def dialect_of(name: str, *, provider: str | None = None) -> str | None:
    """The dialect of a model, by its family, else by its provider, else None.

    DeepSeek, Llama, Qwen, Grok, gpt-oss, Kimi, GLM, Command, Phi and Sonar use OpenAI's chat format, as their hosts do.
    Nova, under its Bedrock name, uses Converse.
    """
    family = family_of(name) or ""  # raises unless it is a name
    if "amazon.nova-" in name.lower():
        return "bedrock"
    if family.startswith("claude"):
        return "anthropic"
    if family.startswith(("gemini", "gemma")):
        return "gemini"
    if family == "mistral":
        return "mistral"
    if family or provider in _OPENAI_COMPATIBLE or _AS_CHAT.match(bare(name)):
        return "openai_chat"
    return _DIALECTS.get(provider or "")


def claude_version(name: str) -> tuple[int, int] | None:
    """The version of a Claude model as two numbers; the newest if it has none. None for any other model."""
    plain = bare(name)
    return _read_claude_version(plain) if _is_claude(plain) else None


def _is_claude(plain: str) -> bool:
    return plain == "claude" or plain.startswith("claude-")


def _read_claude_version(plain: str) -> tuple[int, int]:
    found = _CLAUDE.match(plain)
    if "instant" in plain:
        return (1, 0)
    return _read_version(found) if found else (99, 0)


def _find_claude_family(plain: str) -> str:
    version = _read_claude_version(plain)
    if version < (4, 6):
        return "claude-3"
    return "claude-4.6" if version == (4, 6) else "claude-4.7"


def _find_gemini_family(name: str) -> str:
    found = _GEMINI.match(name)
    if found is None:
        return "gemini-2.0" if name in ("gemini-pro", "gemini-pro-vision") else "gemini-3"
    if _read_version(found) < (2, 5):
        return "gemini-2.0"
    return "gemini-2.5" if _read_version(found) < (3, 0) else "gemini-3"


def _read_version(found: re.Match[str]) -> tuple[int, int]:
    return int(found[1]), int(found[2] or 0)
