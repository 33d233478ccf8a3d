"""Which strategy `st.from_type` gives for each of the library's values. Draws nothing until it is asked.

Runs when both Hypothesis and the library are loaded (`_assembler_plugins.for_hypothesis`), perhaps while `engine` is
half imported: so it imports Hypothesis itself. All that it imports is loaded by then; the strategies come when drawn.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Call, Message, Result, Thinking
from assembler.pipeline.draft import Draft
from assembler.regions.knowledge import Document
from assembler.regions.tools import Tool
from budgets import Budget, Count, Limit, RegionCosts

_VALUES: dict[type[Any], str] = {
    Assembler: "assemblers",
    Budget: "budgets",
    Call: "calls",
    Context: "contexts",
    Count: "counts",
    Document: "documents",
    Draft: "drafts",
    Limit: "limits",
    Message: "messages",
    RegionCosts: "region_costs",
    Result: "results",
    Thinking: "thoughts",
    Tool: "tools",
}
"""The values, and the functions of `assembler.testing.values` that draw them."""


def register() -> None:
    """Let `st.from_type` draw the library's values. Once is enough; twice does no harm."""
    for kind, name in _VALUES.items():
        st.register_type_strategy(kind, _later(name))


def _later(name: str) -> Callable[[type[Any]], SearchStrategy[Any]]:
    def drawn(_kind: type[Any]) -> SearchStrategy[Any]:
        values = importlib.import_module("assembler.testing.values")
        strategy: SearchStrategy[Any] = getattr(values, name)()
        return strategy

    return drawn
