"""Messages and their parts, and the readers for every form in which a caller may pass a message."""

from assembler.conversation.messages.edit import edited
from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Role, Thinking
from assembler.conversation.messages.read import read_message, still_says, unchanged, user_message
from assembler.conversation.messages.registered import reading, register_reader

__all__ = [
    "Call",
    "Media",
    "Message",
    "Opaque",
    "Part",
    "Result",
    "Role",
    "Thinking",
    "edited",
    "read_message",
    "reading",
    "register_reader",
    "still_says",
    "unchanged",
    "user_message",
]
