"""Writes a report or a session as a self-contained HTML page, or an empty page for dropped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.errors import WrongTypeError
from assembler.pipeline.planned import Planned
from assembler.report.items import Item
from assembler.report.page.escaping import escape_text, render_page
from assembler.report.page.items import items_of, message_states, rows_as_items
from assembler.report.page.marks import Mark, marks_of
from assembler.report.page.rows import Rows, State
from assembler.report.page.sizes import Outlook, Size, outlook_of, size_of
from assembler.report.page.texts import Texts
from assembler.report.report import Report
from assembler.report.rows import CacheRow
from assembler.report.terminal import report_text
from budgets import Budget, ContextLengthError, Tokens
from budgets.numbers import grouped, in_tokens

FORMAT = 1
"""The version of the data that a page's script reads."""
_FRAME_HEIGHT = 640
"""The frame's height in pixels in a notebook, where output cells scroll beyond it. The user can enlarge it."""
_COLUMNS, _LINES = 110, 600
"""The most lines of the report for browsers without scripts, which lay out all of them."""
_STORED = "Other windows are not drawn: this report was stored, and its plan was not."
_NOTHING = "Nothing is shown here without scripts: this page reads the files that are dropped onto it."


def page_html(
    report: Report, plan: Planned | None, *, texts: Texts | None = None, refusal: ContextLengthError | None = None
) -> str:
    """The report as a page without network access. It shows message texts only with `texts`. O(items + sizes).

    `plan` is the report's plan. A pickled report has none: its page shows the rows, but no other windows and no texts.
    With a `refusal`, the plan is the smallest one, which still does not fit, and the page says what is missing. Raises
    `WrongTypeError` for `texts` of another type.
    """
    rows = Rows(_check_texts(texts))
    items = rows_as_items(report) if plan is None else items_of(plan)
    size = _read_stored_size(report) if plan is None else size_of(plan, items)
    outlook = Outlook(missing=_STORED) if plan is None else outlook_of(plan, items, refusal)
    build = {
        **_describe_build(report, size, () if plan is None else marks_of(plan, items), rows),
        "refused": rows.word("" if refusal is None else _explain_refusal(refusal)),
        "items": rows.runs(_list_states(items, size)),
        "outlook": {
            **attrs.asdict(outlook, recurse=False),
            "sizes": [_list_size(size, rows) for size in outlook.sizes],
        },
    }
    return _write_page(f"{size.tokens:,} tokens as {report.dialect}", report, [build], rows)


def session_page(of: Iterable[tuple[str, Report, Planned, Tokens]], *, title: str, texts: Texts | None) -> str:
    """Many builds as one page, given each one's name, report, plan, and what a cache may serve of it.

    A build adds only what changed since the one before, so the page grows with the messages and not with their square.
    One plan is in memory at a time. O(messages of all builds).
    """
    rows = Rows(_check_texts(texts))
    builds: list[Mapping[str, Any]] = []
    last: Report | None = None
    for label, report, plan, served in of:
        last = report
        figures = _describe_build(report, size_of(plan), marks_of(plan, ()), rows)
        shared = rows.compared_runs(message_states(plan))
        builds.append({**figures, "label": label, "served_after": served, "items": shared})
    return _write_page(title, last, builds, rows)


def tool_html() -> str:
    """An empty page, onto which the user drops manifests and reports."""
    return _write_page("What a request holds", None, [], Rows())


def notebook_html(report: Report, plan: Planned | None) -> str:
    """The page in a separate frame, isolated from the notebook."""
    return (
        f'<iframe srcdoc="{escape_text(page_html(report, plan))}" sandbox="allow-scripts" title="What a request holds" '
        f'style="width:100%;height:{_FRAME_HEIGHT}px;border:1px solid #8884;border-radius:8px;resize:vertical">'
        "</iframe>"
    )


def _check_texts(texts: Texts | None) -> Texts | None:
    if not isinstance(cast(object, texts), Texts | None):
        raise WrongTypeError(f"texts: expected Texts() or None, got {type(texts).__name__}")
    return texts


def _write_page(title: str, report: Report | None, builds: Sequence[Mapping[str, Any]], rows: Rows) -> str:
    figures = {"page": FORMAT, "title": title, "builds": builds, **rows.written()}
    return render_page(title, _NOTHING if report is None else _write_lines(report), figures)


def _write_lines(report: Report) -> str:
    lines = report_text(report, _COLUMNS).split("\n")
    over = len(lines) - _LINES
    return "\n".join(lines if over <= 0 else [*lines[:_LINES], f"… and {over:,} lines more"])


def _read_stored_size(report: Report) -> Size:
    cache = report.cache
    return Size(
        window=report.count.upper if report.budget is None else report.budget.context_window,
        tokens=report.count.tokens,
        upper=report.count.upper,
        regions=tuple(report.costs.to_dict().values()),
        prefix=0 if cache is None else cache.stable_prefix,
        served=0 if cache is None else cache.served,
        first=0,
        after={place: row.after for place, row in enumerate(report.rows) if row.after != row.before},
    )


def _explain_refusal(refusal: ContextLengthError) -> str:
    return f"This request does not fit: {grouped(in_tokens(refusal.excess))} too many. {grouped(refusal.advice)}"


def _list_states(items: Sequence[Item], size: Size) -> Iterator[State]:
    for place, item in enumerate(items):
        yield item, size.left_of(place, item), size.outcome_of(place, item)


def _describe_build(report: Report, size: Size, marks: Sequence[Mark], rows: Rows) -> dict[str, Any]:
    return {
        "dialect": report.dialect,
        "model": report.model,
        "tokens": size.tokens,
        "upper": size.upper,
        "grade": str(report.count.grade),
        "window": size.window,
        "regions": size.regions,
        "prefix": size.prefix,
        "served": size.served,
        "gone": rows.word(size.gone),
        "shortened": rows.word(size.shortened),
        "budget": None if report.budget is None else _describe_budget(report.budget, rows),
        "cache": None if report.cache is None else _describe_cache(report.cache, rows),
        "marks": [attrs.asdict(mark) for mark in marks],
        "volatile": [attrs.asdict(found) for found in report.volatile],
        "notes": [rows.word(note) for note in report.notes],
    }


def _describe_budget(budget: Budget, rows: Rows) -> Mapping[str, Any]:
    return {
        "window": budget.context_window,
        "limit": budget.input_limit,
        "answer": budget.answer_reserve,
        "beside": budget.overhead + budget.safety_margin,
        "cap": budget.max_input_tokens,
        "arithmetic": rows.word(grouped(budget.arithmetic())),
    }


def _describe_cache(cache: CacheRow, rows: Rows) -> Mapping[str, Any]:
    return {"least": cache.least, "step": cache.step, "source": rows.word(cache.source or "")}


def _list_size(size: Size, rows: Rows) -> list[Any]:
    """A size as a list, to save space: a long history has a size for each turn."""
    why = rows.word(size.gone), rows.word(size.shortened)
    figures = [size.window, size.tokens, size.upper, size.prefix, size.served, size.first, *size.regions, *why]
    return [*figures, size.after] if size.after else figures
