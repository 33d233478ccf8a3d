"""The error for an unreadable request names the place and quotes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from assembler import Assembler, count_request, fit_request
from assembler.conversation.messages import read_message
from assembler.dialects import Api, Emission, Opening, plain
from assembler.errors import ConversationError
from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from budgets import TokenCounter

ROLES = {"person": "user", "machine": "assistant"}


@attrs.frozen
class Acme:
    """An API of turns, whose reader checks nothing."""

    name: str = "acme"
    opening: Opening = Opening.ANY
    api: Api = attrs.field(default=Api(history="turns"), init=False)

    def parse(self, request: Mapping[str, Any]) -> Layout:
        turns = [{"role": ROLES[turn["by"]], "content": turn["says"]} for turn in request["turns"]]
        return Layout(messages=[read_message(turn, index) for index, turn in enumerate(turns)])

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        return plain.pricer(model, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        return {}

    def emit(self, layout: Layout) -> Emission:
        return Emission({"turns": [dict(message.seen) for message in layout.messages]})


DOORS: dict[str, Callable[[dict[str, Any]], object]] = {
    "count_request": lambda body: count_request(body, dialect=Acme()),
    "fit_request": lambda body: fit_request(body, dialect=Acme(), assembler=Assembler()),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"messages": []}, "parse() finds no 'turns' where the API has one"),
        ({"turns": [{"says": "hi"}]}, "parse() finds no 'by' where the API has one"),
        ({"turns": [{"by": "secret", "says": "hi"}]}, "(KeyError in parse())"),
        ({"turns": 5}, "(TypeError in parse())"),
    ],
)
def test_an_unreadable_request_is_refused_by_the_missing_key_or_the_function(
    door: str, body: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ConversationError) as raised:
        DOORS[door](body)
    assert expected in str(raised.value)
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None
