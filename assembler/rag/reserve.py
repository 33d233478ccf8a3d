"""Rules for the tokens that are reserved for the answer to a question."""

from __future__ import annotations

import re
from typing import Protocol

import attrs

from budgets import BudgetError, Tokens
from budgets.numbers import whole_tokens

# Each of these asks for one more thing: a question mark, a conjunction, a word that asks for length.
_PARTS = re.compile(
    r"[?？]+|;|\b(?:and|or|versus|vs|then|also|as well as)\b"
    r"|\b(?:compare|contrast|explain|describe|list|summari[sz]e|analy[sz]e|discuss|step by step|in detail|why|how)\b",
    re.IGNORECASE,
)


class OutputReserve(Protocol):
    """A rule for how many tokens are kept free for the answer. Pure."""

    def tokens(self, query: str, max_output_tokens: Tokens, /) -> Tokens:
        """The reserve for the answer to `query`, at most `max_output_tokens`."""
        ...


@attrs.frozen
class FixedReserve:
    """Reserves `max_output_tokens` for every question, as the source system does."""

    def tokens(self, query: str, max_output_tokens: Tokens, /) -> Tokens:
        """Always `max_output_tokens`."""
        return max_output_tokens


@attrs.frozen
class ReserveByQuestion:
    """Reserves `least` for a plain question, and `per_part` for each further thing that it asks.

    Parts are counted by marks and English words that ask for one more thing or for length (`?`, `;`, and, compare,
    explain, …). This is a rule of thumb. For a question in another language only the marks count. The reserve is never
    above `max_output_tokens`. O(characters).
    """

    least: Tokens = 1_024
    per_part: Tokens = 512

    def __attrs_post_init__(self) -> None:
        if whole_tokens(self.least, "least") == 0:
            raise BudgetError("least is 0: an answer needs at least one token")
        whole_tokens(self.per_part, "per_part")

    def tokens(self, query: str, max_output_tokens: Tokens, /) -> Tokens:
        """The reserve for `query`."""
        parts = sum(1 for _ in _PARTS.finditer(query))
        return min(max_output_tokens, self.least + self.per_part * max(0, parts - 1))
