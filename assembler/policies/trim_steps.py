"""`TrimSteps`: drops the oldest steps of the current turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from assembler.conversation.messages import Call, Message, Result, Thinking
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.validation import as_int, at_least_zero


@attrs.frozen
class TrimSteps:
    """Drops the oldest complete steps of the newest turn, call and results together; the `keep` newest stay.

    Use it if one question is followed by very many calls, a turn that `TrimOldest` cannot shrink. The user's message
    stays, and so does what the assistant said without calling a tool. A step stays if its results came with words of
    the user. The last step stays if the conversation would otherwise end with the assistant, or with a question without
    words, which most APIs refuse.
    """

    keep: int = attrs.field(default=2, converter=as_int, validator=at_least_zero)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each step, oldest first. O(messages of the newest turn)."""
        steps = complete_steps(passage)
        newest = {index: message for index, message in passage if index >= passage.newest}
        with_words = {index for index, message in newest.items() if _says_something(message)}
        for step in steps[: max(len(steps) - self.keep, 0)]:
            if with_words.isdisjoint(step) and not _must_stay(passage, newest, step):
                yield Change(dict.fromkeys(step), f"step of {len(step)} messages dropped")


def complete_steps(passage: Passage) -> list[list[int]]:
    """The steps of the newest turn whose calls all have results: the indexes of each, oldest first.

    Calls side by side, each an item of its own, are one step together with the reasoning right before them.
    """
    steps: list[list[int]] = []
    thoughts: list[int] = []
    open_calls = 0
    for index, message in passage:
        if index < passage.newest:
            continue
        calls = _count_parts(message, Call)
        if calls and not open_calls:
            steps.append([*thoughts, index])
        elif open_calls:
            steps[-1].append(index)
        open_calls += calls - (_count_parts(message, Result) if open_calls else 0)
        thoughts = [*thoughts, index] if not open_calls and _holds_only_reasoning(message) else []
    return steps[:-1] if open_calls > 0 else steps


def _holds_only_reasoning(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


def _must_stay(passage: Passage, newest: Mapping[int, Message], step: Sequence[int]) -> bool:
    """Whether dropping this step would leave the turn empty, without a word of the user's, or ending with the
    assistant. Only for the last step.
    """
    if step[-1] != passage.length - 1:
        return False
    earlier = (index for index, _ in passage.newest_first() if index < step[0])
    before = next(earlier, None)
    return before is None or newest[before].role == "assistant" or newest[before].is_blank


def _says_something(message: Message) -> bool:
    return message.role == "user" and any(not isinstance(part, Result) and part != "" for part in message.parts)


def _count_parts(message: Message, kind: type) -> int:
    return sum(1 for part in message.parts if type(part) is kind)
