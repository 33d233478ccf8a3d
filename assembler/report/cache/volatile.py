"""Finds volatile text in the prefix that should stay the same: each new value makes the cache useless from there on.

It reports kinds and places, never the text. Every pattern is linear: each quantifier is bounded or possessive, and no
two of them can match the same character.

Turns are not searched. A message does not change while it stays, so a time in it does not hurt the cache, and tool
results are full of times that would be false alarms. An instruction, a document and a tool may be written anew for each
request. If the owner rewrites a message, `Context.first_changed` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, cast

from assembler.conversation.messages.parts import compact_json
from assembler.pipeline.measure import Measured
from assembler.pricing.pricer import Piece
from assembler.report.region_facts import fixed_facts
from assembler.text.invisible import Finding, by_kind
from budgets.lazy_patterns import compile_later

Kind: TypeAlias = Literal["timestamp", "uuid", "epoch", "current time"]

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}+"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d"

_VOLATILE = compile_later(
    rf"""
      (?P<uuid> (?<![0-9a-f-]) [0-9a-f]{{8}} (?: - [0-9a-f]{{4}} ){{3}} - [0-9a-f]{{12}} (?![0-9a-f]) )
    | (?P<timestamp>
        (?<!\d) \d{{4}} [-/.] \d{{2}} [-/.] \d{{2}} (?:t|[ ,_]{{1,3}}+) {_CLOCK}
      | (?<!\d) \d{{1,2}} [-/.] \d{{1,2}} [-/.] (?:\d{{4}}|\d{{2}}) [ ,]{{1,3}}+ (?:at[ ])? {_CLOCK}
      | (?<![a-z]) {_MONTH} [.]? [ ]{{1,2}}+ \d{{1,2}} (?:st|nd|rd|th)? ,? [ ]{{1,2}}+ \d{{4}} [ ,]{{1,3}}+
          (?:at[ ])? {_CLOCK}
      | (?<!\d) \d{{1,2}} [ ]{{1,2}}+ {_MONTH} ,? [ ]{{1,2}}+ \d{{4}} [ ,]{{1,3}}+ (?:at[ ])? {_CLOCK}
      )
    | (?P<epoch> (?<![\d.,\w-]) (?:1[5-9]|20) \d{{8}} (?:\d{{3}}){{0,3}} (?![\d,\w-]) )
    | (?P<current_time>
        (?<![a-z]) (?:current|today'?s|present|local) [ _]{{1,2}}+ (?:date|time|timestamp|datetime)
          (?: [ ]and[ ]time )? [ ]{{0,2}}+ (?: [:=] | (?:is|was)(?![a-z]) )
      | (?<![a-z]) (?:today|now|it)[ ]is (?:[ ]now)? [ :]{{1,3}}+ (?=\d|mon|tue|wed|thu|fri|sat|sun|{_MONTH}[ ]\d)
      )
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""An epoch is a whole number between July 2017 and November 2036 in seconds, milli-, micro- or nanoseconds."""


class Volatile(Finding[Kind]):
    """A kind of volatile text in one item: the offset of the first one, in characters, and their number."""

    __slots__ = ()


def volatile_texts(items: Iterable[tuple[str, str, str]]) -> Iterator[Volatile]:
    """The volatile texts in these `(region, name, text)`: one value for each item and kind. O(characters)."""
    for region, name, text in items:
        for kind, (offset, times) in by_kind((match, 1) for match in _VOLATILE.finditer(text)).items():
            yield Volatile(region, name, cast(Kind, kind), offset, times)


def volatile_of(measured: Measured) -> tuple[Volatile, ...]:
    """The volatile texts of instruction, knowledge, head and tools. Found once for them. O(characters)."""
    facts = fixed_facts(measured)
    if facts.volatile is None:
        facts.volatile = tuple(volatile_texts(items_of(measured, measured.rendered.pieces)))
    return facts.volatile


def items_of(measured: Measured, pieces: Iterable[Piece]) -> Iterator[tuple[str, str, str]]:
    """The texts of tools, pieces and head, each with its region and name."""
    for tool in measured.regions.tools:
        yield "capability", tool.name, tool.description
        yield "capability", f"{tool.name} parameters", compact_json(tool.parameters)
    for piece in pieces:
        yield piece.region, piece.name, piece.text
    for message in measured.head:
        for part in message.parts:
            if isinstance(part, str):
                yield "instruction", f"{message.role} message at the head", part
