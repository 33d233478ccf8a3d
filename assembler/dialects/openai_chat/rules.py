"""OpenAI Chat Completions: rules O0 to O11."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from assembler.verify import chat
from assembler.verify.checker import Checker
from assembler.verify.definitions import T4, Legal, wrong_choice
from assembler.verify.encoded import wrong_data_urls
from assembler.verify.foreign import S5, walk_parts
from assembler.verify.pairing import N2, Pairing, Turn, find_repeated, find_unpaired
from assembler.verify.place import Place, is_list
from assembler.verify.shape import TEXT
from assembler.verify.violation import Violation, rules_in

RULE = rules_in(__name__)
RULES = (*RULE.values(), N2, T4)

_ID_LIMIT = 40
"""Characters of a call id (O5)."""

_TAKING_LONG_IDS = re.compile(r"deepseek|grok")
"""Models of other makers that take longer ids: 43 characters in 98 recordings, read 2026-11."""

_OF_COHERE = re.compile(r"cohere|command|c4ai")
"""Models of Cohere, whose results hold documents (Cohere, "Tool use", read 2026-11)."""

_PAIRING = Pairing(unanswered=RULE["O2"], orphan=RULE["O1"])
_LEGAL = Legal(name_rule=RULE["O7"], unique_rule=RULE["O8"], empty_rule=RULE["O9"])

# Part types and roles: openai 3.54.0, types/chat, read 2026-11.
_FORM = chat.ChatForm(
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
"""The keys that hold an assistant message's content."""


def check(request: Place, model: str | None) -> Iterator[Violation]:
    """Every breach in a request; a long id is none for the models that take it. Linear."""
    messages, tools = request.at("messages"), request.at("tools")
    documents = set[str]() if model is None or not _OF_COHERE.search(model.lower()) else _find_documents(messages)
    for found in chat.wrong_messages(messages, _FORM):
        yield found.as_accepted() if found.where in documents else found
    yield from chat.wrong_tools(tools, _FORM)
    yield from _wrong_choice(request)
    if is_list(messages.value) and not messages.value:
        yield RULE["O0"].broken(messages.path, "no messages at all")
    yield from _wrong_nulls(messages)
    turns = chat.turns(messages)
    takes_long_ids = model is not None and _TAKING_LONG_IDS.search(model.lower()) is not None
    for turn in turns:
        yield from _wrong_turn(turn)
        for found in _wrong_ids(turn):
            yield found.as_accepted() if takes_long_ids else found
    yield from find_unpaired(turns, _PAIRING)
    pictures = (part.at("image_url").at("url") for part in walk_parts(request, "messages", ("content",)))
    yield from wrong_data_urls(pictures, RULE["O11"])


def _find_documents(messages: Place) -> set[str]:
    """The paths of the types of Cohere's documents in results."""
    results = (message for message in messages.objects() if message.at("role").text == "tool")
    parts = (part for message in results for part in message.at("content").objects())
    return {part.at("type").path for part in parts if not part.at("document").at("data").nothing}


def _wrong_turn(turn: Turn) -> Iterator[Violation]:
    yield from find_repeated(turn.calls, RULE["O4"])
    if turn.role != "assistant":
        return
    if not (sound := turn.place.at("audio").at("data")).nothing:
        yield S5.broken(sound.path, "the sound of an answer; only its id is taken back")
    calls = turn.place.at("tool_calls")
    if is_list(calls.value) and not calls.value:
        yield RULE["O3"].broken(calls.path, "an empty list of calls; leave the key out")
    elif all(turn.place.at(key).nothing for key in _SPEAKING):
        yield RULE["O6"].broken(turn.place.path, "an assistant message with neither content nor calls")


def _wrong_ids(turn: Turn) -> Iterator[Violation]:
    for ref in chain(turn.calls, turn.answers):
        if ref.id is not None and len(ref.id) > _ID_LIMIT:
            yield RULE["O5"].broken(
                ref.place.path, f"call id of {len(ref.id)} characters; at most {_ID_LIMIT} are taken"
            )


_NEVER_NULL = ("function_call", "name", "tool_calls")
"""The keys of a message that may be absent but not null (openai 3.54.0, types/chat, read 2026-11)."""


def _wrong_nulls(messages: Place) -> Iterator[Violation]:
    for message in messages.objects():
        for key in _NEVER_NULL:
            if message.holds_null(key):
                yield RULE["O10"].broken(message.at(key).path, f"{key} is null; leave the key out")


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
            *("cache_control", "prompt_cache_breakpoint", "signature"),
        )
    ),
    kinds=_FORM.kinds,
)
