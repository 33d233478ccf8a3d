"""Two spellings of one token list: the published `.tiktoken` text and our packed bytes. Opens no file.

Packed: `entries` length bytes, one per token in rank order, then all token bytes, the whole xz-compressed. No token is
longer than 128 bytes and no rank is skipped, so neither needs more. o200k_base takes 0.81 MB so, 1.69 MB as gzip of the
published text.
"""

from __future__ import annotations

import lzma
from base64 import b64decode
from binascii import b2a_base64
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate, pairwise

# lc=4 packed the three files smallest of the settings tried (lc 0, 2, 3, 4; pb 0, 2).
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def parse(published: bytes) -> list[bytes]:
    """The tokens of a published file in rank order. Raises ValueError where a rank is skipped or out of order."""
    tokens: list[bytes] = []
    for rank, line in enumerate(published.splitlines()):
        token, written_rank = line.split()
        if int(written_rank) != rank:
            raise ValueError(f"line {rank + 1} has rank {int(written_rank)}: only gapless files can be packed")
        tokens.append(b64decode(token))
    return tokens


def pack(tokens: Sequence[bytes]) -> bytes:
    """The packed bytes, the same for the same tokens and liblzma. Takes seconds."""
    return lzma.compress(bytes(map(len, tokens)) + b"".join(tokens), format=lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(packed: bytes, entries: int) -> list[bytes]:
    """The tokens back, in rank order. Raises lzma.LZMAError or EOFError on damage that xz itself can see."""
    plain = lzma.decompress(packed)
    seams = list(accumulate(plain[:entries], initial=entries))
    return [plain[start:end] for start, end in pairwise(seams)]


def published_sha256(tokens: Sequence[bytes]) -> str:
    """The sha256 of the published file that these tokens spell, written out again line by line. O(bytes), 0.1 s."""
    lines = [b"%b %d\n" % (b2a_base64(token, newline=False), rank) for rank, token in enumerate(tokens)]
    return sha256(b"".join(lines)).hexdigest()
