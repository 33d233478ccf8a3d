"""The minimum length and the step of the prefixes that a provider's cache serves: one row a group of models.

Prefix caches are best effort everywhere: these numbers say what a cache may serve while its entry lives, and promise
nothing. Mistral, Groq, xAI, Qwen and self-hosted servers cache prefixes too; their numbers were not verified, so they
have no row.
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
    """The page with the numbers, read 2026-11, with the page's own date if it has one."""
    marked: bool = False

    def served(self, tokens: Tokens) -> Tokens:
        """How much of a shared prefix of this length the cache serves, at most `tokens`. Monotone."""
        if self.least is None or tokens < self.least:
            return 0
        return self.least + (tokens - self.least) // self.step * self.step


def first_rule(rows: Iterable[PrefixCache], model: str | None) -> PrefixCache | None:
    """The first row that matches a model, or the newest model's if it is None. None if nothing is known."""
    name = "" if model is None else bare(model)
    return next((row for row in rows if re.search(row.models, name)), None)
