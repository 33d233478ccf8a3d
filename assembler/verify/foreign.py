"""Keys that belong to another API, or to nobody: rule S5.

A key that no list names is let pass: providers add keys every month, and a checker that knew all of them would be wrong
by the next. Arguments, results as JSON and schemas are the caller's own words and are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation, shown

S5 = Rule(
    "S5",
    "no key of another API's, and none by which a caller speaks to a library",
    "Unknown parameter: '<path>'.",
    "OpenAI's error text in public issue threads; Anthropic's is `<path>: Extra inputs are not permitted`",
)

_CHAT = frozenset({"openai_chat", "mistral"})
_NOBODY: frozenset[str] = frozenset()

# Words of messages and parts, and the APIs that have them: the SDKs' request types (openai 3.54.0, anthropic 2.12.0,
# google-genai 3.4.0, botocore 1.44.5, mistralai 3.7.0) and, for `openai_chat`, of the hosts that copy it; read 2026-11.
_OWNERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("width", "height", "pages", "seconds", "pinned"), _NOBODY),
    **dict.fromkeys(("additional_kwargs", "response_metadata", "usage_metadata"), _NOBODY),
    **dict.fromkeys(("stop_reason", "stop_sequence", "usage"), _NOBODY),
    **dict.fromkeys(("reasoning_content", "reasoning_details", "thinking_blocks"), frozenset({"openai_chat"})),
    "function_call": frozenset({"openai_chat", "gemini"}),
    "prefix": _CHAT,
    "cache_control": frozenset({"anthropic", "openai_chat"}),
    **dict.fromkeys(("tool_use_id", "is_error"), frozenset({"anthropic"})),
    "signature": frozenset({"anthropic", "mistral", "openai_chat"}),
    **dict.fromkeys(("cachePoint", "toolUse", "toolResult", "reasoningContent"), frozenset({"bedrock"})),
    **dict.fromkeys(("call_id", "encrypted_content"), frozenset({"openai_responses", "anthropic"})),
    **dict.fromkeys(
        (
            *("thought", "thought_signature", "thoughtSignature", "functionCall", "functionResponse"),
            *("function_response", "inline_data", "inlineData", "fileData"),
        ),
        frozenset({"gemini"}),
    ),
}

_TURNS: Mapping[str, str] = {"openai_responses": "input", "gemini": "contents"}
"""The key of the conversation, where it is not `messages`."""

APIS = frozenset({"anthropic", "bedrock", "gemini", "mistral", "openai_chat", "openai_responses"})
"""The dialects that the rule is held for: the others are no API's."""


def foreign_keys(request: Place, api: str) -> Iterator[Violation]:
    """Every key of a message or a part that the API does not have and another does; none for what is no API. Linear."""
    if api not in APIS:
        return
    foreign = {word for word, owners in _OWNERS.items() if api not in owners}
    for place in _speaking(request, api):
        for word in place.spoken:
            if word in foreign:
                yield S5.broken(place.at(word).path, f"the key {shown(word)} is not this API's")


def _speaking(request: Place, api: str) -> Iterator[Place]:
    """The system blocks, the messages, their parts, and the parts of a result in them."""
    yield from request.at("system").objects()
    for message in request.at(_TURNS.get(api, "messages")).objects():
        yield message
        for key in ("content", "parts", "output"):
            for part in message.at(key).objects():
                yield part
                yield from part.at("content").objects()
                yield from part.at("toolResult").at("content").objects()
