"""Reads a packed vocabulary from the package and checks its hash."""

from __future__ import annotations

import pkgutil
import zlib
from hashlib import sha256

from budgets.errors import TokenCountError
from budgets.vocabularies.open_models import OPEN
from budgets.vocabularies.published import PUBLISHED, Vocabulary

SEAM = b"\xfe\xff"
"""Separates tokens in a packed file. No token contains it, as packing verifies; UTF-8 has neither byte."""


def vocabulary_of(name: str) -> Vocabulary:
    """The bundled vocabulary of OpenAI or of an open model. Raises `KeyError` for any other name."""
    return PUBLISHED[name] if name in PUBLISHED else OPEN[name]


def read_packed(file: str) -> bytes:
    """The bytes of one packed file. Raises `OSError` if it cannot be read."""
    packed = pkgutil.get_data("budgets.vocabularies", file)  # importlib.resources takes 10 ms longer to import
    if packed is None:
        raise FileNotFoundError(file)  # a loader without data
    return packed


def mergeable_ranks(name: str) -> dict[bytes, int]:
    """The ranks of a bundled encoding by token bytes. 0.05 s for o200k_base.

    Checks the hash of the file, which takes a millisecond. Packing and the tests prove that the file equals the
    published one. Raises `TokenCountError`, which names the file, if it is missing or damaged.
    """
    vocabulary = vocabulary_of(name)
    packed = checked_packed(f"tiktoken:{name}", vocabulary.file, vocabulary.packed_sha256)
    return dict(zip(unpack(packed), range(vocabulary.entries), strict=True))


def unpack(packed: bytes) -> list[bytes]:
    """The tokens of a packed file, in rank order. Raises `zlib.error` for damage that zlib notices.

    A file holds all tokens with SEAM between them, compressed by zlib. Measured for o200k_base, 2026-11: 0.97 MB,
    unpacked in a sixth of the time of xz with a table of lengths (0.81 MB); gzip of the published text is 1.69 MB.
    """
    return zlib.decompress(packed).split(SEAM)


def checked_packed(counter: str, file: str, packed_sha256: str) -> bytes:
    """The bytes of one packed file. Raises `TokenCountError` for `counter` if it is missing or damaged."""
    try:
        packed = read_packed(file)
    except OSError as failure:
        raise _make_unusable_error(counter, file, "cannot be read") from failure
    digest = sha256(packed).hexdigest()
    if digest != packed_sha256:
        raise _make_unusable_error(counter, file, f"is not ours: sha256 {digest}, not {packed_sha256}")
    return packed


def _make_unusable_error(counter: str, file: str, problem: str) -> TokenCountError:
    return TokenCountError(
        counter, f"has no vocabulary: budgets/vocabularies/{file} {problem}. Install the package again."
    )
