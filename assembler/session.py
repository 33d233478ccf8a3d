"""Draws a session over time: how full the window was, when its prefix changed, what a cache could serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import attrs

from assembler.context import Context
from assembler.pipeline.planned import Planned
from assembler.report.page.chart import Line, Panel, Ticks, chart_svg
from assembler.report.page.html import session_page
from assembler.report.page.texts import Texts
from assembler.report.report import Report
from assembler.validation import as_tuple, finite, finite_numbers, iterates, must_be, wrong
from budgets import BudgetError, Tokens
from budgets.numbers import as_whole_number

_SMOOTHED = 20
"""The share that a cache serves is drawn as the mean of so many calls, because single values jump."""


def _check_share(given: float) -> float:
    return finite("a share", given)


@attrs.frozen
class Call:
    """One model call of a session: how full it was, and what a prompt cache could serve of it.

    `fill` is the share of `input_limit` that it used, None without a budget. `left_out` is how many messages were left
    out. `prefix_changed` is True if it does not begin as the call before. `served` is the share of its tokens that a
    cache may serve: an estimate, and 0 if the provider's rule is not known.
    """

    fill: float | None = attrs.field(converter=attrs.converters.optional(_check_share))
    left_out: int
    prefix_changed: bool
    served: float = attrs.field(converter=_check_share)

    @classmethod
    def of(cls, context: Context[Any], previous: Context[Any] | None = None) -> Call:
        """The call that sends `context` after `previous`. O(messages that stay)."""
        limit = context.input_limit
        return cls(
            fill=None if limit is None else context.count.upper / limit if limit else 1.0,
            left_out=context.inside.left_out,
            prefix_changed=previous is not None and context.first_changed(previous) is not None,
            served=_count_served(context, previous),
        )


def calls_of(contexts: Iterable[Context[Any]]) -> Iterator[Call]:
    """The calls of a session, oldest first. Holds two contexts at a time."""
    yield from (Call.of(context, previous) for context, previous in _pair_contexts(contexts))


def session_svg(calls: Iterable[Call], *, title: str = "A session, call by call") -> str:
    """Three panels: how full the window is, the calls whose prefix changed, and the share that a cache may serve."""
    known = cast("tuple[Call, ...]", as_tuple("calls", calls, "calls"))
    for call in known:
        must_be("calls", call, (Call,), "calls, as calls_of(contexts) gives them")
    return chart_svg(title, [*_draw_fill(known), _draw_changes(known), _draw_cache(known)])


def session_html(
    contexts: Iterable[Context[Any]], *, title: str = "A session, build by build", texts: Texts | None = None
) -> str:
    """One self-contained page: every build of a session, a slider over them, and what changed between any two.

    Rows that builds share are written once, so the page grows with the messages and not with their square. It holds two
    contexts at a time, and no text of a message without `texts`. O(messages of all builds). Raises `BudgetError` for
    anything but contexts.
    """
    must_be("title", title, (str,), "a text (str)")
    return session_page(_list_builds(contexts), title=title, texts=texts)


def _list_builds(contexts: Iterable[Context[Any]]) -> Iterator[tuple[str, Report, Planned, Tokens]]:
    for number, (context, previous) in enumerate(_pair_contexts(contexts), 1):
        served = 0 if previous is None else context.served_after(previous).tokens
        yield f"build {number}", context.report, context.inside, served


def _pair_contexts(contexts: Iterable[Context[Any]]) -> Iterator[tuple[Context, Context | None]]:
    previous: Context | None = None
    if not iterates(contexts):
        raise BudgetError(wrong("contexts", "a list of contexts", contexts))
    for context in contexts:
        must_be("contexts", context, (Context,), "contexts that were built")
        yield context, previous
        previous = context


def smoothed(values: Sequence[float], window: int = _SMOOTHED) -> list[float]:
    """At each value, the mean of the last `window` values. Raises `BudgetError` if `window` is not 1 or more."""
    numbers, window = finite_numbers("values", values), as_whole_number(window, "window")
    if window < 1:
        raise BudgetError(f"window is {window}: a mean needs at least 1 value")
    sums = [0.0]
    for value in numbers:
        sums.append(sums[-1] + value)
    return [(sums[at + 1] - sums[max(0, at + 1 - window)]) / min(at + 1, window) for at in range(len(numbers))]


def _count_served(context: Context, previous: Context | None) -> float:
    if previous is None or not context.count.tokens:
        return 0.0
    return context.served_after(previous).tokens / context.count.tokens


def _draw_fill(calls: Sequence[Call]) -> Iterator[Panel]:
    fills = [call.fill for call in calls if call.fill is not None]
    if fills:
        yield Line("How full the window is", fills, f"mean {sum(fills) / len(fills):.0%}")


def _draw_changes(calls: Sequence[Call]) -> Panel:
    at = [place for place, call in enumerate(calls) if call.prefix_changed]
    return Ticks("Calls that do not begin like the one before", at, len(calls), f"{len(at):,} of {len(calls):,} calls")


def _draw_cache(calls: Sequence[Call]) -> Panel:
    shares = [call.served for call in calls]
    mean = sum(shares) / len(shares) if shares else 0
    return Line(f"Share that a prefix cache may serve, mean of {_SMOOTHED} calls", smoothed(shares), f"mean {mean:.0%}")


__all__ = ["Call", "calls_of", "session_html", "session_svg", "smoothed"]
