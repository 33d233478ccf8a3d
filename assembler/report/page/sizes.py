"""Computes what other windows would keep, for the slider of a page.

For `TrimOldest()` or `Refuse()`, and regions that do not depend on the window, `report.steps()` covers every window.
Otherwise `plan.what_if` is asked for some windows, and only those are shown.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import attrs

from assembler.conversation.messages import user_message
from assembler.pipeline.planned import Planned
from assembler.pipeline.what_if import refit, try_window
from assembler.pipeline.window_steps import WindowStep, settled_by_turns, steps_of
from assembler.policies.traits import asks
from assembler.report.cache.estimate import cacheable, rule_of, stable_prefix
from assembler.report.items import Item
from assembler.report.rows import Outcome
from budgets import Budget, ContextLengthError, Tokens

_SHARES = 40
"""The windows to ask one by one, in steps of 2.5 % of the drawn range."""
_WHY_SOME = "what is dropped depends on more than how many turns fit."
_NONE_FITS = "Other windows are not drawn: none was found that holds the same items."
_REACH = 4
"""How far the slider goes beyond the budget's window, if more tokens would keep more."""


@attrs.frozen
class Size:
    """What a request holds at one window: tokens by region, and the items' outcomes.

    Turns from item `first` on and pinned turns stay. `after` has the remaining tokens of shortened items. `gone` and
    `shortened` are reasons. `served` is what a prefix cache may serve of the first `prefix` tokens.
    """

    window: Tokens
    tokens: Tokens
    upper: Tokens
    regions: tuple[Tokens, ...]
    prefix: Tokens
    served: Tokens
    first: int
    after: Mapping[int, Tokens] = attrs.field(factory=dict[int, Tokens])
    gone: str = ""
    shortened: str = ""

    def outcome_of(self, place: int, item: Item) -> Outcome:
        """The outcome of the item at this place."""
        if self._drops(place, item):
            return "dropped"
        return "shortened" if item.before is not None and self.left_of(place, item) < item.before else "kept"

    def left_of(self, place: int, item: Item) -> Tokens:
        """The remaining tokens of the item at this place."""
        if place in self.after:
            return self.after[place]
        return 0 if self._drops(place, item) else item.before or 0

    def _drops(self, place: int, item: Item) -> bool:
        return bool(item.omitted) or (item.span is not None and place < self.first and not item.pinned)


@attrs.frozen
class Outlook:
    """The sizes, smallest first, for windows up to `most`. `below` is a text on windows below the first.

    If `every` window is known, a size holds up to the next one, otherwise only for its own window. `missing` says why
    there are no sizes.
    """

    sizes: tuple[Size, ...] = ()
    most: Tokens = 0
    every: bool = False
    below: str = ""
    missing: str = ""
    some: str = ""
    """Why only some windows are drawn, if so."""


def size_of(plan: Planned, items: Sequence[Item] = ()) -> Size:
    """What this plan keeps at its window, or everything without a budget."""
    budget = plan.settings.budget
    return Size(
        window=plan.count.upper if budget is None else budget.context_window,
        tokens=plan.count.tokens,
        upper=plan.count.upper,
        regions=tuple(plan.costs.to_dict().values()),
        prefix=stable_prefix(plan).tokens,
        served=cacheable(plan).tokens,
        first=_find_first(items, plan.first),
        after=dict(_find_changes(plan, items)) if items else {},
        gone=plan.trimmed.why_gone,
        shortened=plan.trimmed.why_shortened(),
    )


def _find_first(items: Sequence[Item], message: int) -> int:
    places = (place for place, item in enumerate(items) if item.span is not None and item.span[0] >= message)
    return next(places, len(items))


def _find_changes(plan: Planned, items: Sequence[Item]) -> Iterator[tuple[int, Tokens]]:
    places = [place for place, item in enumerate(items) if item.span is not None]
    starts = [item.span[0] for item in items if item.span is not None]
    saved: dict[int, Tokens] = {}
    for start, count in plan.trimmed.savings.items():
        place = places[bisect_right(starts, start) - 1]
        if items[place].pinned or start >= plan.first:
            saved[place] = saved.get(place, 0) + count.tokens
    yield from ((place, (items[place].before or 0) + tokens) for place, tokens in saved.items())
    if (summary := plan.trimmed.cut.summary) is not None:
        tokens = plan.ledger.price(summary).tokens
        yield from ((place, tokens) for place, item in enumerate(items) if item.stands_in)


