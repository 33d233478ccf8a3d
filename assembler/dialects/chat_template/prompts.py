"""The prompts that were rendered last, found again by what they were rendered from.

A reading of a message never changes, and a message that its owner changed is read anew: the same readings, the same
prompt. They are held here while they are remembered, so that no other reading can take their place.
"""

from __future__ import annotations

from array import array

import attrs

from assembler.dialects.chat_template.spelling import Spelling
from assembler.regions.layout import Layout
from budgets.value import are_the_same

REMEMBERED = 8
"""Prompts. A fit weighs two or three and emits one of them; the rest is for forks that are built in turn. One of
128,000 tokens is about 2 MB."""


@attrs.define(eq=False)
class Prompt:
    """One layout, spelled and rendered: the text, its ids, and how many texts were broken up."""

    spelling: Spelling
    text: str = attrs.field(repr=False)
    ids: array[int] = attrs.field(repr=False)
    broken: int
    harmless: bool = False
    """Whether its control ids were held against those of its bare structure. Set once."""


@attrs.define(eq=False, getstate_setstate=False)
class Prompts:
    """At most `REMEMBERED` prompts, the newest first. Replaced whole: a thread may miss one, never find a wrong one."""

    _known: tuple[tuple[Layout, Prompt], ...] = ()

    def of(self, layout: Layout) -> Prompt | None:
        """The prompt of a layout that says the same with the very same readings. O(messages), for each remembered."""
        return next((prompt for known, prompt in self._known if _same(known, layout)), None)

    def remember(self, layout: Layout, prompt: Prompt) -> None:
        """Keep a prompt, and let the oldest go."""
        self._known = ((layout, prompt), *self._known[: REMEMBERED - 1])

    def __reduce__(self) -> tuple[type[Prompts], tuple[()]]:
        return Prompts, ()  # what was said stays with who said it


def _same(one: Layout, other: Layout) -> bool:
    if one is other:
        return True
    regions = (one.head, other.head), (one.messages, other.messages), (one.tools, other.tools)
    return one.system == other.system and all(are_the_same(*both) for both in regions)
