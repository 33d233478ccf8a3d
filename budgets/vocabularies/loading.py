"""Reads a packed vocabulary from the package, if it is the one that was packed."""

from __future__ import annotations

import pkgutil
import zlib
from hashlib import sha256

from budgets.errors import TokenCountError
from budgets.vocabularies.open_models import OPEN
from budgets.vocabularies.published import PUBLISHED, Vocabulary

SEAM = b"\xfe\xff"
"""In no token, and first found where it was put: packing proves it. No UTF-8 holds either byte."""


def vocabulary_of(name: str) -> Vocabulary:
    """What is bundled under a name, OpenAI's or an open model's. Raises KeyError for any other name."""
    return PUBLISHED[name] if name in PUBLISHED else OPEN[name]


def read_packed(file: str) -> bytes:
    """The bytes of one packed file. Raises OSError; opens nothing but that file."""
    packed = pkgutil.get_data("budgets.vocabularies", file)  # importlib.resources would take 10 ms more to import
    if packed is None:
        raise FileNotFoundError(file)  # a loader that holds no data
    return packed


def mergeable_ranks(name: str) -> dict[bytes, int]:
    """Token bytes to rank of a bundled encoding. 0.05 s for o200k_base.

    The file's hash is checked, a millisecond; that the file spells the published one was proved when it was packed, and
    is in the tests. Raises TokenCountError that names the file if it is missing or any of its bytes is another.
    """
    vocabulary = vocabulary_of(name)
    packed = checked_packed(f"tiktoken:{name}", vocabulary.file, vocabulary.packed_sha256)
    return dict(zip(unpack(packed), range(vocabulary.entries), strict=True))


def unpack(packed: bytes) -> list[bytes]:
    """The tokens of a packed file, in rank order. Raises zlib.error on damage that zlib itself can see.

    A file is all tokens with SEAM between them, deflated by zlib. Measured for o200k_base, 2026-11: 0.97 MB, unpacked
    in a sixth of the time that xz and a table of lengths took for 0.81 MB; 1.69 MB as gzip of the published text.
    """
    return zlib.decompress(packed).split(SEAM)


def checked_packed(counter: str, file: str, packed_sha256: str) -> bytes:
    """The bytes of one packed file. Raises TokenCountError of `counter` if it is missing or any byte is another."""
    try:
        packed = read_packed(file)
    except OSError as failure:
        raise _unusable(counter, file, "cannot be read") from failure
    digest = sha256(packed).hexdigest()
    if digest != packed_sha256:
        raise _unusable(counter, file, f"is not ours: sha256 {digest}, not {packed_sha256}")
    return packed


def _unusable(counter: str, file: str, problem: str) -> TokenCountError:
    return TokenCountError(
        counter, f"has no vocabulary: budgets/vocabularies/{file} {problem}. Install the package again."
    )
