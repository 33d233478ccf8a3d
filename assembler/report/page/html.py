"""A report as one self-contained page of HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from assembler.pipeline.planned import Planned
from assembler.report.page.escaping import escaped, percent, rendered, shown_name
from assembler.report.page.items import REGIONS, Item, items_of, rows_as_items
from assembler.report.page.marks import Mark, marks_of
from assembler.report.page.sizes import Outlook, Size, outlook_of, size_of
from assembler.report.page.texts import Texts, text_of
from assembler.report.rows import Reported
from budgets import Budget, Grade, Tokens

_VISIBLE = 4
"""Thousandths of the bar's width: a region that is there shows, however small."""
_FRAME_HEIGHT = 640
"""Pixels of a notebook's output cell before it scrolls; the frame can be drawn larger."""


@attrs.frozen
class _View:
    """What the template reads."""

    report: Reported
    items: tuple[Item, ...]
    size: Size
    outlook: Outlook
    marks: tuple[Mark, ...]
    texts: tuple[str | None, ...]


def page_html(report: Reported, plan: Planned | None, *, texts: Texts | None = None) -> str:
    """The report as a page: no network, no text of any message unless `texts` asks for it. Pure; O(items + sizes).

    `plan` is what the report is of. One that was pickled has it no more: its page has the rows, and neither other
    windows nor texts. Raises `TypeError` for `texts` that are none.
    """
    if not isinstance(cast(object, texts), Texts | None):
        raise TypeError(f"texts: expected Texts() or None, got {type(texts).__name__}")
    view = _told(report) if plan is None else _view(report, plan, texts)
    return rendered(
        _data(view),
        report=report,
        budget=report.budget,
        size=view.size,
        outlook=view.outlook,
        groups=_groups(view),
        regions=list(zip(REGIONS, view.size.regions, strict=True)),
        marks=view.marks,
        shows_text=any(text is not None for text in view.texts),
        bar=_bar(view),
        verdict=_verdict(view),
    )


def notebook_html(report: Reported, plan: Planned | None) -> str:
    """The page in a frame of its own, so that neither it nor the notebook can touch the other."""
    return (
        f'<iframe srcdoc="{escaped(page_html(report, plan))}" sandbox="allow-scripts" title="What a request holds" '
        f'style="width:100%;height:{_FRAME_HEIGHT}px;border:1px solid #8884;border-radius:8px;resize:vertical">'
        "</iframe>"
    )


def _view(report: Reported, plan: Planned, texts: Texts | None) -> _View:
    items = items_of(plan)
    shown = tuple(None if texts is None else text_of(_content(plan, item), texts) for item in items)
    return _View(report, items, size_of(plan, items), outlook_of(plan, items), marks_of(plan, items), shown)


def _content(plan: Planned, item: Item) -> Any:
    """What an item says; None for what has no words, or cannot be read."""
    if item.span is None or item.before is None:
        return item.content
    return tuple(plan.sight.messages(*item.span))


def _told(report: Reported) -> _View:
    items, cache = rows_as_items(report), report.cache
    size = Size(
        window=report.count.upper if report.budget is None else report.budget.context_window,
        tokens=report.count.tokens,
        upper=report.count.upper,
        regions=tuple(report.costs.as_dict().values()),
        prefix=0 if cache is None else cache.stable_prefix,
        served=0 if cache is None else cache.served,
        first=0,
        after={place: row.after for place, row in enumerate(report.rows) if row.after != row.before},
    )
    missing = "Other windows are not drawn: this report was stored, and its plan was not."
    return _View(report, items, size, Outlook(missing=missing), (), (None,) * len(items))


@attrs.frozen
class _Row:
    """One line of the table, as it stands before anything is moved."""

    place: int
    item: Item
    after: Tokens
    outcome: str
    why: str
    text: str | None
    marks: tuple[Mark, ...]
    prefix_ends: bool
    share: float
    left: float


