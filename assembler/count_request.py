"""What a raw provider request costs, whoever built it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.dialects import Dialect
from assembler.pricing import WholePricer, priced_layout
from budgets import Count, TokenCounter, tiktoken_counter


def count_request(
    request: Mapping[str, Any], *, dialect: Dialect, model: str | None = None, counter: TokenCounter | None = None
) -> Count:
    """Tokens that the provider will bill for `request`, their grade, and an upper bound.

    `request` is the body of the API's call, with or without its model and sampling keys. `counter` stands in for the
    model's encoding. Raises `ConversationError` or `ToolError` where the request cannot be read, and
    `UnsupportedContentError` for a part that has no price.
    """
    layout = dialect.parse(request)
    pricer = dialect.pricer(model, _counter_for(model) if counter is None else counter)
    if isinstance(pricer, WholePricer):
        dialect.notes(layout)  # raises for what this dialect would not send
        return pricer.whole(layout)
    return priced_layout(pricer, layout)


def _counter_for(model: str | None) -> TokenCounter:
    """The model's bundled encoding; o200k_base where it has none of its own."""
    if model is None:
        return tiktoken_counter()
    from budgets.models import encoding_of

    return tiktoken_counter(encoding_of(model) or "o200k_base")
