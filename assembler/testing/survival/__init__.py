"""What a policy forgets: facts planted at known places, a session lived through, and what is there when it is asked."""

from assembler.testing.survival.living import survival
from assembler.testing.survival.outcome import Share, Survival, survival_table
from assembler.testing.survival.planting import Fact, Planted, planted

__all__ = ["Fact", "Planted", "Share", "Survival", "planted", "survival", "survival_table"]
