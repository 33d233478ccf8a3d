"""`ClearReasoning`: leaves out the reasoning of past turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs

from assembler.conversation.messages import Message, Thinking
from assembler.conversation.messages.edit import edited, has_no_id, may_lose_id, without_id
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.validation import as_int, at_least_zero


@attrs.frozen
class ClearReasoning:
    """Leaves out thinking blocks, oldest first; those of the `keep` newest turns stay.

    The newest turn is never touched, whatever `keep` says: providers refuse an active tool loop whose latest thinking
    was changed ("blocks in the latest assistant message cannot be modified", claude-code#63314, read 2026-11). A
    message with nothing but thinking stays, since it would be empty. A reasoning item of the Responses API is dropped
    together with the id of the next item, because for that id the server demands the reasoning ("provided without its
    required 'reasoning' item", continue#11994, read 2026-11). It stays if the next item needs its id, as a search does,
    or is not the model's.
    """

    keep: int = attrs.field(default=1, converter=as_int, validator=at_least_zero)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each message, oldest first. O(messages that stay)."""
        until = passage.turn_from_the_end(max(self.keep, 1))
        alone: list[int] = []
        for index, message in passage:
            if index >= until:
                return
            if _is_reasoning_item(message):
                alone.append(index)
                continue
            if alone and may_lose_id(message):
                named = passage.once(index, message, partial(without_id, message))
                yield Change({**dict.fromkeys(alone), index: named}, "reasoning cleared")
            elif alone and has_no_id(message):
                yield Change(dict.fromkeys(alone), "reasoning cleared")
            alone = []
            if any(isinstance(part, Thinking) for part in message.parts) and _says_more(message):
                silent = passage.once(index, message, partial(_remove_reasoning, message))
                yield Change({index: silent}, "reasoning cleared")


def _is_reasoning_item(message: Message) -> bool:
    return message.shape == RESPONSES and bool(message.parts) and not _says_more(message)


def _says_more(message: Message) -> bool:
    return any(not isinstance(part, Thinking) and part != "" for part in message.parts)


def _remove_reasoning(message: Message) -> Message:
    return edited(message, [None if isinstance(part, Thinking) else part for part in message.parts])
