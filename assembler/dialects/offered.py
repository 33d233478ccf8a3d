"""The tools of a request that an API takes: functions, and those of the providers' own tools that are its own."""

from __future__ import annotations

import attrs

from assembler.dialects.dialect import Dialect, Emission
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
