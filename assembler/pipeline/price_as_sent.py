"""Prices a request as it is sent, for APIs that merge neighbouring messages.

Such a request is priced step by step: a step is what the model says and all that follows until it speaks again. The
price of a step does not depend on the others, except that reasoning may stop being billed once a later question is
asked, and that its first message may cost more or less after the last one of the step before. So a step that is sent
unchanged keeps its price, whatever was cut before it or added after it.
"""

from __future__ import annotations

import itertools
import operator
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages import Media, Message, Opaque, Result
from assembler.dialects import Dialect
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pipeline.build_memory import BuildMemory
from assembler.pricing.media.reading import GIVEN
from assembler.pricing.opaque import is_measured
from assembler.pricing.pricer import MergingPricer, price_ends, price_sent, priced_layout, priced_request
from assembler.regions.layout import Layout
from budgets import Count
from budgets.count import Difference, add_differences, total

_MODEL_ROLES = frozenset({"assistant", "model", None})
"""Items of Responses have no role: right after words of the user they are the model's."""
_OTHER_ROLES = frozenset({"user", "tool"})
_CONVERSATION_ROLES = _OTHER_ROLES | {"assistant", "model"}
_HEAD_ROLES = frozenset({"system", "developer"})

_MOST_TRIES = 16
"""How many places to try for known steps. Each is O(what stays), and many turns may read the same."""


@attrs.define(eq=False)
class PricedStep:
    """One step of a request, priced."""

    messages: Sequence[Message]
    asks: int
    """The last of its messages that makes the model forget earlier reasoning; -1 if none does."""
    thinks: bool
    """Whether it costs less once its reasoning is forgotten."""
    forgotten: int
    """How many of its first messages have lost their reasoning."""
    price: Count
    before: Message | None = None
    """The message before it for which `behind` was found."""
    behind: Difference | None = None
    """What its first message costs more or less after that one."""

    @classmethod
    def of(cls, messages: Sequence[Message], pricer: MergingPricer) -> PricedStep:
        """A step, priced as if no later step asked a question."""
        asks = max([place for place, message in enumerate(messages) if pricer.ends_reasoning(message)], default=-1)
        thinks = any(map(operator.is_not, map(pricer.without_reasoning, messages), messages))
        return cls(messages, asks, thinks, max(asks, 0), price_sent(pricer, messages, max(asks, 0)))

    def without(self, forgotten: int, pricer: MergingPricer) -> PricedStep:
        """The step, priced without the reasoning of its first `forgotten` messages."""
        price = price_sent(pricer, self.messages, forgotten)
        return PricedStep(self.messages, self.asks, self.thinks, forgotten, price)

    def after(self, before: Message, pricer: MergingPricer) -> PricedStep:
        """The step, with what it costs more or less after this message."""
        behind = pricer.difference_after(self.messages[0], before)
        return PricedStep(self.messages, self.asks, self.thinks, self.forgotten, self.price, before, behind)


@attrs.define(eq=False)
class PricedRequest:
    """A request that was priced as it is sent. A later one reuses its prices. Never changed."""

    other_fields: dict[str, Any]
    """The request without its list of messages."""
    head: list[Any]
    """The system messages at the beginning of the list."""
    options: Mapping[str, Any]
    """What the request asks for beside its regions."""
    fixed: Count
    """The cost of everything but the steps."""
    entries: list[Any]
    """The list after the head."""
    starts: list[int]
    """The places in `entries` where steps begin."""
    steps: list[PricedStep]
    count: Count

    def end(self, step: int) -> int:
        """The place in `entries` where a step ends."""
        return self.starts[step + 1] if step + 1 < len(self.starts) else len(self.entries)


def count_as_sent(
    dialect: Dialect, pricer: MergingPricer, request: dict[str, Any], messages: Sequence[Message], memory: BuildMemory
) -> Count:
    """The count of a request that the dialect wrote of these messages. O(what the last such request did not hold)."""
    if has_sizes(messages):
        return priced_request(pricer, with_declared_sizes(dialect.parse(request), messages, dialect.api.shape))
    memory.sent = sent = price_request(dialect, pricer, request, memory.sent)
    return sent.count


