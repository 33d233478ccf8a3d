"""Small conversations to render, of words that show where each text of theirs is written."""

from __future__ import annotations

from typing import Any

from assembler.dialects.chat_template.render import TemplateMessage

# Words that occur in no template and that no template splits.
ONE, TWO, THREE, RULE, VALUE, RESULT, NAME = "qone", "qtwo", "qthree", "qrule", "qvalue", "qresult", "qname"

TOOL: TemplateMessage = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "d",
        "parameters": {"type": "object", "properties": {"q": {"type": "string", "description": "d"}}},
    },
}
_IDS = ("q00000001", "q00000002")
"""Nine letters and digits: some templates demand that."""


def write_system(text: str) -> TemplateMessage:
    """A system message."""
    return write_text_message("system", text)


def write_user(text: str) -> TemplateMessage:
    """A message of the user's."""
    return write_text_message("user", text)


def write_assistant(text: str) -> TemplateMessage:
    """A message of the assistant's."""
    return write_text_message("assistant", text)


def write_text_message(role: str, text: str) -> TemplateMessage:
    """A message of any role."""
    return {"role": role, "content": text}


def write_calling(calls: int) -> TemplateMessage:
    """A message of the assistant's with one call or two, and no text."""
    uses: list[dict[str, Any]] = [
        {"id": _IDS[place], "type": "function", "function": {"name": NAME, "arguments": {"q": f"{VALUE}{place}"}}}
        for place in range(calls)
    ]
    return {"role": "assistant", "content": "", "tool_calls": uses}


def write_result(place: int) -> TemplateMessage:
    """The result of the call in this place."""
    return {"role": "tool", "tool_call_id": _IDS[place], "name": NAME, "content": f"{RESULT}{place}"}


def write_exchange() -> list[TemplateMessage]:
    """A question, a call, its result and an answer."""
    return [write_user(ONE), write_calling(1), write_result(0), write_assistant(TWO)]
