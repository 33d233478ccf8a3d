"""Returns the kept messages as the framework's own objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from assembler.assembler import Assembler
from assembler.conversation.messages import Message, Part
from assembler.dialects.api import Wordless
from assembler.integrations.openai_dicts import text_of
from assembler.pipeline.planned import Planned
from assembler.pipeline.sent_order import summary_place, with_summary

Own = TypeVar("Own")


def kept_objects(
    plan: Planned,
    objects: Sequence[Own],
    *,
    rewritten: Callable[[Own, Message, Message], Own],
    of_summary: Callable[[str], Own],
) -> list[Own]:
    """Return the framework's objects of the messages that stay. `objects` has one for each message of the history.

    `rewritten(object, before, after)` makes the object of a message that a policy or a strategy changed, and
    `of_summary` makes that of a summary. System messages at the head come first. An answer without a word is left out,
    as the library's own request leaves it out. O(messages that stay).
    """
    kept: list[Own | None] = []
    for index, after in plan.sent:
        before = plan.view.message(index)
        if _says_nothing(plan, after):
            kept.append(None)
        else:
            kept.append(objects[index] if after is before else rewritten(objects[index], before, after))
    if plan.trimmed.cut.summary is not None:
        kept = with_summary(plan, kept, of_summary(text_of(plan.trimmed.cut.summary.parts)))
    return [*objects[: plan.view.head], *(own for own in kept if own is not None)]


_BESIDE_TEXT = frozenset({"audio", "refusal"})
"""The fields of an answer in Chat's spelling that may stand without a text."""


def _says_nothing(plan: Planned, message: Message) -> bool:
    """Whether it is an answer of which nothing is sent, because the API refuses it (`Api.wordless`)."""
    refused = plan.settings.dialect.api.wordless
    if message.role != "assistant" or refused is Wordless.NONE or not _BESIDE_TEXT.isdisjoint(message.extra_fields):
        return False
    blanks = refused is Wordless.BLANK
    return all(isinstance(part, str) and not (part.strip() if blanks else part) for part in message.parts)


def kept_groups(
    plan: Planned,
    objects: Sequence[Own],
    entries: Sequence[int],
    *,
    rewritten: Callable[[Own, Sequence[tuple[Message, Message | None]]], Own],
    of_summary: Callable[[str], Own],
) -> list[Own]:
    """Do the same as `kept_objects` for objects of several messages each. `entries` has the number for each object.

    `rewritten(object, messages)` gets each old message of the object with its new one, or None for a dropped one. An
    object without messages stays in its place, before the next one that stays. An answer without a word is left out, as
    in `kept_objects`. O(all entries).
    """
    after = {index: plan.view.message(index) for index in range(plan.view.head)}
    after |= {index: new for index, new in plan.sent if not _says_nothing(plan, new)}
    summary, place = plan.trimmed.cut.summary, summary_place(plan)
    kept: list[Own] = []
    silent: list[Own] = []
    start = 0
    for own, count in zip(objects, entries, strict=True):
        places = range(start, start + count)
        start += count
        if not count:
            silent.append(own)
            continue
        became = [(plan.view.message(place), after.get(place)) for place in places]
        if summary is not None and places.start >= place:
            kept.append(of_summary(text_of(summary.parts)))
            summary = None
        if any(new is not None for _, new in became):
            same = all(old is new for old, new in became)
            kept += [*silent, own if same else rewritten(own, became)]
        silent = []
    return [*kept, *silent]


def align_parts(before: Sequence[Part], after: Sequence[Part]) -> Iterator[tuple[Part, Part | None]]:
    """Yield each old part with its new one, or None for a dropped one.

    Rewriting keeps the order and the kinds of parts, so a part is dropped if the next new part has another kind.
    """
    left = list(after)
    for part in before:
        yield part, left.pop(0) if left and type(left[0]) is type(part) else None


def with_own_system(assembler: Assembler, own: str | None) -> Assembler:
    """Return a fork whose instruction is the framework's system prompt followed by the assembler's."""
    texts = [text for text in (own, assembler.instruction) if text]
    return assembler.fork().set_instruction("\n\n".join(texts))
