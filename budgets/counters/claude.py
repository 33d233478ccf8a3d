"""Counts Claude's tokens offline, with a reconstruction of its vocabularies. Anthropic has published none of it.

The vocabularies, the rules for marks and the tokens around a message are those of PyPI's ctok, found by asking the
count endpoint (`budgets.vocabularies.claude`). The count of a text is that of a message with this content, less the
tokens of the message itself: 7 up to Claude 4.6, 11 for 4.7, 6 for 4.8 and later.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs

from budgets.count import Grade, Tokens
from budgets.counters.guard import Guarded, failure_of, refuse_surrogates
from budgets.errors import TokenCountError
from budgets.models.families import claude_version

GENERATIONS = ("claude-3", "claude-4.7", "claude-4.8")
"""Models that count alike: Claude 3 to 4.6; Claude 4.7; Claude 4.8 and later."""


@attrs.frozen
class ClaudeCounter(Guarded):
    """Counts what PyPI's ctok counts, less the tokens of the message. An unofficial reconstruction, so never exact."""

    generation: str

    @property
    def name(self) -> str:
        """`reconstructed:` and the generation."""
        return f"reconstructed:{self.generation}"

    @property
    def grade(self) -> Grade:
        """Bounded, because only Anthropic knows whether a piece is missing."""
        return Grade.BOUNDED

    @property
    def notes(self) -> tuple[str, ...]:
        """A note that the vocabulary is a reconstruction."""
        return (f"Claude's vocabulary is unpublished: an unofficial reconstruction counts ({self.generation})",)

    @functools.cached_property
    def _count(self) -> Callable[[str], Tokens]:
        from budgets.counters.claude_lines import lines_of

        return lines_of(self.generation).text

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`. Raises TokenCountError for a lone surrogate, or if the vocabulary is damaged."""
        try:
            if not text.isascii():
                refuse_surrogates(self.name, text)
            return self._count(text) if text else 0
        except Exception as failure:
            raise failure_of(self.name, failure, text)  # noqa: B904 - chained there, unless it is the failure itself

    def __reduce__(self) -> tuple[Any, ...]:
        return ClaudeCounter, (self.generation,)


def claude_counter(model: str = "claude") -> ClaudeCounter:
    """An offline counter for a Claude model, or a generation by name: claude-3 (to 4.6), claude-4.7, claude-4.8 (on).

    An unofficial reconstruction, graded bounded. A model without a version counts as the newest. Loads nothing until
    its first count (0.1 s, once per process). Raises TokenCountError for a model that is not Claude's.
    """
    if model in GENERATIONS:
        return ClaudeCounter(model)
    version = claude_version(model)
    if version is None:
        raise TokenCountError(
            f"reconstructed:{model}", "is not a Claude model: pass a model's name, or one of " + ", ".join(GENERATIONS)
        )
    if version < (4, 7):
        return ClaudeCounter("claude-3")
    return ClaudeCounter("claude-4.7" if version < (4, 8) else "claude-4.8")
