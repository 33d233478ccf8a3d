"""Trimmers for the check: the four that everybody writes first, and ours. Prices in characters, by hand."""

from __future__ import annotations

from typing import Any

from assembler import Assembler, TrimOldest
from assembler.dialects import plain
from budgets import Budget

Messages = list[dict[str, Any]]


def characters(messages: Messages) -> int:
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    spoken = sum(len(message["content"] or "") for message in messages)
    return spoken + sum(len(call["name"]) + len(call["arguments"]) for call in calls)


def drop_oldest_message(messages: Messages, window: int) -> Messages:
    kept = list(messages)
    while kept and characters(kept) > window:
        kept.pop(0)
    return kept


def keep_last_messages(messages: Messages, window: int) -> Messages:
    return messages[-4:]


def pop_the_middle(messages: Messages, window: int) -> Messages:
    kept = list(messages)
    while kept and characters(kept) > window:
        kept.pop(len(kept) // 2)
    return kept


def drop_leading_results(messages: Messages, window: int) -> Messages:
    kept = drop_oldest_message(messages, window)
    while kept and kept[0]["role"] == "tool":
        kept.pop(0)
    return kept


def whole_turns(messages: Messages, window: int) -> Messages:
    """The reference: head, and as many of the newest turns as fit; written without the library."""
    head = [message for message in messages if message["role"] in ("system", "developer")]
    body = messages[len(head) :]
    starts = [place for place, message in enumerate(body) if place == 0 or message["role"] == "user"]
    for start in starts:
        if characters(head + body[start:]) <= window:
            return head + body[start:]
    raise ValueError("the newest turn does not fit")


def trim_oldest(messages: Messages, window: int) -> Messages:
    budget = Budget(window, counter=len)
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(messages)
    return assembler.build().messages  # type: ignore[return-value]
