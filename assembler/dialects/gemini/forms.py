"""Writes a request in the form of the body that it was read from: the SDK's arguments, or the body of the REST API.

The SDK takes `config` and `contents`. The REST API has no `config`, and refuses a key that it does not know (Gemini
API reference, GenerateContentRequest, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from assembler.text.fields import fields_in, fields_of

Request: TypeAlias = dict[str, Any]

_OF_THE_SDK = frozenset(["model", "contents", "config"])
_BESIDE_CONTENTS = frozenset(["system_instruction", "tools", "tool_config"])
"""The keys of `config` that REST has at the top level. All others are in its `generationConfig`."""


def in_form_of(body: Mapping[str, Any], request: Request) -> Request:
    """The request with its `config` written as the body writes it. Only its top level is new."""
    if "config" not in request:
        return request
    if _is_of_the_sdk(body):
        return _put_role_in_config(request, fields_in(body, "config"))
    written: Request = {key: value for key, value in request.items() if key != "config"}
    for name, value in request["config"].items():
        if name == "system_instruction":
            key = _choose_spelling(name, body)
            written[key] = _write_content(value, fields_in(body, key))
        elif name in _BESIDE_CONTENTS:
            written[_choose_spelling(name, body)] = value
        else:
            written.setdefault(_choose_spelling("generation_config", body), {})[_to_camel_case(name)] = value
    return written


def _is_of_the_sdk(body: Mapping[str, Any]) -> bool:
    """Whether a body is the SDK's arguments. Without settings, the spelling of the model name decides."""
    named = str(body.get("model", "models/"))
    return "config" in body or (body.keys() <= _OF_THE_SDK and not named.startswith("models/"))


def _write_content(system: object, given: Mapping[str, Any]) -> object:
    """The system text as a content, which REST requires, with a role only if it came with one."""
    fields = fields_of(system)
    if fields is None:
        return {"parts": [{"text": system}]} if isinstance(system, str) else {"parts": system}
    return _put_role(fields, given)


def _put_role_in_config(request: Request, given: Mapping[str, Any]) -> Request:
    """The SDK's arguments with the role of the system instruction as it came, if it is a content."""
    config = dict(request["config"])
    if fields := fields_of(config.get("system_instruction")):
        own = fields_in(given, "system_instruction") or fields_in(given, "systemInstruction")
        config["system_instruction"] = _put_role(fields, own)
    return {**request, "config": config}


def _put_role(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A system content with the role that it came with, which Google ignores, or without one."""
    return {
        key: given["role"] if key == "role" else value
        for key, value in content.items()
        if key in given or key != "role"
    }


def _choose_spelling(name: str, body: Mapping[str, Any]) -> str:
    return name if name in body else _to_camel_case(name)


def _to_camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
