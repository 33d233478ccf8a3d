"""What a dialect must say about tokens, so that the pipeline can add instead of recount.

A request costs its fixed part (system text, knowledge, tools, framing) plus the sum of its messages. That sum is exact
because chat formats put control tokens between messages (a control token ends every piece of text before tokenisation),
and because the pieces of one text meet only at tag seams, where the bundled encodings are additive.
"""

from __future__ import annotations

import enum
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, TypeGuard, runtime_checkable

import attrs

from assembler.conversation.compaction import standing
from assembler.conversation.messages import Message
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.runs import runs
from budgets import Count, TokenCounter, Tokens
from budgets.apportion import settle
from budgets.count import NOTHING, Difference, adds_at_seams, total
from budgets.value import Value

Region: TypeAlias = Literal["instruction", "capability", "knowledge", "conversation", "framing"]


class Has(enum.Flag):
    """What a request holds beside the thing that is priced, where its price depends on that."""

    NOTHING = 0
    SYSTEM = enum.auto()
    TOOLS = enum.auto()

    @classmethod
    def what(cls, system: object, tools: object) -> Has:
        """Which of the two a request holds; an empty one or None does not count."""
        return (cls.SYSTEM if system else cls.NOTHING) | (cls.TOOLS if tools else cls.NOTHING)


@attrs.frozen(eq=False, repr=False)
class Piece(Value):
    """A stretch of text that one region owns, in the system text or around a question: joined in order, they are it."""

    region: Region
    name: str
    text: str = attrs.field(repr=False)


@attrs.frozen(eq=False, repr=False)
class FixedPrices(Value):
    """What the regions that do not give way cost: one count a piece, a head message, a tool, and what frames them."""

    pieces: tuple[Count, ...] = ()
    head: tuple[Count, ...] = ()
    tools: tuple[Count, ...] = ()
    tooling: Count = NOTHING
    """What tools cost beyond their own texts: preamble, wrapping, the choice of one, the slack of a bounded rule."""
    output: Count = NOTHING
    """The output schema."""
    framing: Count = NOTHING

    def each(self, change: Callable[[Count], Count]) -> FixedPrices:
        """The prices with every one changed, but for the output schema's, which the request's options bring."""
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
        """What adding this message to any request costs, its own framing included. Called once a message."""
        ...

    def options(self, layout: Layout) -> Count | Difference:
        """What a raw request's other keys cost beside its regions (a forced tool, an output schema), or save."""
        ...


@runtime_checkable
class WholePricer(Pricer, Protocol):
    """A pricer whose parts do not add up to the request: what its other faces say are estimates for order and report.

    A budget must be checked against the whole.
    """

    def whole(self, layout: Layout) -> Count:
        """What the request of this layout costs. Dear: the whole is spelled and counted."""
        ...

    def at_least(self, message: Message, price: Count) -> Tokens:
        """Tokens that a message priced so adds to every request that it is put into; 0 for no promise."""
        ...


