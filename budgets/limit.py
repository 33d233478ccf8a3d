"""How much one region may take of a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from budgets.count import Tokens
from budgets.errors import BudgetError
from budgets.numbers import LONGEST_WORD, share, whole, whole_tokens
from budgets.value import Value

REGIONS = ("instruction", "capability", "knowledge", "conversation")
"""The regions that can be limited. Framing is what the format costs, and gives way to nothing."""

Selector: TypeAlias = Callable[[Sequence[Any], Sequence[Tokens], Tokens], Iterable[int]]
"""`(items, tokens, tokens_left)` to the places of the items that stay: what each costs, and what all may cost."""

Amount: TypeAlias = Tokens | float
"""Tokens as an int, or a share of the budget's `input_limit` as a float in (0, 1]. 1 is a token, 1.0 is all of it."""


def _amount(value: object, name: str) -> Amount:
    return share(value, name) if isinstance(value, float) else whole_tokens(value, name)


@attrs.frozen(eq=False, repr=False)
class Limit(Value):
    """How much of the window a region may take: at most `cap`, at least `floor`, and `share` of what is left over.

    Regions with a higher `priority` are served first.

    `select` decides what stays when the limit binds, for tools and knowledge: it gets `(items, tokens, tokens_left)`
    and returns the places of those that stay. Without it, knowledge keeps the highest scores, and tools raise.

    `cap` and `floor` are tokens (int) or a share of the budget's `input_limit` (float in (0, 1]); `share` is always
    the latter. A floor that is not used flows on to the other regions. Raises BudgetError for any other number, and for
    a floor above the cap where both are of one kind: whether a share and a number of tokens agree only a budget knows.
    """

    cap: Amount | None = None
    floor: Amount = 0
    share: float | None = None
    priority: int = 0
    select: Selector | None = attrs.field(default=None, kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        # Frozen, so the door is the only place where a numpy number can become an int.
        settle = object.__setattr__
        settle(self, "cap", None if self.cap is None else _amount(self.cap, "cap"))
        settle(self, "floor", _amount(self.floor, "floor"))
        settle(self, "share", None if self.share is None else share(self.share, "share"))
        settle(self, "priority", whole(self.priority, "priority"))
        if self.select is not None and (isinstance(self.select, type) or not callable(self.select)):
            raise BudgetError(
                f"select is a {type(self.select).__name__}: a function of (items, tokens, tokens_left) to the "
                "places that stay is expected"
            )
        if self.select is not None:
            from budgets.counters.awaited import refuse_async  # for the few that select

            refuse_async(self.select, "select")
        comparable = isinstance(self.cap, float) == isinstance(self.floor, float)
        if self.cap is not None and comparable and self.floor > self.cap:
            raise BudgetError(f"floor {self.floor} is above cap {self.cap}: lower the floor or raise the cap")


_WORDS = {
    "instruction": "instructions system system_prompt prompt",
    "capability": "capabilities tools functions",
    "knowledge": "context docs documents rag retrieval sources",
    "conversation": "chat history messages turns",
}
_MEANT = {word: region for region, words in _WORDS.items() for word in words.split()}
"""What people call the regions."""


def limits_by_region(limits: object) -> Mapping[str, Limit]:
    """A copy of `limits`. Raises BudgetError unless it is a mapping from region names to `Limit`."""
    if not isinstance(limits, Mapping):
        raise BudgetError(f"limits is a {type(limits).__name__}: a mapping from region names to Limit is expected")
    given: Mapping[Any, Any] = limits  # pyright: ignore[reportUnknownVariableType]
    checked: dict[str, Limit] = {}
    for region, limit in given.items():
        if region not in REGIONS:
            shown = repr(region[:LONGEST_WORD]) if isinstance(region, str) else f"a {type(region).__name__}"
            near = f"; did you mean {_MEANT[region]}?" if region in _MEANT else ""
            raise BudgetError(f"limits has {shown}, which is no region: choose {', '.join(REGIONS)}{near}")
        if not isinstance(limit, Limit):
            raise BudgetError(
                f"limits[{region!r}] is a {type(limit).__name__}: a Limit is expected, such as Limit(cap=0.4)"
            )
        checked[region] = limit
    return checked
