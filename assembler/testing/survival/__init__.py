"""Measures what a policy forgets: how many planted facts are still in the requests that ask for them."""

from assembler.testing.survival.outcome import Share, Survival, survival_table
from assembler.testing.survival.planting import Fact, Planted, planted
from assembler.testing.survival.sessions import survival

__all__ = ["Fact", "Planted", "Share", "Survival", "planted", "survival", "survival_table"]
