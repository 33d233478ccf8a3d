"""Prices models that a dialect has no rules for: by the dialect's own rules, with wider upper bounds.

Another vocabulary needs up to about 2.2 times as many tokens as `o200k_base` for a text (measured over the published
ones of 2025), and every chat template adds text around a message, a request and the tools. The amounts are those of
open templates: docs/how-it-counts-hosts.md.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs

from assembler.conversation.messages import Call, Media, Message, Part, Result, Thinking
from assembler.conversation.messages.foreign_parts import adapt_message, as_chat_sends
from assembler.conversation.messages.responses import is_item_apart
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.dialects.prices.families import ANOTHER_VOCABULARY
from assembler.dialects.prices.graded import RuledPricer, counts_for_open_model, counts_for_openai
from assembler.dialects.writing.fields import NO_PARAMETERS, object_schema
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.pricer import FixedPrices, MergingPricer, Piece, Pricer, price_messages
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.apportion import bound_together
from budgets.count import Difference, total

FARTHEST = 2.2
"""The most tokens that another vocabulary needs for one token of `o200k_base`."""
AROUND_A_MESSAGE: Tokens = 12
AROUND_A_REQUEST: Tokens = 64
AROUND_TOOLS: Tokens = 700
INDENTED = 1.5
"""The most tokens that another vocabulary needs for a definition indented by four, for one of `o200k_base`: 1.51 of
32,000 pieces, 1.3 of Gemma's, 1.06 of five others (359 recorded definitions)."""


Parted: TypeAlias = Callable[[Message], Sequence[Message]]
"""Splits a message into the messages or items that the API gets, in the API's form."""


def as_one(message: Message) -> Sequence[Message]:
    """The message alone, for an API that gets it as one."""
    return [message]


def answers_alone(message: Message) -> Sequence[Message]:
    """Split a message for an API that gets each result as a message of its own, and then everything else as one."""
    results = [[part] for part in message.parts if type(part) is Result]
    rest = [part for part in message.parts if type(part) is not Result]
    return _split_message(message, [*results, *([rest] if rest else [])])


def in_chat(message: Message) -> Sequence[Message]:
    """Split a message for Chat, where texts next to results follow them in a separate message."""
    sent = as_chat_sends(adapt_with_media(message, "openai"))
    results = [part for part in sent.parts if type(part) is Result]
    if not 0 < len(results) < len(sent.parts):
        return [sent]
    return _split_message(sent, [results, [part for part in sent.parts if type(part) is not Result]])


def in_items(message: Message) -> Sequence[Message]:
    """Split a message for Responses, where each text, result and call is an item. The calls are billed together."""
    from assembler.conversation.messages.items_in_content import (
        as_responses_sends,
        is_cut_up,
        is_sent_thought,
        turns_of,
    )  # for Responses alone

    if is_cut_up(message):
        return [group for turn in turns_of(message) for group in in_items(turn)]
    sent = as_responses_sends(adapt_message(message, RESPONSES))
    calls = [part for part in sent.parts if type(part) is Call]
    carried = [part for part in sent.parts if type(part) is not Thinking or is_sent_thought(part, sent)]
    spans = [list(group) for speaks, group in itertools.groupby(carried, _speaks) if speaks]
    alone = [[part] for part in carried if type(part) is not Call and not _speaks(part)]
    return _split_message(sent, [*spans, *alone, *([calls] if calls else [])])


def _split_message(message: Message, groups: Sequence[Sequence[Part]]) -> Sequence[Message]:
    """A message for each group of parts, or the message itself if there is at most one group."""
    return [_keep_parts(message, tuple(parts)) for parts in groups] if len(groups) > 1 else [message]


def _keep_parts(message: Message, parts: tuple[Part, ...]) -> Message:
    if len(parts) == 1 and type(thought := parts[0]) is Thinking:  # alone it is sent as an item, wherever it was found
        return attrs.evolve(message, parts=parts, shape=RESPONSES, seen=thought.raw)
    return attrs.evolve(message, parts=parts)


def _speaks(part: Part) -> bool:
    return isinstance(part, str | Media)


def unknown_model_pricer(rules: Pricer, model: str | None, count: TokenCounter, parted: Parted = as_one) -> Pricer:
    """The rules with wider bounds if the model has a name that is not OpenAI's, else the rules themselves.

    A counter of the caller's own was chosen for its model, so the rules are not changed. `parted` splits a message into
    those that the API gets: each has its own bound.
    """
    if model is None:
        return rules
    if counts_for_open_model(count):
        return foreign_pricer(rules, parted, 1.0)
    if not counts_for_openai(count):
        return rules
    from budgets.models import encoding_of, family_of

    if encoding_of(model) is not None:
        return rules
    farthest = FARTHEST if family_of(model) is None else ANOTHER_VOCABULARY
    return foreign_pricer(rules, parted, farthest, indents=count)


