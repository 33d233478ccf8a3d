"""How the settings of a Converse call that Claude bills for are spelled by Anthropic's own API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assembler.dialects.blocks.writer import fields_of

_THINKING = ("thinking", "reasoning_config")
"""What turns reasoning on, in `additionalModelRequestFields`: Anthropic's word, and one that only Bedrock takes."""


def as_messages(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that have a price, as Anthropic's own API spells them."""
    extra = fields_of(options.get("additionalModelRequestFields")) or {}
    spelled: dict[str, Any] = {}
    for word in _THINKING:
        if word in extra:
            spelled["thinking"] = extra[word]
    chosen = fields_of(options.get("toolChoice")) or {}
    for kind in chosen:
        spelled["tool_choice"] = {"type": kind, **(fields_of(chosen[kind]) or {})}
    schema = _answer_schema(options)
    if schema is not None:
        spelled["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return spelled


def _answer_schema(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of `outputConfig.textFormat`, which Converse takes as a text."""
    asked: Mapping[str, Any] = options
    for key in ("outputConfig", "textFormat", "structure", "jsonSchema"):
        asked = fields_of(asked.get(key)) or {}
    schema: object = asked.get("schema")
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError:
            return None
    return fields_of(schema)
