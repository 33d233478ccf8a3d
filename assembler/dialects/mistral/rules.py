"""Mistral's hosted chat API: rules M1 to M4."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from assembler.verify import chat
from assembler.verify.checker import Checker
from assembler.verify.definitions import L0, T1, T2, T3
from assembler.verify.neutral import N4, is_speechless
from assembler.verify.pairing import N2, N3, Pairing, Turn, find_repeated, find_unpaired
from assembler.verify.place import Place
from assembler.verify.shape import TEXT_OR_OBJECT
from assembler.verify.violation import Violation, rules_in, shown

RULE = rules_in(__name__)
RULES = (*RULE.values(), L0, T1, T2, T3, N2, N3, N4)

_ID = re.compile(r"[a-zA-Z0-9]{9}\Z")
_PAIRING = Pairing(unanswered=RULE["M3"], orphan=RULE["M3"])

_UNEXPECTED = {("tool", "user"), ("tool", "system"), ("assistant", "system")}
"""Roles that may not follow each other: (before, after). M3 covers a tool message without a call."""

# Chunk types: mistral-common 1.13.1 (protocol/instruct/chunk), and those of mistralai 3.7.0 (models/contentchunk).
_MEDIA = frozenset(
    [
        *("image", "image_url", "input_audio", "audio_url", "document_url", "file", "reference", "resource"),
        *("resource_link", "tool_reference"),
    ]
)
_FORM = chat.ChatForm(
    parts={
        "system": {"text", "thinking", "input_audio"},
        "user": {"text", *_MEDIA},
        "assistant": {"text", "thinking", *_MEDIA},
        "tool": {"text", *_MEDIA},
    },
    arguments=TEXT_OR_OBJECT,
    # mistralai 3.7.0, models/chatcompletionrequest: further tools of the conversations API do not exist in chat.
    tool_types=("function", "connector", "document_library", "image_generation"),
)


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in a request. M4 is checked for every model. Linear."""
    messages, tools = request.at("messages"), request.at("tools")
    yield from chat.wrong_messages(messages, _FORM)
    yield from chat.wrong_tools(tools, _FORM)
    yield from _wrong_end(messages)
    turns = chat.turns(messages)
    yield from _wrong_order(turns)
    for turn in turns:
        yield from _wrong_turn(turn)
    yield from find_unpaired(turns, _PAIRING)


def _wrong_end(messages: Place) -> Iterator[Violation]:
    listed = messages.objects()
    if messages.empty:
        yield RULE["M1"].broken(messages.path, "no messages at all")
    for message in listed[:-1]:
        if message.at("prefix").value is True:
            yield RULE["M1"].broken(message.at("prefix").path, "a prefix that is not the last message")
    if listed and listed[-1].at("prefix").value is not True:
        role = listed[-1].at("role").text
        if role in ("assistant", "system"):
            yield RULE["M1"].broken(listed[-1].path, f"the last message is of role {role}")


def _wrong_order(turns: list[Turn]) -> Iterator[Violation]:
    before = ""
    for turn in turns:
        if (before, turn.role) in _UNEXPECTED:
            yield RULE["M2"].broken(turn.place.at("role").path, f"role {turn.role} directly after role {before}")
        before = turn.role


def _wrong_turn(turn: Turn) -> Iterator[Violation]:
    yield from find_repeated(turn.calls, N3)
    for ref in chain(turn.calls, turn.answers):
        if ref.id is not None and not _ID.match(ref.id):
            yield RULE["M4"].broken(ref.place.path, f"call id {shown(ref.id)} is not nine letters or digits")
    if turn.role == "assistant" and is_speechless(turn.place):
        yield N4.broken(turn.place.path, "an assistant message with neither content nor calls")


CHECKER = Checker(check, RULES, words=frozenset(("prefix", "signature")), kinds=_FORM.kinds)
