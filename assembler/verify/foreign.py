"""Checks for keys of another API, or of a library: rule S5.

Unknown keys are accepted, because providers add new ones every month. Arguments, JSON results and schemas belong to the
caller and are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation, shown

S5 = Rule(
    "S5",
    "no key of another API's, and none by which a caller speaks to a library",
    "Unknown parameter: '<path>'.",
    "OpenAI's error text in public issue threads; Anthropic's is `<path>: Extra inputs are not permitted`",
)

# Keys of messages and parts that some APIs have and others lack: from the SDKs' request types (openai 3.57.0, anthropic
# 2.14.0, google-genai 3.4.0, botocore 1.44.5, mistralai 3.7.0) and, for `openai_chat`, from compatible hosts; read
# 2026-11. Each API's rules list the ones that it has.
_NOBODY = (
    *("width", "height", "pages", "seconds", "pinned"),
    *("additional_kwargs", "response_metadata", "usage_metadata"),
    *("stop_details", "stop_reason", "stop_sequence", "usage", "cacheControl", "cache_point"),
    *("diagnostics", "input_transformations", "parsed", "parsed_arguments", "parsed_output", "created_by"),
    "executed_tools",  # groq 1.7.0
)
_SOMEBODY = (
    *("reasoning_content", "reasoning_details", "thinking_blocks", "function_call", "prefix", "cache_control"),
    "prompt_cache_breakpoint",
    *("tool_use_id", "is_error", "signature", "cachePoint", "toolUse", "toolResult", "reasoningContent"),
    *("call_id", "encrypted_content", "thought", "thought_signature", "thoughtSignature", "functionCall"),
    *("functionResponse", "function_response", "inline_data", "inlineData", "fileData"),
)
WORDS = frozenset(_NOBODY) | frozenset(_SOMEBODY)


def foreign_keys(request: Place, words: frozenset[str], turns: str, parts: Iterable[str]) -> Iterator[Violation]:
    """S5 for every key of a message or a part that only other APIs have, also with null. This API has `words`. Linear.

    `parts` are the keys of a message that hold its parts.
    """
    foreign = WORDS - words
    for place in walk_parts(request, turns, parts):
        for word in place.keys:
            if word in foreign:
                yield S5.broken(place.at(word).path, f"the key {shown(word)} is not this API's")


def walk_parts(request: Place, turns: str, parts: Iterable[str]) -> Iterator[Place]:
    """The system blocks, the messages, their parts and calls, and the parts of results in them."""
    yield from request.at("system").objects()
    for message in request.at(turns).objects():
        yield message
        yield from (call.at("function") for call in message.at("tool_calls").objects())
        for key in parts:
            for part in message.at(key).objects():
                yield part
                yield from part.at("content").objects()
                yield from part.at("toolResult").at("content").objects()
