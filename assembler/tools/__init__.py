"""Tools: functions, classes, models and definitions in, one noun out. Knows schemas; knows no price."""

from __future__ import annotations

from assembler.tools.intake import read_tool, read_tools
from assembler.tools.tool import Tool

__all__ = ["Tool", "read_tool", "read_tools"]
