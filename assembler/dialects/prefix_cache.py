"""How long a prefix must be for a provider's cache to serve it, and in what steps: one row a group of models.

Prefix caches work on best effort everywhere: a number here is what a cache may serve while its entry lives, never a
promise. Mistral, Groq, xAI, Qwen and servers of one's own cache prefixes too; their numbers were not verified, so no
row says any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from budgets import Tokens
from budgets.models.names import bare


@attrs.frozen(eq=False)
class PrefixCache:
    """One provider's rule, in tokens: it serves a prefix of `least` or more, in whole `step`s from `least` on.

    `models` is a pattern that is searched in the model's bare name, or in "" without a model. `least` is None if the
    provider caches nothing for these models. `marked` says whether the API caches only what the request marks (see
    `CacheMarks`) or finds prefixes by itself.
    """

    models: str
    least: Tokens | None
    step: Tokens
    source: str
    """Where the numbers were read, in 2026-11, with the page's own date where it has one."""
    marked: bool = False

    def served(self, tokens: Tokens) -> Tokens:
        """How much of a shared prefix of this length is served. Monotone; at most `tokens`."""
        if self.least is None or tokens < self.least:
            return 0
        return self.least + (tokens - self.least) // self.step * self.step


def first_rule(rows: Iterable[PrefixCache], model: str | None) -> PrefixCache | None:
    """The first row that matches a model; without a model, that of the newest. None where nothing is known."""
    name = "" if model is None else bare(model)
    return next((row for row in rows if re.search(row.models, name)), None)
