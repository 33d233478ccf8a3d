"""The report as a text table, as wide as the terminal, with a bar for each region and without colour."""

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
"""The default columns of a report: those of the narrowest usual terminal."""

NARROWEST = 60
"""The minimum columns of the table, which its numbers need."""

_BAR = 24
_BESIDE_THE_BAR = 35
_BESIDE_THE_NAME = 30
_NAME = 34
_NARROW = 24
"""The minimum columns of item names. Reasons get what names leave of `_NAME`."""
_NUMBER = 9
_WIDER = 30
"""The item names' share of the columns beyond 80."""
_MOST = 8
"""The maximum lines of one remark: only an endless name makes a longer one."""
_FINDINGS = 5
"""The maximum lines for volatile texts, and for invisible characters: log files as knowledge have one each."""


def report_text(report: Report, width: int) -> str:
    """The report in at most `width` columns. Long lines are wrapped; only item names are shortened."""
    width = max(width, NARROWEST)
    head = (line for text in _write_headline(report) for line in _wrap_text(text, width))
    tables = [*_write_region_table(report, width), "", *_write_item_table(report, width)]
    return "\n".join([*head, "", *tables, *_write_notes(report, width)])


def make_printable(text: str, encoding: str | None) -> str:
    """The text in characters of this encoding: bars become `#`, and other missing characters `?`."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_BARS).encode(encoding, errors="replace").decode(encoding)
    return text


_BARS = {ord(block): "#" for block in "█▉▊▋▌▍▎▏"} | {ord("…"): "..."}


def _write_headline(report: Report) -> Iterator[str]:
    tokens, upper = report.count.tokens, report.count.upper
    grade = str(report.count.grade) if report.count.grade is Grade.EXACT else f"{report.count.grade}, at most {upper:,}"
    target = f" for {report.model}" if report.model else ""
    yield f"{tokens:,} tokens ({grade}) as {report.dialect}{target}"
    if report.budget is not None:
        limit = report.budget.input_limit
        yield f"limit {limit:,} = {grouped(report.budget.arithmetic())}"
        bound = " by the upper bound" if upper != tokens else ""
        yield f"left  {limit - upper:,}, {_write_percent(upper, limit)} full{bound}"


def _write_percent(part: Tokens, whole: Tokens) -> str:
    if not whole:
        return "100%"
    rounded = f"{part / whole:.0%}"
    return "<1%" if 0 < part * 100 < whole else ">99%" if part < whole and rounded == "100%" else rounded


def _write_region_table(report: Report, width: int) -> Iterator[str]:
    whole = report.budget.input_limit if report.budget is not None else report.count.tokens
    share = "of limit" if report.budget is not None else "of all"
    yield f"{'region':<14}{'tokens':>{_NUMBER}}{share:>10}"
    for region, tokens in report.costs.to_dict().items():
        bar = _draw_bar(tokens, whole, min(_BAR, width - _BESIDE_THE_BAR))
        yield f"{region:<14}{tokens:>{_NUMBER},}{_write_percent(tokens, whole):>10}  {bar}".rstrip()


def _draw_bar(tokens: Tokens, whole: Tokens, cells: int) -> str:
    """A bar in eighths of a cell, so that a small region still shows."""
    eighths = round(8 * cells * min(max(tokens, 0), whole) / whole) if whole else 0
    if tokens > 0:
        eighths = max(eighths, 1)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


def _write_item_table(report: Report, width: int) -> Iterator[str]:
    widest = min(_NAME, width - _BESIDE_THE_NAME) + max(0, min(width - WIDTH, _WIDER))
    name = min(widest, max([_NARROW, *(_count_columns(f"  {row.name}{_note_messages(row)} ") for row in report.rows)]))
    yield f"{'item':<{name}}{'before':>{_NUMBER}}{'after':>{_NUMBER}}  outcome"
    region, printed = "", set[str]()
    for row in sorted(report.rows, key=lambda row: REGIONS.index(row.region)):  # in the order of the table above
        if row.region != region:
            region = row.region
            yield region
        line, *below = _write_item(
            row, _shorten_reason(row.reason) if row.reason in printed else row.reason, name, width
        )
        yield line
        if row.reason not in printed:  # a long reason is printed in full once
            yield from below
        printed.add(row.reason)


def _shorten_reason(reason: str) -> str:
    """Shorten a reason that an earlier row has in full to the policies' names, if it has any."""
    parts = reason.split("; ")
    return "; ".join(part.partition(": ")[0] for part in parts) if all(": " in part for part in parts) else reason


def _write_notes(report: Report, width: int) -> Iterator[str]:
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
    if lines:
        yield ""
    for line in lines:
        yield from _wrap_text(line, width)


def _note_messages(row: Row) -> str:
    return f" ({row.messages} messages)" if row.messages > 1 and row.outcome == "dropped" else ""


def _write_item(row: Row, reason: str, name_width: int, width: int) -> Iterator[str]:
    before = "?" if row.before is None else f"{row.before:,}"
    counted = _note_messages(row)
    name = _fit_text(f"  {row.name}", name_width - 1 - len(counted)) + counted
    name += " " * (name_width - _count_columns(name))
    line = f"{name}{before:>{_NUMBER}}{row.after:>{_NUMBER},}  {row.outcome}"
    reason = shown_name(reason)
    if reason and _count_columns(line) + _count_columns(reason) + 2 <= width:
        yield f"{line}: {reason}"
    else:
        yield line
        if reason:
            yield from _wrap_text(reason, width, indent="      ")


def _wrap_text(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap the text over several lines: an arithmetic is useless without its end."""
    flat = shown_name(text)
    columns = width if flat.isascii() else width * len(flat) // max(1, _count_columns(flat))
    lines = textwrap.wrap(
        flat, columns, initial_indent=indent, subsequent_indent=indent or "  ", max_lines=_MOST, placeholder="…"
    )
    return [_fit_text(line, width) for line in lines]


def _fit_text(text: str, width: int) -> str:
    flat = shown_name(text)
    if _count_columns(flat) <= width:
        return flat
    short = flat[:width]
    while _count_columns(short) >= width:
        short = short[:-1]
    return short + "…"


def _count_columns(text: str) -> int:
    """The terminal columns of a text: two for a wide East Asian character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else not unicodedata.combining(character)
        for character in text
    )
