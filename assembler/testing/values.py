"""Strategies for the library's own values, one function each, for `st.from_type`."""

from __future__ import annotations

from assembler import Assembler, Context
from assembler.conversation.messages import Call, Message, Result, Thinking, read_message
from assembler.conversation.messages.parts import compact_json
from assembler.dialects import DIALECTS
from assembler.drawn.engine import SearchStrategy, st
from assembler.drawn.spelling import SPELLINGS, Request
from assembler.drawn.texts import identifiers, texts
from assembler.pipeline.draft import Draft
from assembler.regions.tools import Tool, read_tool
from assembler.testing.conversations import messages as spelled_messages
from assembler.testing.conversations import tools as spelled_tools
from assembler.testing.regions import assemblers as assemblers
from assembler.testing.regions import budgets as budgets
from assembler.testing.regions import documents as documents
from budgets import Count, Grade, Limit, RegionCosts

_IDS = st.none() | st.integers(0, 99).map("call_{}".format)
_ARGUMENTS = st.dictionaries(identifiers, texts() | st.integers() | st.booleans(), max_size=3)
_TOKENS = st.integers(0, 200_000)


def messages() -> SearchStrategy[Message]:
    """Draw messages with any role and parts, read from any API's form."""
    spelled = st.sampled_from(list(SPELLINGS)).flatmap(_read_by)
    system = texts().map(lambda text: {"role": "system", "content": text})  # most APIs have none among their messages
    return st.one_of(spelled, spelled, spelled, system.map(lambda raw: read_message(raw, 0)))


def _read_by(name: str) -> SearchStrategy[Message]:
    """Draw messages in a dialect's form, read by the dialect."""

    def read(raw: Request) -> Message:
        layout = DIALECTS[name].parse({SPELLINGS[name].history: [raw]})
        return [*layout.head, *layout.messages][0]

    return spelled_messages(name).map(read)


def calls() -> SearchStrategy[Call]:
    """Draw calls with or without an id, with arguments as compact JSON."""
    return st.builds(Call, _IDS, identifiers, _ARGUMENTS.map(compact_json))


def results() -> SearchStrategy[Result]:
    """Answers of no, one or two texts."""
    parts = st.lists(texts(), max_size=2).map(tuple)
    return st.builds(Result, _IDS, parts, st.none() | identifiers, st.booleans())


def thoughts() -> SearchStrategy[Thinking]:
    """Draw signed thinking of Anthropic."""
    return texts().map(lambda text: Thinking(text, {"type": "thinking", "thinking": text, "signature": "c2ln"}))


def tools() -> SearchStrategy[Tool]:
    """Tools with up to three arguments."""
    return spelled_tools().map(read_tool)


def limits() -> SearchStrategy[Limit]:
    """Limits with a cap as a share, a floor in tokens, or neither."""
    shares = st.sampled_from((0.1, 0.4, 0.75, 1.0))
    return st.builds(Limit, st.none() | shares, st.integers(0, 500))


def counts() -> SearchStrategy[Count]:
    """Draw counts of every grade; an exact one equals its upper bound."""
    exact = _TOKENS.map(Count)
    return exact | st.builds(
        _make_bounded, _TOKENS, st.integers(0, 500), st.sampled_from((Grade.BOUNDED, Grade.ESTIMATED))
    )


def _make_bounded(tokens: int, slack: int, grade: Grade) -> Count:
    return Count(tokens, grade, tokens + slack)


def region_costs() -> SearchStrategy[RegionCosts]:
    """Costs of the five regions, each 0 or more."""
    return st.builds(RegionCosts, _TOKENS, _TOKENS, _TOKENS, _TOKENS, _TOKENS)


def drafts() -> SearchStrategy[Draft]:
    """Draw the drafts of assemblers."""
    return assemblers().map(lambda drawn: drawn.inside[0])


def contexts() -> SearchStrategy[Context]:
    """Finished requests, nothing dropped, of any dialect."""
    return st.builds(_build_draft, drafts(), st.sampled_from(list(DIALECTS)))


def _build_draft(draft: Draft, name: str) -> Context:
    return Assembler.around(draft, Assembler(dialect=DIALECTS[name]).inside[1]).build()
