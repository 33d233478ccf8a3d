"""Writes calls and results as Mistral's templates up to 2025 do: as JSON, each with the id of its call.

They are version 3 of mistral-common's templates (Apache-2.0, tokens/tokenizers/instruct.py, read 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Call, Part, Result
from assembler.dialects.mistral.shape import SHAPE
from assembler.text.fields import json_in


def write_with_ids(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts with the calls as one text behind the others, and with each result's text in JSON."""
    calls = [part for part in parts if isinstance(part, Call)]
    others = [_write_result(part) if isinstance(part, Result) else part for part in parts if not isinstance(part, Call)]
    return (*others, _write_json([_write_call(call) for call in calls])) if calls else tuple(others)


def _write_call(call: Call) -> dict[str, object]:
    written: dict[str, object] = {"name": call.name, "arguments": _read_json(call.arguments)}
    return written | ({"id": SHAPE.call_id(call.id)} if call.id else {})


def _write_result(result: Result) -> Result:
    text = "".join(part for part in result.parts if isinstance(part, str))
    call_id = SHAPE.call_id(result.call_id or "")
    written = _write_json({"content": _read_json(text), "call_id": call_id})
    return attrs.evolve(result, parts=(written, *(part for part in result.parts if not isinstance(part, str))))


def _read_json(text: str) -> object:
    """The value of a text that is JSON and can be counted, else the text."""
    try:
        return json_in(text)
    except ValueError:
        return text


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
