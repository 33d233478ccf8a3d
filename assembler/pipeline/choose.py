"""Finds what a strategy needs to choose knowledge, and prices the regions as they are laid out.

The tokens left are the budget less the smallest conversation that the policies would keep, or less the floor of the
conversation if that is more. So knowledge may displace old turns that a policy may drop, but never the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from assembler.conversation.knowledge_host import Host, newest_question, newest_result
from assembler.conversation.messages import Message
from assembler.conversation.pins import find_undroppable
from assembler.dialects import Dialect, Opening
from assembler.errors import ConversationError
from assembler.pipeline.settings import Settings
from assembler.policies.contract import verify_cut
from assembler.policies.traits import CuttingRung, KeepsChosen, asks, without_mark
from assembler.pricing.ledger import Cut, Ledger
from assembler.pricing.pricer import FixedPrices, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.regions import Regions
from assembler.regions.tools.tool import tools_sent
from assembler.strategies.strategy import Needs, Rendered, laid_out_by
from budgets import Budget, Count, Limit, TokenCountError, Tokens
from budgets.allotment import most_for
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference, total
from budgets.value import Value

if TYPE_CHECKING:
    from assembler.conversation.history import HistoryView
    from assembler.pipeline.gather import Gathered

Priced = TypeVar("Priced")


@attrs.frozen(eq=False, repr=False)
class Choice(Value):
    """What a choice depends on besides the regions: the message that may host knowledge, and the tokens left."""

    host: Host | None
    tokens_left: Tokens | None
    limits: Limits | None = None
    saved: Tokens = 0
    """What the least conversation costs less as it is sent than by the sum of its prices; negative if more."""
    cut: Cut | None = attrs.field(default=None, eq=False)
    """The cut that keeps the least conversation, if requests are counted as they are sent, or as a whole."""
    kept: tuple[Message, ...] = ()
    """The messages that this cut keeps."""


@attrs.frozen(eq=False, repr=False)
class Limits(Value):
    """The budget's limits on knowledge and the conversation, for a choice."""

    input_limit: Tokens
    """Shares are of this."""
    by_region: Mapping[str, Limit]
    demand: Tokens
    """What the whole conversation costs, at most `input_limit` + 1; 0 if no limit reserves anything for it."""

    def of_knowledge(self, instruction: Tokens, capability: Tokens, framing: Tokens) -> Tokens:
        """The most that knowledge may cost beside an instruction, tools and framing of this size."""
        demands = {"instruction": instruction, "capability": capability, "conversation": self.demand}
        fixed, available = ("instruction", "capability"), self.input_limit - framing
        return most_for("knowledge", available, self.input_limit, demands, fixed, self.by_region)


def choose(gathered: Gathered) -> Choice | None:
    """What the strategy needs to choose; None if it does not choose. O(turns that the policies protect)."""
    if gathered.settings.chooser is None:  # with or without a bill
        return None
    view, settings = gathered.view, gathered.settings.by_rule
    host = host_of(view, settings)
    ledger = Ledger.of(view, settings.pricer, floor_of(view, settings)[0])
    if host is not None and host.place is not None:
        host = attrs.evolve(host, merged_with=tuple(view.messages(ledger.run(host.index).start, host.index)))
    if settings.budget is None:
        return Choice(host, None)
    last_length = 0 if gathered.last is None else gathered.last.length
    pins = find_undroppable(view, settings.pins, settings.dialect.api.shape, last_length)
    ledger = attrs.evolve(ledger, pins=pins)
    least, cut = _price_least_conversation(ledger, settings)
    budget = settings.budget
    limits, tokens_left = _find_limits(ledger, budget) if budget.limits else None, budget.input_limit - least
    adds_up = settings.merging_pricer is None and settings.whole_pricer is None
    adds_up = adds_up and not ledger.prices.overpriced and not ledger.prices.long_runs
    if adds_up or not gathered.draft.regions.documents:
        return Choice(host, tokens_left, limits)
    from assembler.pipeline.smallest_conversation import plan_smallest  # where prices do not add up alone

    plan = plan_smallest(gathered, ledger, cut)
    saved = (plan.fixed + plan.conversation).upper - plan.by_rule.upper
    return Choice(host, tokens_left + saved, limits, saved, cut, tuple(plan.sent_messages))


def host_of(view: HistoryView, settings: Settings) -> Host | None:
    """The message that may carry knowledge, if the strategy chooses by it; or None."""
    if settings.chooser is None:
        return None
    return newest_result(view) if settings.chooser.needs is Needs.RESULT else newest_question(view)


def floor_of(view: HistoryView, settings: Settings) -> tuple[int, ConversationError | None]:
    """The first message that may be sent: it skips a greeting if the API requires a user message first, and what a
    server's own summary replaces. With the error if the conversation has only a greeting so far.
    """
    if (floor := view.floor(settings.dialect.api.shape)) > view.head:
        return floor, None
    start, stop = (view.head, view.head) if settings.dialect.opening is Opening.ANY else view.greeting()
    if start == stop or stop < view.length:
        return stop, None
    needed = f"{settings.dialect.name} needs a user message; add one to the conversation"
    return stop, ConversationError(needed, index=start)


def _find_limits(ledger: Ledger, budget: Budget) -> Limits | None:
    """The limits that bear on the choice, or None. Prices at most as much conversation as the input limit holds."""
    by_region, limit = budget.limits, budget.input_limit
    knowledge = by_region.get("knowledge", Limit())
    reserving = any(each.floor or each.share is not None or each.priority for each in by_region.values())
    if knowledge.cap is None and not reserving:
        return None
    return Limits(limit, by_region, demand_of(ledger, limit) if reserving else 0)


