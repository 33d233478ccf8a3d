"""The documented loop of each provider, sixty calls through its real client: priced, anchored, trimmed, accepted.

The provider is a script on the loopback. It bills what an independent pricing of the body says, and tokens that no
request shows. Every second answer calls two tools side by side.
"""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, TrimOldest, calibrate, count_request
from assembler.dialects import DIALECTS
from budgets import Budget

from .clients import CLIENTS
from .emitted import MODELS
from .scripts import SCRIPTS, added, usage_of
from .stub import listening

CALLS = 60
HIDDEN = 137
"""Tokens that the provider bills and no request shows."""
WINDOW, ANSWER = 3_000, 400


def find_order(number: str) -> str:
    """Where an order is."""
    return f"{number}: shipped"


def bot(name: str) -> Assembler:
    budget = Budget(WINDOW, max_output_tokens=ANSWER, model=MODELS[name])
    assembler = Assembler(budget, dialect=DIALECTS[name], on_overflow=TrimOldest(low_water=0.5))
    return assembler.add_instruction("You are the support desk of a shop.").add_capability([find_order])


@pytest.mark.parametrize("name", MODELS)
def test_sixty_anchored_calls_are_accepted_and_from_the_second_on_none_is_over(name: str) -> None:
    assembler, over = bot(name), list[int]()

    def bill(body: dict[str, Any]) -> int:
        return count_request(body, dialect=DIALECTS[name], model=MODELS[name]).tokens + HIDDEN

    with listening(name, SCRIPTS[name](bill)) as provider:
        client = CLIENTS[name](provider.url)
        for turn in range(CALLS):
            if turn % 2 == 0:
                assembler.add_message(
                    {"role": "user", "content": f"Where is order A-{turn}? " + "Please look. " * turn}
                )
            context = assembler.build()
            response = client(context.request())
            for message in added(name, response):
                assembler.add_message(message)
            for call in range(2 if turn % 2 == 0 else 0):
                result = find_order(f"A-{turn}-{call}")
                assembler.add_message({"role": "tool", "tool_call_id": f"call{turn:03d}x{call}", "content": result})
            usage = usage_of(name, response)
            billed = calibrate(context, usage).billed
            if turn and billed > context.count.upper:
                over.append(billed - context.count.upper)
            assert billed <= WINDOW - ANSWER or not turn
            assembler.anchor(calibrate(context, usage))
    assert len(provider.bodies) == CALLS
    assert over == []
    assert len(context.dropped) > 10
