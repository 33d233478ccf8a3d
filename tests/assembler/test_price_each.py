"""Messages priced in one call cost what each costs alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler, TokenCountError, TrimOldest
from assembler.conversation.messages import Message, read_message, user_message
from assembler.dialects import DIALECTS, openai_chat
from assembler.dialects.openai.bill import OpenAIChatPricer
from assembler.pricing.pricer import Pricer, price_each
from budgets import Budget, Count, Grade, provider_counter
from tests.scaled import scaled

from .drawn import histories

MODELS = ("gpt-4o", "gpt-3.5-turbo", "claude-sonnet-4-5", "gemini-2.5-flash", "mistral-large-latest", "kimi-k2")
SPOKEN: list[dict[str, Any]] = [
    {"role": role, "content": text, **beside}
    for role in ("user", "assistant", "system", "developer")
    for text in ("", " ", "\n", "A text.", [{"type": "text", "text": "A text."}])
    for beside in ({}, {"name": "Eve"}, {"refusal": "No."}, {"pinned": True})
]
"""Every role with texts of every kind, alone or beside another field."""


def priced_alone(pricer: Pricer, messages: list[Message]) -> list[Count]:
    return [pricer.message(message) for message in messages]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@scaled(0.2)
@given(history=histories())
def test_messages_priced_in_one_call_cost_what_each_costs_alone(dialect: str, model: str, history: list[Any]) -> None:
    pricer = DIALECTS[dialect].pricer(model, len)
    messages = [read_message(raw, place) for place, raw in enumerate(history)]
    assert price_each(pricer, messages) == priced_alone(pricer, messages)


def nothing(text: str) -> int:
    return 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_texts_beside_any_field_cost_in_one_call_what_each_costs_alone(dialect: str, model: str) -> None:
    for counter in (len, provider_counter(len), nothing):
        pricer = DIALECTS[dialect].pricer(model, counter)
        messages = [read_message(raw, place) for place, raw in enumerate(SPOKEN)]
        assert price_each(pricer, messages) == priced_alone(pricer, messages)
        for message in messages:
            assert price_each(pricer, [message]) == priced_alone(pricer, [message])


def test_a_subclass_with_a_price_of_its_own_is_asked_for_each_message() -> None:
    class Dearer(OpenAIChatPricer):
        __slots__ = ()

        def message(self, message: Message) -> Count:
            return Count(1_000, Grade.EXACT)

    rules = openai_chat.pricer("gpt-4o", len)
    assert isinstance(rules, OpenAIChatPricer)
    assert price_each(Dearer(rules.family, len), [user_message("a")] * 2) == [Count(1_000)] * 2


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_the_error_names_the_message_whose_text_cannot_be_counted(model: str) -> None:
    def count(text: str) -> int:
        if "seventh" in text:
            raise ValueError("never in an error")
        return len(text)

    budget = Budget(10_000, model=model, counter=count)
    assembler = Assembler(budget, on_overflow=TrimOldest())
    for place in range(12):
        assembler.add_message({"role": "assistant" if place % 2 else "user", "content": f"{place}"})
    assembler.add_message({"role": "user", "content": "the seventh"})
    for place in range(13, 20):
        assembler.add_message({"role": "user" if place % 2 else "assistant", "content": f"{place}"})
    with pytest.raises(TokenCountError, match=r"at conversation\[12\]"):
        assembler.build()
