"""Finds what a strategy needs to choose knowledge, and prices the regions as they are laid out.

The tokens left are the budget less the smallest conversation that the policies would keep, or less the floor of the
conversation if that is more. So knowledge may displace old turns that a policy may drop, but never the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from assembler.conversation.knowledge_host import Host, newest_question, newest_result
from assembler.conversation.messages import Message
from assembler.conversation.pins import staying
from assembler.dialects import Dialect
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
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference, total
from budgets.limit import Amount
from budgets.numbers import part_of
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


@attrs.frozen(eq=False, repr=False)
class Limits(Value):
    """The budget's limits on knowledge and the conversation, for a choice."""

    input_limit: Tokens
    """Shares are of this, less the framing."""
    cap: Amount | None
    """The most that knowledge may cost."""
    floor: Amount
    """The floor of the conversation."""
    demand: Tokens
    """What the whole conversation costs, at most `input_limit` + 1; `least` without a floor."""
    least: Tokens
    """What the smallest conversation costs that the policies would keep."""

    def of_knowledge(self, framing: Tokens) -> Tokens:
        """The most that knowledge may cost."""
        return self.input_limit if self.cap is None else self._tokens(self.cap, framing)

    def beyond_least(self, framing: Tokens) -> Tokens:
        """The tokens that the floor guarantees the conversation beyond `least`."""
        return max(0, min(self._tokens(self.floor, framing), self.demand) - self.least)

    def _tokens(self, amount: Amount, framing: Tokens) -> Tokens:
        return part_of(amount, self.input_limit - framing) if isinstance(amount, float) else amount


def choose(gathered: Gathered) -> Choice | None:
    """What the strategy needs to choose; None if it does not choose. O(turns that the policies protect)."""
    view, settings = gathered.view, gathered.settings.by_rule
    if settings.chooser is None:
        return None
    host = host_of(view, settings)
    ledger = Ledger.of(view, settings.pricer)
    if host is not None and host.place is not None:
        host = attrs.evolve(host, beside=tuple(view.messages(ledger.run(host.index).start, host.index)))
    if settings.budget is None:
        return Choice(host, None)
    last_length = 0 if gathered.last is None else gathered.last.length
    pins = staying(view, settings.pins, settings.dialect.api.shape, last_length)
    ledger = attrs.evolve(ledger, pins=pins)
    least, cut = _least_conversation(ledger, settings)
    limits, saved = _limits(ledger, settings.budget, least), 0
    if settings.merging is not None or ledger.prices.overpriced or ledger.prices.long_runs:
        saved = _saved_as_sent(gathered, ledger, cut)
    if saved > 0 and limits is not None and limits.floor:  # a floor is checked by the sum
        saved = 0
    return Choice(host, settings.budget.input_limit - least + saved, limits, saved)


def host_of(view: HistoryView, settings: Settings) -> Host | None:
    """The message that may carry knowledge, if the strategy chooses by it; or None."""
    if settings.chooser is None:
        return None
    return newest_result(view) if settings.chooser.needs is Needs.RESULT else newest_question(view)


def _limits(ledger: Ledger, budget: Budget, least: Tokens) -> Limits | None:
    """The limits that bear on the choice, or None. Prices at most as much conversation as the input limit holds."""
    knowledge, conversation = (budget.limits.get(region, Limit()) for region in ("knowledge", "conversation"))
    if knowledge.cap is None and not conversation.floor:
        return None
    limit = budget.input_limit
    demand = demand_of(ledger, limit) if conversation.floor else least
    return Limits(limit, knowledge.cap, conversation.floor, demand, least)


def _least_conversation(ledger: Ledger, settings: Settings) -> tuple[Tokens, Cut]:
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
    return most, left[costs.index(most)]


def _saved_as_sent(gathered: Gathered, ledger: Ledger, cut: Cut) -> Tokens:
    """What the conversation of a cut costs less as it is sent than by the sum of its prices; negative if more.

    0 without documents. O(what a request of the last such conversation did not hold).
    """
    if not gathered.draft.regions.documents:
        return 0
    from assembler.pipeline.smallest_conversation import plan_smallest  # where messages are merged alone

    plan = plan_smallest(gathered, ledger, cut)
    return (plan.fixed + plan.conversation).upper - plan.by_rule.upper


def demand_of(ledger: Ledger, limit: Tokens) -> Tokens:
    """What the whole conversation costs; `limit` + 1 if that is more than `limit`."""
    return ledger.since(ledger.first).upper if ledger.fits(limit) else limit + 1


def lay_out_regions(
    regions: Regions, head: Sequence[Message], settings: Settings, choice: Choice | None
) -> tuple[Rendered, FixedPrices]:
    """The regions as the strategy lays them out, and a price for every piece.

    Raises `TokenCountError`, which names the item on which the counter failed, or all three regions if it is unknown.
    """

    return naming_part(regions, head, settings, lambda pricer: _lay_out_with(regions, head, settings, choice, pricer))


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
    regions: Regions, head: Sequence[Message], settings: Settings, choice: Choice | None, pricer: Pricer
) -> tuple[Rendered, FixedPrices]:
    chooser = settings.chooser
    if choice is None or chooser is None:
        rendered = laid_out_by(settings.strategy, settings.strategy.render(regions), regions)
        return rendered, price_fixed(pricer, settings.dialect, rendered.pieces, head, regions)
    from assembler.pipeline.space import Chosen, additive_in, join_rows  # for strategies that choose alone

    space = Chosen(regions, head, pricer, settings, choice, additive_in(settings))
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
    schema = _cost(pricer, dialect, attrs.evolve(options, choice=None))
    choice, output = _cost(pricer, dialect, options, regions.options) - schema, schema.alone()
    framing = prices.framing + (schema - (output - NOTHING))
    # A template that hides the tools that may not be called saves their definitions too.
    each, tooling = split_framing(total(prices.tools, prices.tooling) + choice, prices.tools)
    return attrs.evolve(prices, output=output, tools=each, tooling=tooling, framing=framing)


def _cost(pricer: Pricer, dialect: Dialect, layout: Layout, others: Iterable[tuple[str, Any]] = ()) -> Difference:
    price = pricer.options(attrs.evolve(layout, options={**dict(others), **dialect.options(layout)}))
    return price - NOTHING if isinstance(price, Count) else price
