"""Draws histories to trim. A pattern makes each from two choices, so that thousands take seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from assembler.drawn.engine import SearchStrategy, st

History: TypeAlias = list[dict[str, Any]]

_HEADS = ("", "", "s", "sd")
_KINDS = {"0": "q", "1": "a", "2": "1", "3": "Q", "4": "2", "5": "A", "6": "3", "7": "!"}
"""The meaning of each digit: a question, an answer, a step of 1, 2 or 3 calls; a capital or `!` means a long one."""
_LONGEST = 14
"""The most messages and steps: enough for several turns on either side of a cut."""
_PADDING = " and so on" * 4


def histories() -> SearchStrategy[History]:
    """Draw valid OpenAI Chat histories: whole steps, parallel calls, one to many turns.

    The head may have a system and a developer message, and an assistant's greeting may follow. The user may speak twice
    in a row. The last message is the user's, or the result of a call. In every second history all short questions are
    equal, so that a fitter that removes messages by their value shows. All other texts are unique. Shrinks to one
    question.
    """
    patterns = st.text("".join(_KINDS), min_size=1, max_size=_LONGEST)
    return st.builds(_make_history, st.sampled_from(_HEADS), st.sampled_from(("", "yes")), patterns)


def _make_history(head: str, question: str, digits: str) -> History:
    pattern = "".join(_KINDS[digit] for digit in digits)
    if pattern[0] in "123!":
        pattern = f"q{pattern}"  # a call needs a question before it
    if pattern[-1] in "aA" or not {"q", "Q"} & {*pattern}:
        pattern += "q"
    messages: History = []
    for letter in head + pattern:
        if letter == "q" and question:
            messages.append({"role": "user", "content": question})
        else:
            messages.extend(_spell_letter(letter, len(messages)))
    return messages


_ROLES = {"s": "system", "d": "developer", "q": "user", "a": "assistant"}


def _spell_letter(letter: str, index: int) -> Iterator[dict[str, Any]]:
    padding = _PADDING if letter in "QA!" else ""
    if role := _ROLES.get(letter.lower()):
        yield {"role": role, "content": f"{letter.lower()}{index}{padding}"}
        return
    ids = [f"c{index}_{number}" for number in range(1 if letter == "!" else int(letter))]
    calls = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in ids]
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    for each in ids:
        yield {"role": "tool", "tool_call_id": each, "content": f"r{index}{padding}"}
