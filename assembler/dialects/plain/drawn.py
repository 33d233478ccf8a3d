"""Writes drawn conversations as plain requests, and breaks their rules."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assembler.drawn import breach, chat
from assembler.drawn.conversations import Conversation
from assembler.drawn.spelling import Request, Spelling


def _write_request(conversation: Conversation) -> Request:
    request = chat.write_request(attrs.evolve(conversation, system=None), call_id="call_{}", named="user")
    return {**request, "system": conversation.system}


SPELLING = Spelling(
    "plain", "messages", _write_request, chat.write_tool, models=(None,), options={"model": "m", "seed": 3}
)

BREACHES: Mapping[str, breach.Breach] = {
    "N1": breach.first(chat.ANSWER),
    "N2": chat.lose_call,
    "N3": chat.repeat_call,
    "N4": breach.before_a_question({"role": "user", "content": ""}),
    "N5": breach.last(chat.ANSWER),
    "N7": breach.without("tools"),
    "S1": breach.before_a_question(chat.PART_WITHOUT_TEXT),
    "S3": breach.before_a_question(chat.STRANGER),
}
