"""A template that refuses the whole history may take what a policy leaves of it, which is counted as it is written."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest

pytest.importorskip("transformers")

from assembler import (
    Assembler,
    ContextLengthError,
    ConversationError,
    KeepRelevant,
    TrimOldest,
    UnsupportedContentError,
    calibrate,
)
from assembler.dialects.chat_template.dialect import chat_template
from assembler.policies import ClearToolResults, Truncate
from budgets import Budget
from tests.assembler.dialects.test_chat_template import NO_SYSTEM, answered, call, tokenizer_of

TWICE = NO_SYSTEM.replace(
    "{{ message.content }}<", "{{ message.content }}{% if 'word' in message.content %}{{ message.content }}{% endif %}<"
)
"""It takes no tools, as Gemma's, and writes some texts twice, so that its estimates are far too low."""

HISTORY: list[Any] = [
    ("user", "Find it."),
    *answered(call("a"), result="found " * 20),
    ("assistant", "Here."),
    ("user", "And the word?"),
    ("assistant", "A word. " * 4),
    ("user", "Which words? " * 6),
]
POLICIES = [
    TrimOldest(),
    TrimOldest(low_water=0.5),
    [KeepRelevant(), Truncate(40)],
    *(
        pytest.param(policy, marks=pytest.mark.slow)
        for policy in (
            TrimOldest(keep_turns=2),
            TrimOldest(note="Older turns were left out."),
            [ClearToolResults(keep=0), TrimOldest()],
        )
    ),
]


@functools.cache
def dialect_of(template: str) -> Any:
    return chat_template(tokenizer_of(template))


@pytest.mark.parametrize("template", [NO_SYSTEM, TWICE], ids=["once", "twice"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_what_is_left_of_a_refused_history_is_counted_as_it_is_written(template: str, policy: Any) -> None:
    """It was counted by the sum of its estimates, and could be twice as long as the window."""
    dialect, built = dialect_of(template), 0
    for window in range(60, 700, 11):
        assembler = Assembler(Budget(window), dialect=dialect, on_overflow=policy).add_messages(HISTORY)
        try:
            context = assembler.build()
        except ContextLengthError:
            continue
        except ConversationError:  # it fits by its estimates, so nothing is dropped that the template would refuse
            continue
        built += 1
        assert context.count.tokens == len(context.request()["prompt_token_ids"]) <= window
        assert context.count.tokens == sum(row.after for row in context.report.rows)
    assert built


LATER: list[Any] = [
    ("assistant", "So."),
    ("user", "Look."),
    *answered(call("b"), result="found " * 5),
    ("assistant", "Here."),
    ("user", "Then?"),
    ("assistant", "Word word."),
    ("user", "And? " * 8),
]


@pytest.mark.parametrize("template", [NO_SYSTEM, TWICE], ids=["once", "twice"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_bill_still_counts_when_the_template_refuses_what_it_kept_with_the_new_messages(
    template: str, policy: Any
) -> None:
    """The bill was forgotten, and the request counted by the sum of its estimates."""
    built = 0
    for window in range(60, 400, 20):
        assembler = Assembler(Budget(window), dialect=dialect_of(template), on_overflow=policy)
        assembler.add_messages([("user", "Hello."), ("assistant", "Yes? " * 5), ("user", "And the word?")])
        try:
            first = assembler.build()
        except ContextLengthError:
            continue
        assembler.anchor(calibrate(first, first.count.tokens + 5))
        for message in LATER:
            assembler.add_message(message)
        try:
            context = assembler.build()
        except (ContextLengthError, ConversationError):
            continue
        built += 1
        assert context.by_rule.tokens == len(context.request()["prompt_token_ids"])
        assert context.by_rule.tokens < context.count.upper <= window
    assert built


PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
SEEN = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_picture_that_the_policies_drop_is_no_fault_and_one_that_stays_is(policy: Any) -> None:
    """A search that began with the whole raised for the picture; one that began where the last had ended did not."""
    history = [("user", "Hello."), ("assistant", "Yes?"), SEEN, ("assistant", "A word.")]
    history += [(role, f"{number} words of this. " * 2) for number in range(9) for role in ("user", "assistant")]
    history += [("user", "And?")]

    def outcome(assembler: Assembler) -> object:
        try:
            return assembler.build().request()
        except UnsupportedContentError as refusal:
            return str(refusal)

    without = 0
    for window in range(150, 900, 30):
        whole = Assembler(Budget(window), dialect=dialect_of(NO_SYSTEM), on_overflow=policy).add_messages(history)
        answer = outcome(whole)
        without += isinstance(answer, dict)
        grown = Assembler(Budget(window), dialect=dialect_of(NO_SYSTEM), on_overflow=policy)
        for message in history:
            grown.add_message(message)
            if message[0] == "user" if isinstance(message, tuple) else True:
                with contextlib.suppress(UnsupportedContentError, ContextLengthError):
                    grown.build()
        if not getattr(policy, "low_water", None):
            assert outcome(grown) == answer
    assert without
    last = Assembler(Budget(900), dialect=dialect_of(NO_SYSTEM), on_overflow=policy).add_messages([*history[:-1], SEEN])
    for door in (last.plan, last.build):
        with pytest.raises(UnsupportedContentError, match="image"):
            door()
