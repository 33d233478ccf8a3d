"""Conversations for the check of policies, each with tokens left for it near the price of its newest turns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import attrs

from assembler.assembler import Assembler
from assembler.conversation.pins import pinned_messages
from assembler.drawn.engine import DrawFn, SearchStrategy, st
from assembler.policies.traits import Rung
from assembler.pricing.ledger import Ledger
from assembler.testing.conformance.checking import AMPLE, EDGE
from assembler.testing.conversations import requests
from budgets import Budget, Tokens


@attrs.frozen
class Window:
    """A conversation, and the tokens left for it."""

    dialect: str
    request: Mapping[str, list[Any]]
    tokens_left: Tokens
    more: Tokens
    """How many more a larger window leaves."""

    def __str__(self) -> str:
        return f"{self.tokens_left} characters left for {self.request['messages']}, dialect {self.dialect}"

    @property
    def messages(self) -> list[Any]:
        """As the caller spells them."""
        return self.request["messages"]

    def ledger(self, rung: Rung) -> Ledger:
        """The conversation as the policy of this rung sees it, with its pins. Read anew: it remembers nothing."""
        draft, settings = Assembler(make_budget(AMPLE), dialect=self.dialect).set_messages(self.messages).inside
        view = draft.history.view()
        return Ledger.of(view, settings.pricer, pins=pinned_messages(view, (rung.traits.pins,)))


def make_budget(window: Tokens) -> Budget:
    """A budget whose tokens are characters."""
    return Budget(window, counter=_count_characters)


def _count_characters(text: str) -> Tokens:
    return len(text)  # not `len` itself: each budget would parse the signature of a builtin anew


@st.composite
def draw_window(draw: DrawFn, dialect: str, texts: SearchStrategy[str]) -> Window:
    """Draw a request, and tokens left within a few of the price of some of its newest turns."""
    request = draw(requests(dialect, max_turns=5, texts=texts))
    edge = draw(st.sampled_from(price_newest_turns(request, dialect) or [0])) + draw(st.integers(-EDGE, EDGE))
    return Window(dialect, request, max(0, edge), draw(st.sampled_from((0, 1, 2, 50, 1_000))))


def price_newest_turns(request: Mapping[str, Any], dialect: str) -> list[Tokens]:
    """What the newest turn of a conversation costs, the two newest, and so on."""
    draft, settings = Assembler(make_budget(AMPLE), dialect=dialect).set_messages(request["messages"]).inside
    ledger = Ledger.of(draft.history.view(), settings.pricer)
    return [*itertools.accumulate(turn.tokens for turn in ledger.newest_first())]
