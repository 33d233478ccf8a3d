"""The vocabularies of open models, and their split patterns.

The hashes in `files.json` are of the tokens in the form of a `.tiktoken` file. SOURCES.md lists sources and licences.
"""

from __future__ import annotations

from collections.abc import Mapping

from budgets.vocabularies.published import TEKKEN_PATTERN, Vocabulary, bundled_vocabulary

_QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)

_EASTERN = r"一-龥\x{3040}-\x{30ff}"
_WORD = rf"[\p{{L}}\p{{M}}&&[^{_EASTERN}]]"
# The published file splits three times: digits, then Chinese and Japanese, then the rest. Here the later patterns stop
# where the first ones would have split, and white space ends at the end of such a part.
_DEEPSEEK_PATTERN = "|".join(
    [
        r"\p{N}{1,3}",
        rf"[{_EASTERN}]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""",
        rf"[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}]?{_WORD}+",
        rf" ?[\p{{P}}\p{{S}}&&[^{_EASTERN}]]+[\r\n]*",
        r"\s*[\r\n]+",
        rf"\s+(?![^\s\p{{N}}{_EASTERN}])",
        r"\s+",
        rf"(?:[^\s\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}](?!{_WORD}))+",  # control characters, which no pattern names
    ]
)

_GEMMA_PATTERN = r"\n{1,31}|\t{1,31}| {2,31}| ?[^ \n\t]+| "
"""Gemma merges across everything but blanks. Runs of blanks are tokens of their own; a single one begins a word."""

OPEN: Mapping[str, Vocabulary] = {
    "deepseek": bundled_vocabulary("deepseek", _DEEPSEEK_PATTERN),
    "gemma": bundled_vocabulary("gemma", _GEMMA_PATTERN),
    "qwen": bundled_vocabulary("qwen", _QWEN_PATTERN),
    "tekken": bundled_vocabulary("tekken", TEKKEN_PATTERN),
}
"""By our own names: DeepSeek V3 and later; Gemma 3, by which Gemini bills; Qwen 1 to 3; Mistral since NeMo."""
