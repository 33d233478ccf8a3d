"""Whether a dialect or a counter of your own keeps its contract: one check each, and the error for what it broke."""

from assembler.testing.conformance.broken import ContractError
from assembler.testing.conformance.counters import check_counter
from assembler.testing.conformance.dialects import check_dialect

__all__ = ["ContractError", "check_counter", "check_dialect"]
