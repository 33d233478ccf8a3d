"""The kinds of parts and items that only one API has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.conversation.messages.message import Role

PIN = "pinned"
"""Our own key in a message dict: it pins the message's turn and is never sent."""

OF_ANTHROPIC = (
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "browser_state",
    "code_execution_tool_result",
    "compaction",
    "container_upload",
    "fallback",
    "mcp_tool_listing",
    "mcp_tool_result",
    "mcp_tool_use",
    "search_result",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "tool_addition",
    "tool_reference",
    "tool_removal",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
)
"""Blocks that only Anthropic's API has and that are not read (anthropic 2.12.0, types, read 2026-11)."""
OF_BEDROCK = ("cachePoint", "citationsContent", "guardContent", "searchResult", "toolAddition", "toolRemoval")
"""The same of Converse (botocore 1.44.5, service model, read 2026-11)."""
IN_RESULTS = frozenset(["browser_state", "cachePoint", "searchResult", "search_result", "tool_reference"])
"""Those of both that a tool's result may hold."""
OF_MISTRAL = ("document_url", "reference", "resource", "resource_link")
"""The same of Mistral's API (mistralai 3.7.0, read 2026-11)."""

OF_LANG_CHAIN = (
    "code_execution_result",
    "executable_code",
    "invalid_tool_call",
    "non_standard",
    "server_tool_call",
    "server_tool_result",
    "text-plain",
)
"""The same of LangChain's own content, which no API accepts (langchain-core 1.7.2, content.py; for the first two
langchain-google-genai 4.2; read 2026-11)."""

OF_HOSTS = {"audio": "audio", "audio_url": "audio", "video": "video", "video_url": "video"}
"""Audio and video as hosts and frameworks spell them (vLLM, OpenRouter, LangChain, read 2026-11). They are media, since
their cost cannot be estimated by the words in them."""

KEYS_OF_A_FRAMEWORK = frozenset(["base64", "data", "mime_type", "url"])
"""The keys of a file in LangChain's own form, which no API reads (langchain-core 1, read 2026-11)."""

OF_COHERE = "document of words"
"""A document of Cohere's, which has its words under `data`. Its second chat API has the form of Chat Completions."""

KEYS_OF_ANTHROPIC = frozenset({"cache_control", "citations"})
"""Keys of a text block that only Anthropic's Messages API accepts (reference, TextBlockParam, read 2026-11)."""

OF_GEMINI = frozenset(
    [
        *("functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data"),
        *("fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult"),
        *("code_execution_result", "toolCall", "tool_call", "toolResponse", "tool_response"),
    ]
)
"""The keys that name a part of Gemini's (google-genai 3.4.0, Part, read 2026-11)."""
ITEMS = frozenset(
    [
        *("additional_tools", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call"),
        *("compaction_trigger", "computer_call", "computer_call_output", "configuration_update"),
        *("custom_tool_call", "custom_tool_call_output", "file_search_call", "function_call"),
        *("function_call_output", "image_generation_call", "item_reference", "local_shell_call"),
        *("local_shell_call_output", "mcp_approval_request", "mcp_approval_response", "mcp_call"),
        *("mcp_list_tools", "program", "program_output", "shell_call", "shell_call_output"),
        *("tool_search_call", "tool_search_output", "web_search_call"),
    ]
)
"""The items of Responses that some frameworks put into a message's content (openai 3.54.0, read 2026-11)."""

OF_OTHERS: Mapping[str, Role] = {
    "additional_tools": "developer",
    "compaction_trigger": "developer",
    "configuration_update": "developer",
    "mcp_approval_response": "tool",
}
"""The roles of items that are neither the model's nor outputs. None of them begins a turn."""

CALLS = frozenset(kind for kind in ITEMS if kind.endswith("_call"))
"""The items that are calls, of a caller's tool, of one that the provider defines, or of the server's own."""
OWED = frozenset(
    [
        *("apply_patch_call", "computer_call", "custom_tool_call", "function_call", "local_shell_call"),
        "shell_call",
    ]
)
"""The calls that the caller answers. The API demands their `call_id`; a history may have only their `id`."""
ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The field for the arguments of a call of a caller's tool, by type of item."""

_NAMES = frozenset(["call_id", "id", "status", "type"])
_WORDS_IN = {**ARGUMENTS, "custom_tool_call_output": "output", "function_call_output": "output"}
_READ = {kind: _NAMES | ({words, "name"} if kind in ARGUMENTS else {words}) for kind, words in _WORDS_IN.items()}
"""The keys of calls and outputs of which nothing is left beside their part."""

SUMMARY = "compaction"
"""A server's summary: a block of Anthropic's, with its words in `content`, and an encrypted item of Responses."""


def is_item(kind: str, fields: Mapping[str, Any]) -> bool:
    """Whether a part of a message's content is an item of Responses."""
    return kind in ITEMS or (kind == SUMMARY and "content" not in fields)


def all_read(kind: str, item: Mapping[str, Any]) -> bool:
    """Whether an item is texts alone, and all of them are in its part, but for words that no model is shown."""
    if not item.keys() <= _READ.get(kind, _NAMES) or not all(type(value) is str for value in item.values()):
        return False
    return all(word.isascii() and len(word.split(maxsplit=1)) < 2 for word in map(item.get, _LABELS) if word)


_LABELS = ("id", "status")


def is_owed(kind: str, fields: Mapping[str, Any]) -> bool:
    """Whether an item is a call that the caller answers."""
    return kind in OWED or (kind == "tool_search_call" and fields.get("execution") == "client")


def role_of_item(kind: str) -> Role:
    """Who speaks in an item of this type."""
    return OF_OTHERS.get(kind, "tool" if kind.endswith("_output") else "assistant")


def stands_alone(kind: str) -> bool:
    """Whether a part of this kind that is sent to Responses is an item of its own there, wherever it was found."""
    return kind in ITEMS or kind == SUMMARY or kind.endswith(("_call", "_output"))


def id_in(item: Mapping[str, Any]) -> str | None:
    """The id by which a call and its output name each other, or None if an item has none."""
    named: object = item.get("call_id") or item.get("id")
    return named if isinstance(named, str) else None
