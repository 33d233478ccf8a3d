"""Estimates how many tokens of a request a prefix cache can serve.

Providers serve a cached prefix on a best-effort basis, and for a limited time.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.dialects import DIALECTS
from assembler.dialects.caching.prefixes import PrefixCache, first_rule
from assembler.dialects.plain.dialect import definition, spell_message
from assembler.pipeline.planned import Planned
from assembler.pipeline.sent_order import with_summary
from assembler.report.region_facts import fixed_facts
from budgets import Count, Grade
from budgets.count import NOTHING, total


def rule_for(dialect: str, model: str | None) -> PrefixCache | None:
    """The cache rule of a model and dialect, or of the newest model if it is None. None if unknown."""
    known = DIALECTS.get(dialect)
    return None if known is None else first_rule(known.api.caches, model)


def rule_of(plan: Planned) -> PrefixCache | None:
    """The cache rule of the plan's model."""
    return _first_rule(plan.settings.dialect.api.caches, plan.settings.model)


# Cached: every report needs it, and searching the patterns takes longer than making all rows.
_first_rule = functools.lru_cache(maxsize=256)(first_rule)


def stable_prefix(plan: Planned) -> Count:
    """Price everything before the newest turn: system text, tools, older turns. O(1) once the plan is priced."""
    start, stop = plan.view.newest_turn()
    newest = NOTHING
    if start < stop:
        ledger = plan.ledger.with_savings(plan.trimmed.savings) if plan.trimmed.savings else plan.ledger
        newest = ledger.turn(start, stop)
    return _price_prefix(plan) + (plan.conversation - newest)


def cacheable(plan: Planned) -> Count:
    """What a cache can serve of the stable prefix; 0 tokens if the provider's rule is unknown."""
    return servable(stable_prefix(plan), rule_of(plan))


def count_served(plan: Planned, previous: Planned) -> Count:
    """What a cache that holds all of `previous` can serve of this plan's request. O(messages that both share).

    0 for another dialect or model. If only the system text differs, `tokens` is 0 and `upper` includes the tools, which
    some providers read first. APIs that cache only what is marked serve this with the marks of `CacheMarks`.
    """
    ours, theirs = plan.settings, previous.settings
    if (ours.dialect.name, ours.model) != (theirs.dialect.name, theirs.model) or not _are_same_tools(plan, previous):
        return _NOTHING_SERVED
    if plan.layout.system != previous.layout.system or not _are_same_messages(plan.layout.head, previous.layout.head):
        return attrs.evolve(_NOTHING_SERVED, upper=servable(plan.measured.capability, rule_of(plan)).upper)
    return servable(_price_prefix(plan) + total(_list_shared_prices(plan, previous)), rule_of(plan))


_NOTHING_SERVED = Count(0, Grade.ESTIMATED, upper=0)


def servable(prefix: Count, rule: PrefixCache | None) -> Count:
    """What a cache with this rule can serve of a prefix; 0 without a rule."""
    if rule is None:
        return Count(0, Grade.ESTIMATED, upper=prefix.upper)
    return Count(rule.served(prefix.tokens), Grade.ESTIMATED, upper=rule.served(prefix.upper))


def _price_prefix(plan: Planned) -> Count:
    """Price system text, head and tools. The request's framing is not part of the prefix."""
    measured = plan.measured
    facts, prices = fixed_facts(measured), measured.prices
    if facts.prefix is None:
        facts.prefix = total([*prices.pieces[: len(measured.rendered.pieces)], *prices.head]) + measured.capability
    return facts.prefix


def _are_same_tools(plan: Planned, previous: Planned) -> bool:
    ours, theirs = plan.measured.regions.tools, previous.measured.regions.tools
    return ours is theirs or [*map(definition, ours)] == [*map(definition, theirs)]


def _are_same_messages(ours: Sequence[Message], theirs: Sequence[Message]) -> bool:
    return len(ours) == len(theirs) and all(map(_is_same_message, ours, theirs))


def _is_same_message(ours: Message, theirs: Message) -> bool:
    return ours is theirs or (ours.role == theirs.role and spell_message(ours) == spell_message(theirs))


def _list_shared_prices(plan: Planned, previous: Planned) -> Iterator[Count]:
    summary, sent = plan.trimmed.cut.summary, list[tuple[int | None, Message]](plan.sent)
    sent = sent if summary is None else with_summary(plan, sent, (None, summary))
    for (index, message), earlier in zip(sent, previous.layout.messages, strict=False):
        if not _is_same_message(message, earlier):
            return
        if index is not None and plan.view.message(index) is message:
            yield plan.ledger.message(index)
        else:
            yield plan.ledger.price(message)
