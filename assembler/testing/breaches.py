"""How a valid request is made to break one rule: `drawn.py` in each API's folder."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.breach import Breach
from budgets.later import FromFolders

BREACHES: Mapping[str, Mapping[str, Breach]] = FromFolders("assembler.dialects", "drawn", "BREACHES")
"""By dialect, by the id of the rule as `assembler.verify.rules` lists it."""

__all__ = ["BREACHES", "Breach"]
