"""The error of a check of a contract, and how a check runs its examples."""

from __future__ import annotations

from assembler.drawn.engine import Phase, settings, steadily
from budgets.errors import Evidence


class ContractError(Evidence, AssertionError):
    """Something of your own breaks its contract: `subject` names it, `law` what it broke, `problem` says where.

    Raised for the smallest example that was found. Every text that it shows was drawn by the check.
    """

    def __init__(self, subject: str, law: str, problem: str) -> None:
        super().__init__(f"{subject}: {law}; {problem}")
        self.subject, self.law, self.problem = subject, law, problem


def examples(number: int) -> settings:
    """The same examples each time, without a store, also inside of another property."""
    return steadily(number, Phase.explicit, Phase.generate, Phase.shrink)
