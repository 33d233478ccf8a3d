"""How full the window is, for a line on a screen: cheap enough to be asked at every keystroke."""

from __future__ import annotations

import attrs

from assembler.pipeline.draft import Draft
from assembler.pipeline.settings import Settings
from assembler.pipeline.what_if import least
from assembler.report.cache.estimate import cacheable
from budgets import Tokens


@attrs.frozen
class Status:
    """How full the next request is, after the policies have left out what they may.

    `free` is what is left of `limit`. It is below 0 if no policy can make the request fit. Both are None without a
    budget. Of the tokens `used`, the provider's prefix cache can serve `cached`: an estimate, and 0 if no rule is
    known.
    """

    used: Tokens
    limit: Tokens | None
    free: Tokens | None
    cached: Tokens

    @property
    def cached_share(self) -> float:
        """The share of the tokens used that a cache can serve, from 0 to 1."""
        return min(self.cached / self.used, 1.0) if self.used else 0.0

    def __str__(self) -> str:
        of = "" if self.limit is None else f" of {self.limit:,}"
        left = "" if self.free is None else f"{self._at_most}, {self.free:,} free"
        return f"{self.used:,}{of} tokens{left}, {self.cached_share:.0%} cached"

    @property
    def _at_most(self) -> str:
        """The upper bound of the tokens used, where it is above them: with what is free it makes the limit."""
        most = (self.limit or 0) - (self.free or 0)
        return "" if most == self.used else f" (at most {most:,})"


def status_of(draft: Draft, settings: Settings) -> Status:
    """The status of a draft, whatever state its conversation is in. O(what stays), and O(1) where nothing changed.

    Raises what a plan raises of a fault that no later message can mend, or of a part without a price.
    """
    plan = least(draft, settings)
    limit = None if settings.budget is None else settings.budget.input_limit
    count = plan.count
    return Status(count.tokens, limit, None if limit is None else limit - count.upper, cacheable(plan).tokens)
