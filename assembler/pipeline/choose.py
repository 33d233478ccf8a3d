"""Chooses knowledge for the tokens left, and prices it inside a message.

The tokens left are the budget less the smallest conversation that the policies would keep, or less the floor of the
conversation if that is more. So knowledge may displace old turns that a policy may drop, but never the newest.

Inside the question's message, counts add where one piece ends with a line break and the next does not begin with a
line break, a blank or a slash, if the counter promises that (`additive_at_tag_seams`). Otherwise the message is priced
as one text.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from assembler.conversation.knowledge_host import Host, newest_question, newest_result
from assembler.conversation.messages import Message
from assembler.conversation.pins import staying
from assembler.dialects import Dialect
from assembler.pipeline.settings import Settings, counter_for
from assembler.policies.contract import verify_cut
from assembler.policies.traits import CuttingRung, KeepsChosen, asks, without_mark
from assembler.pricing.ledger import Cut, Ledger
from assembler.pricing.pricer import FixedPrices, Piece, Pricer, price_messages
from assembler.regions.layout import Layout
from assembler.regions.regions import Regions
from assembler.regions.tools.tool import tools_sent
from assembler.strategies.strategy import Around, Continued, Needs, Rendered, laid_out_by
from budgets import Budget, Count, Grade, Limit, TokenCountError, Tokens
from budgets.apportion import apportion, split_framing
from budgets.count import NOTHING, Difference, adds_at_seams, total
from budgets.limit import Amount
from budgets.numbers import part_of
from budgets.value import Value

if TYPE_CHECKING:
    from assembler.conversation.history import Sight
    from assembler.pipeline.gather import Gathered

Priced = TypeVar("Priced")

_NO_SEAM = ("\n", "\r", " ", "\t", "/")


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


@attrs.frozen(eq=False, repr=False)
class FilledHost(Value):
    """The host with knowledge around its text, and its index in the history."""

    index: int
    message: Message


def choose(gathered: Gathered) -> Choice | None:
    """What the strategy needs to choose; None if it does not choose. O(turns that the policies protect)."""
    sight, settings = gathered.sight, gathered.settings.by_rule
    if settings.chooser is None:
        return None
    host = host_of(sight, settings)
    ledger = Ledger.of(sight, settings.pricer)
    if host is not None and host.place is not None:
        host = attrs.evolve(host, beside=tuple(sight.messages(ledger.run(host.index).start, host.index)))
    if settings.budget is None:
        return Choice(host, None)
    last_length = 0 if gathered.last is None else gathered.last.length
    pins = staying(sight, settings.pins, settings.dialect.api.shape, last_length)
    ledger = attrs.evolve(ledger, pins=pins)
    least, cut = _least_conversation(ledger, settings)
    limits, saved = _limits(ledger, settings.budget, least), 0
    if settings.merging is not None or ledger.prices.overpriced or ledger.prices.long_runs:
        saved = _saved_as_sent(gathered, ledger, cut)
    if saved > 0 and limits is not None and limits.floor:  # a floor is checked by the sum
        saved = 0
    return Choice(host, settings.budget.input_limit - least + saved, limits, saved)


def host_of(sight: Sight, settings: Settings) -> Host | None:
    """The message that may carry knowledge, if the strategy chooses by it; or None."""
    if settings.chooser is None:
        return None
    return newest_result(sight) if settings.chooser.needs is Needs.RESULT else newest_question(sight)


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
    from assembler.pipeline.least import least_plan  # where messages are merged alone

    plan = least_plan(gathered, ledger, cut)
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
    space = Chosen(regions, head, pricer, settings.dialect, choice, _adds_at_seams(settings))
    rendered = laid_out_by(settings.strategy, chooser.choose(regions, space), regions)
    return _join_rows(rendered, space.prices(rendered))


def host_as_sent(rendered: Rendered, choice: Choice | None) -> FilledHost | None:
    """The message that hosts knowledge, with the knowledge in it; None if no message hosts any."""
    if rendered.around is None or choice is None or choice.host is None:
        return None
    return FilledHost(choice.host.index, choice.host.saying(rendered.around.text(choice.host.text)))


def _adds_at_seams(settings: Settings) -> bool:
    return adds_at_seams(counter_for(settings.budget))


@attrs.frozen(eq=False)
class Chosen:
    """The `Space` of one choice."""

    _regions: Regions
    _head: Sequence[Message]
    _pricer: Pricer
    _dialect: Dialect
    _choice: Choice
    _additive: bool
    _alone: dict[str, Count] = attrs.field(factory=dict[str, Count], init=False)

    @property
    def question(self) -> str | None:
        """The text of the host."""
        return None if self._choice.host is None else self._choice.host.text

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        """The upper bound of what each piece costs on its own."""
        unknown = [piece for piece in pieces if piece.text not in self._alone]
        if unknown and self._additive:  # then one call prices a system text of them piece by piece
            counts = self._pricer.fixed(unknown, (), ()).pieces
            self._alone.update(zip([piece.text for piece in unknown], counts, strict=True))
        return [self._count(piece).upper for piece in pieces]

    def left(self, rendered: Rendered) -> Tokens | None:
        """The tokens left, or what is left of the cap on knowledge if that is less. Negative if it does not fit."""
        if self._choice.tokens_left is None:
            return None
        limits = self._choice.limits
        prices = self._system(rendered) if limits is None else self.prices(rendered)
        fixed = total([*prices.pieces, *prices.head, *prices.tools, prices.tooling, prices.output, prices.framing])
        left = self._choice.tokens_left - fixed.upper
        if rendered.around is not None and self._choice.saved and fixed.grade is Grade.ESTIMATED:
            left -= 1  # the host is rounded up by itself here, and together with others in the request
        if limits is None:  # then no one needs the price of each piece around the question
            return left if rendered.around is None else left - self._whole(rendered.around).upper
        framing = prices.framing.upper
        pairs = zip(rendered.every_piece, prices.pieces, strict=True)
        knowledge = sum(price.upper for piece, price in pairs if piece.region == "knowledge")
        return min(left - limits.beyond_least(framing), limits.of_knowledge(framing) - knowledge)

    def prices(self, rendered: Rendered) -> FixedPrices:
        """A price for every piece, the system's first, then those around the question."""
        system = self._system(rendered)
        if rendered.around is None:
            return system
        return attrs.evolve(system, pieces=(*system.pieces, *self._around(rendered.around)))

    def _system(self, rendered: Rendered) -> FixedPrices:
        return price_fixed(self._pricer, self._dialect, rendered.pieces, self._head, self._regions)

    def _count(self, piece: Piece) -> Count:
        known = self._alone.get(piece.text)
        if known is None:
            known = self._alone[piece.text] = self._pricer.fixed((piece,), (), ()).pieces[0]
        return known

    def _around(self, around: Around) -> list[Count]:
        """What each piece adds to the cost of the host. The ledger prices the host without them."""
        added = self._piece_by_piece(around)
        if added is None:
            each = [self._count(piece) for piece in (*around.before, *around.after)]
            added = [*apportion(self._joined(around), each)]
        return added

    def _whole(self, around: Around) -> Count:
        """What all pieces together add to the cost of the host."""
        added = self._piece_by_piece(around)
        return self._joined(around) if added is None else total(added)

    def _piece_by_piece(self, around: Around) -> list[Count] | None:
        """What each piece adds; None if counts do not add at its seams and the message must be priced as one text."""
        host = self._hosting
        before, after = around.before, around.after
        # A result may be sent inside JSON, where a line break does not end a text, so it is priced as one text.
        if host.place is not None or not self._additive or not (_seams_add(before) and _seams_add(after)):
            return None
        core = self._joined(Around(before[-1:], after[:1]))
        joined = [core] + [NOTHING] * (len(before[-1:]) + len(after[:1]) - 1)
        added = [*map(self._count, before[:-1]), *joined, *map(self._count, after[1:])]
        if all(count.upper == count.tokens for count in added):
            return added
        return _lower_bounds(added, self._joined(around).upper)

    def _joined(self, around: Around) -> Count:
        """What the pieces add when the message is priced as one text."""
        host = self._hosting
        filled, alone = host.saying(around.text(host.text)), host.message
        together = price_messages(self._pricer, (*host.beside, filled))
        return (together - price_messages(self._pricer, (*host.beside, alone))).alone()

    @property
    def _hosting(self) -> Host:
        if self._choice.host is None:
            raise ValueError("the strategy put text around a question, but there is none; look at Space.question first")
        return self._choice.host


