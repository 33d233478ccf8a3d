"""How full the window is, for a status line: cheap enough for every keystroke."""

from __future__ import annotations

import attrs

from assembler.pipeline.draft import Draft
from assembler.pipeline.overflow import TooLarge
from assembler.pipeline.settings import Settings
from assembler.pipeline.what_if import plan_in, plan_or_too_large
from assembler.report.cache.estimate import cacheable
from budgets import Tokens


@attrs.frozen
class Status:
    """How full the next request is, after the policies have dropped what they may.

    `free` is what is left of `limit`. It is below 0 if no policy can make the request fit. Both are None without a
    budget. `limit` is the budget's `input_limit`, or what the provider accepts if it has refused a request. It is less
    if nothing fits because of the limit of one region. `cached` estimates how many of the `used` tokens the provider's
    prefix cache can serve; it is 0 if the provider's rule is unknown.
    """

    used: Tokens
    limit: Tokens | None
    free: Tokens | None
    cached: Tokens

    @property
    def cached_share(self) -> float:
        """The share of the used tokens that a cache can serve, from 0 to 1."""
        return min(self.cached / self.used, 1.0) if self.used else 0.0

    def __str__(self) -> str:
        of = "" if self.limit is None else f" of {self.limit:,}"
        left = "" if self.free is None else f"{self._at_most}, {self.free:,} free"
        return f"{self.used:,}{of} tokens{left}, {self.cached_share:.0%} cached"

    @property
    def _at_most(self) -> str:
        """The upper bound if it is above the tokens used: the bound plus `free` is the limit."""
        most = (self.limit or 0) - (self.free or 0)
        return "" if most == self.used else f" (at most {most:,})"


def status_of(draft: Draft, settings: Settings) -> Status:
    """The status of a draft in any state of its conversation. O(what stays), or O(1) if nothing changed.

    Raises the errors of a plan for a fault that no later message can fix, and for a part without a price.
    """
    found = plan_or_too_large(draft, settings)
    cached, limit = cacheable(plan_in(found)).tokens, settings.limit
    if isinstance(found, TooLarge):
        limit = found.available if limit is None else min(limit, found.available)
        return Status(found.costs.total, limit, limit - found.required, cached)
    return Status(found.count.tokens, limit, None if limit is None else limit - found.count.upper, cached)
