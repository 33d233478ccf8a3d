"""Packs OpenAI's published vocabularies: `python -m tools.published_vocabularies FILE.tiktoken …`.

A file is taken for the encoding whose published hash it has; one with any other hash is refused. The hash that is
printed goes into `budgets/vocabularies/files.json`: another zlib may pack the same tokens into other bytes.
"""

from __future__ import annotations

import sys
import zlib
from base64 import b64decode
from binascii import b2a_base64
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from budgets.vocabularies.loading import SEAM, unpack
from budgets.vocabularies.published import PUBLISHED, Vocabulary

OURS = Path(__file__).parents[1] / "budgets" / "vocabularies"


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
    """The packed bytes, the same for the same tokens and zlib. Raises ValueError if they would not unpack to them."""
    packed = zlib.compress(SEAM.join(tokens), 9)
    if unpack(packed) != list(tokens):
        raise ValueError("a token holds the seam")
    return packed


def published_sha256(tokens: Sequence[bytes]) -> str:
    """The sha256 of the published file that these tokens spell, written out again line by line. O(bytes), 0.1 s."""
    lines = [b"%b %d\n" % (b2a_base64(token, newline=False), rank) for rank, token in enumerate(tokens)]
    return sha256(b"".join(lines)).hexdigest()


def recognise(published: bytes) -> Vocabulary:
    """The vocabulary whose published hash these bytes have. Raises ValueError for any other bytes."""
    digest = sha256(published).hexdigest()
    for vocabulary in PUBLISHED.values():
        if vocabulary.sha256 == digest:
            return vocabulary
    raise ValueError(f"sha256 {digest} is not that of a published vocabulary")


def main(paths: Sequence[str], folder: Path = OURS) -> None:
    """Write one packed file per published one into `folder`, read back and hashed before it is written."""
    for path in paths:
        published = Path(path).read_bytes()
        vocabulary = recognise(published)
        packed = pack(parse(published))
        if published_sha256(unpack(packed)) != vocabulary.sha256:
            raise ValueError(f"{vocabulary.file} does not unpack to what was packed")
        (folder / vocabulary.file).write_bytes(packed)
        print(
            f"{vocabulary.file}: {vocabulary.entries} tokens, {len(packed)} bytes, sha256 {sha256(packed).hexdigest()}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
