"""OpenAI's published facts about its encodings: hashes, sizes, split patterns, special ids.

Source of all constants: tiktoken 0.14.0 (MIT), `tiktoken_ext/openai_public.py`, read 2026-11. There the patterns and
ids are inside functions that download the token files, so they cannot be imported offline.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class Vocabulary:
    """One encoding. Ranks run from 0 to `entries - 1` without a gap.

    `sha256` is the hash of the published `.tiktoken` file, `packed_sha256` that of ours. `tools.published_vocabularies`
    packs the files and verifies that they hold the same tokens.
    """

    file: str
    entries: int
    sha256: str
    packed_sha256: str
    pattern: str
    specials: Mapping[str, int] = attrs.field(factory=dict[str, int])


_FILES: Mapping[str, Mapping[str, Any]] = json.loads(pkgutil.get_data(__name__, "files.json") or "{}")
_NO_SPECIALS: Mapping[str, int] = {}


def bundled_vocabulary(name: str, pattern: str, specials: Mapping[str, int] = _NO_SPECIALS) -> Vocabulary:
    """The vocabulary of a bundled file. `files.json` lists its size and hashes."""
    return Vocabulary(file=f"{name}.zlib", pattern=pattern, specials=specials, **_FILES[name])


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
"""Mistral's pattern: that of o200k_base, with single digits and separate contractions."""

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
# In the published table 200018 is both reserved and named, so two texts have this id.
_HARMONY_RESERVED = [200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088)]
_HARMONY_SPECIALS = _HARMONY_NAMED | {f"<|reserved_{i}|>": i for i in _HARMONY_RESERVED}

_O200K = bundled_vocabulary("o200k_base", _O200K_PATTERN, {_END_OF_TEXT: 199999, _END_OF_PROMPT: 200018})

PUBLISHED: Mapping[str, Vocabulary] = {
    "cl100k_base": bundled_vocabulary(
        "cl100k_base",
        _CL100K_PATTERN,
        {
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
    "r50k_base": bundled_vocabulary("r50k_base", _R50K_PATTERN, {_END_OF_TEXT: 50256}),
}
"""Every bundled encoding by its published name."""
