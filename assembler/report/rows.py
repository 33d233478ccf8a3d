"""The rows of a report, and what it says of the cache."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, cast

import attrs

from assembler.text.scripts import count_needed
from budgets import Tokens

Outcome: TypeAlias = Literal["kept", "shortened", "dropped"]
REGIONS = ("instruction", "capability", "knowledge", "conversation", "framing")
"""The regions, in the order of a report."""


def span_name(start: int, stop: int) -> str:
    """The name of the messages from `start` to before `stop` in reports."""
    return f"message {start}" if stop - start == 1 else f"messages {start}-{stop - 1}"


def shown_name(text: str) -> str:
    """A name as one line, with replacements for characters that are invisible or move a terminal's cursor.

    Joiners stay where a script or an emoji needs them.
    """
    if text.isprintable():
        return text
    needed = {run.start() for run in _JOINER.finditer(text) if count_needed(text, *run.span())}
    return "".join(
        character if character.isprintable() or place in needed else "�" for place, character in enumerate(text)
    )


_JOINER = re.compile("(?<![\u200c\u200d])[\u200c\u200d](?![\u200c\u200d])")


@attrs.frozen
class Row:
    """One item of a region: tokens before and after the policy, its outcome, and the reason.

    `messages` is the number of messages of the item: a run of dropped turns shares a row. `before` is None if a dropped
    item could not be read, so that its size is unknown.
    """

    region: str
    name: str
    before: Tokens | None
    after: Tokens
    outcome: Outcome = "kept"
    reason: str = ""
    messages: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return self._fields.copy()

    # Cached: most rows were in the last report too, and a copy takes a fifth of the time.
    @functools.cached_property
    def _fields(self) -> dict[str, Any]:
        return {
            "region": self.region,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "outcome": self.outcome,
            "reason": self.reason,
            "messages": self.messages,
        }


def rows_as_dicts(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The fields of each row by name. In C: a report has dozens of rows."""
    return list(map(_COPY, map(_FIELDS, rows)))


_FIELDS = operator.attrgetter("_fields")
_COPY = cast("Callable[[dict[str, Any]], dict[str, Any]]", dict.copy)  # pyright: ignore[reportUnknownMemberType]


@attrs.frozen
class CacheRow:
    """The prefix cache: the tokens before the newest turn, and how many of them a cache may serve to the next request.

    `served` is an estimate and `upper` its bound. `least` and `step` are the provider's rule in tokens.
    """

    stable_prefix: Tokens
    served: Tokens
    upper: Tokens
    least: Tokens | None = None
    """None if nothing is cached."""
    step: Tokens | None = None
    source: str | None = None
    """The source of the rule; None if no rule is known."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {
            "stable_prefix": self.stable_prefix,
            "served": self.served,
            "upper": self.upper,
            "least": self.least,
            "step": self.step,
            "source": self.source,
        }
