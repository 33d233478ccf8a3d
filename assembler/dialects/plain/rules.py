"""The neutral conversation of no API (`system`, `messages`, `tools`): rules N1 to N9."""

from __future__ import annotations

from collections.abc import Iterator

from assembler.verify import neutral
from assembler.verify.checker import Checker
from assembler.verify.definitions import L0, T1, T2, T3
from assembler.verify.neutral import N1, N4, N5, N6, N7, N8, N9
from assembler.verify.pairing import N2, N3
from assembler.verify.place import Place
from assembler.verify.shape import TEXT_OR_LIST, may_be
from assembler.verify.violation import Violation

RULES = (N1, N2, N3, N4, N5, N6, N7, N8, N9, L0, T1, T2, T3)


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in a conversation, for any model. Linear."""
    messages = request.at("messages")
    yield from may_be(request.at("system"), TEXT_OR_LIST)
    yield from neutral.wrong_messages(messages)
    yield from neutral.wrong_tools(request.at("tools"))
    turns = neutral.read_turns(messages)
    yield from neutral.wrong_ends(messages, turns)
    yield from neutral.wrong_pairs(turns)
    yield from neutral.empty_contents(turns)
    yield from neutral.unfollowed_reasoning(turns)
    yield from neutral.lost_signatures(turns)
    yield from neutral.too_many_marks(request)
    called = next((turn for turn in turns if turn.calls), None)
    if called is not None and not request.at("tools").size:
        yield N7.broken(called.place.path, "a call in the history, and no tools")


CHECKER = Checker(check, RULES)
