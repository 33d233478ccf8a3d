"""Tools that a provider defines: they run on its server, or its models are trained to call them.

The caller gives no schema for them. Each is sent unchanged, and only to its own API.
Types: openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0 and botocore 1.44.5, read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from assembler.conversation.messages.parts import NEUTRAL
from assembler.regions.tools.reading import NAME, Reading
from assembler.regions.tools.refusal import tool_error
from assembler.regions.tools.tool import KEYED
from assembler.text.fields import fields_of

_Definition: TypeAlias = Mapping[str, Any]

OF_RESPONSES = frozenset(
    [
        *("apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search"),
        *("image_generation", "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell", "tool_search"),
        *("web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"),
    ]
)
"""Types of tools of OpenAI's Responses API, without functions."""

_OF_ANTHROPIC = re.compile(r".*_20\d{6}|mcp_toolset|tool_search_tool_\w+")
"""Anthropic's types end with a date without separators, except `mcp_toolset` and the tool searches."""

OF_MISTRAL = frozenset(["connector", "document_library"])
"""Types of tools of Mistral's API that no other has (mistralai 3.7.0, read 2026-11)."""

OF_GEMINI = frozenset(
    [
        *("code_execution", "computer_use", "enterprise_web_search", "exa_ai_search", "file_search", "google_maps"),
        *("google_search", "google_search_retrieval", "mcp_servers", "parallel_ai_search", "retrieval", "url_context"),
    ]
)
"""Keys of Gemini's tools, without function declarations. The API writes them in camelCase."""


def read_hosted(definition: _Definition) -> Reading | None:
    """A provider's own tool by its type or its key; None for a function or anything else. O(keys)."""
    kind = definition.get("type")
    if isinstance(kind, str):
        return None if kind == "function" or _has_schema(definition, kind) else _read_typed(definition, kind)
    if kind is not None or "name" in definition:
        return None
    if (system := fields_of(definition.get("systemTool"))) is not None:
        return _read_named(system.get("name"), "systemTool", "bedrock")
    key = next((key for key in definition if snake(key) in OF_GEMINI), None)
    if key is not None:
        return _read_named(snake(key), key, "gemini")
    return _read_named(snake(next(iter(definition))), "tool", KEYED) if _is_keyed(definition) else None


def _is_keyed(definition: _Definition) -> bool:
    """Whether this is an unknown tool under a single key, and not a misspelled function or a schema."""
    inner = fields_of(next(iter(definition.values()), None))
    named = inner is None or "name" in inner or not _OF_FUNCTIONS.isdisjoint(definition)
    return len(definition) == 1 and not named and isinstance(next(iter(definition)), str)


_OF_FUNCTIONS = frozenset(["parameters", "input_schema", "inputSchema", "properties", "schema"])


def _read_typed(definition: _Definition, kind: str) -> Reading:
    if NAME.fullmatch(kind) is None:
        raise tool_error(f"its type is a text of {len(kind)} characters, which no API has", tool=definition.get("name"))
    nested = fields_of(definition.get("custom")) if kind == "custom" else None
    label = (nested or definition).get("name") or definition.get("server_label") or definition.get("mcp_server_name")
    if nested is not None:
        api = "openai"
    elif kind in OF_RESPONSES:
        api = "responses"
    elif kind in OF_MISTRAL:
        api = "mistral"
    else:
        api = "anthropic" if _OF_ANTHROPIC.fullmatch(kind) else NEUTRAL
    return _read_named(label if isinstance(label, str) and NAME.fullmatch(label) else kind, kind, api)


def _read_named(name: object, kind: str, api: str) -> Reading:
    legal = re.sub(r"[^a-zA-Z0-9_-]", "_", name if isinstance(name, str) and name else kind)[:64] or "tool"
    return Reading(legal, None, None, api=api)


def _has_schema(definition: _Definition, kind: str) -> bool:
    """Whether a definition with a type is a function after all: it has a name and a schema."""
    given = any(definition.get(word) is not None for word in ("parameters", "input_schema", "inputSchema"))
    return given and "name" in definition and kind not in OF_RESPONSES - {"custom"}


def snake(key: object) -> str:
    """A key of Gemini in snake_case, as its SDK spells it."""
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", key) if isinstance(key, str) else ""