def _lower_bounds(counts: Sequence[Count], upper: Tokens) -> list[Count]:
    """The counts with their bounds lowered to add up to `upper`: each was rounded up, so the sum may be larger."""
    over = sum(count.upper for count in counts) - upper
    bounded: list[Count] = []
    for count in counts:
        less = min(over, count.upper - count.tokens)
        bounded.append(attrs.evolve(count, upper=count.upper - less))
        over -= less
    return bounded


def _seams_add(pieces: Sequence[Piece]) -> bool:
    return all(
        one.text.endswith("\n") and next_one.text and not next_one.text.startswith(_NO_SEAM)
        for one, next_one in itertools.pairwise(pieces)
    )


def _join_rows(rendered: Rendered, prices: FixedPrices) -> tuple[Rendered, FixedPrices]:
    """Join each piece with the `Continued` pieces after it, so that a source is one row of the report."""
    if not any(isinstance(piece, Continued) for piece in rendered.every_piece):
        return rendered, prices
    around = rendered.around
    stretches = [rendered.pieces] if around is None else [rendered.pieces, around.before, around.after]
    priced = iter(prices.pieces)
    joined: list[tuple[Piece, ...]] = []
    counts: list[Count] = []
    for stretch in stretches:
        runs: list[list[tuple[Piece, Count]]] = []
        for piece in stretch:
            if isinstance(piece, Continued) and runs:
                runs[-1].append((piece, next(priced)))
            else:
                runs.append([(piece, next(priced))])
        joined.append(tuple(_join_pieces([piece for piece, _ in run]) for run in runs))
        counts += [total(count for _, count in run) for run in runs]
    settled = None if around is None else Around(joined[1], joined[2])
    return attrs.evolve(rendered, pieces=joined[0], around=settled), attrs.evolve(prices, pieces=tuple(counts))


def _join_pieces(run: Sequence[Piece]) -> Piece:
    return Piece(run[0].region, run[0].name, "".join(piece.text for piece in run))


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
