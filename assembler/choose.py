"""Knowledge chosen under a room, and its price inside the question's message. Knows tokens; knows no strategy's rules.

The room is what the budget leaves once the least conversation is paid for that the policies would keep: knowledge may
displace old turns where a policy lets them go, and never the newest.

Inside the question's message counts add where one piece ends with a line break and the next begins with neither a
line break, a blank nor a slash, for counters that promise additive seams (the proof is T1 of the counting notes, held
by tests/budgets/test_additivity.py). Anywhere else the message is priced as one text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import cast

import attrs

from assembler.draft import Draft, Regions
from assembler.history import Sight
from assembler.ledger import Ledger
from assembler.messages import Message, read_message
from assembler.policies import Refuse, TrimOldest
from assembler.pricing import NOTHING, FixedPrices, Piece, Pricer
from assembler.strategies import Around, ChoosingStrategy, Continued, Rendered
from assembler.terms import Terms, counter_for
from budgets import Count, Tokens
from budgets.count import total
from budgets.limit import Amount

_NO_SEAM = ("\n", "\r", " ", "\t", "/")


@attrs.frozen
class Choice:
    """What a choice depends on beside the regions: the newest question and the room for all that is no turn."""

    question: Message | None
    index: int
    room: Tokens | None
    cap: tuple[Amount, Tokens] | None = None
    """The most that knowledge may cost, and the input limit that it may be a share of; None for no such limit."""

    @property
    def text(self) -> str | None:
        """The question's text; None where there is no question, or one that is more than one text."""
        if self.question is None or len(self.question.parts) != 1 or not isinstance(self.question.parts[0], str):
            return None
        return self.question.parts[0]


@attrs.frozen
class Asked:
    """The newest question's message with knowledge around it, and where it stands in the history."""

    index: int
    message: Message


def choice_for(draft: Draft, sight: Sight, terms: Terms) -> Choice | None:
    """What the strategy chooses under; None for one that does not choose. O(turns that the policies protect)."""
    if getattr(terms.strategy, "choose", None) is None:
        return None
    index, _ = sight.newest_turn()
    opening = sight.message(index) if index < sight.length else None
    question = opening if opening is not None and opening.role == "user" else None
    if terms.budget is None:
        return Choice(question, index, None)
    room = terms.budget.input_limit - _least_conversation(draft, sight, terms)
    limit = terms.budget.limits.get("knowledge")
    cap = None if limit is None or limit.cap is None else (limit.cap, terms.budget.input_limit)
    return Choice(question, index, room, cap)


def _least_conversation(draft: Draft, sight: Sight, terms: Terms) -> Tokens:
    """The least that the policies would keep, or all of it where one may ask its owner (a summary costs a model call).

    A policy that is not listed here is only asked once knowledge has been chosen, and then has less to do.
    """
    ledger = Ledger.of(sight, terms.pricer, draft.history.lock)
    asked = [policy for policy in terms.policies if isinstance(policy, Refuse | TrimOldest)]
    firsts = [policy.cut(ledger, 0).first_kept for policy in asked] or [ledger.first]
    return ledger.since(max(firsts)).upper


def laid_out(
    regions: Regions, head: Sequence[Message], terms: Terms, choice: Choice | None
) -> tuple[Rendered, FixedPrices]:
    """The regions as the strategy lays them out, and a price for every piece."""
    if choice is None:
        rendered = terms.strategy.render(regions)
        return rendered, terms.pricer.fixed(rendered.pieces, head, regions.tools)
    space = Chosen(regions, head, terms.pricer, choice, _adds(terms))
    rendered = cast(ChoosingStrategy, terms.strategy).choose(regions, space)
    return _joined_rows(rendered, space.prices(rendered))


def asked(rendered: Rendered, choice: Choice | None) -> Asked | None:
    """The question's message as it will be sent; None where nothing is put around it."""
    if rendered.around is None or choice is None or choice.question is None or choice.text is None:
        return None
    return Asked(choice.index, _wrapped(choice.question, rendered.around.text(choice.text)))


def _wrapped(question: Message, text: str) -> Message:
    fields = {"role": "user", "content": text}
    message = read_message(fields if question.name is None else {**fields, "name": question.name}, 0)
    return attrs.evolve(message, pinned=question.pinned)


def _adds(terms: Terms) -> bool:
    return bool(getattr(counter_for(terms.budget), "additive_at_tag_seams", False))