def guessed_pricer(
    model: str | None,
    count: TokenCounter,
    rules_of: Callable[[str, TokenCounter], Pricer],
    parted: Parted,
) -> Pricer | None:
    """The rules, with wider bounds, of the model whose name a deployment's name contains.

    None if it contains none, or if the caller chose the counter: then the rules of an unknown model apply.
    """
    if model is None or not counts_for_openai(count):
        return None
    from budgets.models.families import model_within

    guess = model_within(model)
    return None if guess is None else foreign_pricer(rules_of(guess, count), parted, ANOTHER_VOCABULARY)


def foreign_pricer(rules: Pricer, parted: Parted, farthest: float, indents: TokenCounter | None = None) -> Pricer:
    """The rules as estimates with wider bounds. Rules that merge messages still merge them."""
    if isinstance(rules, MergingPricer):
        # where a dialect of the user's own merges messages
        from assembler.dialects.prices.unknown_merging import ForeignMergingPricer

        return ForeignMergingPricer(rules, parted, farthest, indents)
    return ForeignPricer(rules, parted, farthest, indents)


@attrs.frozen(eq=False)
class ForeignPricer(RuledPricer):
    """Makes a pricer's prices into estimates for a model that it was not made for, with wider bounds."""

    parted: Parted
    farthest: float
    indents: TokenCounter | None = None
    """Counts definitions as a template may write them that indents them, as Llama's does; None if none does."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """The rules' prices with wider bounds, equal for a system text in pieces and as a head message."""
        prices = self.rules.fixed(pieces, head, tools)
        texts = [price for price, message in zip(prices.head, head, strict=True) if not is_item_apart(message)]
        of_one = self._bound_parts_of_one([*prices.pieces, *texts, prices.framing])
        in_head = iter(of_one[len(pieces) : -1])
        around_pieces = AROUND_A_MESSAGE if pieces else 0
        loosened = prices.each(self._loosen_price)
        return attrs.evolve(
            loosened,
            tools=tuple(map(self._widen_for_indents, loosened.tools, tools)),
            pieces=of_one[: len(pieces)],
            head=tuple(
                self.message(message)
                if is_item_apart(message)  # as in a conversation
                else next(in_head) + Count(0, upper=AROUND_A_MESSAGE if alone.upper else 0)  # nothing if it is not sent
                for alone, message in zip(prices.head, head, strict=True)
            ),
            tooling=self._loosen_price(prices.tooling, AROUND_TOOLS if tools else 0),
            framing=of_one[-1] + Count(0, upper=AROUND_A_REQUEST + around_pieces),
        )

    def _widen_for_indents(self, price: Count, tool: Tool) -> Count:
        if self.indents is None:
            return price
        schema = object_schema(tool.parameters or NO_PARAMETERS)  # as the API is sent it
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        written = json.dumps({"type": "function", "function": function}, ensure_ascii=False, indent=4)
        return Count(price.tokens, price.grade, max(price.upper, math.ceil(self.indents(written) * INDENTED)))

    def message(self, message: Message) -> Count:
        """Price each message that it is sent as, with slack for a template's text around it, its calls and results."""
        return total(map(self._frame_message, self.parted(message)))

    def _frame_message(self, message: Message) -> Count:
        parts = message.parts
        price = self.rules.message(message)
        if not price.upper:  # it is not sent
            return price
        if len(parts) > 1 and all(type(part) is Result for part in parts):
            return Count(price.tokens, Grade.ESTIMATED, max(price.tokens, self._bound_parallel_results(message)))
        return self._loosen_price(price, AROUND_A_MESSAGE * (1 + sum(type(part) in (Call, Result) for part in parts)))

    def _bound_parallel_results(self, message: Message) -> Tokens:
        """The bound of parallel results, as the sum of what each adds, rounded up: so parts of the list add up.

        O(results): what a result adds depends only on the two before it.
        """
        reached, results = AROUND_A_MESSAGE, message.parts
        for place, result in enumerate(results):
            before = tuple(results[max(0, place - 2) : place])
            earlier = self.rules.message(attrs.evolve(message, parts=before)).upper if before else 0
            more = self.rules.message(attrs.evolve(message, parts=(*before, result))).upper - earlier
            reached += math.ceil(more * self.farthest) + AROUND_A_MESSAGE
        return reached

    def options(self, layout: Layout) -> Count | Difference:
        """The rules' price with a wider bound, without savings, which another model may not have.

        What an answer format adds to each of the assistant's texts is rounded together with that text, as in a build.
        """
        formatted = self.formatted()
        asked, alone = self.rules.options(layout), formatted.rules.options(layout)
        price = self._loosen_price(alone if isinstance(alone, Count) else alone.alone())
        if asked == alone:
            return price
        return price + (price_messages(formatted, layout.messages) - price_messages(self, layout.messages))

    def _bound_parts_of_one(self, pieces: Sequence[Count]) -> tuple[Count, ...]:
        """Widen the bounds so that they add up to that of the joined text, however it is split."""
        estimates = [attrs.evolve(piece, grade=Grade.ESTIMATED) for piece in pieces]
        return bound_together(estimates, lambda upper: math.ceil(upper * self.farthest))

    def _loosen_price(self, price: Count, around: Tokens = 0) -> Count:
        return Count(price.tokens, Grade.ESTIMATED, math.ceil(price.upper * self.farthest) + around)
