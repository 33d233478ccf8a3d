"""Moved to `assembler.testing.for_pytest`."""

from assembler.testing.for_pytest import assert_fits, assert_valid

__all__ = ["assert_fits", "assert_valid"]
