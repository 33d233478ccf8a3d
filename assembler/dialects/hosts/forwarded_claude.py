"""Prices a request to Claude in OpenAI's formats, with its options read in the form of Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assembler.dialects.anthropic.dialect import anthropic
from assembler.dialects.anthropic.pricer import AnthropicPricer
from assembler.dialects.writing.fields import tool_choice_in
from assembler.text.fields import fields_in, fields_of
from budgets import Grade, TokenCounter
from budgets.count import Difference

_CHOICES = {"auto": "auto", "none": "none", "required": "any"}
_SCHEMA_AS_TOOL = Difference(0, Grade.ESTIMATED, 260)
"""A gateway may turn an answer format into a forced tool: 219 to 226 more (3 recordings, one repository)."""


def forwarded_claude(model: str, count: TokenCounter) -> AnthropicPricer:
    """The price list of a Claude family for a request that a gateway translates."""
    own = anthropic.pricer(model, count)
    return attrs.evolve(own, shape="openai", as_messages=_spell_for_messages, answer_format=_SCHEMA_AS_TOOL)


def _spell_for_messages(options: Mapping[str, Any]) -> dict[str, Any]:
    """The tool choice, thinking and answer format of Chat or Responses in Messages' form. Others are free."""
    asked: dict[str, Any] = {}
    choice = tool_choice_in(options)
    if (fields := fields_of(choice)) and fields.get("type") == "allowed_tools":
        choice, fields = (fields_in(fields, "allowed_tools") or fields).get("mode"), None
    if isinstance(choice, str):
        asked["tool_choice"] = {"type": _CHOICES.get(choice, "auto")}
    elif fields:
        asked["tool_choice"] = {"type": "tool", "name": (fields_in(fields, "function") or fields).get("name")}
    wanted = fields_in(options, "response_format") or fields_in(options, "text", "format")
    if wanted.get("type") == "json_schema":
        schema = (fields_in(wanted, "json_schema") or wanted).get("schema")
        asked["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if _asks_to_reason(options):
        asked["thinking"] = {"type": "enabled"}
    return asked | {key: options[key] for key in ("thinking",) if key in options}


def _asks_to_reason(options: Mapping[str, Any]) -> bool:
    """Whether `reasoning` or `reasoning_effort` turns thinking on (OpenRouter, "Reasoning Tokens", read 2026-11)."""
    asked = fields_in(options, "reasoning")
    effort: object = asked.get("effort", options.get("reasoning_effort"))
    if asked.get("enabled") is False or effort == "none":
        return False
    return effort is not None or asked.get("enabled") is True or "max_tokens" in asked
