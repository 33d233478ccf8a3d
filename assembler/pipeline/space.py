"""The tokens left for knowledge that a strategy chooses, and the price of its pieces inside a message.

Inside the question's message, counts add where one piece ends with a line break and the next does not begin with a
line break, a blank or a slash, if the counter promises that (`additive_at_tag_seams`). Otherwise the message is priced
as one text. Blocks for sources are parts of the message, which is then priced with all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import attrs

from assembler.conversation.knowledge_host import Host
from assembler.conversation.messages import Message
from assembler.dialects import Dialect
from assembler.pipeline.choose import Choice, Limits, price_fixed
from assembler.pipeline.gather import Gathered
from assembler.pipeline.settings import Settings, counter_for
from assembler.pricing.pricer import FixedPrices, Piece, Pricer, price_message, price_messages
from assembler.strategies.source_block import SourceBlock
from assembler.strategies.strategy import Around, Continued, Rendered
from budgets import Count, Tokens
from budgets.apportion import apportion, split_framing
from budgets.count import NOTHING, Difference, adds_at_seams, total
from budgets.value import Value

_ROUNDING: Tokens = 3
"""By how much the sum of prices may differ from the price of the request as it is sent, since each is rounded up."""

_LEAST_DOUBT: Tokens = 16
"""How far a layout may be off what another one that was weighed predicts, besides a quarter of their difference."""

_LEAST_SPAN: Tokens = 64
"""How far apart two weighed layouts must be to show how much of an estimate a template bills."""

_NO_SEAM = ("\n", "\r", " ", "\t", "/")


@attrs.frozen(eq=False, repr=False)
class FilledHost(Value):
    """The host with knowledge around its text, and its index in the history."""

    index: int
    message: Message


def additive_in(settings: Settings) -> bool:
    """Whether the counter of the budget promises that counts add at seams."""
    return adds_at_seams(counter_for(settings.budget))


def host_as_sent(host: Host, around: Around, dialect: Dialect) -> FilledHost:
    """The message that hosts knowledge, with the knowledge in it."""
    blocks = _write_blocks(around, dialect) if around.blocks else ()
    return FilledHost(host.index, host.with_text(around.text(host.text), *blocks))


def saved_around(host: Host, filled: FilledHost, pieces: Sequence[Count], pricer: Pricer) -> Difference | None:
    """What the host costs less with these pieces around its text, whose prices are 0 tokens; None if it costs no less.

    A blank before a word may make its tokens fewer.
    """
    together = price_messages(pricer, (*host.merged_with, filled.message))
    less = together - price_messages(pricer, (*host.merged_with, host.message))
    return less - (total(pieces) - NOTHING) if less.tokens < 0 else None


def _write_blocks(around: Around, dialect: Dialect) -> list[dict[str, Any]]:
    sources = dialect.api.sources
    if sources is None:
        step = "look at Space.takes_blocks first"
        raise ValueError(f"the strategy laid out blocks for sources, and {dialect.name} has none; {step}")
    return [sources.block(block.source, block.title, block.text) for block in around.blocks]


@attrs.frozen(eq=False)
class _Weighings:
    """What layouts of one form leave by the estimates of their parts, and what they leave as a template writes them.

    A template may write a text three times, or words of its own if there is no system message. Two layouts show it.
    """

    _known: list[tuple[Tokens, Tokens]] = attrs.field(factory=list[tuple[Tokens, Tokens]], init=False)

    def predict(self, estimated: Tokens) -> Tokens | None:
        """The tokens left; None if only a weighing shows whether the layout fits. O(weighings)."""
        if len(self._known) < 2:
            return None
        near, found = min(self._known, key=lambda known: abs(known[0] - estimated))
        (least, least_found), (most, most_found) = min(self._known), max(self._known)
        away, span = estimated - near, most - least
        if abs(away) > max(_LEAST_SPAN, 2 * span):
            return None
        if span >= _LEAST_SPAN:
            left, doubt = found + round(away * max((most_found - least_found) / span, 0.5)), abs(away) // 4
        else:  # it may write each text not at all, or three times
            left, doubt = found + away, 2 * abs(away)
        if left >= 0 and not any(tokens <= estimated and spare >= 0 for tokens, spare in self._known):
            return None  # no layout as large was found to fit
        return left if abs(left) > _LEAST_DOUBT + doubt else None

    def add(self, estimated: Tokens, left: Tokens) -> Tokens:
        """Remember a weighing, and return what it found."""
        self._known.append((estimated, left))
        return left


@attrs.frozen(eq=False)
class Chosen:
    """The `Space` of one choice."""

    _gathered: Gathered
    _head: tuple[Message, ...]
    _pricer: Pricer
    _settings: Settings
    _choice: Choice
    _additive: bool
    _prices_alone: dict[str, Count] = attrs.field(factory=dict[str, Count], init=False)
    _block_prices: dict[tuple[str, str, str], Count] = attrs.field(
        factory=dict[tuple[str, str, str], Count], init=False
    )
    """The blocks that were asked about, by source, title and text."""
    _first: list[tuple[dict[str, Any], Count]] = attrs.field(factory=list[tuple[dict[str, Any], Count]], init=False)
    """The first of them, and what the host costs with it."""
    _weighed: dict[tuple[bool, bool], _Weighings] = attrs.field(factory=dict[tuple[bool, bool], _Weighings], init=False)
    """By whether a layout has a system text, and words around the question."""

    @property
    def question(self) -> str | None:
        """The text of the host."""
        return None if self._choice.host is None else self._choice.host.text

    @property
    def takes_blocks(self) -> bool:
        """Whether the API has blocks for sources for this model, and the host can hold them.

        None go beside an output schema: an answer in JSON has no place for citations, and Anthropic refuses both.
        """
        host, blocks = self._choice.host, self._settings.dialect.api.sources
        if self._gathered.draft.regions.output is not None:
            return False
        return host is not None and blocks is not None and host.takes_blocks and blocks.takes(self._settings.model)

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        """The upper bound of what each piece costs on its own."""
        unknown = [
            piece for piece in pieces if piece.text not in self._prices_alone and not isinstance(piece, SourceBlock)
        ]
        if unknown and self._additive:  # then one call prices a system text of them piece by piece
            counts = self._pricer.fixed(unknown, (), ()).pieces
            self._prices_alone.update(zip([piece.text for piece in unknown], counts, strict=True))
        return [self._price_alone(piece).upper for piece in pieces]

    def left(self, rendered: Rendered) -> Tokens | None:
        """The tokens left, or what is left of the cap on knowledge if that is less. Negative if it does not fit."""
        if self._choice.tokens_left is None:
            return None
        limits = self._choice.limits
        prices = self._price_system(rendered) if limits is None else self.prices(rendered)
        fixed = prices.total
        used = fixed.upper
        if limits is None and rendered.around is not None:  # then no one needs the price of each piece around it
            used += self._price_whole_around(rendered.around).upper
        left = self._choice.tokens_left - used
        if self._choice.cut is not None:
            left = self._find_left_as_sent(rendered, left)
        if limits is None:
            return left
        return min(left, self._find_left_under_limits(limits, rendered, prices))

    def _find_left_under_limits(self, limits: Limits, rendered: Rendered, prices: FixedPrices) -> Tokens:
        """What is left of the limit on knowledge. Limits are checked by the sum of the prices."""
        of_region = {"instruction": sum(price.upper for price in prices.head), "knowledge": 0}
        for piece, price in zip(rendered.every_piece, prices.pieces, strict=True):
            of_region[piece.region] = of_region.get(piece.region, 0) + price.upper
        tools = total([*prices.tools, prices.tooling, prices.output]).upper
        return limits.of_knowledge(of_region["instruction"], tools, prices.framing.upper) - of_region["knowledge"]

    def _find_left_as_sent(self, rendered: Rendered, left: Tokens) -> Tokens:
        """The tokens left, with the request as it is sent where the sum of the prices does not show whether it fits."""
        if self._settings.whole_pricer is None:
            return self._count_left_as_sent(rendered, left) if abs(left) <= _ROUNDING else left
        weighed = self._weighed.setdefault((bool(rendered.pieces), rendered.around is not None), _Weighings())
        predicted = weighed.predict(left)
        return weighed.add(left, self._count_left_as_sent(rendered, left)) if predicted is None else predicted

    def _count_left_as_sent(self, rendered: Rendered, left: Tokens) -> Tokens:
        """The tokens left with the request as it is sent; `left` while the text is sought on which a counter failed."""
        budget = self._settings.budget
        if budget is None or self._pricer is not self._settings.pricer:
            return left
        from assembler.pipeline.smallest_conversation import smallest_as_sent  # its plan needs this module

        prices = self.prices(rendered)
        return budget.input_limit - smallest_as_sent(self._gathered, self._head, self._choice, rendered, prices).upper

    def prices(self, rendered: Rendered) -> FixedPrices:
        """A price for every piece, the system's first, then those around the question."""
        system = self._price_system(rendered)
        if rendered.around is None:
            return system
        if rendered.around.blocks:
            added, beyond = self._price_with_blocks(rendered.around)
            return attrs.evolve(system, pieces=(*system.pieces, *added), framing=system.framing + beyond)
        return attrs.evolve(system, pieces=(*system.pieces, *self._price_around(rendered.around)))

    def _price_system(self, rendered: Rendered) -> FixedPrices:
        return price_fixed(
            self._pricer, self._settings.dialect, rendered.pieces, self._head, self._gathered.draft.regions
        )

    def _price_alone(self, piece: Piece) -> Count:
        if isinstance(piece, SourceBlock):
            return self._price_block(piece)
        known = self._prices_alone.get(piece.text)
        if known is None:
            known = self._prices_alone[piece.text] = self._pricer.fixed((piece,), (), ()).pieces[0]
        return known

    def _price_block(self, block: SourceBlock) -> Count:
        """What a block costs beside the first one that was asked about, which pays for a prompt on citations."""
        key = (block.source, block.title, block.text)
        known = self._block_prices.get(key)
        if known is None:
            (spelled,) = _write_blocks(Around(blocks=(block,)), self._settings.dialect)
            host = self._required_host
            if not self._first:
                self._first.append((spelled, price_message(self._pricer, host.with_text(host.text, spelled))))
            first, alone = self._first[0]
            both = price_message(self._pricer, host.with_text(host.text, first, spelled))
            known = self._block_prices[key] = (both - alone).alone()
        return known

    def _price_with_blocks(self, around: Around) -> tuple[Sequence[Count], Count]:
        """What each piece adds to the cost of the host, and what blocks cost beyond that, for a prompt on citations."""
        each = [self._price_alone(piece) for piece in (*around.blocks, *around.before, *around.after)]
        return split_framing(self._price_joined(around), each)

    def _price_around(self, around: Around) -> list[Count]:
        """What each piece adds to the cost of the host. The ledger prices the host without them."""
        added = self._price_piece_by_piece(around)
        if added is None:
            each = [self._price_alone(piece) for piece in (*around.before, *around.after)]
            added = [*apportion(self._price_joined(around), each)]
        return added

    def _price_whole_around(self, around: Around) -> Count:
        """What all pieces together add to the cost of the host."""
        added = self._price_piece_by_piece(around)
        return self._price_joined(around) if added is None else total(added)

    def _price_piece_by_piece(self, around: Around) -> list[Count] | None:
        """What each piece adds; None if counts do not add at its seams and the message must be priced as one text."""
        host = self._required_host
        before, after = around.before, around.after
        # A result may be sent inside JSON, where a line break does not end a text, so it is priced as one text.
        apart = around.blocks or host.place is not None
        if apart or not self._additive or not (_are_seams_additive(before) and _are_seams_additive(after)):
            return None
        core = self._price_joined(Around(before[-1:], after[:1]))
        innermost = apportion(core, [*map(self._price_alone, (*before[-1:], *after[:1]))])
        added = [*map(self._price_alone, before[:-1]), *innermost, *map(self._price_alone, after[1:])]
        if all(count.upper == count.tokens for count in added):
            return added
        return _lower_bounds(added, self._price_joined(around).upper)

    def _price_joined(self, around: Around) -> Count:
        """What the pieces add when the message is priced as one text."""
        host = self._required_host
        blocks = _write_blocks(around, self._settings.dialect) if around.blocks else ()
        filled, alone = host.with_text(around.text(host.text), *blocks), host.message
        together = price_messages(self._pricer, (*host.merged_with, filled))
        return (together - price_messages(self._pricer, (*host.merged_with, alone))).alone()

    @property
    def _required_host(self) -> Host:
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


def _are_seams_additive(pieces: Sequence[Piece]) -> bool:
    return all(
        piece.text.endswith("\n") and following.text and not following.text.startswith(_NO_SEAM)
        for piece, following in itertools.pairwise(pieces)
    )


def join_rows(rendered: Rendered, prices: FixedPrices) -> tuple[Rendered, FixedPrices]:
    """Join each piece with the `Continued` pieces after it, so that a source is one row of the report."""
    if not any(isinstance(piece, Continued) for piece in rendered.every_piece):
        return rendered, prices
    around = rendered.around
    stretches = [rendered.pieces]
    if around is not None:
        stretches += [around.blocks, around.before, around.after]
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
    settled = None if around is None else attrs.evolve(around, before=joined[2], after=joined[3])
    return attrs.evolve(rendered, pieces=joined[0], around=settled), attrs.evolve(prices, pieces=tuple(counts))


def _join_pieces(run: Sequence[Piece]) -> Piece:
    return Piece(run[0].region, run[0].name, "".join(piece.text for piece in run))
