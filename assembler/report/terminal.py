"""The report as a table for people: as wide as their terminal, no colour, a bar for each region."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assembler.report.rows import REGIONS, Row, shown_name
from budgets import Grade, Tokens
from budgets.numbers import grouped

if TYPE_CHECKING:
    from assembler.report.report import Report

WIDTH = 80
"""Columns of a report, unless it is asked to be wider: the narrowest terminal that people still open."""

NARROWEST = 60
"""Columns below which the table is no narrower: its numbers would have no place."""

_BAR = 24
_BESIDE_THE_BAR = 35
_BESIDE_THE_NAME = 30
_NAME = 34
_NARROW = 24
"""Columns of the names of items at least; what they leave of `_NAME` is the reasons'."""
_NUMBER = 9
_WIDER = 30
"""Columns that the names of items take of what a terminal has more than 80."""
_MOST = 8
"""Lines of one remark: what is longer is a name without an end."""
_FINDINGS = 5
"""Lines for volatile texts, and for invisible ones: a knowledge base of log files has one for each."""


def report_text(report: Report, width: int = WIDTH) -> str:
    """The report in at most `width` columns. Longer lines are wrapped; only names of items are shortened."""
    width = max(width, NARROWEST)
    head = (line for text in _headline(report) for line in _wrapped(text, width))
    tables = [*_region_table(report, width), "", *_item_table(report, width)]
    return "\n".join([*head, "", *tables, *_notes(report, width)])


def printable(text: str, encoding: str | None) -> str:
    """The text in characters that this encoding has: bars of `#`, and `?` for whatever else it lacks."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_BARS).encode(encoding, errors="replace").decode(encoding)
    return text


_BARS = {ord(block): "#" for block in "█▉▊▋▌▍▎▏"} | {ord("…"): "..."}


def _headline(report: Report) -> Iterator[str]:
    tokens, upper = report.count.tokens, report.count.upper
    grade = str(report.count.grade) if report.count.grade is Grade.EXACT else f"{report.count.grade}, at most {upper:,}"
    target = f" for {report.model}" if report.model else ""
    yield f"{tokens:,} tokens ({grade}) as {report.dialect}{target}"
    if report.budget is not None:
        limit = report.budget.input_limit
        yield f"limit {limit:,} = {grouped(report.budget.arithmetic())}"
        bound = " by the upper bound" if upper != tokens else ""
        yield f"left  {limit - upper:,}, {_percent(upper, limit)} full{bound}"


def _percent(part: Tokens, whole: Tokens) -> str:
    if not whole:
        return "100%"
    rounded = f"{part / whole:.0%}"
    return "<1%" if 0 < part * 100 < whole else ">99%" if part < whole and rounded == "100%" else rounded


def _region_table(report: Report, width: int) -> Iterator[str]:
    whole = report.budget.input_limit if report.budget is not None else report.count.tokens
    share = "of limit" if report.budget is not None else "of all"
    yield f"{'region':<14}{'tokens':>{_NUMBER}}{share:>10}"
    for region, tokens in report.costs.to_dict().items():
        bar = _bar(tokens, whole, min(_BAR, width - _BESIDE_THE_BAR))
        yield f"{region:<14}{tokens:>{_NUMBER},}{_percent(tokens, whole):>10}  {bar}".rstrip()


def _bar(tokens: Tokens, whole: Tokens, cells: int) -> str:
    """Eighths of a cell, so that a small region still shows."""
    eighths = round(8 * cells * min(max(tokens, 0), whole) / whole) if whole else 0
    if tokens > 0:
        eighths = max(eighths, 1)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


def _item_table(report: Report, width: int) -> Iterator[str]:
    widest = min(_NAME, width - _BESIDE_THE_NAME) + max(0, min(width - WIDTH, _WIDER))
    name = min(widest, max([_NARROW, *(_columns(f"  {row.name}{_count_messages(row)} ") for row in report.rows)]))
    yield f"{'item':<{name}}{'before':>{_NUMBER}}{'after':>{_NUMBER}}  outcome"
    region, said = "", set[str]()
    for row in sorted(report.rows, key=lambda row: REGIONS.index(row.region)):  # in the order of the table above
        if row.region != region:
            region = row.region
            yield f"{region}"
        line, *below = _item(row, _briefly(row.reason) if row.reason in said else row.reason, name, width)
        yield line
        if row.reason not in said:  # what has no place beside its row is said once
            yield from below
        said.add(row.reason)


def _briefly(reason: str) -> str:
    """A reason that was given in full in an earlier row: the policies alone, or its words where it names none."""
    parts = reason.split("; ")
    return "; ".join(part.partition(": ")[0] for part in parts) if all(": " in part for part in parts) else reason


def _notes(report: Report, width: int) -> Iterator[str]:
    lines = [f"note: {note}" for note in report.notes]
    if report.cache is not None and report.cache.served:
        lines.append(f"cache: may serve {report.cache.served:,} of the {report.cache.stable_prefix:,} stable tokens")
    for found in report.volatile[:_FINDINGS]:
        times = f", {found.times} times" if found.times > 1 else ""
        lines.append(f"volatile: {found.kind} in {found.region}, {found.name}, at character {found.offset:,}{times}")
    if len(report.volatile) > _FINDINGS:
        lines.append(f"volatile: {len(report.volatile) - _FINDINGS} more, in report.volatile")
    lines += [
        f"invisible: {found.times:,} {found.kind} in {found.region}, {found.name}, from character {found.offset:,}"
        for found in report.invisible[:_FINDINGS]
    ]
    if len(report.invisible) > _FINDINGS:
        lines.append(f"invisible: {len(report.invisible) - _FINDINGS} more, in report.invisible")
    yield from ([""] if lines else [])
    for line in lines:
        yield from _wrapped(line, width)


def _count_messages(row: Row) -> str:
    return f" ({row.messages} messages)" if row.messages > 1 and row.outcome == "dropped" else ""


def _item(row: Row, reason: str, name_width: int, width: int) -> Iterator[str]:
    before = "?" if row.before is None else f"{row.before:,}"
    counted = _count_messages(row)
    name = _fitted(f"  {row.name}", name_width - 1 - len(counted)) + counted
    name += " " * (name_width - _columns(name))
    line = f"{name}{before:>{_NUMBER}}{row.after:>{_NUMBER},}  {row.outcome}"
    reason = shown_name(reason)
    if reason and _columns(line) + _columns(reason) + 2 <= width:
        yield f"{line}: {reason}"
    else:
        yield line
        if reason:
            yield from _wrapped(reason, width, indent="      ")


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text over as many lines as it needs: an arithmetic is of no use without its end."""
    flat = shown_name(text)
    columns = width if flat.isascii() else width * len(flat) // max(1, _columns(flat))
    lines = textwrap.wrap(
        flat, columns, initial_indent=indent, subsequent_indent=indent or "  ", max_lines=_MOST, placeholder="…"
    )
    return [_fitted(line, width) for line in lines]


def _fitted(text: str, width: int) -> str:
    flat = shown_name(text)
    if _columns(flat) <= width:
        return flat
    short = flat[:width]
    while _columns(short) >= width:
        short = short[:-1]
    return short + "…"


def _columns(text: str) -> int:
    """Columns of a terminal: two for what East Asian scripts write wide, none for a mark over another character."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else not unicodedata.combining(one) for one in text)
