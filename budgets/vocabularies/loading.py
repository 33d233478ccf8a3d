"""Reads a packed vocabulary from the package and proves that it is the published one. Knows no engine, no cache."""

from __future__ import annotations

from importlib.resources import files
from lzma import LZMAError

from budgets.errors import TokenCountError
from budgets.vocabularies.packing import published_sha256, unpack
from budgets.vocabularies.published import PUBLISHED


def read_packed(file: str) -> bytes:
    """The bytes of one packed file. Raises OSError; opens nothing but that file."""
    return (files("budgets.vocabularies") / file).read_bytes()


def mergeable_ranks(name: str) -> dict[bytes, int]:
    """Token bytes to rank of a bundled encoding, hash-checked against the published file. 0.2 s for o200k_base.

    The check is the strong one: the published text is written out again from the tokens and hashed. Raises
    TokenCountError that names the file if it is missing, damaged or not the published vocabulary.
    """
    vocabulary = PUBLISHED[name]
    try:
        tokens = unpack(read_packed(vocabulary.file), vocabulary.entries)
    except (OSError, EOFError, LZMAError) as failure:
        raise _unusable(name, vocabulary.file, "cannot be read") from failure
    digest = published_sha256(tokens)
    if digest != vocabulary.sha256:
        raise _unusable(name, vocabulary.file, f"spells sha256 {digest}, published is {vocabulary.sha256}")
    return {token: rank for rank, token in enumerate(tokens)}


def _unusable(name: str, file: str, problem: str) -> TokenCountError:
    return TokenCountError(
        f"tiktoken:{name}", f"has no vocabulary: budgets/vocabularies/{file} {problem}. Install the package again."
    )