def price_request(
    dialect: Dialect, pricer: MergingPricer, request: dict[str, Any], known: PricedRequest | None
) -> PricedRequest:
    """Price a request that the dialect wrote. O(what the known one does not hold), and a comparison of the rest."""
    key = dialect.api.history
    listed: list[Any] = request[key]
    other_fields = {name: value for name, value in request.items() if name != key}
    heads = next((place for place, entry in enumerate(listed) if entry.get("role") not in _HEAD_ROLES), len(listed))
    if heads < len(listed) and listed[heads].get("role") not in _CONVERSATION_ROLES:
        heads = _find_end_of_head(dialect, listed)
    head, entries = listed[:heads], listed[heads:] if heads else listed
    if known is not None and known.head == head and known.other_fields == other_fields:
        options, fixed = known.options, known.fixed
    else:
        layout = dialect.parse({**other_fields, key: head})
        options, fixed = layout.options, priced_layout(pricer.when_sent(), layout)
    place, kept = (0, range(0)) if known is None else _find_kept_steps(known, entries)
    starts, steps = list[int](), list[PricedStep]()
    if place:
        starts, steps = _price_steps(dialect, pricer, entries, 0, place)
    if known is not None and kept:
        stop = place + known.end(kept[-1]) - known.starts[kept[0]]
        starts += [start + place - known.starts[kept[0]] for start in known.starts[kept[0] : kept[-1] + 1]]
        steps += known.steps[kept[0] : kept[-1] + 1]
        place = stop
    if place < len(entries):
        new_starts, new_steps = _price_steps(dialect, pricer, entries, place, len(entries))
        starts += new_starts
        steps += new_steps
    _correct_reasoning(steps, pricer)
    _correct_neighbours(steps, pricer)
    count = total([step.price for step in steps], fixed)
    if steps:
        found = [step.behind for step in steps[1:] if step.behind is not None]
        found += price_ends(pricer, steps[0].messages, steps[-1].messages, options)
        if found:
            count += add_differences(found)
    return PricedRequest(other_fields, head, options, fixed, entries, starts, steps, count)


def _price_steps(
    dialect: Dialect, pricer: MergingPricer, entries: Sequence[Any], start: int, stop: int
) -> tuple[list[int], list[PricedStep]]:
    """The places between `start` and `stop` where steps begin, and those steps."""
    key = dialect.api.history
    begins = [start, *(place for place in range(start + 1, stop) if _begins_step(entries, place))]
    messages = dialect.parse({key: entries[start:stop]}).messages
    steps = list[PricedStep]()
    for first, last in itertools.pairwise([*begins, stop]):
        each = messages[first - start : last - start]
        if len(messages) != stop - start:  # some entries are read as one message
            each = dialect.parse({key: entries[first:last]}).messages
        steps.append(PricedStep.of(each, pricer))
    return begins, steps


def _find_end_of_head(dialect: Dialect, listed: Sequence[Any]) -> int:
    """The place after the system messages at the front, for an API with words of its own for roles."""
    key = dialect.api.history
    return next((place for place, entry in enumerate(listed) if not dialect.parse({key: [entry]}).head), len(listed))


def _begins_step(entries: Sequence[Any], place: int) -> bool:
    """Whether an entry is the model's and the one before it is not."""
    of_model = entries[place].get("role") in _MODEL_ROLES
    return of_model and (place == 0 or entries[place - 1].get("role") in _OTHER_ROLES)


def _ends_step(entries: Sequence[Any], place: int) -> bool:
    return place == len(entries) or _begins_step(entries, place)


def _correct_reasoning(steps: list[PricedStep], pricer: MergingPricer) -> None:
    """Price each step again in which more or less reasoning is forgotten than when it was priced."""
    thinking = [place for place, step in enumerate(steps) if step.thinks]
    if not thinking:
        return
    last_asking = max([place for place, step in enumerate(steps) if step.asks >= 0], default=-1)
    for place in thinking:
        step = steps[place]
        forgotten = len(step.messages) if place < last_asking else max(step.asks, 0)
        if step.forgotten != forgotten:
            steps[place] = step.without(forgotten, pricer)


