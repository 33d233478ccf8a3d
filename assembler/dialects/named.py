"""The one place that reads a dialect: a value of `assembler.dialects`, or its name."""

from __future__ import annotations

from typing import cast

from assembler.dialects import DIALECTS, Dialect
from budgets import BudgetError, models

LONGEST_NAME = 40
"""Characters. What is longer is no misspelled name, and nothing like it is looked for."""

OFTEN_MEANT = {
    "chat": "openai_chat",
    "claude": "anthropic",
    "converse": "bedrock",
    "google": "gemini",
    "openai": "openai_chat",
    "responses": "openai_responses",
}
"""What people type for an API that has several names, by the name it has here."""


def read_dialect(dialect: Dialect | str) -> Dialect:
    """The dialect that a value or a name stands for. Raises `BudgetError`, with the nearest name where one is near."""
    given = cast(object, dialect)
    if isinstance(given, str):
        known = DIALECTS.get(given)
        if known is None:
            raise BudgetError(f"dialect: expected one of {', '.join(DIALECTS)}, got another text{_hint(given)}")
        return known
    if isinstance(given, type) or not (hasattr(given, "pricer") and hasattr(given, "emit")):
        raise BudgetError(
            f"dialect: expected a value of assembler.dialects or its name, got {_kind(given)}; "
            f"pass one of {', '.join(DIALECTS)}{_call(given)}"
        )
    return dialect  # type: ignore[return-value] # a name has left above


def _kind(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def _hint(name: str) -> str:
    import difflib  # most names are right

    spelled = name.lower().replace("-", "_").replace(" ", "_")[:LONGEST_NAME]
    near = OFTEN_MEANT.get(spelled) or next(iter(difflib.get_close_matches(spelled, DIALECTS, n=1)), None)
    if near is not None:
        return f"; did you mean {near}?"
    if spelled == "chat_template":
        return _call(name)
    spoken = models.dialect_of(name) if len(name) <= LONGEST_NAME else None
    return "" if spoken is None else f"; a model's name is passed as model=, and its dialect is {spoken}"


def _call(given: object) -> str:
    """A tokenizer, or the function that makes a dialect of one: how to call it."""
    template = (
        (isinstance(given, str) and given == "chat_template")
        or hasattr(given, "apply_chat_template")
        or callable(given)
    )
    return ", or chat_template(tokenizer) of a Hugging Face tokenizer" if template else ""
