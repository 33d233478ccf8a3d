"""Checks that your own policy, dialect, counter, strategy or message reader keeps its contract."""

from assembler.testing.conformance.checking import ContractError
from assembler.testing.conformance.counters import check_counter
from assembler.testing.conformance.dialects import check_dialect
from assembler.testing.conformance.policies import check_policy
from assembler.testing.conformance.readers import check_reader
from assembler.testing.conformance.strategies import check_strategy

__all__ = ["ContractError", "check_counter", "check_dialect", "check_policy", "check_reader", "check_strategy"]
