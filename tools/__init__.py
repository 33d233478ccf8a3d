"""Generators of data that the library ships. Run from a clone; never in the wheel."""
