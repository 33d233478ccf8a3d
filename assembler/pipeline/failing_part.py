"""Finds the item on which a counter failed.

A counter that failed once may not fail again, so it is not called again. The regions are laid out a second time with
the remembered counts; the first text without a count is the one that failed. Then each item is priced alone, and the
item whose pricing counts that text is the one to name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.pipeline.settings import Settings
from assembler.pricing.pricer import Piece, Pricer
from assembler.regions.regions import Regions
from assembler.regions.tools import Tool
from budgets import TokenCountError, Tokens
from budgets.counters.guard import Fronting, Guarded
from budgets.counters.memo import Memoised


class _NotRememberedError(TokenCountError):
    """A text that was never counted to the end."""


@attrs.frozen(eq=False)
class _ReplayingCounter(Fronting):
    """Answers from a counter's memory and records the texts; raises at the first text that is not remembered."""

    counter: Memoised
    asked: list[str] = attrs.field(factory=list[str])

    def __call__(self, text: str, /) -> Tokens:
        """The count that the counter remembers."""
        self.asked.append(text)
        if text not in self.counter:
            raise _NotRememberedError(self.name, "was not asked")
        return self.counter(text)


class _NotingCounter(_ReplayingCounter):
    """Records the texts and counts nothing."""

    def __call__(self, text: str, /) -> Tokens:
        """0, whatever the text."""
        self.asked.append(text)
        return 0


def failing_part(
    regions: Regions, head: Sequence[Message], settings: Settings, lay_out: Callable[[Pricer], object]
) -> str | None:
    """The name of the item on whose text the counter failed; None if the text is of several items, or unknown.

    `lay_out` repeats the failed layout with another pricer. O(texts that were counted).
    """
    if settings.budget is None:
        return None  # counts are not remembered
    memory = settings.budget.token_counter
    if _may_forget(memory, _note_counted_texts(memory, settings, lay_out)):
        return None
    text = _find_failing_text(memory, settings, lay_out)
    if text is None:
        return None
    bare = text.strip("\n")  # a line break between two pieces may be counted with either
    return next(
        (
            name
            for name, price in _list_parts(regions, head, settings)
            if bare in _note_counted_texts(memory, settings, price)
        ),
        None,
    )


def _find_failing_text(memory: Memoised, settings: Settings, lay_out: Callable[[Pricer], object]) -> str | None:
    replayed = _ReplayingCounter(memory)
    try:
        lay_out(_make_pricer(settings, replayed))
    except TokenCountError:
        return replayed.asked[-1] if replayed.asked else None
    return None  # every text is remembered: another thread has counted it meanwhile


def _may_forget(memory: Memoised, texts: Collection[str]) -> bool:
    """Whether these may be more than the memory holds: then a text that is not in it may still have been counted."""
    return 2 * len(texts) > memory.max_entries or 2 * sum(map(len, texts)) > memory.max_characters


def _note_counted_texts(memory: Memoised, settings: Settings, price: Callable[[Pricer], object]) -> set[str]:
    noted = _NotingCounter(memory)
    price(_make_pricer(settings, noted))
    return {text.strip("\n") for text in noted.asked}


def _make_pricer(settings: Settings, counter: Guarded) -> Pricer:
    return settings.dialect.pricer(settings.model, counter)


def _list_parts(
    regions: Regions, head: Sequence[Message], settings: Settings
) -> Iterator[tuple[str, Callable[[Pricer], object]]]:
    """The name of every item in errors, and a function that prices it alone."""
    for place, tool in enumerate(regions.tools):
        yield f"tools[{place}] {tool.name!r}", _price_alone(tools=(tool,))
    for index, message in enumerate(head):
        yield f"message {index}", _price_alone(head=(message,))
    if regions.instruction:
        yield "instruction", _price_alone(settings.strategy.render(Regions(regions.instruction)).pieces)
    for place, document in enumerate(regions.documents):
        yield f"knowledge[{place}]", _price_alone(settings.strategy.render(Regions(documents=(document,))).pieces)


def _price_alone(
    pieces: Sequence[Piece] = (), head: Sequence[Message] = (), tools: Sequence[Tool] = ()
) -> Callable[[Pricer], object]:
    return lambda pricer: pricer.fixed(pieces, head, tools)
