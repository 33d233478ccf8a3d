"""Checks that a dialect's `hears` is right about other models' reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.assembler import Assembler
from assembler.dialects.dialect import Dialect, ReasoningDialect
from assembler.errors import ConversationError

_WORDS = "It rained on the road."
_ANSWER = {"type": "text", "text": "Wet."}
_LISTED = [{"type": "text", "text": _WORDS}]

_THOUGHTS: Mapping[str, Mapping[str, Any]] = {
    "in a field of its own": {"content": "Wet.", "reasoning_content": _WORDS},
    "under a signature": {"content": [{"type": "thinking", "thinking": _WORDS, "signature": "c2ln"}, _ANSWER]},
    "without a signature": {"content": [{"type": "thinking", "thinking": _WORDS}, _ANSWER]},
    "in a list of texts": {"content": [{"type": "thinking", "thinking": _LISTED}, _ANSWER]},
}


def misheard(dialect: Dialect) -> str | None:
    """Return the first form of reasoning about which `hears` is wrong; None if there is none, or no `hears`."""
    if not isinstance(cast(object, dialect), ReasoningDialect):
        return None
    for spelling, message in _THOUGHTS.items():
        history = [("user", "Look around."), {"role": "assistant", **message}, ("user", "Why?")]
        try:
            context = Assembler(dialect=dialect).add_messages(history).build()
            sent = _WORDS in str(context.request())
        except ConversationError:
            continue
        if sent is bool(context.dropped):
            return f"reasoning {spelling} is {'sent' if sent else 'left out'}, and hears says that it is not"
    return None
