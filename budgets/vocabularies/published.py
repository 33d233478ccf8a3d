"""What OpenAI published about its encodings: hashes, sizes, split patterns, special ids. Holds no token.

Source of every constant here: tiktoken 0.14.0 (MIT), `tiktoken_ext/openai_public.py`, read 2026-11. There the patterns
and ids sit inside functions that download the token files, so they cannot be imported from it offline.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Vocabulary:
    """One encoding. Ranks run from 0 to `entries - 1` without a gap.

    `sha256` is of the published `.tiktoken` file, `packed_sha256` of ours: `pack` proves that one spells the other.
    """

    file: str
    entries: int
    sha256: str
    packed_sha256: str
    pattern: str
    specials: Mapping[str, int] = attrs.field(factory=dict[str, int])


_R50K_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""

_CL100K_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"""
    r"""\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

TEKKEN_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""Mistral's: that of o200k_base with digits one by one and contractions apart."""

_END_OF_TEXT = "<|endoftext|>"
_END_OF_PROMPT = "<|endofprompt|>"

_HARMONY_NAMED = {
    "<|startoftext|>": 199998,
    _END_OF_TEXT: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    _END_OF_PROMPT: 200018,
}
# 200018 is reserved and named at once in the published table: both texts lead to the one id.
_HARMONY_RESERVED = [200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088)]
_HARMONY_SPECIALS = _HARMONY_NAMED | {f"<|reserved_{i}|>": i for i in _HARMONY_RESERVED}

_O200K = Vocabulary(
    file="o200k_base.zlib",
    entries=199_998,
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    packed_sha256="ecd64943ed18acf9073c882dc98ac68018ee3c07fe132b4f2179167beff4ff24",
    pattern=_O200K_PATTERN,
    specials={_END_OF_TEXT: 199999, _END_OF_PROMPT: 200018},
)

PUBLISHED: Mapping[str, Vocabulary] = {
    "cl100k_base": Vocabulary(
        file="cl100k_base.zlib",
        entries=100_256,
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        packed_sha256="1d65f76973209991e1ae4710bb643483eb30bc6527eda6ffa466af7696fdb19a",
        pattern=_CL100K_PATTERN,
        specials={
            _END_OF_TEXT: 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            _END_OF_PROMPT: 100276,
        },
    ),
    "o200k_base": _O200K,
    # The same tokens as o200k_base under the chat format of gpt-oss; only the special ids differ.
    "o200k_harmony": attrs.evolve(_O200K, specials=_HARMONY_SPECIALS),
    # Also published as "gpt2".
    "r50k_base": Vocabulary(
        file="r50k_base.zlib",
        entries=50_256,
        sha256="306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        packed_sha256="a2260e0b592a6083e2fce7e789eb2cc9974619c74b2cbe2903668ae4b6f694f2",
        pattern=_R50K_PATTERN,
        specials={_END_OF_TEXT: 50256},
    ),
}
"""Every bundled encoding by its published name."""
