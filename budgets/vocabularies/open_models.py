"""The vocabularies of open models: sizes, hashes, split patterns, and who published them. Holds no token.

`sha256` is of the tokens spelled as a `.tiktoken` file; where each was read, and its licence: SOURCES.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from budgets.vocabularies.published import TEKKEN_PATTERN, Vocabulary

_QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)

_EASTERN = r"一-龥\x{3040}-\x{30ff}"
_WORD = rf"[\p{{L}}\p{{M}}&&[^{_EASTERN}]]"
# The file splits three times: digits, then Chinese and Japanese, then what is left. Here each of the last patterns
# stops where one of the first would have split, and the end of such a part is an end of white space.
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
"""Gemma merges across everything but blanks: runs of them are tokens of their own, one begins the word behind it."""

OPEN: Mapping[str, Vocabulary] = {
    "deepseek": Vocabulary(
        file="deepseek.zlib",
        entries=127_997,
        sha256="b2a3b2f7d58ed7df406e299b7f1fd79044a9842dab01c81fd9990212e1aadf74",
        packed_sha256="d653a08def50b5ca786e6bce5efbbabda80db3c2538801c23405acc972a10a4f",
        pattern=_DEEPSEEK_PATTERN,
    ),
    "gemma": Vocabulary(
        file="gemma.zlib",
        entries=256_629,
        sha256="48d697850edc94e012ece2c35e42033253c9ba55a3a1e6badd05c5658936347f",
        packed_sha256="79efdaba497b1ef864c8298f35338e2848081283b88e9c390688f0c0c8406122",
        pattern=_GEMMA_PATTERN,
    ),
    "qwen": Vocabulary(
        file="qwen.zlib",
        entries=151_643,
        sha256="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        packed_sha256="414f36e1f141ff40f9570861c9b4ee9627a0b0665824e2743f8c0c0988735651",
        pattern=_QWEN_PATTERN,
    ),
    "tekken": Vocabulary(
        file="tekken.zlib",
        entries=130_072,
        sha256="64a081edb3cbb8639a4eea9a7135ab9a0467c50676c672b217ba655f4d50e127",
        packed_sha256="c88aaaf04d3dee0ccbaf47b98959a68af65829b1685a952933fa96dfac4ae7c6",
        pattern=TEKKEN_PATTERN,
    ),
}
"""By a name of ours: DeepSeek V3 and later; Gemma 3, which Gemini bills by; Qwen 1 to 3; Mistral since NeMo."""
