"""Writes a part of one API as a text for the others: the results of a search, the output of code, a summary.

The kinds and their fields: openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0, botocore 1.44.5, read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.conversation.messages.message import Opaque
from assembler.conversation.messages.parts import compact_json
from assembler.text.fields import items_of, texts_in

_Raw: TypeAlias = Mapping[str, Any]

_WORDS = frozenset(
    [
        *("text", "title", "url", "uri", "source", "filename", "document_name", "document_url", "code", "summary"),
        *("output", "result", "logs", "stdout", "stderr", "stdOut", "stdErr", "content", "error", "message", "data"),
        *("code_execution_result", "executable_code"),
    ]
)
"""The keys whose texts a model of another API can read."""

_ADDRESSES = frozenset(["document_url", "uri", "url"])
"""The keys whose text may be a data URL with the file itself."""

_CONTENT = ("content",)
_BY_KIND = (
    *("citationsContent", "codeExecutionResult", "code_execution_result", "executableCode", "executable_code"),
    *("guardContent", "resource", "searchResult", "toolResponse", "toolResult", "tool_response"),
)
CONTENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in _BY_KIND},
    "advisor_tool_result": _CONTENT,
    "bash_code_execution_tool_result": _CONTENT,
    "code_execution_tool_result": _CONTENT,
    "code_interpreter_call": ("code", "outputs"),
    "compaction": _CONTENT,
    "document": ("title", "source", "document"),
    "document_url": ("document_name", "document_url"),
    "file_search_call": ("results",),
    "mcp_call": ("output", "error"),
    "mcp_tool_result": _CONTENT,
    "program": ("code",),
    "program_output": ("result",),
    "resource_link": ("title", "uri"),
    "search_result": ("title", "source", "content"),
    "text_editor_code_execution_tool_result": _CONTENT,
    "web_fetch_tool_result": _CONTENT,
    "web_search_call": ("results", "action"),
    "web_search_tool_result": _CONTENT,
}
"""The known kinds with content, and the fields that hold it."""

_SILENT = frozenset(
    [
        *("additional_tools", "browser_state", "compaction_trigger", "configuration_update", "container_upload"),
        *("fallback", "image_generation_call", "item_reference", "mcp_approval_request", "mcp_approval_response"),
        *("mcp_list_tools", "mcp_tool_listing", "mcp_tool_use", "reasoning", "reasoning_content", "reasoningContent"),
        *("redacted_thinking", "reference", "server_tool_use", "thinking", "tool_addition", "tool_reference"),
        *("tool_removal", "tool_search_call", "tool_search_output", "tool_search_tool_result", "toolUse"),
    ]
)
"""The known kinds without content for another API."""

_USUAL = ("text", "content", "output", "outputs", "result", "results")
"""The fields of an unknown kind that probably hold its content."""

_HIDDEN = "[HIDDEN]"
"""What Bedrock writes in place of the pages that Nova has found."""

_BLOB = re.compile(r"[A-Za-z0-9+/_=-]{200,}")
"""No language has a word of 200 letters, so this is not text."""


_OWN_WORDS = frozenset(["citationsContent", "guardContent"])
"""The kinds that are a message's own text, with something of their API's around it. They need no heading elsewhere."""

_ASKED = frozenset(["args", "arguments", "input", "parameters", "pattern", "prompt", "queries", "query"])
"""The keys of what a tool of the provider's was asked. Its own API alone gets that beside the answer."""

_CITATIONS = ("annotations", "citations")
"""The keys of the citations of a text. Only its own API gets them."""


def text_for_other_apis(part: Opaque) -> str | None:
    """The part as a text for another API, headed by its kind unless it is a text itself. O(its values).

    None if it has no content there.
    """
    if part.kind in _SILENT:
        return None
    keyed = () if "type" in part.raw else (part.kind,)
    words = [
        word for key in CONTENT_FIELDS.get(part.kind, (*_USUAL, *keyed)) for word in _find_words(part.raw.get(key), key)
    ]
    heading = [] if part.kind in _OWN_WORDS else [f"[{part.kind}]"]
    return "\n".join([*heading, *words]) if words else None


def loses_question(part: Opaque) -> bool:
    """Whether a part becomes a text for other APIs that has its answer and not all of its question. O(its values)."""
    text = text_for_other_apis(part)
    return text is not None and any(word not in text for word in _find_questions(part.raw))


def _find_questions(value: object) -> Iterator[str]:
    """The texts under the keys of a question, at any depth, without texts that have no letter or digit."""
    if isinstance(value, Mapping):
        for key, held in cast(_Raw, value).items():
            yield from filter(re.compile(r"\w").search, texts_in(held)) if key in _ASKED else _find_questions(held)
    else:
        for held in items_of(value):
            yield from _find_questions(held)


def _find_words(value: object, key: str) -> Iterator[str]:
    if isinstance(value, str):
        if key in _WORDS and _is_readable(value, key):
            yield value
    elif key == "json" and (written := _write_as_json(value)) is not None:
        yield written
    elif isinstance(value, Mapping):
        fields = cast(_Raw, value)
        if fields.get("type") == "base64":  # a source whose data is not text
            return
        for inner, held in fields.items():
            if inner not in _CITATIONS:
                yield from _find_words(held, inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for held in cast("Sequence[object]", value):
            yield from _find_words(held, key)


def _write_as_json(value: object) -> str | None:
    """An object or a list as JSON; None for any other value, and for one that holds bytes."""
    if not isinstance(value, Mapping | list):
        return None
    try:
        return compact_json(cast(object, value))
    except TypeError:
        return None


def _is_readable(text: str, key: str) -> bool:
    if text.strip() in ("", _HIDDEN) or _BLOB.fullmatch(text):
        return False
    return not (key in _ADDRESSES and text.startswith("data:"))
