"""tiktoken over the published token lists: an oracle that shares no code with the counters."""

from __future__ import annotations

import base64
import functools
import hashlib
import zlib
from importlib import resources
from typing import Any

import tiktoken
import tiktoken_ext.openai_public as published

FILES = {
    "cl100k_base": ("cl100k_base.zlib", 100_256),
    "o200k_base": ("o200k_base.zlib", 199_998),
    "o200k_harmony": ("o200k_base.zlib", 199_998),
    "r50k_base": ("r50k_base.zlib", 50_256),
}
NAMES = sorted(FILES)


@functools.cache
def tokens(name: str) -> list[bytes]:
    """The tokens of an encoding in rank order, read the slow way."""
    file, entries = FILES[name]
    plain = zlib.decompress((resources.files("budgets.vocabularies") / file).read_bytes())
    found, start = [], 0
    while (end := plain.find(b"\xfe\xff", start)) >= 0:
        found.append(plain[start:end])
        start = end + 2
    found.append(plain[start:])
    assert len(found) == entries
    return found


def published_text(name: str) -> bytes:
    """The `.tiktoken` file as published."""
    return b"".join(base64.b64encode(t) + b" " + str(i).encode() + b"\n" for i, t in enumerate(tokens(name)))


def published_parameters(name: str) -> dict[str, Any]:
    """What tiktoken itself says of an encoding, and the hash it expects of the file; nothing is downloaded."""
    seen: dict[str, str] = {}

    def load(_url: str, expected_hash: str) -> dict[bytes, int]:
        seen["sha256"] = expected_hash
        return {}

    original = published.load_tiktoken_bpe
    published.load_tiktoken_bpe = load  # type: ignore[assignment]
    try:
        return getattr(published, name)() | seen
    finally:
        published.load_tiktoken_bpe = original


@functools.cache
def engine(name: str) -> tiktoken.Encoding:
    """tiktoken's own encoding, after its file was found to be the published one."""
    parameters = published_parameters(name)
    assert hashlib.sha256(published_text(name)).hexdigest() == parameters["sha256"]
    ranks = {token: rank for rank, token in enumerate(tokens(name))}
    return tiktoken.Encoding(
        name, pat_str=parameters["pat_str"], mergeable_ranks=ranks, special_tokens=parameters["special_tokens"]
    )


def tokens_of(name: str, text: str) -> int:
    """What tiktoken counts, the safe way: text that looks like a control token is text."""
    return len(engine(name).encode(text, disallowed_special=()))
