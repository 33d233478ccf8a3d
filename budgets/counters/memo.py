"""A bounded memory of counts by text.

Exact, because a count depends only on its text. A hit is one dictionary look-up without a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from budgets.count import AwaitedCounter, TokenCounter, Tokens
from budgets.counters.guard import Fronting, no_text, total_counter
from budgets.errors import BudgetError
from budgets.forking import renew_in_children
from budgets.numbers import as_whole_number

MAX_ENTRIES = 2**16
"""The most texts to keep. An agent session of 300 turns has about a thousand."""
MAX_CHARACTERS = 2**24
"""The most characters to keep, all texts together: 16 MB of ASCII, at worst four times that."""


@attrs.define(eq=False)
class _Generations:
    """Two halves of the memory, with the bounds of each. Counts enter the young one.

    When it is full, it replaces the old one. So texts used since the last change are never forgotten, and a change
    takes no time.
    """

    max_entries: int
    max_characters: int
    young: dict[str, Tokens] = attrs.field(factory=dict)
    old: dict[str, Tokens] = attrs.field(factory=dict)
    characters: int = 0
    lock: threading.RLock = attrs.field(factory=threading.RLock)
    """A signal handler or a finalizer may count in the midst of this, so that a thread may take it twice."""

    def __attrs_post_init__(self) -> None:
        renew_in_children(self)

    def renew(self) -> None:
        """Open the lock in a forked child. A `ForkedLock` would cost two calls for each new text."""
        self.lock = threading.RLock()

    def keep(self, text: str, tokens: Tokens) -> None:
        """Put a count into the young half, unless the text is too long."""
        size = len(text)
        if size > self.max_characters:
            return
        with self.lock:
            if len(self.young) >= self.max_entries or self.characters + size > self.max_characters:
                self.old, self.young, self.characters = self.young, {}, 0
            young = self.young
            if text not in young:
                young[text] = tokens
                self.characters += size

    def keep_each(self, texts: Sequence[str], counts: Sequence[Tokens]) -> None:
        """Put several counts into the young half: at once, if there is space for all of them."""
        with self.lock:
            characters = self.characters + sum(map(len, texts))
            if len(self.young) + len(texts) <= self.max_entries and characters <= self.max_characters:
                self.young.update(zip(texts, counts, strict=True))
                self.characters = characters
                return
        for text, tokens in zip(texts, counts, strict=True):
            self.keep(text, tokens)


def _must_be_at_least_two(bound: object, name: str) -> int:
    number = as_whole_number(bound, name)
    if number < 2:  # one for each generation
        raise BudgetError(f"{name} is {number}: at least 2 is expected")
    return number


@attrs.frozen
class Memoised(Fronting):
    """A counter with a bounded memory. Threads may share it, and hits take no lock. It is pickled empty."""

    max_entries: int = MAX_ENTRIES
    max_characters: int = MAX_CHARACTERS
    _generations: _Generations = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # The class is frozen, so numpy numbers must become ints here.
        for name in ("max_entries", "max_characters"):
            object.__setattr__(self, name, _must_be_at_least_two(getattr(self, name), name))
        halves = _Generations(self.max_entries // 2, self.max_characters // 2)
        object.__setattr__(self, "_generations", halves)

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`, counted once while it is remembered."""
        generations = self._generations
        try:
            tokens = generations.young.get(text)
        except TypeError:  # unhashable, so not a text
            raise no_text(self.name, text) from None
        if tokens is not None:
            return tokens
        tokens = generations.old.get(text)
        if tokens is None:
            tokens = self.counter(text)  # outside the lock: two threads may both count it and get the same
        generations.keep(text, tokens)
        return tokens

    def count_each(self, texts: Iterable[str]) -> Iterator[Tokens]:
        """Tokens of each text. Looks them up together, and counts those that are new in one loop."""
        texts, young = list(texts), self._generations.young
        try:
            found = list(map(young.get, texts))
        except TypeError:  # one of them is unhashable, so not a text
            return map(self, texts)
        missing = dict.fromkeys(text for text, tokens in zip(texts, found, strict=True) if tokens is None)
        new = self._count_new(missing) if missing else {}
        return iter([new[text] if tokens is None else tokens for text, tokens in zip(texts, found, strict=True)])

    def _count_new(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Tokens of texts that are not in the young half. Those counted before one that fails are kept too."""
        new, counts, generations = list(texts), list[Tokens](), self._generations
        old = generations.old
        try:
            if old.keys().isdisjoint(new):
                counts.extend(self.counter.count_each(new))
            else:
                counts.extend(old[text] if text in old else self.counter(text) for text in new)
        finally:
            generations.keep_each(new[: len(counts)], counts)
        return dict(zip(new, counts, strict=True))

    def __contains__(self, text: object) -> bool:
        """Whether this text is remembered."""
        return text in self._generations.young or text in self._generations.old

    def __len__(self) -> int:
        """The number of remembered texts, at most `max_entries`."""
        return len(self._generations.young.keys() | self._generations.old.keys())

    def __reduce__(self) -> tuple[Any, ...]:
        return Memoised, (self.counter, self.max_entries, self.max_characters)


def memoised(
    counter: TokenCounter | AwaitedCounter, *, max_entries: int = MAX_ENTRIES, max_characters: int = MAX_CHARACTERS
) -> Memoised:
    """`counter` with a memory of at most `max_entries` texts and `max_characters` characters.

    Share one memory by sharing the result. A text longer than half of `max_characters` is counted anew each time.
    Raises `BudgetError` if `counter` cannot be called with one text, or a bound is not a whole number of 2 or more.
    """
    return Memoised(total_counter(counter), max_entries, max_characters)
