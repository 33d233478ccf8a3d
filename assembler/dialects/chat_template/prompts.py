"""Remembers the prompts that were rendered last, by the readings of their messages.

A reading never changes, and a changed message gets a new reading, so the same readings give the same prompt. They are
compared by identity, and kept alive here so that no other reading gets the identity of a dead one.
"""

from __future__ import annotations

from array import array

import attrs

from assembler.dialects.chat_template.spelling import Spelling
from assembler.regions.layout import Layout
from budgets.value import are_the_same

REMEMBERED = 8
"""The number of prompts. A fit renders two or three and emits one of them; the others are for forks that are built in
turn. A prompt of 128,000 tokens takes about 2 MB."""


@attrs.define(eq=False)
class Prompt:
    """A rendered layout: the text, its ids, and the number of neutralised texts."""

    spelling: Spelling
    text: str = attrs.field(repr=False)
    ids: array[int] = attrs.field(repr=False)
    broken: int
    harmless: bool = False
    """Whether its control ids were checked."""


@attrs.define(eq=False, getstate_setstate=False)
class Prompts:
    """At most `REMEMBERED` prompts, newest first. The tuple is replaced whole: a thread may miss a prompt, no more."""

    _known: tuple[tuple[Layout, Prompt], ...] = ()

    def of(self, layout: Layout) -> Prompt | None:
        """The prompt of an equal layout with the same readings, or None. O(messages) for each prompt."""
        return next((prompt for known, prompt in self._known if _are_same_layout(known, layout)), None)

    def remember(self, layout: Layout, prompt: Prompt) -> None:
        """Add a prompt, and drop the oldest."""
        self._known = ((layout, prompt), *self._known[: REMEMBERED - 1])

    def __reduce__(self) -> tuple[type[Prompts], tuple[()]]:
        return Prompts, ()  # prompts are not pickled


def _are_same_layout(one: Layout, other: Layout) -> bool:
    if one is other:
        return True
    regions = (one.head, other.head), (one.messages, other.messages), (one.tools, other.tools)
    return one.system == other.system and all(are_the_same(*both) for both in regions)
