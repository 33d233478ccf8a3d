"""The report of a plan: what was kept, what was dropped, and why. It holds no text of the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from assembler.dialects import DIALECTS
from assembler.dialects.caching.marks import no_marks
from assembler.errors import ConversationError
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from assembler.pipeline.window_steps import Steps, WindowStep
from assembler.report.cache.estimate import rule_of, servable, stable_prefix
from assembler.report.cache.volatile import Volatile, items_of, volatile_of
from assembler.report.items import Item, fixed_items
from assembler.report.region_facts import fixed_facts
from assembler.report.rows import CacheRow, Outcome, Row, rows_as_dicts
from assembler.report.tool_notes import note_caps, tool_notes
from assembler.report.turns import TOKENS, Turns, turns_of
from assembler.strategies import NotingStrategy
from assembler.text.invisible import Invisible, invisible_texts
from budgets import Budget, Count, RegionCosts, Tokens
from budgets.apportion import scale_down
from budgets.counters.by_model import STAND_IN
from budgets.models import nearly
from budgets.models.families import model_within
from budgets.numbers import as_whole_number

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

    from assembler.report.page.texts import Texts


@attrs.frozen
class Report:
    """Every item of one request and a table of the regions against the budget. `str()` is a text table.

    `to_dict()` is JSON-ready. Neither holds the text of an instruction, a document or a message.
    """

    rows: tuple[Row, ...]
    costs: RegionCosts
    count: Count
    budget: Budget | None
    dialect: str
    model: str | None
    notes: tuple[str, ...] = ()
    """One line each: what the dialect folds or leaves out, the counter's fallbacks, cache marks that were not set, the
    error of an anchored bill, and policies that could not help."""
    cache: CacheRow | None = None
    """What a provider's prefix cache may serve."""
    volatile: tuple[Volatile, ...] = ()
    """Texts that change from call to call in the cacheable prefix, by place and kind, without the text."""

    invisible: tuple[Invisible, ...] = ()
    """Invisible characters in instruction, knowledge, tools and tool results, by place and kind, without the text."""

    _steps: Steps = attrs.field(default=Steps(None, ()), eq=False, repr=False, alias="steps")

    def steps(self) -> tuple[WindowStep, ...]:
        """The windows at which the outcome changes, smallest first, found in one pass over the turns.

        The prices of the turns add up to the window. For an API that merges messages it may be a few tokens too large.
        """
        return self._steps()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data that JSON can carry."""
        return {
            "dialect": self.dialect,
            "model": self.model,
            "tokens": self.count.tokens,
            "upper": self.count.upper,
            "grade": str(self.count.grade),
            "input_limit": None if self.budget is None else self.budget.input_limit,
            "context_window": None if self.budget is None else self.budget.context_window,
            "regions": self.costs.to_dict(),
            "notes": list(self.notes),
            "cache": None if self.cache is None else self.cache.to_dict(),
            "volatile": list(map(attrs.asdict, self.volatile)),
            "invisible": list(map(attrs.asdict, self.invisible)),
            "rows": rows_as_dicts(self.rows),
        }

    def to_html(self, *, texts: Texts | None = None) -> str:
        """A self-contained page of every item, and of what other windows would keep.

        It shows message texts only with `texts`. O(items). For policies other than `TrimOldest()` and `Refuse()` it
        takes about forty fits, which count no text again.
        """
        from assembler.report.page.html import page_html

        return page_html(self, self._steps.plan, texts=texts)

    def _repr_html_(self) -> str:
        from assembler.report.page.html import notebook_html

        return notebook_html(self, self._steps.plan)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from assembler.report.rich_text import colour_report

        yield colour_report(self.text(options.max_width))

    def text(self, width: int = 80) -> str:
        """The table in at most `width` columns, but at least 60."""
        from assembler.report.terminal import report_text

        return report_text(self, as_whole_number(width, "width"))

    def __repr__(self) -> str:
        return f"Report(tokens={self.count.tokens}, grade={self.count.grade}, rows={len(self.rows)})"

    def __str__(self) -> str:
        import sys

        from assembler.report.terminal import make_printable

        return make_printable(self.text(), getattr(sys.stdout, "encoding", None))


def report_of(plan: Planned) -> Report:
    """The report of a plan. Prices dropped items if they have no price yet; O(items)."""
    budget, turns = plan.settings.budget, turns_of(plan)
    rows = tuple(_make_rows(plan, turns))
    return Report(
        rows=rows,
        costs=plan.costs,
        count=plan.count,
        budget=budget,
        dialect=plan.settings.dialect.name,
        model=None if budget is None else budget.model,
        notes=(
            *_list_dialect_notes(plan),
            *_list_counter_notes(plan),
            *_note_unknown_model(plan),
            *_list_mark_notes(plan),
            *_list_bill_notes(plan),
            *_list_idle_notes(plan, rows),
            *tool_notes([tool.name for tool in plan.measured.regions.tools], turns.called),
            *note_caps(plan.measured.capability, plan.measured.knowledge, budget),
            *_list_strategy_notes(plan),
        ),
        steps=Steps(plan),
        cache=_make_cache_row(plan),
        volatile=volatile_of(plan.measured),
        invisible=(*_find_invisible(plan.measured), *turns.invisible),
    )


def _list_dialect_notes(plan: Planned) -> tuple[str, ...]:
    """The dialect's notes, or why no request can be made yet."""
    try:
        plan.refuse_unfinished()
        notes = plan.notes
    except ConversationError as refusal:
        return (f"no request yet: {refusal}",)
    return notes


