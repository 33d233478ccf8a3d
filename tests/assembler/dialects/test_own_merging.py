"""A dialect of the user's own that merges neighbours costs what it sends, whatever its words and its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from assembler import Assembler, ConversationError, count_request
from assembler.conversation.messages import Message, read_message
from assembler.dialects import Api, Emission, Opening
from assembler.dialects.prices.unknown_models import unknown_model_pricer
from assembler.pricing.pricer import FixedPrices, MergingPricer, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Budget, Count, TokenCounter
from budgets.count import Difference

AROUND = 4
SEAM = -1
"""What a message costs less after another one: the price list says so, for its own models alone."""
ROLES = {"rules": "system", "human": "user", "bot": "assistant"}
WORDS = {role: word for word, role in ROLES.items()}


@attrs.frozen
class Bots:
    """Requests are `{"log": [{"by", "says"}]}`. Neighbours of one side are sent as one message."""

    name: str = "bots"
    opening: Opening = Opening.ANY
    api: Api = attrs.field(default=Api(shape="bots", history="log"), init=False)

    def parse(self, request: Mapping[str, Any]) -> Layout:
        if "log" not in request:
            raise ConversationError("no log")
        entries = [(ROLES[each["by"]], each["says"]) for each in request["log"]]
        messages = [read_message({"role": role, "content": text}, index) for index, (role, text) in enumerate(entries)]
        head = sum(message.role == "system" for message in messages[:1])
        return Layout(head=messages[:head], messages=messages[head:])

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        return unknown_model_pricer(BotPricer(count), model, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        return {}

    def emit(self, layout: Layout) -> Emission:
        log = [] if layout.system is None else [{"by": "rules", "says": layout.system}]
        for message in (*layout.head, *layout.messages):
            by, text = WORDS[message.role], str(message.text)
            if log and log[-1]["by"] == by:
                log[-1]["says"] += f"\n{text}"
            else:
                log.append({"by": by, "says": text})
        return Emission({"log": log})


@attrs.frozen(eq=False)
class BotPricer(MergingPricer):
    """Each message costs its text and four tokens, and after another one a token less."""

    count: TokenCounter

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return FixedPrices(
            pieces=tuple(Count(self.count(piece.text)) for piece in pieces),
            head=tuple(map(self.message, head)),
            framing=Count(AROUND if pieces else 0),
        )

    def message(self, message: Message) -> Count:
        return Count(self.count(str(message.text)) + AROUND)

    def options(self, layout: Layout) -> Count:
        return Count(0)

    def difference_after(self, message: Message, before: Message | None) -> Difference | None:
        return None if before is None else Difference(SEAM, upper=SEAM)


def cost(model: str | None, *messages: tuple[str, str]) -> Count:
    bots = Bots()
    assembler = Assembler(Budget(10_000, model=model), dialect=bots).add_instruction("Be brief.")
    context = assembler.add_messages([*messages]).build()
    assert context.count == count_request(context.request(), dialect=bots, model=model)
    return context.count


@pytest.mark.parametrize("model", [None, "acme-1"])
def test_neighbours_that_are_sent_as_one_are_billed_as_one_also_under_an_unknown_model(model: str | None) -> None:
    words = 3  # "Be brief."
    assert cost(model, ("user", "Hi")).tokens == words + AROUND + 1 + AROUND
    assert cost(model, ("user", "Hi"), ("user", "there")).tokens == words + AROUND + 3 + AROUND


def test_the_bound_for_an_unknown_model_expects_no_savings() -> None:
    asked, answered = ("user", "Hi"), ("assistant", "Hi")
    assert cost(None, asked, answered).upper - cost(None, asked).upper == 1 + AROUND + SEAM
    text, template = 11, 12  # 2.2 times as many tokens at most, and a template's text around a message
    assert cost("acme-1", asked, answered).upper - cost("acme-1", asked).upper == text + template
    assert cost("acme-1", asked, answered).tokens == cost(None, asked, answered).tokens
