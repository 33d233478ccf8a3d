"""The protocols by which a dialect prices a request, so that the pipeline can add prices instead of counting again.

A request costs its fixed part (system text, knowledge, tools, framing) plus the sum of its messages. That sum is exact
for two reasons. Chat formats put control tokens between messages, and no token spans a control token. And the pieces of
one text meet only at tag seams, where the bundled encodings are additive.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

import attrs

from assembler.conversation.messages import Message, user_message
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.runs import runs
from budgets import Count, TokenCounter, Tokens
from budgets.apportion import settle
from budgets.count import NOTHING, Difference, add_differences, adds_at_seams, total
from budgets.value import Value

Region: TypeAlias = Literal["instruction", "capability", "knowledge", "conversation", "framing"]


class Has(enum.Flag):
    """What else a request holds, for prices that depend on it."""

    NOTHING = 0
    SYSTEM = enum.auto()
    TOOLS = enum.auto()

    @classmethod
    def what(cls, system: object, tools: object) -> Has:
        """The flags for what a request holds. None or an empty value does not count."""
        return (cls.SYSTEM if system else cls.NOTHING) | (cls.TOOLS if tools else cls.NOTHING)


@attrs.frozen(eq=False, repr=False)
class Piece(Value):
    """A stretch of the system text, or of the text around a question, that one region owns. All pieces joined in order
    are the whole text.
    """

    region: Region
    name: str
    text: str = attrs.field(repr=False)


@attrs.frozen(eq=False, repr=False)
class FixedPrices(Value):
    """The prices of the fixed regions: a count for each piece, head message and tool, and for the framing."""

    pieces: tuple[Count, ...] = ()
    head: tuple[Count, ...] = ()
    tools: tuple[Count, ...] = ()
    tooling: Count = NOTHING
    """What tools cost beyond their definitions: preamble, wrapping, tool choice, the slack of a bounded rule."""
    output: Count = NOTHING
    """The output schema."""
    framing: Count = NOTHING

    @property
    def total(self) -> Count:
        """The price of all fixed regions together."""
        return total([*self.pieces, *self.head, *self.tools, self.tooling, self.output, self.framing])

    def each(self, change: Callable[[Count], Count]) -> FixedPrices:
        """The prices with `change` applied to each, except the output schema's, which comes from `Pricer.options`."""
        return attrs.evolve(
            self,
            pieces=tuple(map(change, self.pieces)),
            head=tuple(map(change, self.head)),
            tools=tuple(map(change, self.tools)),
            tooling=change(self.tooling),
            framing=change(self.framing),
        )