@attrs.frozen(eq=False)
class Chosen:
    """The `Space` of one choice."""

    _regions: Regions
    _head: Sequence[Message]
    _pricer: Pricer
    _choice: Choice
    _additive: bool
    _alone: dict[str, Count] = attrs.field(factory=dict[str, Count], init=False)

    @property
    def question(self) -> str | None:
        """The text of the newest question."""
        return self._choice.text

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        """What each piece costs on its own, at most."""
        unknown = [piece for piece in pieces if piece.text not in self._alone]
        if unknown and self._additive:  # then a system text of them is priced piece by piece, and in one call
            counts = self._pricer.fixed(unknown, (), ()).pieces
            self._alone.update(zip([piece.text for piece in unknown], counts, strict=True))
        return [self._count(piece).upper for piece in pieces]

    def left(self, rendered: Rendered) -> Tokens | None:
        """What is left of the room, or of the cap on knowledge where that is less; below 0 for too much."""
        if self._choice.room is None:
            return None
        prices = self.prices(rendered)
        fixed = total([*prices.pieces, *prices.head, *prices.tools, prices.tooling, prices.framing])
        left = self._choice.room - fixed.upper
        if self._choice.cap is None:
            return left
        cap, limit = self._choice.cap
        most = int(cap * (limit - prices.framing.upper)) if isinstance(cap, float) else cap
        pairs = zip(rendered.every_piece, prices.pieces, strict=True)
        return min(left, most - sum(price.upper for piece, price in pairs if piece.region == "knowledge"))

    def prices(self, rendered: Rendered) -> FixedPrices:
        """A price for every piece, the system's first, then those around the question."""
        system = self._pricer.fixed(rendered.pieces, self._head, self._regions.tools)
        if rendered.around is None:
            return system
        return attrs.evolve(system, pieces=(*system.pieces, *self._around(rendered.around)))

    def _count(self, piece: Piece) -> Count:
        known = self._alone.get(piece.text)
        if known is None:
            known = self._alone[piece.text] = self._pricer.fixed((piece,), (), ()).pieces[0]
        return known

    def _around(self, around: Around) -> list[Count]:
        """What each piece adds to the question's message, which the ledger prices without them."""
        question, text = self._choice.question, self._choice.text
        if question is None or text is None:
            raise ValueError("a strategy put text around a question that has none; look at Space.question first")
        before, after = around.before, around.after
        bare = self._pricer.message(question)
        if self._additive and _seams_add(before) and _seams_add(after):
            core = _wrapped(question, Around(before[-1:], after[:1]).text(text))
            added = [_less(self._pricer.message(core), bare)] + [NOTHING] * (len(before[-1:]) + len(after[:1]) - 1)
            return [*map(self._count, before[:-1]), *added, *map(self._count, after[1:])]
        whole = _less(self._pricer.message(_wrapped(question, around.text(text))), bare)
        return _shared_out(whole, [self._count(piece) for piece in (*before, *after)])


def _seams_add(pieces: Sequence[Piece]) -> bool:
    return all(
        one.text.endswith("\n") and next_one.text and not next_one.text.startswith(_NO_SEAM)
        for one, next_one in itertools.pairwise(pieces)
    )


def _less(whole: Count, part: Count) -> Count:
    return Count(whole.tokens - part.tokens, whole.grade, whole.upper - part.upper)


def _shared_out(whole: Count, parts: Sequence[Count]) -> list[Count]:
    """`whole` over its parts: each its own count, and what the joins gain or lose on the largest ones."""
    if not parts:
        return []
    tokens, uppers = [part.tokens for part in parts], [part.upper for part in parts]
    _settle(tokens, whole.tokens)
    _settle(uppers, whole.upper)
    return [Count(n, whole.grade, max(n, upper)) for n, upper in zip(tokens, uppers, strict=True)]


def _settle(amounts: list[Tokens], whole: Tokens) -> None:
    gained = whole - sum(amounts)
    for place in sorted(range(len(amounts)), key=amounts.__getitem__, reverse=True):
        taken = max(gained, -amounts[place])
        amounts[place] += taken
        gained -= taken


def _joined_rows(rendered: Rendered, prices: FixedPrices) -> tuple[Rendered, FixedPrices]:
    """One piece for each piece with those that go on with it, so that a source is one row of the report."""
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
        joined.append(tuple(_as_one([piece for piece, _ in run]) for run in runs))
        counts += [total(count for _, count in run) for run in runs]
    settled = None if around is None else Around(joined[1], joined[2])
    return attrs.evolve(rendered, pieces=joined[0], around=settled), attrs.evolve(prices, pieces=tuple(counts))


def _as_one(run: Sequence[Piece]) -> Piece:
    return Piece(run[0].region, run[0].name, "".join(piece.text for piece in run))
