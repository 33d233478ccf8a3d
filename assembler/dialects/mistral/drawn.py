"""Writes drawn conversations for Mistral's chat API, and breaks its rules."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn import breach, chat
from assembler.drawn.conversations import Conversation
from assembler.drawn.spelling import WITH_ADDRESSES, Request, Spelling


def _write_request(conversation: Conversation) -> Request:
    # Nine letters or digits, as older Mistral models demand (validator of mistral-common 1.13.1).
    return chat.write_request(conversation, call_id="{:09}", named="tool")


SPELLING = Spelling(
    "mistral",
    "messages",
    _write_request,
    chat.write_tool,
    fewest_answers=1,
    models=("mistral-small-latest", "open-mistral-nemo", "mistral-large-latest"),
    options={"model": "m", "temperature": 0.5},
    media=WITH_ADDRESSES,
)

BREACHES: Mapping[str, breach.Breach] = {
    "M1": breach.last(chat.ANSWER),
    "M2": breach.last({"role": "user", "content": "a"}),
    "M3": chat.lose_call,
    "M4": breach.with_ids("0", "-"),
    "S5": breach.pinned,
    "N2": breach.doubled("tool"),
    "N3": chat.repeat_call,
    "N4": breach.before_a_question(chat.WITHOUT_CONTENT),
    "S1": breach.before_a_question(chat.PART_WITHOUT_TEXT),
    "S3": breach.before_a_question(chat.STRANGER),
    "S4": breach.before_a_question(chat.UNKNOWN_PART),
}
