"""Writes a decision as data: ids, hashes, tokens, settings, versions.

Anybody who guesses a short text can check the guess by its hash, so a manifest is not free of information.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import Any

import attrs

from assembler.conversation.history import HistoryView
from assembler.errors import ConversationError
from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import request_to_read
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings, counter_for
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.regions.tools import Tool
from assembler.report.manifest.digests import describe_setting, digest, hash_bytes, spell_json
from budgets import Budget
from budgets.counters.guard import name_of

FORMAT = 1
"""The version of the manifest's format. It grows when older readers would misread a manifest."""

_ENGINES = {"tiktoken": "tiktoken", "toktok": "toktok-rs", "transformers": "tokenizers"}
"""The distribution behind a counter, by the first word of the counter's name."""


def manifest_of(plan: Planned) -> dict[str, Any]:
    """The manifest of a plan. O(characters of its history and request). Raises the errors of its request."""
    request = spell_json(request_to_read(plan))
    return {
        "manifest": FORMAT,
        **gathered_of(plan.draft, plan.view, plan.settings),
        "decision": decision_of(plan),
        "request": {"sha256": hash_bytes(request), "bytes": len(request)},
    }


def gathered_of(draft: Draft, view: HistoryView, settings: Settings) -> dict[str, Any]:
    """The inputs of a decision: the items, the settings, the versions. O(characters of the whole draft)."""
    regions = draft.regions
    return {
        "items": {
            "instruction": _describe_instruction(regions),
            "tools": [{"id": tool.name, "sha256": _hash_tool(tool)} for tool in regions.tools],
            "knowledge": [
                {"id": f"knowledge-{place}", "sha256": _hash_document(document)}
                for place, document in enumerate(regions.documents)
            ],
            "output": None if regions.output is None else digest(attrs.asdict(regions.output)),
            "choice": regions.choice,
            "messages": [_describe_message(view, index) for index in range(view.length)],
        },
        "terms": _describe_settings(settings),
        "versions": versions(settings),
    }


def _describe_instruction(regions: Regions) -> dict[str, Any] | None:
    """Describe the instruction. `prompt` is the name of its template, if it has one."""
    text = regions.instruction
    return None if text is None else {"sha256": digest(text), "characters": len(text), "prompt": regions.provenance}


def _hash_tool(tool: Tool) -> str:
    return digest([tool.name, tool.description, tool.parameters, tool.extra, tool.seen])


def _hash_document(document: Document) -> str:
    named = [document.text, document.type, document.trusted, document.source]
    return digest([*named, document.score, document.embedding, document.metadata])


def _describe_message(view: HistoryView, index: int) -> dict[str, Any]:
    """Describe a message. An unreadable one, which a policy may have dropped, has a place but no hash."""
    try:
        message = view.message(index)
    except ConversationError:
        return {"id": f"message-{index}", "role": None, "sha256": None}
    return {"id": f"message-{index}", "role": message.role, "sha256": digest([message.seen, message.pinned])}


def _describe_settings(settings: Settings) -> dict[str, Any]:
    budget = settings.budget
    return {
        "dialect": {"name": settings.dialect.name, "sha256": digest(describe_setting(settings.dialect))},
        "budget": None if budget is None else _describe_budget(budget),
        "counter": name_of(counter_for(budget)),
        "on_overflow": [describe_setting(policy) for policy in settings.policies],
        "strategy": describe_setting(settings.strategy),
        "cache_marks": describe_setting(settings.cache_marks),
        "calibration": describe_setting(settings.calibration),
    }


def _describe_budget(budget: Budget) -> dict[str, Any]:
    named = {"model": budget.model, "limits": {name: describe_setting(limit) for name, limit in budget.limits.items()}}
    numbers = {
        field.name: getattr(budget, field.name)
        for field in attrs.fields(Budget)
        if field.name not in ("counter", *named)
    }
    return {**named, **numbers}


def versions(settings: Settings) -> dict[str, Any]:
    """The versions of this library, the counter's engine and its vocabulary, which may be a hash."""
    counter = counter_for(settings.budget)
    engine = _ENGINES.get(name_of(counter).partition(":")[0])
    return {
        "context-assembler": installed_version("context-assembler"),
        "engine": None if engine is None else {"name": engine, "version": installed_version(engine)},
        "vocabulary": counter.vocabulary_sha256,
    }


@functools.cache
def installed_version(distribution: str) -> str | None:
    """The version of an installed distribution; None if it runs from its sources. Cached.

    Read from the name of the distribution's folder (PEP 376), because importing `importlib.metadata` takes 40 ms.
    """
    prefix, suffix = f"{distribution.replace('-', '_')}-", ".dist-info"
    for folder in sys.path:
        with contextlib.suppress(OSError, TypeError, ValueError):  # an archive, a folder that is gone, or no path
            for name in os.listdir(folder or "."):
                if name.startswith(prefix) and name.endswith(suffix):
                    return name.removeprefix(prefix).removesuffix(suffix)
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def decision_of(plan: Planned) -> dict[str, Any]:
    """The decision: tokens by region and item, what stayed in which form, and each policy's changes."""
    measured, summary = plan.measured, plan.trimmed.cut.summary
    tools = zip(measured.regions.tools, measured.prices.tools, strict=True)
    return {
        "tokens": plan.count.tokens,
        "upper": plan.count.upper,
        "grade": str(plan.count.grade),
        "regions": plan.costs.to_dict(),
        "tools": [{"id": tool.name, "tokens": count.tokens} for tool, count in tools],
        "knowledge": _describe_knowledge(plan),
        "messages": _list_outcomes(plan),
        "summary": None if summary is None else {"sha256": digest(summary.seen)},
        "policies": [{"policy": decision.policy, "saved": decision.saved} for decision in plan.trimmed.decisions],
    }


def _describe_knowledge(plan: Planned) -> list[dict[str, Any]]:
    """The documents in the request, in order; a merged or shortened one has no id."""
    ids = {id(document): f"knowledge-{place}" for place, document in enumerate(plan.draft.regions.documents)}
    sources = plan.measured.rendered.sources
    return [{"id": ids.get(id(document)), "sha256": _hash_document(document)} for document in sources]


def _list_outcomes(plan: Planned) -> list[dict[str, Any]]:
    """The messages that stay, with the tokens of each. All others were dropped."""
    head = [
        {"id": f"message-{index}", "outcome": "kept", "tokens": count.tokens}
        for index, count in enumerate(plan.measured.prices.head)
    ]
    ledger, changed = plan.ledger, plan.trimmed.changed
    return head + [
        {"id": f"message-{index}", "outcome": "shortened", "tokens": ledger.price(message).tokens}
        if index in changed
        else {"id": f"message-{index}", "outcome": "kept", "tokens": ledger.message(index).tokens}
        for index, message in plan.kept_messages
    ]