def _list_counter_notes(plan: Planned) -> tuple[str, ...]:
    return () if plan.settings.budget is None else plan.settings.budget.token_counter.notes


def _list_idle_notes(plan: Planned, rows: Sequence[Row]) -> Iterator[str]:
    """The reasons of policies that could not help. What a single policy saved is not counted: rows name it."""
    idle = plan.trimmed.idle
    named = {row.reason for row in rows} if idle else ()
    return (str(decision) for decision in idle if decision.in_words not in named)


_GUESSING = frozenset({"openai_chat", "openai_responses"})
"""The dialects for gateways and deployments with names of their own."""


def _note_unknown_model(plan: Planned) -> tuple[str, ...]:
    """A note on how an unknown model is counted: as the model in its name, or with a stand-in vocabulary."""
    budget = plan.settings.budget
    if (
        budget is None
        or budget.model is None
        or budget.counter is not None
        or plan.settings.dialect.name not in DIALECTS
    ):
        return ()
    if plan.settings.dialect.name in _GUESSING and (guess := model_within(budget.model)) is not None:
        return (f"unknown model {budget.model}: priced as {guess}, with a wide bound; the real name has a tight one",)
    near = nearly(budget.model)
    if near is None:
        return ()
    return (f"unknown model {budget.model}: counted by {STAND_IN}, with a wide bound; did you mean {near}?",)


def _list_strategy_notes(plan: Planned) -> tuple[str, ...]:
    strategy, rendered = plan.settings.strategy, plan.measured.rendered
    if not rendered.sources or not isinstance(strategy, NotingStrategy):
        return ()
    answers = (message for message in plan.sent_messages if message.role == "assistant")
    return strategy.notes(rendered, (part for message in answers for part in message.parts if isinstance(part, str)))


def _list_mark_notes(plan: Planned) -> tuple[str, ...]:
    if plan.settings.cache_marks is None:
        return ()
    reason = no_marks(plan.settings.dialect, plan.settings.model)
    return () if reason is None else (reason,)


def _make_cache_row(plan: Planned) -> CacheRow:
    stable, rule = stable_prefix(plan), rule_of(plan)
    served = servable(stable, rule)
    known = (None, None, None) if rule is None else (rule.least, rule.step, rule.source)
    return CacheRow(stable.tokens, served.tokens, served.upper, *known)


def _list_bill_notes(plan: Planned) -> tuple[str, ...]:
    known = plan.settings.calibration
    if known is None or plan.corrected is None:
        return ()
    return (
        f"anchored: {known.billed:,} billed where {known.ours.tokens:,} were counted ({known.margin:+,d}); "
        f"{plan.by_rule.tokens:,} by rule now, {plan.corrected.tokens:,} expected",
    )


def _find_invisible(measured: Measured) -> tuple[Invisible, ...]:
    facts = fixed_facts(measured)
    if facts.invisible is None:
        facts.invisible = tuple(invisible_texts(items_of(measured, measured.rendered.every_piece)))
    return facts.invisible


def _make_rows(plan: Planned, turns: Turns) -> list[Row]:
    fixed, framing = _make_fixed_rows(plan.measured)
    rows, summary = [*fixed], plan.trimmed.cut.summary
    if summary is not None:
        tokens = plan.ledger.price(summary).tokens
        rows.append(Row("conversation", "in place of dropped turns", 0, tokens, reason="summary"))
    missing = plan.count.tokens - sum(map(TOKENS, rows), turns.tokens + framing.after)
    return _adjust_rows(plan, [*rows, *turns.rows, framing], missing)


def _adjust_rows(plan: Planned, rows: list[Row], missing: Tokens) -> list[Row]:
    """Adjust the rows so that they add up to the count, as they do not with a template or after a bill.

    A surplus becomes a row of the framing. A deficit is taken from the rows of the conversation in proportion, and from
    other regions only once these are at 0.
    """
    if missing > 0:
        beyond = "the whole, beyond its parts" if plan.corrected is None else "the bill, beyond the rules"
        return [*rows, Row("framing", beyond, missing, missing)]
    if not missing:
        return rows
    costs = plan.costs.to_dict()
    fewer = {name: iter(scale_down([row.after for row in rows if row.region == name], costs[name])) for name in costs}
    return [_cut_down(row, next(fewer[row.region])) for row in rows]


def _cut_down(row: Row, after: Tokens) -> Row:
    return attrs.evolve(row, before=after if row.before == row.after else row.before, after=after)


def _make_fixed_rows(measured: Measured) -> tuple[tuple[Row, ...], Row]:
    """The rows before the conversation and the one after it. Made once for these regions."""
    facts = fixed_facts(measured)
    if facts.rows is None or facts.framing is None:
        *rows, facts.framing = map(_make_fixed_row, fixed_items(measured))
        facts.rows = tuple(rows)
    return facts.rows, facts.framing


def _make_fixed_row(item: Item) -> Row:
    if item.grade is None:  # a document that was left out
        return Row(item.region, item.name, item.before, 0, "dropped", item.omitted)
    return Row(item.region, item.name, item.before, item.before or 0, messages=item.messages)


__all__ = ["CacheRow", "Outcome", "Report", "Row", "report_of"]
