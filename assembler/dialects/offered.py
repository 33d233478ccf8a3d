"""The tools of a request that an API takes: functions, and those of the providers' own tools that are its own."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

import attrs

from assembler.conversation.messages import Message
from assembler.dialects.dialect import Dialect, Emission, GrowingDialect
from assembler.regions.layout import Layout

LEFT_OUT = "tool(s) of another provider left out"


def emitted(dialect: Dialect, layout: Layout) -> Emission:
    """The layout as the dialect spells it, without the tools that its API does not have; the notes say so."""
    kept = [tool for tool in layout.tools if tool.goes_to(dialect.api.shape)]
    gone = len(layout.tools) - len(kept)
    if not gone:
        return dialect.emit(layout)
    emission = dialect.emit(attrs.evolve(layout, tools=kept))
    return attrs.evolve(emission, notes=(*emission.notes, f"{gone} {LEFT_OUT}"))


def emitted_after(dialect: Dialect, before: Emission, added: Sequence[Message]) -> Emission | None:
    """The same of a layout that is the one before with `added` after its messages; None where it must be spelled anew.

    O(added).
    """
    if not added:
        return before
    return cast(GrowingDialect, dialect).emit_after(before, added) if _grows(type(dialect)) else None


# Asking a protocol of an object looks at its every member.
@functools.cache
def _grows(kind: type) -> bool:
    return issubclass(kind, GrowingDialect)
