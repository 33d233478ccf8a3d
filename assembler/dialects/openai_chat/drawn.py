"""Writes drawn conversations for Chat Completions, and breaks its rules."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn import breach, chat
from assembler.drawn.conversations import Conversation
from assembler.drawn.spelling import SCHEMA, WITH_ADDRESSES, Request, Spelling


def _write_request(conversation: Conversation) -> Request:
    return chat.write_request(conversation, call_id="call_{}", named="user")


SPELLING = Spelling(
    "openai_chat",
    "messages",
    _write_request,
    chat.write_tool,
    models=("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "deepseek-chat", "a-model-of-nobody"),
    options={
        "model": "gpt-4o",
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}},
    },
    media=WITH_ADDRESSES,
)


def _change_first_function(**changed: object) -> breach.Breach:
    """Change fields of the function in a message's first call."""
    return breach.changed("tool_calls", lambda message: message["tool_calls"][0]["function"].update(changed))


BREACHES: Mapping[str, breach.Breach] = {
    "O0": breach.nothing_said,
    "O1": chat.lose_call,
    "O2": breach.gone("tool"),
    "O3": breach.before_a_question({**chat.ANSWER, "tool_calls": []}),
    "O4": chat.repeat_call,
    "O5": breach.with_ids("call_", "call_" + "x" * 40),
    "O6": breach.before_a_question(chat.WITHOUT_CONTENT),
    "O7": _change_first_function(name="look up"),
    "O10": breach.before_a_question({**chat.ANSWER, "function_call": None}),
    "O11": breach.before_a_question(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,[lost]"}}]}
    ),
    "S5": breach.pinned,
    "N2": breach.doubled("tool"),
    "S1": _change_first_function(arguments={"q": "a"}),
    "S3": breach.before_a_question(chat.STRANGER),
    "S4": breach.before_a_question(chat.UNKNOWN_PART),
}