def _price_least_conversation(ledger: Ledger, settings: Settings) -> tuple[Tokens, Cut]:
    """What the smallest conversation costs that the policies would keep, with pinned turns and the note for dropped
    ones, and its cut; all of the conversation if no policy can tell.

    Only policies that drop turns can. Those that ask a model are left out: a summary costs a call. Those that rewrite
    act once knowledge has been chosen.
    """
    rungs = [*map(without_mark, settings.rungs)]
    cutting = [rung for rung in rungs if isinstance(rung, CuttingRung) and not asks(rung)]
    cuts = [verify_cut(rung.policy, rung.policy.cut(ledger, 0), ledger) for rung in cutting]
    choosing = [rung.traits.keeps for rung in rungs]
    cuts += [Cut(ledger.newest_turns(keeps.at_least), "") for keeps in choosing if isinstance(keeps, KeepsChosen)]
    first = max((cut.first_kept for cut in cuts), default=ledger.first)
    left = [attrs.evolve(cut, first_kept=first) for cut in cuts] or [Cut(first, "")]
    costs = [ledger.kept(cut).upper for cut in left]
    most = max(costs)
    cut = left[costs.index(most)]
    no_cut = Cut(ledger.first, "")
    if _note_costs_more(ledger, cut) and (whole := ledger.kept(no_cut).upper) <= most:
        return whole, no_cut
    return most, cut


def _note_costs_more(ledger: Ledger, cut: Cut) -> bool:
    """Whether the note of a cut may cost more than the turns that it drops. Stops once these cost as much."""
    if cut.summary is None:
        return False
    note, start, pinned = ledger.price(cut.summary).upper, ledger.first, {begin for begin, _ in ledger.pinned_turns()}
    while start < cut.first_kept and note > 0:
        begin, stop = ledger.turn_span(start)
        note -= 0 if begin in pinned else ledger.turn_upper(begin, stop)
        start = stop
    return note > 0


def demand_of(ledger: Ledger, limit: Tokens) -> Tokens:
    """What the whole conversation costs; `limit` + 1 if that is more than `limit`."""
    return ledger.since(ledger.first).upper if ledger.fits(limit) else limit + 1


def lay_out_regions(
    gathered: Gathered, head: tuple[Message, ...], choice: Choice | None
) -> tuple[Rendered, FixedPrices]:
    """The regions as the strategy lays them out, and a price for every piece.

    Raises `TokenCountError`, which names the item on which the counter failed, or all three regions if it is unknown.
    """
    settings, regions = gathered.settings.by_rule, gathered.draft.regions
    return naming_part(regions, head, settings, lambda pricer: _lay_out_with(gathered, head, choice, pricer))


def naming_part(
    regions: Regions, head: Sequence[Message], settings: Settings, price: Callable[[Pricer], Priced]
) -> Priced:
    """What `price` returns. If the counter fails in it, the error names the item whose text it was given."""
    try:
        return price(settings.pricer)
    except TokenCountError as error:
        from assembler.pipeline.failing_part import failing_part  # for failures alone

        part = failing_part(regions, head, settings, price) or "instruction, capability or knowledge"
        raise error.at(part) from error.__cause__ or error


def _lay_out_with(
    gathered: Gathered, head: tuple[Message, ...], choice: Choice | None, pricer: Pricer
) -> tuple[Rendered, FixedPrices]:
    settings, regions = gathered.settings.by_rule, gathered.draft.regions
    chooser = settings.chooser
    if choice is None or chooser is None:
        rendered = laid_out_by(settings.strategy, settings.strategy.render(regions), regions)
        return rendered, price_fixed(pricer, settings.dialect, rendered.pieces, head, regions)
    from assembler.pipeline.space import Chosen, additive_in, join_rows  # for strategies that choose alone

    space = Chosen(gathered, head, pricer, settings, choice, additive_in(settings))
    rendered = laid_out_by(settings.strategy, chooser.choose(regions, space), regions)
    return join_rows(rendered, space.prices(rendered))


def price_fixed(
    pricer: Pricer, dialect: Dialect, pieces: Sequence[Piece], head: Sequence[Message], regions: Regions
) -> FixedPrices:
    """The price of everything but the turns.

    The output schema costs what it adds to the request. If it replaces something, framing costs less. What a tool
    choice adds or saves counts as the cost of the tools.
    """
    from assembler.pricing.hosted import fixed_with_hosted  # an import need not wait for its table

    prices = fixed_with_hosted(pricer, pieces, head, regions.tools, dialect.api.shape)
    if regions.held is not None:
        prices = attrs.evolve(prices, framing=prices.framing + regions.held)
    if regions.output is None and regions.choice is None and not regions.options:
        return prices
    system = "".join(piece.text for piece in pieces) if pieces else None
    tools = tools_sent(regions.tools, dialect.api.shape)
    options = Layout(system=system, head=head, tools=tools, output=regions.output, choice=regions.choice)
    schema = _price_options(pricer, dialect, attrs.evolve(options, choice=None))
    choice, output = _price_options(pricer, dialect, options, regions.options) - schema, schema.alone()
    framing = prices.framing + (schema - (output - NOTHING))
    # A template that hides the tools that may not be called saves their definitions too.
    each, tooling = split_framing(total(prices.tools, prices.tooling) + choice, prices.tools)
    return attrs.evolve(prices, output=output, tools=each, tooling=tooling, framing=framing)


def _price_options(
    pricer: Pricer, dialect: Dialect, layout: Layout, others: Iterable[tuple[str, Any]] = ()
) -> Difference:
    price = pricer.options(attrs.evolve(layout, options={**dict(others), **dialect.options(layout)}))
    return price - NOTHING if isinstance(price, Count) else price
