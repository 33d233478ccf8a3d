"""Finds the dialect for a value of `assembler.dialects` or a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.dialects import DIALECTS, Dialect
from assembler.validation import offers, unknown_dialect
from budgets import BudgetError, models


def read_dialect(dialect: Dialect | str) -> Dialect:
    """The dialect for a value or a name. Raises `BudgetError`, with a similar name if there is one."""
    if isinstance(dialect, str):
        name = str.__str__(dialect)  # a subclass may have any methods
        known = DIALECTS.get(name)
        if known is None:
            raise unknown_dialect(name, DIALECTS, _hint_at_template(name))
        return known
    if not offers(dialect, "pricer", "emit"):
        raise BudgetError(
            f"dialect: expected a value of assembler.dialects or its name, got {_name_kind(dialect)}; "
            f"pass one of {', '.join(DIALECTS)}{_hint_at_template(dialect)}"
        )
    return dialect


def read_own_dialect(dialect: Dialect | str, own: Dialect) -> Dialect:
    """The dialect for a value or a name; the name of `own` means it as it is, with its settings."""
    given = cast(object, dialect)
    return own if isinstance(given, str) and str.__str__(given) == own.name else read_dialect(dialect)


def dialect_for(dialect: Dialect | str | None, model: object) -> Dialect:
    """The dialect for a value or a name, or for the model if it is None. Raises `BudgetError` for neither."""
    name = models.dialect_of(model) if dialect is None and isinstance(model, str) else None
    if dialect is None and name is None:
        raise BudgetError(f"no dialect: pass dialect=, one of {', '.join(DIALECTS)}, or a model whose API is known")
    return DIALECTS[name] if name is not None else read_dialect(cast("Dialect | str", dialect))


def model_in(request: Mapping[str, Any], dialect: Dialect | str | None = None) -> str | None:
    """The model that a body names under the key of its API; None if it names none.

    Without a dialect, under the key of any API, `"model"` first.
    """
    if "model" in request:
        named: object = request["model"]
    else:
        asked = DIALECTS.values() if dialect is None else [read_dialect(dialect)]
        keys = [each.api.model for each in asked if each.api.model]
        named = next((request[key] for key in keys if key in request), None)
    return str.__str__(named) if isinstance(named, str) else None


def _name_kind(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def _hint_at_template(given: object) -> str:
    """A hint for a caller who passed a tokenizer, or `chat_template` itself."""
    template = (
        (isinstance(given, str) and given == "chat_template") or offers(given, "apply_chat_template") or callable(given)
    )
    return ", or chat_template(tokenizer) of a Hugging Face tokenizer" if template else ""
