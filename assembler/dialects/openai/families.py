"""OpenAI's families: what it bills around texts. The rows are in `families.toml` in the folder of each of its APIs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import attrs

from assembler.dialects.openai.framing import (
    ENVELOPE,
    Arguments,
    CallFraming,
    Family,
    OpenAIApi,
    SchemaFraming,
    ToolFraming,
    ToolHeading,
)
from assembler.dialects.openai.tool_text import ToolText
from assembler.dialects.prices.families import Readers, first_match, is_forwarded, table_in
from budgets.count import Grade, Tokens
from budgets.models.names import bare


def _read_tool_framing(written: Mapping[str, Any]) -> ToolFraming:
    heading, text = ToolHeading[written["heading"].upper()], ToolText[written.get("text", "current").upper()]
    fields: dict[str, Any] = {**written, "heading": heading, "text": text}
    return ToolFraming(**fields)


def _read_call_framing(written: Mapping[str, Any]) -> CallFraming:
    fields: dict[str, Any] = {**written, "arguments": Arguments[written["arguments"].upper()]}
    return CallFraming(**fields)


def _read_grade(written: str) -> Grade:
    return Grade[written.upper()]


_READERS: Readers = {
    "api": str,
    "encoding": str,
    "grade": _read_grade,
    "text_grade": _read_grade,
    "tools": _read_tool_framing,
    "calls": _read_call_framing,
    "schema": lambda written: SchemaFraming(**written),
}


@functools.cache
def families(api: OpenAIApi) -> tuple[Family, ...]:
    """The rows of an API, most specific first. The last takes every name."""
    return table_in(f"assembler.dialects.openai_{api}", Family, _READERS)


_AZURE = re.compile(r"(?i)\s*azure(_ai|[_-]openai)?[/:]")
"""The beginning of the name of a model on Azure. Rows for it alone have names that begin with `azure/`."""

_FORWARDED_SLACK: Tokens = 1
"""The minimum slack for what a gateway may add."""


def family_of(model: str | None, api: OpenAIApi = "chat") -> Family:
    """The family that prices `model` on `api`, by the name without `openai/` and `ft:`.

    An unknown name, and None, get the newest family's rules, graded estimated. OpenRouter forwards OpenAI's bill, but
    none of these recordings went through it, so its counts are never exact.
    """
    name = "" if model is None else bare(model)
    family = first_match(families(api), name) or families(api)[-1]
    if model is not None and _AZURE.match(model):
        family = first_match(families(api)[:-1], f"azure/{name}") or family
    if model is None or not is_forwarded(model):
        return family
    if family.forced_tool is None and family.grade is not Grade.ESTIMATED and api == "chat":
        family = _bill_as_responses(family, first_match(families("responses"), name) or family)
    return attrs.evolve(
        family, text_grade=max(family.text_grade, Grade.BOUNDED), text_slack=max(family.text_slack, _FORWARDED_SLACK)
    )


def _bill_as_responses(on_chat: Family, on_responses: Family) -> Family:
    """The family of a reasoning model on OpenRouter, which forwards a Chat request to Responses.

    Its answers show that: finish reasons are statuses of Responses, and reasoning has the format `openai-responses-v1`
    (OpenRouter, "Reasoning Tokens", read 2026-11). Chat bills more for tools, and the bound includes that, in case
    OpenRouter uses Chat again.
    """
    more = on_chat.tools.alone - on_responses.tools.alone + 2 * ENVELOPE  # Chat frames calls and results differently
    return attrs.evolve(on_responses, api="chat", tooled_slack=more)
