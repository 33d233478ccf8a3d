"""The source of a module with a spelling of messages of a test's own: `{"says": "a text"}`."""

from __future__ import annotations


def own_spelling(name: str) -> str:
    """The module, with the spelling under this name."""
    return f"""
from assembler.conversation.messages.message import Message
from assembler.conversation.messages.spelling import DictSpelling

def edit(fields, old, new):
    fields["says"] = new[0]
    return new

{name} = DictSpelling(
    shape="of_a_test",
    recognises=lambda fields: "says" in fields,
    read=lambda fields, index: Message("user", (fields["says"],), fields, "of_a_test", dict(fields)),
    edit=edit,
    answer=lambda call, message, text: {{"says": text}},
)
"""
