"""Tools: functions, classes, models and definitions in, one noun out.

The readers are loaded when a tool is first read.
"""

from __future__ import annotations

import typing

from assembler.regions.tools.tool import Tool
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.regions.tools.deferred import Defer, ToolSearch
    from assembler.regions.tools.intake import read_tool, read_tools

_load_later(
    __name__,
    {
        "assembler.regions.tools.deferred": "Defer ToolSearch",
        "assembler.regions.tools.intake": "read_tool read_tools",
    },
)

__all__ = ["Defer", "Tool", "ToolSearch", "read_tool", "read_tools"]
