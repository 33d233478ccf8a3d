"""Fits any provider's own request into a budget, for gateways and for frameworks without an adapter."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import ceil
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.count_request import count_request
from assembler.dialects import Dialect
from assembler.dialects.by_name import read_own_dialect
from assembler.dialects.reading.parse_steps import UNREADABLE, unreadable
from assembler.dialects.reading.raw_request import NO_KEYS, TOOLS, RawRequest
from assembler.errors import MessageTypeError
from assembler.pipeline.draft import Draft
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pricing.calibration import CalibratedCounter
from assembler.regions.regions import Regions
from assembler.validation import must_be, wrong
from budgets import AssemblyError, ContextLengthError, Count, Tokens
from budgets.count import NOTHING


def fit_request(
    request: Mapping[str, Any], *, dialect: Dialect | str | None = None, assembler: Assembler[Any]
) -> dict[str, Any]:
    """Fit the body of an API's call into the assembler's budget, and return it as a new body.

    `dialect` is that of the body, by default the assembler's own, whose name stands for it with its settings. Messages,
    tools, output format and tool choice are priced as `count_request` prices them, for the budget's model, even if the
    body names another. The assembler's instruction and knowledge are added; the tools are those of the body. All other
    keys stay as they are. A body that fits, and to which nothing is added, is returned unchanged. Without a budget
    nothing is dropped. If a cut leaves a running tool loop that does not begin with thinking, Claude's `thinking` is
    left out, because the API refuses it then. A body may end with the assistant if the budget's model is a Claude that
    goes on with such a message (before 4.6).

    Each call reads and prices the whole body: O(body). Each text is counted once in a process. Raises
    `ContextLengthError` if the policies cannot make it fit, and `ConversationError` or `ToolError` for a body that
    cannot be read or that the API would refuse.
    """
    if not isinstance(cast(object, request), Mapping):
        raise MessageTypeError(wrong("request", "the body of the API's call (a dict)", request))
    must_be("assembler", cast(object, assembler), (Assembler,), "an Assembler(budget=…)")
    own = assembler.inside[1].dialect
    api = own if dialect is None else read_own_dialect(dialect, own)
    return built(fit_steps(RawRequest.of(request, api), assembler)).body


@attrs.frozen(eq=False)
class Fitted:
    """A body that fits, the context from which it was made, and the assembler for the next call."""

    body: dict[str, Any]
    context: Context
    assembler: Assembler
    uncounted: Count = NOTHING
    """The cost of the body's other keys, which the context's count does not include."""


Steps: TypeAlias = Generator[Assembler, Context, Fitted]
"""A fit in progress. It yields each assembler to build, and gets its context sent, or the error of the build thrown."""


def fit_steps(
    raw: RawRequest, base: Assembler, *, messages: Sequence[object] | None = None, before: Assembler | None = None
) -> Steps:
    """`fit_request`, build by build, so that the caller may await each.

    `before` is the assembler of the last call in the same conversation. `messages` are those of the body, with the
    objects of that call in place of equal ones, so that their readings and prices are reused.
    """
    budget = base.inside[1].budget
    raw = raw.for_model(None if budget is None else budget.model)
    regions, settings = _read_regions(raw, base), _set_dialect(base.inside[1], raw.dialect)
    if before is not None and before.inside[0].regions == regions:
        regions = before.inside[0].regions
    history = (base if before is None else before).inside[0].history
    gathered = Assembler.around(Draft(regions, history), settings)
    gathered.set_messages(raw.messages if messages is None else messages)
    return _Fit(raw, gathered, added_regions=base.inside[0].regions).steps()


def built(steps: Steps) -> Fitted:
    """Run all steps and return the result."""
    step = advance(steps, None)
    while isinstance(step, Assembler):
        try:
            outcome = step.build()
        except ContextLengthError as error:
            step = advance(steps, error)
        else:
            step = advance(steps, outcome)
    return step


def advance(steps: Steps, outcome: Context | ContextLengthError | None) -> Fitted | Assembler:
    """The assembler that the steps need built next, or their result. `outcome` is that of the last build, if any."""
    try:
        if isinstance(outcome, ContextLengthError):
            return steps.throw(outcome)
        return next(steps) if outcome is None else steps.send(outcome)
    except StopIteration as done:
        return cast(Fitted, done.value)


def _read_regions(raw: RawRequest, base: Assembler) -> Regions:
    """The body's system text and tools, with the base's instruction and knowledge."""
    own = base.inside[0].regions
    texts = [text for text in (raw.layout.system, own.instruction) if text]
    instruction = "\n\n".join(texts) or None
    return attrs.evolve(own, instruction=instruction, tools=tuple(raw.layout.tools), output=None, choice=None)


def speaking(assembler: Assembler, dialect: Dialect) -> Assembler:
    """A fork of the assembler for another API. Make it once, so that it reuses what it has computed."""
    draft, settings = assembler.inside
    return Assembler.around(draft, _set_dialect(settings, dialect))


def _set_dialect(settings: Settings, dialect: Dialect) -> Settings:
    if settings.dialect is dialect:
        return settings
    return Settings.of(settings.budget, dialect, settings.policies, settings.strategy, settings.cache_marks)


@attrs.frozen(eq=False)
class _Fit:
    """A body, the conversation that was gathered from it, and how the two are fitted."""

    raw: RawRequest
    gathered: Assembler
    added_regions: Regions
    """The instruction and knowledge that the base adds to the body."""

    def steps(self) -> Steps:
        """The unchanged body if it fits; else cut it, until the count of the resulting body fits."""
        _, settings = self.gathered.inside
        if settings.budget is not None and settings.calibration is not None:
            return (yield from self._fit_by_bill(settings.calibration))
        if self._does_fit_unchanged() and (fitted := (yield from self._send_whole())) is not None:
            return fitted
        uncounted = self._price_other_keys()
        extra = uncounted.upper
        while True:
            context = yield self._keep_free(extra)
            body = self._write_around(context)
            over = self._measure_excess(body)
            if over <= 0:
                return Fitted(body, context, self.gathered, uncounted)
            extra += over

    def _fit_by_bill(self, bill: CalibratedCounter) -> Steps:
        """Fit by a known bill, from which the build counts. Returns the body's own dicts if nothing is dropped.

        The cost of the body's other keys is scaled by the bill too.
        """
        uncounted = self._price_other_keys()
        context = yield self._keep_free(ceil(uncounted.upper * max(1.0, bill.factor)))
        whole = not self._adds_regions and _is_whole(context.inside) and self._may_stay(context)
        return Fitted(self.raw.copied() if whole else self._write_around(context), context, self.gathered, uncounted)

    def _write_around(self, context: Context) -> dict[str, Any]:
        its_tools = tuple(context.inside.layout.tools) == tuple(self.raw.layout.tools)
        return self.raw.around(context.inside.layout, TOOLS if its_tools else NO_KEYS)

    @property
    def _adds_regions(self) -> bool:
        return bool(self.added_regions.instruction or self.added_regions.documents)

    def _does_fit_unchanged(self) -> bool:
        if self._adds_regions:
            return False
        try:
            return self._measure_excess(self.raw.body) <= 0
        except AssemblyError:  # a policy may drop the part without a price
            return False

    def _send_whole(self) -> Generator[Assembler, Context, Fitted | None]:
        """The unchanged body; if the API would refuse it, the dialect's request, or None if that does not fit."""
        try:
            context = yield self._keep_free(0)
        except ContextLengthError:
            context = yield self._without_limit()
        if context.dropped:
            context = yield self._without_limit()
        body = self.raw.copied()
        if not self._may_stay(context):
            body = self.raw.around(context.inside.layout, TOOLS)
            if self._measure_excess(body) > 0:
                return None
        return Fitted(body, context, self.gathered, self._price_other_keys())

    def _may_stay(self, context: Context) -> bool:
        """Whether the API accepts the unchanged body: the dialect has nothing to mend, or the body is valid anyway.

        One without messages is folded or refused. It is valid if the server holds the conversation, for one.
        """
        plan, key = context.inside, self.raw.dialect.api.history
        unfolded = bool(plan.layout.messages and not plan.notes)
        if unfolded and plan.emission.request.get(key) == self.raw.body.get(key):
            return True
        from assembler.verify import DIALECTS, verify  # few bodies have something to mend

        dialect = self.raw.dialect
        if dialect.name not in DIALECTS:
            return unfolded
        return all(violation.note for violation in verify(self.raw.body, dialect=dialect))

    def _keep_free(self, extra: Tokens) -> Assembler:
        """The gathered request, with `extra` tokens kept free for the body's other keys."""
        draft, settings = self.gathered.inside
        if extra and settings.budget is not None:
            budget = attrs.evolve(settings.budget, overhead=settings.budget.overhead + extra)
            settings = attrs.evolve(settings, budget=budget)
        return Assembler.around(draft, settings)

    def _without_limit(self) -> Assembler:
        draft, settings = self.gathered.inside
        return Assembler.around(draft, attrs.evolve(settings, budget=None))

    def _price_other_keys(self) -> Count:
        """The cost of the body's other keys: an output format, a forced tool."""
        pricer = self.gathered.inside[1].pricer
        try:
            asked = pricer.options(self.raw.layout)
            return Count(max(0, asked.tokens), asked.grade, upper=max(0, asked.upper))
        except AssemblyError:
            raise
        except UNREADABLE as error:
            problem = unreadable(error)
        raise problem

    def _measure_excess(self, body: Mapping[str, Any]) -> Tokens:
        """By how many tokens a body exceeds the limit; 0 or less if it fits or there is no budget."""
        budget = self.gathered.inside[1].budget
        if budget is None:
            return 0
        held = self.gathered.inside[0].regions.held
        count = count_request(
            body, dialect=self.raw.dialect, model=budget.model, counter=budget.token_counter, held=held
        )
        return count.upper - budget.input_limit


def _is_whole(plan: Planned) -> bool:
    """Whether the plan sends every message unchanged."""
    kept = all(plan.view.message(index) is message for index, message in plan.sent)
    return kept and plan.view.head + len(plan.sent) == plan.view.length
