"""Prices a raw request of any provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs

from assembler.conversation.compaction import without_compacted
from assembler.dialects import Dialect
from assembler.dialects.by_name import dialect_for, model_in
from assembler.dialects.reading.parse_steps import UNREADABLE, unreadable
from assembler.dialects.reading.sdk_arguments import with_schemas, without_sdk_values
from assembler.errors import ConversationError, MessageTypeError
from assembler.pricing.hosted import price_beside_tools
from assembler.pricing.pricer import is_whole, priced_request
from assembler.pricing.server_state import held_count, refuse_unseen
from assembler.pricing.unread_keys import price_unread_keys
from assembler.validation import must_be, wrong
from budgets import AssemblyError, Count, TokenCounter, Tokens, total_counter
from budgets.counters.by_model import counter_for
from budgets.errors import OfTheCaller


def count_request(
    request: Mapping[str, Any],
    *,
    dialect: Dialect | str | None = None,
    model: str | None = None,
    counter: TokenCounter | None = None,
    held: Tokens | Count | None = None,
) -> Count:
    """Tokens that the provider will bill for `request`, their grade, and an upper bound.

    `request` is the body of the API's call, with or without its model and sampling keys. Without `model`, the model
    that the body names is priced. `dialect` is a value of `assembler.dialects` or its name, by default that of the
    model's API. `counter` replaces the model's own. If a request names an earlier answer, a conversation, a prompt, a
    cache or a container, the server adds tokens that its body does not show. Pass their number as `held`; without it
    such a request raises `ConversationError`.

    Raises `ConversationError` or `ToolError` if the request cannot be read, `UnsupportedContentError` for a part
    without a price, and `BudgetError` for a wrong dialect, model, counter or number of tokens.
    """
    if not isinstance(cast(object, request), Mapping):
        step = "; pass {'messages': messages}" if isinstance(cast(object, request), list) else ""
        raise MessageTypeError(wrong("request", "the body of the API's call (a dict)", request) + step)
    must_be("model", model, (str, type(None)), "a model's name (str) or None")
    with OfTheCaller("request", ConversationError):
        return _count_body(request, dialect, model, counter, held)


def _count_body(
    request: Mapping[str, Any],
    dialect: Dialect | str | None,
    model: str | None,
    counter: TokenCounter | None,
    held: Tokens | Count | None,
) -> Count:
    model = model_in(request, dialect) if model is None else model
    resolved, server_tokens = dialect_for(dialect, model), held_count(held)
    counted = counter_for(model) if counter is None else total_counter(counter)
    try:
        priced = _price_body(request, resolved, model, counted, resolved.api.held if server_tokens is None else ())
        return priced if server_tokens is None else priced + server_tokens
    except AssemblyError:
        raise
    except UNREADABLE as error:
        problem = unreadable(error)
    raise problem


def _price_body(
    request: Mapping[str, Any], dialect: Dialect, model: str | None, counter: TokenCounter, unseen: Iterable[str]
) -> Count:
    """The price of a request. Raises if it uses one of the `unseen` keys, for which the server adds tokens."""
    layout = dialect.parse(with_schemas(without_sdk_values(request)))
    refuse_unseen(layout.options, unseen)
    layout = attrs.evolve(layout, messages=without_compacted(layout.messages, dialect.api.shape))
    pricer = dialect.pricer(model, counter)
    if is_whole(pricer):
        dialect.emit(layout)  # raises for anything that this dialect cannot send
    known = (*dialect.api.priced, *dialect.api.held)
    other_keys = price_beside_tools(layout.options, layout.tools) + price_unread_keys(layout.options, known)
    return priced_request(pricer, layout) + other_keys