def outlook_of(plan: Planned, items: Sequence[Item], refusal: ContextLengthError | None) -> Outlook:
    """The sizes to draw. Costs as much as `report.steps()`, or `_SHARES` fits.

    If the plan does not fit its own window, they begin at the smallest window that fits.
    """
    budget = plan.settings.budget
    if budget is None:
        return Outlook(missing="There is no budget, so there is no window to change.")
    if any(map(asks, plan.settings.rungs)):
        return Outlook(missing="Other windows are not drawn: at each of them a model would have to write a summary.")
    if any(item.span is not None and item.before is None for item in items):
        return Outlook(missing="Other windows are not drawn: an older message cannot be read or priced.")
    steps = steps_of(plan)
    window = budget.context_window
    least = 0 if refusal is None else refusal.smallest_window or 0
    most = max([window, least, *(min(step.context_window, window * _REACH) for step in steps[-1:])])
    if settled_by_turns(plan):
        return _draw_stairs(plan, items, steps, most)
    return _sample_sizes(plan, items, budget, most, refusal)


def _draw_stairs(plan: Planned, items: Sequence[Item], steps: Sequence[WindowStep], most: Tokens) -> Outlook:
    places = {item.span[0]: place for place, item in enumerate(items) if item.span is not None}
    places[plan.view.length] = len(items)
    sizes = _list_stairs(plan, items, [(step, places[step.first_kept]) for step in steps])
    drawn = tuple(size for size in sizes if size.window <= most)
    return Outlook(drawn, most, every=True, below=_explain_least(drawn))


def _list_stairs(plan: Planned, items: Sequence[Item], steps: Sequence[tuple[WindowStep, int]]) -> Iterator[Size]:
    rule, note = rule_of(plan), _price_note(plan)
    sums = [*itertools.accumulate((_count_kept(item) for item in items), initial=0)]
    pinned = [*itertools.accumulate((_count_kept(item) if item.pinned else 0 for item in items), initial=0)]
    stand_in = next((place for place, item in enumerate(items) if item.stands_in), None)
    now, gone = plan.costs.conversation, _explain_cut(plan, steps)
    prefix = stable_prefix(plan).tokens - now
    for step, first in steps:
        shown = note if step.left_out else 0
        turns = sums[-1] - sums[first] + pinned[first] + shown
        costs = attrs.evolve(plan.costs, conversation=turns)
        yield Size(
            window=step.context_window,
            tokens=costs.total,
            upper=step.tokens,
            regions=tuple(costs.to_dict().values()),
            prefix=prefix + turns,
            served=0 if rule is None else rule.served(prefix + turns),
            first=first,
            after={stand_in: shown} if stand_in is not None and shown else {},
            gone=gone,
        )


def _count_kept(item: Item) -> Tokens:
    return 0 if item.span is None or item.omitted else item.before or 0


def _price_note(plan: Planned) -> Tokens:
    note = plan.settings.active_rungs[0].traits.note
    return plan.ledger.price(user_message(note)).tokens if note else 0


def _explain_cut(plan: Planned, steps: Sequence[tuple[WindowStep, int]]) -> str:
    """The policy's reason for its cut."""
    if plan.trimmed.decisions or not steps or not steps[0][0].left_out:
        cut = plan
    else:
        cut = refit(plan, steps[0][0].context_window)
    return cut.trimmed.why_gone


def _sample_sizes(
    plan: Planned, items: Sequence[Item], budget: Budget, most: Tokens, refusal: ContextLengthError | None
) -> Outlook:
    own, shares = budget.context_window, {most * share // _SHARES for share in range(1, _SHARES + 1)}
    found = {window: try_window(plan, window) for window in shares - {own}}
    if refusal is None:
        found[own] = plan
        smallest = _find_smallest(plan, budget, min(window for window, other in found.items() if other is not None))
    else:
        smallest = {refusal.smallest_window or own}
    found |= {window: try_window(plan, window) for window in smallest}
    alike = {window: other for window, other in found.items() if other is not None and _has_same_regions(plan, other)}
    if not alike:
        return Outlook(missing=_NONE_FITS)
    sizes = tuple(size_of(other, items) for _, other in sorted(alike.items()))
    if all(_has_same_regions(plan, other) for other in found.values() if other is not None):
        return Outlook(sizes, most, every=False, below=_explain_least(sizes), some=_WHY_SOME)
    below = f"Only windows where the same knowledge goes in are drawn, from {sizes[0].window:,} tokens on."
    return Outlook(sizes, sizes[-1].window, every=False, below=below, some=_WHY_SOME)


def _find_smallest(plan: Planned, budget: Budget, least: Tokens) -> set[Tokens]:
    """The smallest window that fits, from the error of one that does not."""
    barely = budget.answer_reserve + 1
    try:
        refit(plan, barely)
    except ContextLengthError as error:
        smallest = error.smallest_window
        return {smallest} if smallest is not None and smallest < least else set()
    return {barely}


def _has_same_regions(plan: Planned, other: Planned) -> bool:
    ours, theirs = plan.measured, other.measured
    return ours is theirs or (
        ours.prices == theirs.prices
        and ours.rendered.every_piece == theirs.rendered.every_piece
        and ours.rendered.omitted == theirs.rendered.omitted
    )


def _explain_least(sizes: Sequence[Size]) -> str:
    return f"Nothing can be sent below {sizes[0].window:,} tokens: what is never dropped needs them." if sizes else ""
