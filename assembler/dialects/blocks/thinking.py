"""Finds the tool loops during which Claude's API refuses `thinking`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from assembler.text.fields import fields_in, items_of

_Said: TypeAlias = Mapping[str, Any]

BEGAN_WITHOUT = "option(s) `thinking` left out, since the running tool loop does not begin with thinking"

_THOUGHTS = frozenset(["thinking", "redacted_thinking", "reasoningContent"])
_CALLS = frozenset(["tool_use", "toolUse"])
_RESULTS = frozenset(["tool_result", "toolResult"])


def _began_loop_without_thinking(messages: Sequence[_Said]) -> bool:
    """Whether the newest turn of the model calls tools, and the API would refuse `thinking` for it. O(the loop).

    `When thinking is enabled, a final assistant message must start with a thinking block (preceeding the lastmost set
    of tool_use and tool_result blocks)`: haystack-core-integrations#2146, and through Bedrock opencode#3077. The
    history may have begun without thinking, or a policy may have dropped the step that held it.
    """
    last = len(messages) - 1
    if last >= 0 and messages[last].get("role") == "user":
        last -= 1
    if last < 0 or not _holds(messages[last], _CALLS):
        return False
    first = last
    while first >= 2 and _holds(messages[first - 1], _RESULTS):
        first -= 2
    return not any(_begins_with_thinking(messages[place]) for place in (first, last))


def without_thinking(asked: dict[str, Any], keys: Sequence[str], messages: Sequence[_Said]) -> dict[str, Any]:
    """Options without those under `keys` that enable thinking, if the API would refuse them beside messages.

    The same dict if there are none.
    """
    enabled = [key for key in keys if fields_in(asked, key).get("type") == "enabled"]
    if not enabled or not _began_loop_without_thinking(messages):
        return asked
    return {key: value for key, value in asked.items() if key not in enabled}


def _holds(message: _Said, kinds: frozenset[str]) -> bool:
    return any(not kinds.isdisjoint(_find_kinds(block)) for block in items_of(message.get("content")))


def _begins_with_thinking(message: _Said) -> bool:
    return any(not _THOUGHTS.isdisjoint(_find_kinds(block)) for block in items_of(message.get("content"))[:1])


def _find_kinds(block: object) -> tuple[str, ...]:
    """The kind of a block: Anthropic names it in `type`, Converse by a key."""
    fields = fields_in(block)
    return (str(fields["type"]),) if "type" in fields else tuple(fields)
