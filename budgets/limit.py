"""A limit on the tokens of one region."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from budgets.count import Tokens
from budgets.errors import BudgetError, OfTheCaller, named_type
from budgets.numbers import LONGEST_WORD, as_whole_number, share, whole_tokens
from budgets.value import Value

REGIONS = ("instruction", "capability", "knowledge", "conversation")
"""The regions that can be limited. Framing cannot, since the format needs it."""

Selector: TypeAlias = Callable[[Sequence[Any], Sequence[Tokens], Tokens], Iterable[int]]
"""`(items, tokens, tokens_left) -> places`: given the cost of each item and the tokens left for all, returns the places
of those that stay."""

Amount: TypeAlias = Tokens | float
"""Tokens as an int, or a share of the budget's `input_limit` as a float in (0, 1]. 1 is one token, 1.0 is all."""


def _read_amount(value: object, name: str) -> Amount:
    return share(value, name) if isinstance(value, float) else whole_tokens(value, name)


@attrs.frozen(eq=False, repr=False)
class Limit(Value):
    """How much of the window a region may take: at most `cap`, at least `floor`, and `share` of what is left over.

    Regions with a higher `priority` are served first.

    `select` decides what stays when the limit binds, for tools and knowledge: it gets `(items, tokens, tokens_left)`
    and returns the places of those that stay. Without it, knowledge keeps the highest scores, and tools raise.

    `cap` and `floor` are tokens (int) or a share of the budget's `input_limit` (float in (0, 1]); `share` is always
    the latter. Unused tokens of a floor go to the other regions. Raises `BudgetError` for any other number, and for a
    floor above the cap; if one is a share and the other tokens, the budget checks that.
    """

    cap: Amount | None = None
    floor: Amount = 0
    share: float | None = None
    priority: int = 0
    select: Selector | None = attrs.field(default=None, kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        # The class is frozen, so numpy numbers must become ints here.
        settle = object.__setattr__
        settle(self, "cap", None if self.cap is None else _read_amount(self.cap, "cap"))
        settle(self, "floor", _read_amount(self.floor, "floor"))
        settle(self, "share", None if self.share is None else share(self.share, "share"))
        settle(self, "priority", as_whole_number(self.priority, "priority"))
        if isinstance(self.select, type):
            raise BudgetError(f"select is the class {self.select.__name__}: call it")
        if self.select is not None and not callable(self.select):
            raise BudgetError(
                f"select is {named_type(self.select)}: a function of (items, tokens, tokens_left) to the "
                "places that stay is expected"
            )
        if self.select is not None:
            from budgets.counters.awaited import refuse_async  # few limits have a selection

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
"""Other names for the regions."""


def _list_entries(limits: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    kind = type(limits)
    if kind is dict:
        return limits.items()
    with OfTheCaller("limits", BudgetError):
        return [*limits.items()]


def limits_by_region(limits: object) -> Mapping[str, Limit]:
    """A copy of `limits`. Raises BudgetError unless it is a mapping from region names to `Limit`."""
    if not isinstance(limits, Mapping):
        raise BudgetError(f"limits is {named_type(limits)}: a mapping from region names to Limit is expected")
    given: Mapping[Any, Any] = limits  # pyright: ignore[reportUnknownVariableType]
    checked: dict[str, Limit] = {}
    for region, limit in _list_entries(given):
        if region not in REGIONS:
            shown = repr(region[:LONGEST_WORD]) if isinstance(region, str) else named_type(region)
            near = f"; did you mean {_MEANT[region]}?" if region in _MEANT else ""
            raise BudgetError(f"limits has {shown}, which is not a region: choose {', '.join(REGIONS)}{near}")
        if not isinstance(limit, Limit):
            raise BudgetError(f"limits[{region!r}] is {named_type(limit)}: a Limit is expected, such as Limit(cap=0.4)")
        checked[region] = limit
    return checked
