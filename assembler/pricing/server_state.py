"""Tokens that a server adds to a request from its own state: they are billed, but not in the body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from assembler.errors import ConversationError
from budgets import BudgetError, Count, Tokens
from budgets.numbers import index_of, shown, whole_tokens


def held_count(held: Tokens | Count | None) -> Count | None:
    """The tokens as a count; a plain number is exact. Raises `BudgetError` for anything else."""
    given = cast(object, held)
    if given is None:
        return None
    if isinstance(given, Count):
        return Count(whole_tokens(given.tokens, "held"), given.grade, whole_tokens(given.upper, "held"))
    number = index_of(given)
    if number is None or number < 0:
        raise BudgetError(
            "held: expected the tokens that the server holds (an int of 0 or more, or a Count), such as the "
            f"input_tokens and output_tokens of the last answer's usage, got {shown(given)}"
        )
    return Count(number)


def refuse_unseen(options: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raise `ConversationError` if a request refers to state of its server, whose price is not in the body."""
    named = [key for key in keys if options.get(key)]
    if named:
        raise ConversationError(
            f"{' and '.join(named)}: the server adds and bills tokens that are not in this request; pass them as "
            "held=…, assembler.hold(…), or held in a request file: for an answer that is continued, input_tokens + "
            "output_tokens of its usage"
        )
