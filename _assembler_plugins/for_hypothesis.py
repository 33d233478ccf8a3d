"""Moved to `assembler.testing.for_hypothesis`."""

from assembler.testing.for_hypothesis import load

__all__ = ["load"]
