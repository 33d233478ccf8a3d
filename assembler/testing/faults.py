"""Draws conversations that an API refuses, each for one named reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assembler.drawn.breach import Breach, history_of
from assembler.drawn.conversations import Call, Conversation, Step, drawn_conversations
from assembler.drawn.engine import DrawFn, SearchStrategy, st
from assembler.drawn.spelling import Request
from assembler.drawn.texts import texts
from assembler.testing.conversations import DEFAULT, FEW_TURNS, spelling_of
from assembler.verify import Named
from budgets.lazy_names import FromFolders

BREACHES: Mapping[str, Mapping[str, Breach]] = FromFolders("assembler.dialects", "drawn", "BREACHES")
"""The functions that make a valid request break one rule, by dialect and rule id: `drawn.py` in each API's folder."""


@attrs.frozen
class Broken:
    """A request that breaks exactly one rule: `rule` is its id, as in `assembler.verify.rules(dialect)`."""

    rule: str
    dialect: str
    request: Request

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history alone: messages, contents or items."""
        return history_of(self.request)


def broken_conversations(dialect: str | Named = DEFAULT, *, rule: str | None = None) -> SearchStrategy[Broken]:
    """Draw requests that break exactly one rule: `rule`, or any that a history or its request can break.

    Shrinks to a question, a call, its answer, and the breach. Raises `ValueError` for an unknown dialect or rule.
    """
    name = spelling_of(dialect).name
    rules = list(BREACHES[name])
    if rule is None:
        return st.sampled_from(rules).flatmap(lambda one: _draw_broken(name, one))
    if rule not in rules:
        raise ValueError(f"no breach of rule {rule!r} is known for {name}; known: {', '.join(rules)}")
    return _draw_broken(name, rule)


@st.composite
def _draw_broken(draw: DrawFn, dialect: str, rule: str) -> Broken:
    spelling = spelling_of(dialect)
    whole = draw(
        drawn_conversations(words=texts(), turns=(1, FEW_TURNS), fewest_answers=spelling.fewest_answers, fewest_tools=1)
    )
    request = spelling.request(_add_calling_step(whole))
    BREACHES[dialect][rule](draw, request)
    return Broken(rule, dialect, request)


def _add_calling_step(conversation: Conversation) -> Conversation:
    """Add a step at the end, so that there is always a call to break."""
    number = sum(1 for _ in conversation.calls)
    call = Call(number, conversation.tools[0].name, {}, "a", failed=False)
    *before, newest = conversation.exchanges
    newest = attrs.evolve(newest, steps=(*newest.steps, Step(None, (), (call,), (0,))))
    return attrs.evolve(conversation, exchanges=(*before, newest))
