"""Shares a budget among regions with limits, and decides what is left out of a region that exceeds its limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import attrs

from assembler.conversation.history import HistoryView
from assembler.conversation.messages import Message
from assembler.pipeline.choose import demand_of
from assembler.pipeline.draft import Draft
from assembler.pipeline.measure import Measured
from assembler.pipeline.overflow import OverLimit
from assembler.pricing.ledger import Ledger
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.regions.tools import Tool
from assembler.strategies.strategy import Omitted
from budgets import Budget, BudgetError, Limit, Tokens
from budgets.allotment import allotments, tokens_of
from budgets.errors import named_type
from budgets.limit import Selector
from budgets.numbers import as_whole_number

if TYPE_CHECKING:
    from assembler.regions.tools.deferred import ServerSearch


@runtime_checkable
class Deferring(Protocol):
    """A selection of tools that may send some later: `assembler.Defer`."""

    def tokens_left(self, input_limit: Tokens) -> Tokens:
        """The most that the tools may cost before any is deferred."""
        ...

    def deferred(
        self, tools: Sequence[Tool], messages: Iterable[Message], server: ServerSearch | None, choice: str | None
    ) -> tuple[tuple[Tool, ...], frozenset[str]]:
        """The tools to send, and the names of those that are deferred."""
        ...


@attrs.frozen(eq=False)
class Shared:
    """The regions to send, and what was left out of them. Tokens that they do not use go to the conversation."""

    regions: Regions
    omitted: tuple[Omitted, ...] = ()
    over: tuple[OverLimit, ...] = ()
    """The regions over their limits of which nothing can be left out."""


def share_out(
    draft: Draft,
    measured: Measured,
    ledger: Ledger,
    budget: Budget,
    view: HistoryView,
    server: ServerSearch | None,
    reserved: Tokens = 0,
) -> Shared:
    """Reduce the fixed regions to the limits of a budget. O(turns that stay).

    The turns get `reserved` tokens first, as far as the floors of documents and selected tools allow.
    """
    available = max(0, budget.input_limit - measured.prices.framing.upper)
    demands = {
        "instruction": measured.instruction.upper,
        "capability": measured.capability.upper,
        "knowledge": measured.knowledge.upper,
        "conversation": demand_of(ledger, available),
    }
    shares = allotments(available, budget.input_limit, demands, budget.limits)
    _take_from_others(shares, reserved - shares["conversation"], budget)
    regions, omitted, over = draft.regions, list[Omitted](), list[OverLimit]()
    for region in ("instruction", "capability", "knowledge"):
        select = budget.limits[region].select if region in budget.limits else None
        if region == "capability" and isinstance(select, Deferring):
            if demands[region] > min(shares[region], select.tokens_left(budget.input_limit)):
                regions, left_out = _defer_tools(select, regions, measured, view, server)
                omitted += left_out
            continue
        if demands[region] <= shares[region]:
            continue
        why = "so that the smallest conversation fits" if reserved else f"over the limit of {region}"
        chosen = _select_within_limit(select, region, regions, measured, shares[region], why)
        if chosen is None:
            over.append((region, demands[region], shares[region]))
            continue
        regions, left_out = chosen
        omitted += left_out
    return Shared(regions, tuple(omitted), tuple(over))


def _take_from_others(given: dict[str, Tokens], short: Tokens, budget: Budget) -> None:
    """Take the tokens that the turns lack from documents, then from selected tools, down to their floors."""
    for region in ("knowledge", "capability"):
        own = budget.limits.get(region, Limit())
        if region == "knowledge" or own.select is not None:
            taken = max(0, min(short, given[region] - tokens_of(own.floor, budget.input_limit)))
            given[region] -= taken
            short -= taken


def has_a_piece_for_each(measured: Measured) -> bool:
    """Whether each document is one piece of the layout, so that one can be left out of it."""
    rendered, documents = measured.rendered, len(measured.regions.documents)
    pieces = sum(piece.region == "knowledge" for piece in rendered.every_piece)
    return not rendered.omitted and len(rendered.sources) in (0, documents) and pieces == documents


def _defer_tools(
    select: Deferring, regions: Regions, measured: Measured, view: HistoryView, server: ServerSearch | None
) -> tuple[Regions, list[Omitted]]:
    tools, deferred = select.deferred(regions.tools, view.messages(0, view.length), server, regions.choice)
    priced = zip(regions.tools, measured.prices.tools, strict=True)
    why = "deferred until it is found"
    omitted = [Omitted(tool.name, count.tokens, why, "capability") for tool, count in priced if tool.name in deferred]
    return attrs.evolve(regions, tools=tools), omitted


def sends_used_tools(budget: Budget) -> bool:
    """Whether the tools to send depend on the conversation, so that their share of the budget changes with it."""
    capability = budget.limits.get("capability")
    return capability is not None and isinstance(capability.select, Deferring)


def asks_for_all(measured: Measured, ledger: Ledger, budget: Budget) -> bool:
    """Whether the conversation already takes all that it can get, so that more messages change no region's share.

    O(turns that fit).
    """
    limit = budget.input_limit - measured.prices.framing.upper
    return demand_of(ledger, limit) >= min(limit, conversation_cap(budget))


def conversation_cap(budget: Budget) -> Tokens:
    """The most that the turns may cost, however many tokens are left."""
    limit = budget.limits.get("conversation")
    cap = None if limit is None else limit.cap
    return budget.input_limit if cap is None else tokens_of(cap, budget.input_limit)


def _select_within_limit(
    select: Selector | None, region: str, regions: Regions, measured: Measured, tokens_left: Tokens, why: str
) -> tuple[Regions, list[Omitted]] | None:
    """The regions without what does not fit, and that; None if nothing can be left out of `region`."""
    if region == "knowledge" and regions.documents:
        if not has_a_piece_for_each(measured):
            return None  # the strategy chooses documents itself, or writes them together
        counts = [count.upper for count in measured.prices_of("knowledge")]
        kept = _select_places(select or _select_highest_scores, regions.documents, counts, tokens_left)
        names = [piece.name for piece in measured.rendered.every_piece if piece.region == "knowledge"]
        omitted = [Omitted(names[i], counts[i], why) for i in _find_others(kept, counts)]
        return attrs.evolve(regions, documents=tuple(_keep_name(regions.documents[i], names[i]) for i in kept)), omitted
    if region == "capability" and select is not None:
        counts = [count.upper for count in measured.prices.tools]
        spare = tokens_left - measured.prices.tooling.upper - measured.prices.output.upper
        kept = _select_places(select, [tool.raw for tool in regions.tools], counts, spare)
        tools, prices = regions.tools, measured.prices.tools
        omitted = [Omitted(tools[i].name, prices[i].tokens, why, "capability") for i in _find_others(kept, counts)]
        return attrs.evolve(regions, tools=tuple(regions.tools[i] for i in kept)), omitted
    return None


def _keep_name(document: Document, name: str) -> Document:
    """The document under its original name. Reports would name it by its new place otherwise."""
    return document if document.shown else attrs.evolve(document, provenance=name)


def _select_places(select: Selector, items: Sequence[Any], tokens: Sequence[Tokens], tokens_left: Tokens) -> list[int]:
    """The places that a selection keeps, sorted, without repeats and without places that do not exist.

    Raises `BudgetError` if the answer is not places. An exception of the selection itself passes through.
    """
    answer: object = select(items, tokens, tokens_left)
    if not isinstance(answer, Iterable):
        raise BudgetError(f"select returned {named_type(answer)}: return the places of the items that stay")
    places = [as_whole_number(place, "a place that select returned") for place in cast("Iterable[object]", answer)]
    return sorted({place for place in places if 0 <= place < len(items)})


def _select_highest_scores(items: Sequence[Any], tokens: Sequence[Tokens], tokens_left: Tokens) -> Iterable[int]:
    """Items by score, highest first, then those without one. An item that does not fit is skipped."""
    scored = [place for place in range(len(items)) if items[place].score is not None]
    unscored = [place for place in range(len(items)) if items[place].score is None]
    for place in [*sorted(scored, key=lambda place: -items[place].score), *unscored]:
        if tokens[place] <= tokens_left:
            tokens_left -= tokens[place]
            yield place


def _find_others(kept: Sequence[int], every: Sequence[object]) -> list[int]:
    staying = set(kept)
    return [place for place in range(len(every)) if place not in staying]