@runtime_checkable
class JoiningPricer(Pricer, Protocol):
    """A pricer of a dialect that sends some neighbouring messages as one, and is billed for the one."""

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages as they go out: those of one turn of the model in one."""
        ...

    def answers_together(self, message: Message, before: Message) -> bool:
        """Whether a message is billed with its neighbour before it, as another result of the same step."""
        return False

    def puts_answers_last(self) -> bool:
        """Whether a step's answers go out behind all that the model said in it."""
        return True

    def heard(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Of all messages that stay, those that go out. Reasoning may need more of the model's behind it."""
        return messages


@runtime_checkable
class MergingPricer(Pricer, Protocol):
    """A pricer of a dialect that sends neighbouring messages as one turn, or words of its own between them.

    The sum of its prices is what a request costs at most. What it costs is found on the request as it is sent: by the
    prices of `when_sent`, and what `beside` says of neighbours. What the model says is `beside` nothing that somebody
    else said before it, so that a request is priced step by step.
    """

    def when_sent(self) -> MergingPricer:
        """The prices of messages that were read back from what is sent."""
        return self

    def beside(self, message: Message, before: Message | None) -> Difference | None:
        """What a message costs more or less behind the one before it, or as the first. None for nothing."""
        return None

    def forgets(self, message: Message) -> bool:
        """Whether the model's reasoning before this message is billed no more."""
        return False

    def when_forgotten(self, message: Message) -> Message:
        """What is billed of a message before such a one; the very message where that is all of it."""
        return message


@runtime_checkable
class FormattingPricer(Pricer, Protocol):
    """A pricer of a dialect that is billed more for some messages where the request asks for an answer format."""

    def formatted(self) -> Pricer:
        """The price list of such a request; itself, where it is that already."""
        ...


def priced_request(pricer: Pricer, layout: Layout) -> Count:
    """A request as it is sent, read by its own dialect: what the provider bills for it.

    What stands before a server's own summary is not billed.
    """
    if (left := standing(layout.messages)) is not layout.messages:
        layout = attrs.evolve(layout, messages=left)
    if isinstance(pricer, WholePricer):
        return pricer.whole(layout)
    if not isinstance(pricer, MergingPricer):
        return priced_layout(pricer, layout)
    asked = max((0, *(place for place, message in enumerate(layout.messages) if pricer.forgets(message))))
    fixed = priced_layout(pricer.when_sent(), attrs.evolve(layout, messages=()))
    return fixed + price_beginning(pricer, layout.messages) + price_sent(pricer, layout.messages, asked)


def priced_layout(pricer: Pricer, layout: Layout) -> Count:
    """A whole request by the sum of its parts: what every pricer but a `WholePricer` promises."""
    pieces = () if layout.system is None else (Piece("instruction", "system", layout.system),)
    from assembler.pricing.hosted import fixed_with_hosted  # it knows this module

    fixed = fixed_with_hosted(pricer, pieces, layout.head, layout.tools)
    parts = [*fixed.pieces, *fixed.head, *fixed.tools, fixed.tooling, fixed.framing]
    parts.append(price_messages(pricer, layout.messages))
    return total(parts) + pricer.options(layout) if layout.options else total(parts)


def price_all(pricer: Pricer, messages: Sequence[Message]) -> Count:
    """What all messages that stay cost in one request: those that go out, as `price_messages` says."""
    return price_messages(pricer, pricer.heard(messages) if is_joining(pricer) else messages)


def price_messages(pricer: Pricer, messages: Sequence[Message]) -> Count:
    """What neighbouring messages cost in one request: those that go out as one are priced as one."""
    return total(map(pricer.message, pricer.joined(messages) if is_joining(pricer) else messages))


def price_sent(pricer: MergingPricer, messages: Sequence[Message], asked: int) -> Count:
    """What messages that are sent cost, side by side. Reasoning before the one at `asked` may be billed no more."""
    kept = [*map(pricer.when_forgotten, messages[:asked]), *messages[asked:]] if asked else messages
    price = price_messages(pricer.when_sent(), kept)
    for before, message in itertools.pairwise(kept):
        more = pricer.beside(message, before)
        if more is not None:
            price += more
    return price


def price_beginning(pricer: MergingPricer, messages: Sequence[Message]) -> Difference:
    """What the first message of a request costs more for being the first."""
    return (pricer.beside(messages[0], None) if messages else None) or Difference()


def answered_at_once(messages: Sequence[Message], together: Callable[[Message, Message], bool]) -> Sequence[Message]:
    """The messages, each run of neighbours that are billed `together` in one, which is priced and never sent. O(n)."""
    found = runs(messages, together)
    return messages if len(found) == len(messages) else [_one(run) for run in found]


def _one(run: Sequence[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    return run[0].with_parts(tuple([part for message in run for part in message.parts]))


def is_joining(pricer: Pricer) -> TypeGuard[JoiningPricer]:
    """Whether the dialect of a pricer sends some neighbouring messages as one."""
    return _joins(type(pricer))


# Asking a protocol of an object looks at its every member, and each message of a run is asked.
@functools.cache
def _joins(kind: type) -> bool:
    return issubclass(kind, JoiningPricer)


def price_pieces(texts: Sequence[str], count: TokenCounter) -> list[Tokens]:
    """Tokens of each text such that their sum is the count of the joined whole.

    Where the counter promises additive tag seams, each text is counted alone and once. Where it does not, the whole is
    counted too, and what the joins gain or lose goes to the longest pieces.
    """
    counts = [count(text) for text in texts]
    if len(texts) < 2 or adds_at_seams(count):
        return counts
    settle(counts, count("".join(texts)))
    return counts