def _groups(view: _View) -> list[tuple[str, list[_Row]]]:
    """The rows, by region."""
    largest = max((item.before or 0 for item in view.items), default=0) or 1
    newest = max((place for place, item in enumerate(view.items) if item.span is not None), default=None)
    rows = [_row(view, place, largest, ends=place == newest) for place in range(len(view.items))]
    return [(name, found) for name in REGIONS if (found := [row for row in rows if row.item.region == name])]


def _row(view: _View, place: int, largest: Tokens, *, ends: bool) -> _Row:
    item, size = view.items[place], view.size
    after = size.left_of(place, item)
    outcome = size.outcome_of(place, item)
    reason = {"kept": "", "shortened": size.shortened, "dropped": item.omitted or size.gone}[outcome]
    return _Row(
        place=place,
        item=item,
        after=after,
        outcome=outcome,
        why="; ".join(dict.fromkeys(filter(None, [item.note, reason]))),
        text=view.texts[place],
        marks=tuple(mark for mark in view.marks if mark.item == place),
        prefix_ends=ends and view.size.prefix > 0,
        share=100 * (item.before or 0) / largest,
        left=100 * after / largest,
    )


def _verdict(view: _View) -> str:
    size, budget = view.size, view.report.budget
    every = sum(item.messages for item in view.items)
    dropped = (item for place, item in enumerate(view.items) if size.outcome_of(place, item) == "dropped")
    gone = sum(item.messages for item in dropped)
    stay = f"{every - gone:,} of {every:,} messages stay. " if every else ""
    if budget is None:
        return f"{stay}There is no budget."
    share = percent(size.upper, budget.input_limit)
    least = "at most " if size.upper > size.tokens else ""
    return f"{stay}The request takes {least}{size.upper:,} of {budget.input_limit:,} tokens, {share}."


def _bar(view: _View) -> dict[str, Any]:
    """The stacked bar in thousandths of its width, for a page whose script does not run."""
    budget, size = view.report.budget, view.size
    whole = view.outlook.most or size.window or 1
    at, pieces = 0.0, list[tuple[str, float, float]]()
    for region, tokens in zip(REGIONS, size.regions, strict=True):
        if tokens > 0:
            width = max(1000 * tokens / whole, _VISIBLE)
            pieces.append((region, at, width))
            at += width
    reserve = min(_reserved(budget), size.window)
    return {
        "pieces": pieces,
        "window": 1000 * size.window / whole,
        "reserve": (1000 * (size.window - reserve) / whole, 1000 * reserve / whole),
        "names": [(f"{x / 10:.2f}%", f"{width / 10:.2f}%", region) for region, x, width in pieces],
        "ticks": "".join(f"M{1000 * one.window / whole:.2f} 0V10" for one in view.outlook.sizes),
        "prefix": 1000 * size.prefix / whole,
        "served": 1000 * size.served / whole,
    }


def _reserved(budget: Budget | None) -> Tokens:
    """What the window holds beside the request."""
    return 0 if budget is None else max(0, budget.context_window - budget.input_limit)


def _data(view: _View) -> Mapping[str, Any]:
    """What the script reads: figures and reasons, no text of any message."""
    outlook, budget = view.outlook, view.report.budget
    return {
        "window": None if budget is None else budget.context_window,
        "answer": 0 if budget is None else budget.answer_reserve,
        "beside": 0 if budget is None else budget.overhead + budget.safety_margin,
        "cap": None if budget is None else budget.max_input_tokens,
        "most": outlook.most,
        "every": outlook.every,
        "below": outlook.below,
        "exact": view.report.count.grade is Grade.EXACT,
        "visible": _VISIBLE,
        "items": [
            {
                "before": item.before,
                "turn": item.span is not None,
                "pinned": item.pinned,
                "omitted": shown_name(item.omitted),
                "note": shown_name(item.note),
                "messages": item.messages,
                "stands_in": item.stands_in,
            }
            for item in view.items
        ],
        "sizes": [_plain(size) for size in outlook.sizes],
    }


def _plain(size: Size) -> Mapping[str, Any]:
    fields = attrs.asdict(size)
    return {**fields, "gone": shown_name(size.gone), "shortened": shown_name(size.shortened)}
