"""OpenAI Chat Completions: rules O0 to O9."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from assembler.verify import chat
from assembler.verify.checker import Checker
from assembler.verify.definitions import T4, Legal, wrong_choice
from assembler.verify.pairing import N2, Again, Orphan, Turn, Unanswered, mismatches, repeated
from assembler.verify.place import Place, is_list
from assembler.verify.shape import TEXT
from assembler.verify.violation import Rule, Violation

O0 = Rule("O0", "messages are not empty")
O1 = Rule(
    "O1",
    "a tool message answers a call of the nearest assistant message before it",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "miurla/morphic#136",
)
O2 = Rule(
    "O2",
    "every call is answered before any message that is not a tool message",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: <id>",
    "litellm#10696",
)
O3 = Rule("O3", "a list of tool calls is never empty: leave the key out")
O4 = Rule("O4", "call ids are unique within a message")
O5 = Rule(
    "O5",
    "a call id has at most 40 characters",
    "Invalid 'messages[<i>].tool_calls[<j>].id': string too long. Expected a string with maximum length 40, "
    "but got a string with length <n> instead.",
    "vercel/ai#5171, agno#5382",
)
O6 = Rule("O6", "an assistant message has content or calls")
O7 = Rule("O7", "a tool's name is 1 to 64 letters, digits, underscores or dashes")
O8 = Rule("O8", "tool names are unique")
O9 = Rule("O9", "a list of tools is never empty: leave the key out")
O10 = Rule(
    "O10",
    "a name and calls that are not there are left out, not null",
    "None is not of type 'object' - 'messages.<i>.function_call'",
    "litellm#1049",
)
RULES = (O0, O1, O2, O3, O4, O5, O6, O7, O8, O9, O10, N2, T4)

_ID_LIMIT = 40
"""Characters of a call id (O5)."""

_LEGAL = Legal(name_rule=O7, unique_rule=O8, empty_rule=O9)

# Part types and roles: openai 3.54.0, types/chat, read 2026-11.
_SPELLING = chat.Spelling(
    parts={
        "system": {"text"},
        "developer": {"text"},
        "user": {"text", "image_url", "input_audio", "file"},
        "assistant": {"text", "refusal"},
        "tool": {"text"},
        "function": {"text"},
    },
    arguments=TEXT,
    legal=_LEGAL,
    call_types=("function", "custom"),
    tool_types=("function", "custom"),
)

_SPEAKING = ("content", "tool_calls", "function_call", "refusal", "audio")
"""The keys by which an assistant message can say something."""


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in one request. No rule here depends on the model. Linear."""
    messages, tools = request.at("messages"), request.at("tools")
    yield from chat.wrong_messages(messages, _SPELLING)
    yield from chat.wrong_tools(tools, _SPELLING)
    yield from _wrong_choice(request)
    if is_list(messages.value) and not messages.value:
        yield O0.broken(messages.path, "no messages at all")
    yield from _nulls(messages)
    turns = chat.turns(messages)
    for turn in turns:
        yield from _wrong_turn(turn)
    for mismatch in mismatches(turns):
        match mismatch:
            case Orphan():
                yield mismatch.violates(O1)
            case Unanswered():
                yield mismatch.violates(O2, mismatch.turn.place.at("tool_calls").path)
            case Again():
                yield mismatch.violates(N2)


def _wrong_turn(turn: Turn) -> Iterator[Violation]:
    yield from repeated(turn.calls, O4)
    for ref in chain(turn.calls, turn.answers):
        if ref.id is not None and len(ref.id) > _ID_LIMIT:
            yield O5.broken(ref.place.path, f"call id of {len(ref.id)} characters; at most {_ID_LIMIT} are taken")
    if turn.role != "assistant":
        return
    calls = turn.place.at("tool_calls")
    if is_list(calls.value) and not calls.value:
        yield O3.broken(calls.path, "an empty list of calls; leave the key out")
    elif not any(turn.place.at(key).value for key in _SPEAKING):
        yield O6.broken(turn.place.path, "an assistant message with neither content nor calls")


_NEVER_NULL = ("function_call", "name", "tool_calls")
"""The keys of a message that may be absent and may not be null (openai 3.54.0, types/chat, read 2026-11)."""


def _nulls(messages: Place) -> Iterator[Violation]:
    for message in messages.objects():
        for key in _NEVER_NULL:
            if message.holds_null(key):
                yield O10.broken(message.at(key).path, f"{key} is null; leave the key out")


def _wrong_choice(request: Place) -> Iterator[Violation]:
    choice, tools = request.at("tool_choice"), request.at("tools")
    chosen = choice.at(choice.at("type").text or "function").at("name")
    names = [tool.at(kind).at("name").text for tool in tools.objects() for kind in ("function", "custom")]
    yield from wrong_choice(choice, chosen, tools, names)


CHECKER = Checker(
    check,
    RULES,
    words=frozenset(
        (
            *("reasoning_content", "reasoning_details", "thinking_blocks", "function_call", "prefix"),
            *("cache_control", "signature"),
        )
    ),
)
