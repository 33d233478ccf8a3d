"""What a model's name tells about the rules that not all models of a provider share. Silence tells nothing."""

from __future__ import annotations

import re
from typing import TypeAlias

Version: TypeAlias = tuple[int, int]

_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])")
"""`claude-opus-4-6`, `claude-3-5-sonnet-20241022`, `anthropic.claude-sonnet-4-20250514-v1:0`."""

NO_PREFILL_FROM: Version = (4, 6)
"""Claude 4.6 and later refuse an assistant message at the end (provider rule A11: llxprt-code#3695)."""

SYSTEM_TURNS_FROM: Version = (4, 8)
"""Opus 4.8 is the first known to take role system inside messages (provider rule A16: llm-anthropic#73)."""


def claude_version(model: str | None) -> Version | None:
    """The version that a Claude model's name states; None for no name, another model or a name without a number."""
    found = _CLAUDE.search(model.lower()) if model else None
    return (int(found[1]), int(found[2] or 0)) if found else None


def refuses_prefill(model: str | None) -> bool:
    """Whether this Claude model is known to refuse an assistant message at the end."""
    version = claude_version(model)
    return version is not None and version >= NO_PREFILL_FROM


def takes_system_turns(model: str | None) -> bool:
    """Whether this Claude model is known to take role system inside messages. Haiku and Sonnet 4.8 are not known."""
    version = claude_version(model)
    return version is not None and version >= SYSTEM_TURNS_FROM


def demands_signatures(model: str | None) -> bool:
    """Whether this Gemini model refuses a call of the current turn without its thought signature (Gemini 3: G8)."""
    return model is not None and re.search(r"gemini-(?:[3-9]|\d\d)", model.lower()) is not None
