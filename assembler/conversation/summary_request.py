"""A policy's request for a summary of old turns, and how the answer comes back."""

from __future__ import annotations

from typing import Protocol

import attrs

from assembler.conversation.history import HistoryView
from budgets import Tokens


class Question(Protocol):
    """The policy's side of a request: how to ask, and where the answer goes."""

    @property
    def awaited(self) -> bool:
        """Whether the answer must be awaited."""
        ...

    def ask(self) -> object:
        """Call the caller's function. Returns whatever it returns: a text, an awaitable of one, or something wrong."""
        ...

    def settle(self, answer: object) -> None:
        """Remember the text, or why there is none, together with its messages."""
        ...

    def settle_in(self, view: HistoryView, text: str) -> bool:
        """Remember the text with this history, which may be of another assembler. False unless it `is_about` it."""
        ...

    def is_about(self, view: HistoryView) -> bool:
        """Whether `view` still holds the messages to summarise, and no newer summary replaces them."""
        ...


@attrs.frozen(eq=False)
class Wanted:
    """A summary that would help: of the messages `dropped` (your objects, oldest first), after the summary `previous`.

    It may cost `max_tokens`. Pinned turns stay, so their messages are not among `dropped`.
    """

    dropped: tuple[object, ...] = attrs.field(repr=False)
    previous: str | None = attrs.field(repr=False)
    max_tokens: Tokens
    question: Question = attrs.field(repr=False)
    """Where the answer goes: `assembler.add_summary(wanted, text)` does it."""


class UnansweredError(Exception):
    """A plan needs an answer first. `pipeline.summarizing` catches this, asks, and plans again."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        super().__init__("a summary is wanted")
