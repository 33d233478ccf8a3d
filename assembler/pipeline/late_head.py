"""Prices a conversation that begins, as it is sent, with system messages.

The head of a history ends at its first message of another kind. If nothing is sent of that one, as of an assistant's
message without content, or if a policy drops it, the API takes the system messages after it for the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assembler.conversation.messages import Message
from assembler.conversation.turns import is_head
from assembler.dialects import Dialect
from assembler.dialects.writing.emit import emit_layout
from assembler.errors import ConversationError
from assembler.pipeline.choose import price_fixed
from assembler.pricing.pricer import Pricer, is_joining, price_message, price_messages
from assembler.regions.layout import Layout
from budgets import Count

if TYPE_CHECKING:
    from assembler.pipeline.measure import Measured
    from assembler.pipeline.settings import Settings


def price_with_late_head(measured: Measured, messages: Sequence[Message], settings: Settings) -> Count:
    """What the fixed regions and these messages cost, the system messages that come to the front as part of the head.

    O(messages).
    """
    pricer, dialect = settings.pricer, settings.dialect
    messages = pricer.drop_unsent(messages) if is_joining(pricer) else messages
    turns = (i for i, each in enumerate(messages) if not is_head(each) and _is_sent(each, pricer, dialect))
    begin = next(turns, len(messages))
    late = tuple(filter(is_head, messages[:begin]))
    if not late:
        return measured.fixed + price_messages(pricer, messages)
    pieces, regions = measured.rendered.pieces, measured.regions
    with_late = price_fixed(pricer, dialect, pieces, (*measured.head, *late), regions).total
    without = price_fixed(pricer, dialect, pieces, measured.head, regions).total
    return measured.fixed + (with_late - without) + price_messages(pricer, messages[begin:])


def _is_sent(message: Message, pricer: Pricer, dialect: Dialect) -> bool:
    """Whether anything is sent of a message that no other message comes before. An empty item may cost nothing."""
    if price_message(pricer, message).upper:
        return True
    try:
        emit_layout(dialect, Layout(messages=[message]))
    except ConversationError:  # without a message there is no request
        return False
    return True
