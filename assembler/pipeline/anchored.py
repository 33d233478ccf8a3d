"""Fits a request whose size is known from a provider's bill.

A bill says how far our rules are off for the request that was billed. A build first tries to keep what that request
kept and append the new messages: this costs the bill plus the new messages, and it preserves the provider's prompt
cache. If that no longer fits, the policies decide by our rules, under a limit lowered by the amount that the rules may
miss. Both ways depend only on the history and the bill, so a process that has just started builds the same request as
one that saw every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from assembler.conversation.messages import Message
from assembler.dialects.writing.emit import emit_layout
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.ladder import Known
from assembler.pipeline.overflow import TooLarge
from assembler.pipeline.planned import Planned
from assembler.pipeline.recipe import Recipe
from assembler.pipeline.settings import Settings
from assembler.pricing.calibration import CalibratedCounter, Fingerprint


def plan_anchored(
    settings: Settings,
    bill: CalibratedCounter,
    continue_from: Callable[[Recipe], Planned | None],
    decide: Callable[[Known | None], Planned],
) -> Planned:
    """The plan of an anchored draft. Raises `TooLarge`.

    `continue_from` plans to keep what an earlier request kept, plus the new messages. `decide` asks the policies, which
    start from what it is given.
    """
    limit = settings.limit
    kept = None if bill.kept is None else continue_from(bill.kept)
    before = _correct_if_billed(settings, bill, kept)
    if limit is None:
        return before or _correct_by_bill(settings, bill, decide(None))
    fitting = before if before is not None and before.count.upper <= limit else None
    wider = bill.limit is not None and limit > bill.limit
    if fitting is not None and not wider:
        return fitting
    try:
        last = kept if _begins_anew(settings, kept) else before
        known = None if last is None or bill.kept is None or wider else (bill.kept.length, last.trimmed)
        plan = _correct_by_bill(settings, bill, decide(known))
    except TooLarge as overflow:
        if fitting is not None:
            return fitting
        raise _convert_overflow(overflow, settings, bill, before) from overflow.__cause__
    return fitting if fitting is not None and fitting.first < plan.first else plan


def _begins_anew(settings: Settings, kept: Planned | None) -> bool:
    """Whether a request may begin differently from the billed one, of which then only the cut still applies.

    That holds for the prompt of a template, for a request whose knowledge stands around the newest question, and for an
    API that joins the next question to the last.
    """
    joins = settings.whole_pricer is not None or settings.merging_pricer is not None
    return joins or (kept is not None and kept.measured.host is not None)


def _correct_if_billed(settings: Settings, bill: CalibratedCounter, plan: Planned | None) -> Planned | None:
    """The plan with its count corrected by the bill; None unless its request begins as the billed one did and can be
    sent, at least up to calls that wait for results.
    """
    if plan is None:
        return None
    try:
        beginning = _hash_beginning(settings, bill, plan)
    except ConversationError:
        return None
    if beginning != bill.request:
        return None
    return plan.corrected_to(bill.correct(plan.by_rule, beginning), settings)


def _correct_by_bill(settings: Settings, bill: CalibratedCounter, plan: Planned) -> Planned:
    """The plan with its count corrected by the bill. Emits and hashes one request."""
    return plan.corrected_to(bill.correct(plan.by_rule, _hash_beginning(settings, bill, plan)), settings)


def _hash_beginning(settings: Settings, bill: CalibratedCounter, plan: Planned) -> Fingerprint:
    model = None if settings.budget is None else settings.budget.model
    request = _emit_request(settings, plan)
    return Fingerprint.of(request, dialect=settings.dialect.name, model=model, turns=bill.request.turns)


def _emit_request(settings: Settings, plan: Planned) -> dict[str, Any]:
    """The request; if it cannot be sent yet, the request of its sendable messages, which begins the same."""
    try:
        return plan.emission.request
    except UnsupportedContentError:
        raise
    except ConversationError:
        to_send = _drop_unsendable_end(plan)
        if len(to_send) == len(plan.layout.messages):
            raise
        return emit_layout(settings.dialect, attrs.evolve(plan.layout, messages=to_send)).request


def _drop_unsendable_end(plan: Planned) -> list[Message]:
    """The messages without a last step whose calls are unanswered, up to the last that the model did not write."""
    to_send = list(plan.layout.messages)
    if plan.open_calls:
        calling = (place for place, each in enumerate(to_send) if not set(plan.open_calls).isdisjoint(each.parts))
        del to_send[max(calling, default=len(to_send)) :]  # calls before the first question may not be sent at all
    while to_send and to_send[-1].role == "assistant":
        to_send.pop()
    return to_send


def _convert_overflow(
    overflow: TooLarge, settings: Settings, bill: CalibratedCounter, before: Planned | None
) -> TooLarge:
    """The overflow counted by our rules, converted to the tokens that the provider bills."""
    if settings.budget is None:
        return overflow
    changed, limit = bill.bound(overflow.required), bill.allowed(settings.budget.input_limit)
    required = changed if before is None else min(changed, before.count.upper)
    bound = overflow.region is not None
    forgotten = "the bill" if bill.most is None else "the bill and the refusal"
    return TooLarge(
        overflow.plan,
        settings.budget,
        required=required,
        available=min(limit, required - overflow.excess) if bound else limit,
        costs=overflow.costs.adding_up_to(min(required, max(overflow.costs.total, bill.bound(overflow.costs.total)))),
        region=overflow.region,
        over=overflow.over,
        changed=changed,
        remark=f"Counted by rule; the bill of {bill.billed} was {bill.margin:+d}. anchor(None) forgets {forgotten}.",
    )
