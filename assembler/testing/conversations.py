"""Draws whole conversations that an API accepts, as plain data."""

from __future__ import annotations

from typing import Any

from assembler.drawn.conversations import definitions, drawn_conversations
from assembler.drawn.engine import SearchStrategy, st
from assembler.drawn.spelling import SPELLINGS, Request, Spelling
from assembler.drawn.texts import texts
from assembler.validation import wrong
from assembler.verify import Named
from budgets.numbers import as_whole_number

DEFAULT = "openai_chat"
"""The default dialect."""
FEW_TURNS = 4
"""The default maximum of exchanges in a conversation: enough for a cut with turns on either side."""


def requests(
    dialect: str | Named = DEFAULT,
    *,
    min_turns: int = 1,
    max_turns: int = FEW_TURNS,
    texts: SearchStrategy[str] = texts(),  # noqa: B008 - a strategy is a value
) -> SearchStrategy[Request]:
    """Draw whole valid requests: `assembler.verify(request, dialect=dialect)` finds nothing in them.

    They have a system text or none, up to three tools, `min_turns` to `max_turns` exchanges of several texts, steps of
    up to three parallel calls answered in any order, and thinking if the API has it. The last exchange ends with the
    user or with results. Every text is drawn from `texts`, which must draw no blank text. Shrinks to one user message.
    Raises `ValueError` for an unknown dialect and for `min_turns` above `max_turns`.
    """
    spelling = spelling_of(dialect)
    _check_turns(min_turns, max_turns)
    drawn = drawn_conversations(
        words=texts, turns=(min_turns, max_turns), fewest_answers=spelling.fewest_answers, fewest_tools=0
    )
    return drawn.map(spelling.request)


def conversations(
    dialect: str | Named = DEFAULT,
    *,
    min_turns: int = 1,
    max_turns: int = FEW_TURNS,
    texts: SearchStrategy[str] = texts(),  # noqa: B008 - a strategy is a value
) -> SearchStrategy[list[dict[str, Any]]]:
    """Draw valid histories: the messages, contents or items of `requests`, with the same arguments.

    By default OpenAI Chat messages, which may begin with a system message.
    """
    history = spelling_of(dialect).history
    drawn = requests(dialect, min_turns=min_turns, max_turns=max_turns, texts=texts)
    return drawn.map(lambda request: request[history])


def messages(dialect: str | Named = DEFAULT) -> SearchStrategy[dict[str, Any]]:
    """Draw single messages from conversations: of any role, with calls, results, thinking, one text or several.

    The role is drawn first, because most messages of a short conversation are the user's. Shrinks to the user's.
    """
    spelling = spelling_of(dialect)
    least = spelling.fewest_answers
    drawn = drawn_conversations(words=texts(), turns=(1, 2), fewest_answers=least, fewest_tools=1, fewest_steps=1)
    return drawn.map(lambda each: _group_by_role(spelling.request(each)[spelling.history])).flatmap(_draw_one_of)


def tools(dialect: str | Named = DEFAULT) -> SearchStrategy[dict[str, Any]]:
    """Draw definitions of one tool, with up to three arguments of any JSON schema type.

    For a list, make the names unique: `st.lists(tools(), unique_by=lambda tool: tool["function"]["name"])`.
    """
    return definitions().map(spelling_of(dialect).tool)


def _group_by_role(history: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group the messages by role or, for items without one, by type, in the order of first occurrence."""
    groups: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for message in history:
        groups.setdefault((message.get("role"), message.get("type")), []).append(message)
    return [*groups.values()]


def _draw_one_of(groups: list[list[dict[str, Any]]]) -> SearchStrategy[dict[str, Any]]:
    return st.sampled_from(groups).flatmap(st.sampled_from)


def _check_turns(fewest: int, most: int) -> None:
    as_whole_number(fewest, "min_turns")
    as_whole_number(most, "max_turns")
    if not 1 <= fewest <= most:
        raise ValueError(f"min_turns {fewest} and max_turns {most}: expected 1 <= min_turns <= max_turns")


def spelling_of(dialect: str | Named) -> Spelling:
    """The spelling of a dialect, given by name or as a value. Raises `ValueError` if it has none."""
    name: object = dialect if isinstance(dialect, str) else getattr(dialect, "name", None)
    if not isinstance(name, str):
        known = f"one of {', '.join(SPELLINGS)}, by name or as a value"
        raise ValueError(wrong("dialect", known, dialect))  # noqa: TRY004 - as for a name that is not known
    if name not in SPELLINGS:
        raise ValueError(f"no conversations are drawn for the dialect {name!r}; known: {', '.join(SPELLINGS)}")
    return SPELLINGS[name]
