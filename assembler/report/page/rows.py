"""Stores each row of a page once, for all builds that share it, so that a session's page stays small.

A build refers to its rows by runs of their numbers, so it adds only what changed since the build before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from assembler.conversation.messages import Message
from assembler.report.items import Item
from assembler.report.manifest.digests import digest
from assembler.report.page.texts import Content, Texts, text_of
from assembler.report.rows import REGIONS, Outcome
from budgets import Tokens

OUTCOMES: tuple[Outcome, ...] = ("kept", "shortened", "dropped")

FIXED, TURN, PINNED, STAND_IN, LATE = range(5)
"""The kinds of rows: before the conversation, a turn, a pinned turn, a summary or note, after the conversation."""

State: TypeAlias = tuple[Item, Tokens, Outcome]
"""An item, its remaining tokens, and its outcome."""


class Rows:
    """The rows of all builds on a page, and the texts that rows share. Grows while builds are written."""

    def __init__(self, texts: Texts | None = None) -> None:
        self._texts = texts
        self._rows: dict[tuple[object, ...], int] = {}
        self._words: dict[str, int] = {"": 0}
        self._contents: dict[str, int] = {}
        self._read: dict[Message, int] = {}

    def runs(self, states: Iterable[State]) -> list[list[int]]:
        """The numbers of these rows as runs `[first, length]`. O(rows)."""
        return _group_runs(self._place_state(state, 0) for state in states)

    def compared_runs(self, states: Iterable[State]) -> list[list[int]]:
        """The runs of rows that also have a number for their text, to compare builds. O(characters)."""
        return _group_runs(self._place_state(state, self._number_text(state[0].content)) for state in states)

    def word(self, text: str) -> int:
        """The number of a text that many rows repeat."""
        return self._words.setdefault(text, len(self._words))

    def written(self) -> Mapping[str, Any]:
        """The rows and texts for the page's script."""
        return {"rows": list(self._rows), "words": list(self._words)}

    def _place_state(self, state: State, content: int) -> int:
        item, after, outcome = state
        text = None if self._texts is None else text_of(item.content, self._texts)
        row = (
            REGIONS.index(item.region),
            item.name,
            item.before,
            after,
            OUTCOMES.index(outcome),
            self.word("" if item.grade is None else str(item.grade)),
            self.word(item.note),
            self.word(item.omitted),
            item.messages,
            _find_kind(item),
            0 if item.largest is None else (item.largest[0], self.word(item.largest[1]), item.largest[2]),
            content,
            *([] if text is None else [text]),
        )
        return self._rows.setdefault(row, len(self._rows))

    def _number_text(self, content: Content | None) -> int:
        """A number that rows with the same text share; 0 for no text."""
        match content:
            case None:
                return 0
            case (Message() as message,):
                if message not in self._read:
                    self._read[message] = self._number_hash(digest(message.seen))
                return self._read[message]
            case str():
                return self._number_hash(digest(content))
            case tuple():
                return self._number_hash(digest([message.seen for message in content]))
            case _:
                return self._number_hash(digest([content.name, content.description, content.parameters, content.extra]))

    def _number_hash(self, hashed: str) -> int:
        return self._contents.setdefault(hashed, len(self._contents) + 1)


def _group_runs(places: Iterable[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][0] + runs[-1][1] == place:
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    return runs


def _find_kind(item: Item) -> int:
    if item.stands_in:
        return STAND_IN
    if item.span is None:
        return FIXED if item.stable or item.region != "knowledge" else LATE
    return PINNED if item.pinned else TURN
