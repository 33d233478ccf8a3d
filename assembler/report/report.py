"""The report of a plan: what was kept, what was dropped, and why. It holds no text of the prompt."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from assembler.dialects import DIALECTS
from assembler.dialects.marking import no_marks
from assembler.errors import ConversationError
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned, why_before
from assembler.pipeline.steps import Step, Steps
from assembler.policies.traits import Label, label_of
from assembler.pricing.ledger import Ledger
from assembler.report.cache.estimate import rule_of, servable, stable_prefix
from assembler.report.cache.volatile import Volatile, items_of, volatile_of
from assembler.report.items import Item, fixed_items
from assembler.report.memory import TurnFacts, fixed_facts, turn_facts
from assembler.report.rows import CacheRow, Outcome, Row, rows_as_dicts, span_name
from assembler.report.tool_notes import tool_notes
from assembler.strategies import NotingStrategy
from assembler.text.invisible import Invisible, invisible_texts
from budgets import AssemblyError, Budget, Count, RegionCosts, Tokens
from budgets.apportion import scale_down
from budgets.counters.by_model import STAND_IN
from budgets.models import nearly
from budgets.models.families import model_within
from budgets.numbers import whole

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

    def steps(self) -> tuple[Step, ...]:
        """The windows at which the outcome changes, smallest first, found in one pass over the turns."""
        return self._steps()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data that JSON can carry."""
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
        """Return a self-contained page of every item, and of what other windows would keep.

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
        """Return the table in at most `width` columns, but at least 60."""
        from assembler.report.terminal import report_text

        return report_text(self, whole(width, "width"))

    def __repr__(self) -> str:
        return f"Report(tokens={self.count.tokens}, grade={self.count.grade}, rows={len(self.rows)})"

    def __str__(self) -> str:
        import sys

        from assembler.report.terminal import printable

        return printable(self.text(), getattr(sys.stdout, "encoding", None))


def report_of(plan: Planned) -> Report:
    """Return the report of a plan. Prices dropped items if they have no price yet; O(items)."""
    budget, turns = plan.settings.budget, turn_facts(plan)
    return Report(
        rows=tuple(_adding_up(plan, _rows(plan, turns))),
        costs=plan.costs,
        count=plan.count,
        budget=budget,
        dialect=plan.settings.dialect.name,
        model=None if budget is None else budget.model,
        notes=(
            *_dialect_notes(plan),
            *_counter_notes(plan),
            *_unknown(plan),
            *_mark_notes(plan),
            *_bill_notes(plan),
            *map(str, plan.trimmed.idle),  # reasons of policies that could not help, which no row has
            *tool_notes([tool.name for tool in plan.measured.regions.tools], turns),
            *_strategy_notes(plan),
        ),
        steps=Steps(plan),
        cache=_cache(plan),
        volatile=volatile_of(plan.measured),
        invisible=(*_invisible_in_regions(plan.measured), *[found for turn in turns for found in turn.invisible]),
    )


def _dialect_notes(plan: Planned) -> tuple[str, ...]:
    """Return the dialect's notes, or why no request can be made yet."""
    try:
        plan.refuse_unfinished()
        notes = plan.notes
    except ConversationError as refusal:
        return (f"no request yet: {refusal}",)
    return notes


def _counter_notes(plan: Planned) -> tuple[str, ...]:
    return () if plan.settings.budget is None else plan.settings.budget.token_counter.notes


_GUESSING = frozenset({"openai_chat", "openai_responses"})
"""The dialects for gateways and deployments with names of their own."""


def _unknown(plan: Planned) -> tuple[str, ...]:
    """Return a note on how an unknown model is counted: as the model in its name, or with a stand-in vocabulary."""
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


def _strategy_notes(plan: Planned) -> tuple[str, ...]:
    strategy, rendered = plan.settings.strategy, plan.measured.rendered
    if not rendered.sources or not isinstance(strategy, NotingStrategy):
        return ()
    answers = (message for message in plan.spoken if message.role == "assistant")
    return strategy.notes(rendered, (part for message in answers for part in message.parts if isinstance(part, str)))


def _mark_notes(plan: Planned) -> tuple[str, ...]:
    if plan.settings.cache_marks is None:
        return ()
    reason = no_marks(plan.settings.dialect, plan.settings.model)
    return () if reason is None else (reason,)


def _cache(plan: Planned) -> CacheRow:
    stable, rule = stable_prefix(plan), rule_of(plan)
    served = servable(stable, rule)
    known = (None, None, None) if rule is None else (rule.least, rule.step, rule.source)
    return CacheRow(stable.tokens, served.tokens, served.upper, *known)


def _bill_notes(plan: Planned) -> tuple[str, ...]:
    known = plan.settings.calibration
    if known is None or plan.corrected is None:
        return ()
    return (
        f"anchored: {known.billed:,} billed where {known.ours.tokens:,} were counted ({known.margin:+,d}); "
        f"{plan.by_rule.tokens:,} by rule now, {plan.corrected.tokens:,} expected",
    )


def _invisible_in_regions(measured: Measured) -> tuple[Invisible, ...]:
    facts = fixed_facts(measured)
    if facts.invisible is None:
        facts.invisible = tuple(invisible_texts(items_of(measured, measured.rendered.every_piece)))
    return facts.invisible


