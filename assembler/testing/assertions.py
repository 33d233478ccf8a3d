"""Asserts that raw requests, built by any code, fit and are valid. Needs neither Hypothesis nor pytest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assembler.count_request import count_request
from assembler.dialects import Dialect
from assembler.dialects.by_name import dialect_for, model_in
from assembler.errors import MessageTypeError, WrongTypeError
from assembler.pricing.pricer import Piece, Pricer, price_message
from assembler.regions.layout import Layout
from assembler.validation import wrong
from assembler.verify import Violation, verify
from budgets import Budget, Count, Grade, Tokens
from budgets.count import total
from budgets.numbers import with_noun

_MOST_ROWS = 12
"""The number of items in a failure's table, most expensive first. The rest is one line."""


def assert_fits(
    request: Mapping[str, Any],
    *,
    dialect: str | Dialect | None = None,
    model: str | None = None,
    budget: Budget | None = None,
    max_output_tokens: Tokens = 0,
) -> Count:
    """Assert that the request fits the model's window less `max_output_tokens`, and return its cost.

    `request` is the body of the API's call. `budget` replaces the model's published window. The model is `model`, else
    the budget's, else the one in the body, and decides the dialect if none is given. `AssertionError` lists the most
    expensive items without their texts. Raises `TypeError` with neither a model nor a budget, and `UnknownModelError`
    for a model without a published window.
    """
    __tracebackhide__ = True
    _refuse_no_body(request)
    named = model or (budget.model if budget is not None else None) or model_in(request, dialect)
    if budget is None:
        if not isinstance(named, str):
            raise WrongTypeError("assert_fits needs model='gpt-4o' or budget=Budget(…): the request names no model")
        budget = Budget.for_model(named, max_output_tokens=max_output_tokens)
    resolved = dialect_for(dialect, named)
    count = count_request(request, dialect=resolved, model=named, counter=budget.token_counter)
    if count.upper > budget.input_limit:
        pricer = resolved.pricer(named, budget.token_counter)
        raise AssertionError("\n".join(_describe_overflow(count, budget, resolved.parse(request), pricer)))
    return count


def assert_valid(request: Mapping[str, Any], *, dialect: str | Dialect | None = None, model: str | None = None) -> None:
    """Assert that the request breaks no rule of its API that `assembler.verify` knows.

    Without `dialect`, the dialect of `model` or of the body's model is used. `AssertionError` lists every breach: the
    rule, the place, the problem, and the API's own error text if it is known; never the text of a message.
    """
    __tracebackhide__ = True
    _refuse_no_body(request)
    named = model or model_in(request, dialect)
    name = dialect if isinstance(dialect, str) else dialect_for(dialect, named).name
    violations = [one for one in verify(request, dialect=name, model=named) if not one.note]
    if violations:
        raise AssertionError("\n".join(_describe_breaches(violations, name)))


def _refuse_no_body(request: object) -> None:
    if not isinstance(request, Mapping):
        raise MessageTypeError(wrong("request", "the body of the API's call (a dict)", request))


def _describe_overflow(count: Count, budget: Budget, layout: Layout, pricer: Pricer) -> Iterator[str]:
    most = (
        f"{count.upper:,} tokens" if count.grade is Grade.EXACT else f"at most {count.upper:,} tokens ({count.grade})"
    )
    yield (
        f"the request costs {most}, but only {budget.input_limit:,} are free ({budget.arithmetic()}): "
        f"{count.upper - budget.input_limit:,} too many"
    )
    rows = sorted(_list_items(layout, pricer), key=lambda row: -row[1].upper)
    yield f"  {'item':<20}{'role':<12}{'tokens':>9}"
    for (item, role), cost in rows[:_MOST_ROWS]:
        yield f"  {item:<20}{role:<12}{cost.upper:>9,}"
    rest = rows[_MOST_ROWS:]
    if rest:
        yield f"  {f'{len(rest)} more items':<32}{total(cost for _, cost in rest).upper:>9,}"
    framing = count.upper - total(cost for _, cost in rows).upper
    yield f"  {'framing and the rest':<32}{framing:>9,}"
    yield "Assembler(budget, on_overflow=TrimOldest()) drops old turns; a smaller max_output_tokens leaves more tokens."


def _list_items(layout: Layout, pricer: Pricer) -> Iterator[tuple[tuple[str, str], Count]]:
    pieces = [Piece("instruction", "system", layout.system)] if layout.system is not None else []
    fixed = pricer.fixed(pieces, layout.head, layout.tools)
    for cost in fixed.pieces:
        yield ("system", ""), cost
    if layout.tools:
        yield (with_noun(len(layout.tools), "tool"), ""), total(fixed.tools) + fixed.tooling
    for place, (message, cost) in enumerate(zip(layout.head, fixed.head, strict=True)):
        yield (f"messages[{place}]", message.role), cost
    for place, message in enumerate(layout.messages, len(layout.head)):
        yield (f"messages[{place}]", message.role), price_message(pricer, message)


def _describe_breaches(violations: list[Violation], dialect: str) -> Iterator[str]:
    number = f"{len(violations)} breaches" if len(violations) > 1 else "1 breach"
    yield f"the request is not valid for {dialect}: {number}"
    width = max(len(each.where or "the request") for each in violations)
    for each in violations:
        yield f"  {each.rule:<4}{each.where or 'the request':<{width}}  {each.problem}"
        if each.provider_says is not None:
            yield f"  {'':<4}the API says: {each.provider_says}"
