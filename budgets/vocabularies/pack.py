"""Makes the packed files of this folder out of published ones: `python -m budgets.vocabularies.pack FILE.tiktoken …`.

A file is taken for the encoding whose published hash it has; one with any other hash is refused. The hash that is
printed goes into `published.py`: another zlib may pack the same tokens into other bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from budgets.vocabularies.packing import pack, parse, published_sha256, unpack
from budgets.vocabularies.published import PUBLISHED, Vocabulary


def recognise(published: bytes) -> Vocabulary:
    """The vocabulary whose published hash these bytes have. Raises ValueError for any other bytes."""
    digest = sha256(published).hexdigest()
    for vocabulary in PUBLISHED.values():
        if vocabulary.sha256 == digest:
            return vocabulary
    raise ValueError(f"sha256 {digest} is not that of a published vocabulary")


def main(paths: Sequence[str], folder: Path = Path(__file__).parent) -> None:
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