def _rows(plan: Planned, turns: Sequence[TurnFacts]) -> list[Row]:
    fixed, framing = _fixed_rows(plan.measured)
    rows = [*fixed]
    _add_conversation(rows, plan, turns)
    return [*rows, framing]


def _adding_up(plan: Planned, rows: list[Row]) -> list[Row]:
    """Adjust the rows so that they add up to the count, as they do not with a template or after a bill.

    A surplus becomes a row of the framing. A deficit is taken from the rows of the conversation in proportion, and from
    other regions only once these are at 0.
    """
    missing = plan.count.tokens - sum(map(_AFTER, rows))
    if missing > 0:
        beyond = "the whole, beyond its parts" if plan.corrected is None else "the bill, beyond the rules"
        return [*rows, Row("framing", beyond, missing, missing)]
    if not missing:
        return rows
    costs = plan.costs.to_dict()
    fewer = {name: iter(scale_down([row.after for row in rows if row.region == name], costs[name])) for name in costs}
    return [_cut_down(row, next(fewer[row.region])) for row in rows]


_AFTER = operator.attrgetter("after")


def _cut_down(row: Row, after: Tokens) -> Row:
    return attrs.evolve(row, before=after if row.before == row.after else row.before, after=after)


def _fixed_rows(measured: Measured) -> tuple[tuple[Row, ...], Row]:
    """Return the rows before the conversation and the one after it. Made once for these regions."""
    facts = fixed_facts(measured)
    if facts.rows is None or facts.framing is None:
        *rows, facts.framing = map(_fixed_row, fixed_items(measured))
        facts.rows = tuple(rows)
    return facts.rows, facts.framing


def _fixed_row(item: Item) -> Row:
    if item.grade is None:  # a document that was left out
        return Row(item.region, item.name, item.before, 0, "dropped", item.omitted)
    return Row(item.region, item.name, item.before, item.before or 0, messages=item.messages)


def _add_conversation(rows: list[Row], plan: Planned, turns: Sequence[TurnFacts]) -> None:
    """Add a row for each turn that stays, and one for each run of dropped turns."""
    summary = plan.trimmed.cut.summary
    if summary is not None:
        tokens = plan.ledger.price(summary).tokens
        rows.append(Row("conversation", "in place of dropped turns", 0, tokens, reason="summary"))
    at, first, length, savings = plan.sight.head, plan.first, plan.sight.length, plan.trimmed.savings
    gone, times = _as_they_are(plan), _times(plan) if plan.trimmed.made else {}
    for (start, stop), facts in zip(plan.turns, turns, strict=True):
        if at < start:
            rows.append(_dropped_row(plan, gone, at, start))
        row = facts.row
        if row is None or start in savings or stop <= first or stop == length:
            row = _turn(plan, start, stop, times.get(start, {}))
            if not row.reason:
                # A finished turn that was not shortened has the same row in every report.
                facts.row = row
        rows.append(row)
        at = stop


def _dropped_row(plan: Planned, ledger: Ledger, start: int, stop: int) -> Row:
    why = plan.trimmed.why_gone if plan.trimmed.decisions else why_before(plan)
    return _row_of_dropped(start, stop, _tokens_before(ledger, start, stop), why)


# Cached: successive reports have the same dropped messages.
@functools.lru_cache(maxsize=64)
def _row_of_dropped(start: int, stop: int, before: Tokens | None, why: str) -> Row:
    return Row("conversation", span_name(start, stop), before, 0, "dropped", why, stop - start)


def _as_they_are(plan: Planned) -> Ledger:
    """Return the prices of the messages as they are now: builds do not check all dropped messages for changes."""
    if plan.last_length or plan.first <= plan.sight.head:
        return plan.ledger.under(plan.settings.pricer)
    return Ledger.of(plan.draft.history.current(), plan.settings.pricer)


def _times(plan: Planned) -> dict[int, dict[Label, int]]:
    """Count the changes of each policy in each turn, by the turn's first message. O(changes)."""
    times: dict[int, dict[Label, int]] = {}
    willing = plan.settings.willing
    for made in plan.trimmed.made:
        for indexes in made.indexes:
            for start in {plan.ledger.turn_start(index) for index in indexes}:
                of_turn, label = times.setdefault(start, {}), label_of(willing, made.place)
                of_turn[label] = of_turn.get(label, 0) + 1
    return times


def _turn(plan: Planned, start: int, stop: int, times: Mapping[Label, int]) -> Row:
    before = plan.ledger.turn(start, stop).tokens
    saved = plan.trimmed.savings.get(start)
    reasons = ["newest turn"] if stop == plan.sight.length else []
    if stop <= plan.first:
        reasons.append("pinned")
    if saved is None:
        return Row("conversation", span_name(start, stop), before, before, "kept", "; ".join(reasons), stop - start)
    reasons.append(plan.trimmed.why_shortened(times))
    after = before + saved.tokens
    by_rule = plan.ledger.under(plan.settings.pricer)
    shown = before if by_rule is plan.ledger else _tokens_before(by_rule, start, stop)
    return Row("conversation", span_name(start, stop), shown, after, "shortened", "; ".join(reasons), stop - start)


def _tokens_before(ledger: Ledger, start: int, stop: int) -> Tokens | None:
    """Return what the dropped turns would have cost; None if one of their messages is invalid."""
    try:
        return ledger.dropped_tokens(start, stop)
    except AssemblyError:
        return None


__all__ = ["CacheRow", "Outcome", "Report", "Row", "report_of"]