class Pricer(Protocol):
    """Prices one request of one dialect for one model with one counter. Pure: the same text always costs the same."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """The price of everything but the turns."""
        ...

    def message(self, message: Message) -> Count:
        """What this message adds to any request, with its framing. Called once for each message."""
        ...

    def options(self, layout: Layout) -> Count | Difference:
        """What the other keys of a raw request add or save (a forced tool, an output schema)."""
        ...


@runtime_checkable
class ListPricer(Pricer, Protocol):
    """A pricer that prices a list of messages in fewer calls than one by one, for the same prices."""

    def messages(self, messages: Sequence[Message]) -> list[Count]:
        """What `message` returns for each."""
        ...


@runtime_checkable
class FieldPricer(Pricer, Protocol):
    """A pricer that bounds the text in those fields of a message and its parts that are sent and that no one reads.

    It is asked once for each message as it was added, whatever is merged with it.
    """

    def unread(self, message: Message) -> Count:
        """What the fields may cost; nothing if the API is not sent them."""
        ...


@runtime_checkable
class WholePricer(Pricer, Protocol):
    """A pricer whose prices do not add up to the request. They are estimates for the search and the report.

    The budget must be checked against `count_whole`.
    """

    def count_whole(self, layout: Layout) -> Count:
        """The count of the whole request. Slow, because it spells and counts all of it."""
        ...

    def at_least(self, message: Message, price: Count) -> Tokens:
        """The least that a message with this price adds to any request; 0 if nothing is certain."""
        ...


@runtime_checkable
class JoiningPricer(Pricer, Protocol):
    """A pricer of a dialect that merges some neighbouring messages and is billed for the merged one."""

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages as they are sent: those of one turn of the model merged."""
        ...

    def bills_results_together(self, message: Message, before: Message) -> bool:
        """Whether a message is billed together with the one before, as another result of the same step."""
        return False

    def bills_model_messages_together(self, message: Message, before: Message) -> bool:
        """Whether a message of the model may be billed together with the one before, in whatever spelling they are."""
        return False

    def sends_results_last(self) -> bool:
        """Whether the results of a step are sent after everything that the model said in it."""
        return True

    def drop_unsent(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages that are sent, of those that stay. Reasoning may need another item of the model after it."""
        return messages


@runtime_checkable
class MergingPricer(Pricer, Protocol):
    """A pricer of a dialect that merges neighbouring messages into turns, or adds words of its own between them.

    The sum of its prices is an upper bound. The exact cost is found from the request as it is sent: by the prices of
    `when_sent`, corrected by `difference_after` for neighbours. A request is priced step by step, and a step that
    follows another one is corrected like any message.
    """

    def when_sent(self) -> MergingPricer:
        """The pricer for messages that were read back from a request."""
        return self

    def difference_after(self, message: Message, before: Message | None) -> Difference | None:
        """What a message costs more or less after `before`, None for the first. Returns None for no difference."""
        return None

    def difference_at_end(self, message: Message, options: Mapping[str, Any]) -> Difference | None:
        """What the last message of a request with these options costs less because it is the last. Returns None for no
        difference.
        """
        return None

    def spares(self) -> Tokens:
        """The most tokens that a message can save by being sent in one turn with its neighbours."""
        return 2 * self.message(user_message("a")).upper

    def forgets_reasoning(self) -> bool:
        """Whether reasoning is billed only until the next question."""
        return False

    def ends_reasoning(self, message: Message, opening: Message | None = None) -> bool:
        """Whether reasoning before this message is no longer billed. `opening` is the first message of the user's turn
        in which it is sent, if that is another one.
        """
        return False

    def without_reasoning(self, message: Message) -> Message:
        """The part of a message that is still billed before such a one; the message itself if all of it is."""
        return message


@runtime_checkable
class FormattingPricer(Pricer, Protocol):
    """A pricer of a dialect for which some messages cost more if the request asks for an output schema."""

    def formatted(self) -> Pricer:
        """The pricer for such a request; itself if it already is that."""
        ...


def priced_request(pricer: Pricer, layout: Layout) -> Count:
    """What the provider bills for a request that its own dialect has read, without messages before a summary."""
    if is_whole(pricer):
        return pricer.count_whole(layout)
    if not is_merging(pricer):
        return priced_layout(pricer, layout)
    question_at = max((0, *(place for place, message in enumerate(layout.messages) if pricer.ends_reasoning(message))))
    fixed = priced_layout(pricer.when_sent(), attrs.evolve(layout, messages=(), options={}))
    price = fixed + price_sent(pricer, layout.messages, question_at)
    price += add_differences(price_ends(pricer, layout.messages, layout.messages, layout.options))
    return price + pricer.when_sent().options(layout) if layout.options else price


def priced_layout(pricer: Pricer, layout: Layout) -> Count:
    """The cost of a request as the sum of its parts. Not for a `WholePricer`."""
    pieces = () if layout.system is None else (Piece("instruction", "system", layout.system),)
    from assembler.pricing.hosted import fixed_with_hosted  # it imports this module

    fixed = fixed_with_hosted(pricer, pieces, layout.head, layout.tools)
    parts = [*fixed.pieces, *fixed.head, *fixed.tools, fixed.tooling, fixed.framing]
    parts.append(price_messages(pricer, layout.messages))
    return total(parts) + pricer.options(layout) if layout.options else total(parts)


def price_all(pricer: Pricer, messages: Sequence[Message]) -> Count:
    """What all messages that stay cost in one request. Skips those that are not sent."""
    return price_messages(pricer, pricer.drop_unsent(messages) if is_joining(pricer) else messages)


def price_each(pricer: Pricer, messages: Sequence[Message]) -> list[Count]:
    """The price of each message, as it is sent alone."""
    prices = pricer.messages(messages) if _is_listing(pricer) else list(map(pricer.message, messages))
    if all(map(IS_FULLY_READ, messages)):  # as nearly always
        return prices
    return [price + price_unread(pricer, message) for price, message in zip(prices, messages, strict=True)]


def price_message(pricer: Pricer, message: Message) -> Count:
    """The price of one message, as it is sent alone."""
    price = pricer.message(message)
    return price if message.fully_read else price + price_unread(pricer, message)


IS_FULLY_READ = operator.attrgetter("fully_read")
"""Whether a message is known to hold no field beside its parts. Called in C."""


def price_unread(pricer: Pricer, message: Message) -> Count:
    """What the fields of a message may cost that no one reads; nothing for a pricer that does not say."""
    if message.fully_read or _is_bare(message) or not _has_members(type(pricer), FieldPricer):
        return NOTHING
    return cast(FieldPricer, pricer).unread(message)


def _is_bare(message: Message) -> bool:
    """Whether a message is a role and one text in a list, as block APIs have most. Notes that it is fully read then."""
    seen: Any = message.seen
    if message.text is None or len(seen) != 2 or "role" not in seen:
        return False
    listed: object = seen.get("content") or seen.get("parts")
    if not isinstance(listed, list) or len(parts := cast("Sequence[Any]", listed)) != 1:
        return False
    message.fully_read = len(parts[0]) == 1 + ("type" in parts[0])
    return message.fully_read


def price_messages(pricer: Pricer, messages: Sequence[Message]) -> Count:
    """What neighbouring messages cost in one request. Messages that are sent merged are priced merged."""
    price = total(map(pricer.message, pricer.join(messages) if is_joining(pricer) else messages))
    if all(map(IS_FULLY_READ, messages)):
        return price
    return total([price_unread(pricer, message) for message in messages], price)


def price_sent(pricer: MergingPricer, messages: Sequence[Message], question_at: int) -> Count:
    """What sent messages cost, with neighbours. Reasoning before the question's index may no longer be billed."""
    kept = (
        [*map(pricer.without_reasoning, messages[:question_at]), *messages[question_at:]] if question_at else messages
    )
    price = price_messages(pricer.when_sent(), kept)
    for before, message in itertools.pairwise(kept):
        more = pricer.difference_after(message, before)
        if more is not None:
            price += more
    return price


def price_ends(
    pricer: MergingPricer, first: Sequence[Message], last: Sequence[Message], options: Mapping[str, Any]
) -> list[Difference]:
    """What a request costs more or less because of the first of these messages, and because of the last of those."""
    found = list[Difference]()
    if first and (more := pricer.difference_after(first[0], None)) is not None:
        found.append(more)
    if last and (more := pricer.difference_at_end(last[-1], options)) is not None:
        found.append(more)
    return found


def answered_at_once(messages: Sequence[Message], together: Callable[[Message, Message], bool]) -> Sequence[Message]:
    """The messages, with neighbours that are billed `together` merged into one, for pricing only. O(n)."""
    found = runs(messages, together)
    return messages if len(found) == len(messages) else [_join_run(run) for run in found]


def _join_run(run: Sequence[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    return run[0].with_parts(tuple([part for message in run for part in message.parts]))


def is_joining(pricer: Pricer) -> TypeGuard[JoiningPricer]:
    """Whether the dialect of a pricer merges some neighbouring messages."""
    return _has_members(type(pricer), JoiningPricer)


def is_merging(pricer: Pricer) -> TypeGuard[MergingPricer]:
    """Whether the dialect of a pricer merges neighbouring messages into turns."""
    return _has_members(type(pricer), MergingPricer)


def is_whole(pricer: Pricer) -> TypeGuard[WholePricer]:
    """Whether only a pricer's count of the whole request is exact."""
    return _has_members(type(pricer), WholePricer)


def _is_listing(pricer: Pricer) -> TypeGuard[ListPricer]:
    """Whether a pricer has `messages`, and no subclass has changed `message` alone."""
    owner = next((base for base in type(pricer).__mro__ if not vars(base).keys().isdisjoint(_PRICES)), None)
    return owner is not None and vars(owner).keys() >= _PRICES


_PRICES = frozenset({"message", "messages"})


# Cached, because a check against a protocol looks up every member, and it runs for each message or bill.
@functools.lru_cache(maxsize=256)
def _has_members(kind: type, protocol: type) -> bool:
    return issubclass(kind, protocol)


def price_pieces(texts: Sequence[str], count: TokenCounter) -> list[Tokens]:
    """The tokens of each text, adding up to the count of the joined whole.

    If the counter promises additive tag seams, each text is counted alone and once. Otherwise the whole is counted too,
    and the difference goes to the longest pieces.
    """
    counts = [count(text) for text in texts]
    if len(texts) < 2 or adds_at_seams(count):
        return counts
    settle(counts, count("".join(texts)))
    return counts
