"""Whether a dialect, a counter or a policy of your own keeps its contract: one check each, and its error."""

from assembler.testing.conformance.broken import ContractError
from assembler.testing.conformance.counters import check_counter
from assembler.testing.conformance.dialects import check_dialect
from assembler.testing.conformance.policies import check_policy

__all__ = ["ContractError", "check_counter", "check_dialect", "check_policy"]