def _correct_neighbours(steps: list[PricedStep], pricer: MergingPricer) -> None:
    """Price again what each step costs after the one before it, where that is another one than when it was priced."""
    last: Message | None = None
    for place, step in enumerate(steps):
        if last is not None and step.before is not last and step.messages:
            steps[place] = step.after(last, pricer)
        last = step.messages[-1] if step.messages else last


def _find_kept_steps(known: PricedRequest, entries: Sequence[Any]) -> tuple[int, range]:
    """A place in `entries` where steps of the known request recur, and which steps; an empty range if none do."""
    for place, step in itertools.islice(_pair_candidates(known, entries), _MOST_TRIES):
        start = known.starts[step]
        most = min(len(entries) - place, len(known.entries) - start)
        # All of them, or all but the last step, which later messages may have changed.
        for same in (most, known.starts[-1] - start):
            if 0 < same <= most and entries[place : place + same] == known.entries[start : start + same]:
                last = bisect_right(known.starts, start + same) - 1
                last += known.end(last) == start + same
                while last > step and not _ends_step(entries, place + known.end(last - 1) - start):
                    last -= 1
                return place, range(step, last)
    return 0, range(0)


def _pair_candidates(known: PricedRequest, entries: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Pairs of a place and the known step that may begin there: at the front, or after what was cut or put back."""
    if not known.entries:
        return
    yield 0, 0
    first = next((place for place in range(len(entries)) if _begins_step(entries, place)), None)
    if first is not None:
        yield from ((first, i) for i, start in enumerate(known.starts) if known.entries[start] == entries[first])
    if len(known.starts) > 1:
        second = known.entries[known.starts[1]]
        found = (place for place, entry in enumerate(entries) if entry == second)
        yield from ((place, 1) for place in found if _begins_step(entries, place))


# No API takes the sizes that callers declare for their media. So a file behind a URL, whose `pages` the caller
# declared, would have no price in a request that is read back, although its message has one.

_Medium: TypeAlias = Media | Opaque
_HOLDERS = (Media, Opaque, Result)


def has_sizes(originals: Sequence[Message]) -> bool:
    """Whether the caller declared the size of any medium. O(parts)."""
    return any(_declared_fields(medium) for medium in _find_media(originals))


def with_declared_sizes(sent: Layout, originals: Sequence[Message], shape: str) -> Layout:
    """The request as it is sent, with the sizes that the messages `originals` declare for its media.

    Those that the API of this shape gets as texts, or not at all, are passed over. O(parts).
    """
    return with_sizes(sent, [adapt_with_media(without_compacted_parts(message), shape) for message in originals])


def with_sizes(sent: Layout, originals: Sequence[Message]) -> Layout:
    """The request, with the sizes of the media in these messages.

    Media are matched by their order, so nothing is changed if one of them was not sent. O(parts).
    """
    known = _find_media(originals)
    if [medium.kind for medium in known] != [medium.kind for medium in _find_media(sent.messages)]:
        return sent
    media = iter(known)
    return attrs.evolve(sent, messages=[_copy_sizes(message, media) for message in sent.messages])


def _find_media(messages: Sequence[Message]) -> list[_Medium]:
    """Every image, document, audio and video, including those in results."""
    holding = [part for message in messages for part in message.parts if type(part) in _HOLDERS]
    if not holding:
        return []
    inner = [held for part in holding for held in (part.parts if isinstance(part, Result) else (part,))]
    return [part for part in inner if isinstance(part, Media | Opaque) and is_measured(part)]


def _declared_fields(medium: _Medium) -> dict[str, Any]:
    return {key: medium.raw[key] for key in GIVEN if key in medium.raw}


def _copy_sizes(message: Message, media: Any) -> Message:
    if not _find_media([message]):
        return message
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, Result):
            parts.append(attrs.evolve(part, parts=tuple(_copy_size(held, media) for held in part.parts)))
        else:
            parts.append(_copy_size(part, media))
    return attrs.evolve(message, parts=tuple(parts))


def _copy_size(part: Any, media: Any) -> Any:
    if not is_measured(part):
        return part
    raw: Mapping[str, Any] = {**part.raw, **_declared_fields(next(media))}
    return attrs.evolve(part, raw=raw)
