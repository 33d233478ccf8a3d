"""Code that the checks of contracts share: their error, how they run examples, and checks of any request."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.context import Context
from assembler.drawn.engine import Phase, settings, st, steadily
from assembler.verify import verify
from budgets.errors import Evidence

AMPLE = 1_000_000
"""A window, in tokens, that no drawn conversation fills."""
EDGE = 2
"""Offsets from an edge, where `<` and `<=` differ."""
WORDS = st.text("abcdefghijklmnop", min_size=6, max_size=12)
"""Texts that every API and layout carries unchanged, and that occur in no name or note by chance."""


class ContractError(Evidence, AssertionError):
    """Your own `subject` breaks the `law` of its contract; `problem` shows where.

    Raised for the smallest example that was found. Every text in the error was drawn by the check.
    """

    def __init__(self, subject: str, law: str, problem: str) -> None:
        super().__init__(f"{subject}: {law}; {problem}")
        self.subject, self.law, self.problem = subject, law, problem


def examples(number: int) -> settings:
    """Return settings with the same examples each time, without a store, also inside another property."""
    return steadily(number, Phase.explicit, Phase.generate, Phase.shrink)


@attrs.frozen
class Checked:
    """Something of your own under a check; errors call it by `name`."""

    name: str

    def broken(self, law: str, problem: str) -> ContractError:
        """Return the error to raise."""
        return ContractError(self.name, law, problem)

    def fits_and_is_valid(self, context: Context[Any], dialect: str) -> None:
        """Raise unless the built request fits its budget and keeps the rules of its API."""
        if context.count.upper > (context.input_limit or 0):
            raise self.broken("what is built fits", f"{context.count.upper} of {context.input_limit} tokens")
        if wrong := verify(context.request(), dialect=dialect):
            raise self.broken("what is built is valid", "; ".join(map(str, wrong[:3])))
