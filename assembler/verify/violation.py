"""A provider's rule and a breach of it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources

import attrs

CONSERVATIVE = "conservative: stricter than any public error text"
"""The source of a rule for which no thread quotes an error."""

_SHOWN_CHARACTERS = 64
"""Ids longer than this are clipped in a problem: the longest id that any dialect allows is 64 characters."""

_SHOWN_IDS = 5
"""The most ids in one problem; the rest is counted."""


@attrs.frozen
class Violation:
    """One breach of one rule. `where` is a JSON path, `problem` our sentence, `provider_says` the API's own error text.

    `provider_says` is a template (`<id>`, `<i>`), or None if no public thread quotes one; `source` is its source. The
    fields hold only indexes, ids, names and counts, never the text of a message.

    With `note` it is no fault: something has a type that these rules do not know, which a newer API may accept, or the
    API documents otherwise what recorded requests show that it accepts.
    """

    rule: str
    where: str
    problem: str
    provider_says: str | None = None
    source: str | None = None
    note: bool = False

    def as_accepted(self) -> Violation:
        """The same as a note: recorded requests show that the API accepts it."""
        return attrs.evolve(self, problem=f"accepted all the same: {self.problem}", provider_says=None, note=True)

    def __str__(self) -> str:
        return f"{self.rule} at {self.where or 'the request'}: {self.problem}"


@attrs.frozen
class Rule:
    """A demand of an API, with the id that its violations have."""

    id: str
    demand: str
    provider_says: str | None = None
    source: str = CONSERVATIVE

    def broken(self, where: str, problem: str) -> Violation:
        """A violation of this rule at one place."""
        return Violation(self.id, where, problem, self.provider_says, self.source)

    def unknown(self, where: str, problem: str) -> Violation:
        """A note of this rule at one place: the value's type is unknown, which is no fault."""
        return Violation(self.id, where, f"unknown here: {problem}", source=self.source, note=True)


def rules_in(module: str) -> Mapping[str, Rule]:
    """The rules of `rules.toml` in the folder of this module, by id, in order."""
    table = resources.files(module.rpartition(".")[0]).joinpath("rules.toml").read_text("utf-8")
    return {rule_id: Rule(rule_id, **fields) for rule_id, fields in tomllib.loads(table).items()}


def shown(word: str) -> str:
    """Quote an id, a name or a role for a problem: printable ASCII, clipped to 64 characters."""
    clipped = ascii(word[:_SHOWN_CHARACTERS])
    return clipped if len(word) <= _SHOWN_CHARACTERS else f"{clipped}… ({len(word)} characters)"


def quote_ids(words: Iterable[str]) -> str:
    """Quote several ids for a problem: the first five, and the number of further ones."""
    every = list(words)
    head = ", ".join(shown(word) for word in every[:_SHOWN_IDS])
    more = len(every) - _SHOWN_IDS
    return f"{head} and {more} more" if more > 0 else head


def count_noun(number: int, noun: str) -> str:
    """A number with its noun: "1 call", "2 calls"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
