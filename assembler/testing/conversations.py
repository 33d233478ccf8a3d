"""Whole conversations that an API accepts, as data: what your code is given."""

from __future__ import annotations

from typing import Any

from assembler.drawn.conversations import definitions, said
from assembler.drawn.engine import SearchStrategy, st
from assembler.drawn.spelling import SPELLINGS, Request, Spelling
from assembler.drawn.texts import texts
from assembler.validation import wrong
from assembler.verify import Named
from budgets.numbers import whole

DEFAULT = "openai_chat"
"""The dialect of everything here that names none."""
FEW_TURNS = 4
"""Exchanges in a conversation, at most, unless more are asked for: enough for a cut with something on either side."""


def requests(
    dialect: str | Named = DEFAULT,
    *,
    min_turns: int = 1,
    max_turns: int = FEW_TURNS,
    texts: SearchStrategy[str] = texts(),  # noqa: B008 - a strategy is a value
) -> SearchStrategy[Request]:
    """Whole requests: `assembler.verify(request, dialect=dialect)` finds nothing in them.

    A system text or none, up to three tools, `min_turns` to `max_turns` exchanges of several texts, steps of up to
    three parallel calls answered in any order, thinking where the API has it; the last exchange ends with the user or
    with results. Every text is drawn from `texts`, which must draw none that is blank. Shrinks to one user message.
    Raises `ValueError` for an unknown dialect and for turns out of order.
    """
    spelling = spelling_of(dialect)
    _check_turns(min_turns, max_turns)
    drawn = said(words=texts, turns=(min_turns, max_turns), fewest_answers=spelling.fewest_answers, fewest_tools=0)
    return drawn.map(spelling.request)


def conversations(
    dialect: str | Named = DEFAULT,
    *,
    min_turns: int = 1,
    max_turns: int = FEW_TURNS,
    texts: SearchStrategy[str] = texts(),  # noqa: B008 - a strategy is a value
) -> SearchStrategy[list[dict[str, Any]]]:
    """Histories that the API accepts: the messages, contents or items of `requests`, with the same arguments.

    By default OpenAI Chat messages, where a system message may stand at the head.
    """
    history = spelling_of(dialect).history
    drawn = requests(dialect, min_turns=min_turns, max_turns=max_turns, texts=texts)
    return drawn.map(lambda request: request[history])


def messages(dialect: str | Named = DEFAULT) -> SearchStrategy[dict[str, Any]]:
    """Single messages, taken from conversations: of any role, with calls, results, thinking, one text or several.

    The role is drawn before the message: most messages of a short conversation are the user's. Shrinks to the user's.
    """
    spelling = spelling_of(dialect)
    least = spelling.fewest_answers
    drawn = said(words=texts(), turns=(1, 2), fewest_answers=least, fewest_tools=1, fewest_steps=1)
    return drawn.map(lambda each: _by_role(spelling.request(each)[spelling.history])).flatmap(_one_of)


def tools(dialect: str | Named = DEFAULT) -> SearchStrategy[dict[str, Any]]:
    """Definitions of one tool, with up to three arguments of the kinds that JSON schema has.

    A list of them needs names of its own: `st.lists(tools(), unique_by=lambda tool: tool["function"]["name"])`.
    """
    return definitions().map(spelling_of(dialect).tool)


def _by_role(history: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The messages of each role or, where the API's items have none, of each type: in order of their first."""
    groups: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for message in history:
        groups.setdefault((message.get("role"), message.get("type")), []).append(message)
    return [*groups.values()]


def _one_of(groups: list[list[dict[str, Any]]]) -> SearchStrategy[dict[str, Any]]:
    return st.sampled_from(groups).flatmap(st.sampled_from)


def _check_turns(fewest: int, most: int) -> None:
    whole(fewest, "min_turns")
    whole(most, "max_turns")
    if not 1 <= fewest <= most:
        raise ValueError(f"min_turns {fewest} and max_turns {most}: expected 1 <= min_turns <= max_turns")


def spelling_of(dialect: str | Named) -> Spelling:
    """The spelling of a dialect, by its name or by any value that has one. Raises `ValueError` for one without."""
    name: object = dialect if isinstance(dialect, str) else getattr(dialect, "name", None)
    if not isinstance(name, str):
        known = f"one of {', '.join(SPELLINGS)}, by name or as a value"
        raise ValueError(wrong("dialect", known, dialect))  # noqa: TRY004 - as for a name that is not known
    if name not in SPELLINGS:
        raise ValueError(f"no conversations are drawn for the dialect {name!r}; known: {', '.join(SPELLINGS)}")
    return SPELLINGS[name]
