"""Fits many model calls with one base assembler. Each conversation continues from its last build."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.summary_request import Wanted
from assembler.dialects import Dialect
from assembler.dialects.reading.raw_request import RawRequest
from assembler.fit_request import Fitted, Steps, advance, built, fit_steps
from assembler.integrations.bills import bill_of, subtract_uncounted
from assembler.integrations.call_settings import in_form_of
from assembler.integrations.kept_objects import with_own_system
from assembler.integrations.known_calls import KnownCall, KnownCalls
from assembler.pipeline.awaiting import run_in_thread
from assembler.pipeline.state import state_of
from assembler.pricing.calibration import calibrate
from assembler.pricing.overflow import overflow_of
from assembler.regions.output_schema import OutputSchema
from assembler.report.report import Report
from assembler.telemetry import note
from budgets import BudgetError, ContextLengthError, Count
from budgets.count import NOTHING
from budgets.numbers import as_whole_number

State: TypeAlias = Mapping[str, Any]
"""The value of `context.state()`."""

CONVERSATIONS = 64
"""The default number of conversations to remember. One that returns after so many others is read again, which costs
time and, with `Summarize`, a new summary."""

LESSONS = 3
"""How often a call is made smaller after a refusal. If it is still refused, its length is not the reason."""

STORED_AS = "context_assembler"
"""The key of a conversation's state in the framework's session."""

OPEN = 16
"""How many calls at once a task may have that share only the task with their bills."""

_FITTED: ContextVar[tuple[tuple[Fitting, Hashable, Context], ...]] = ContextVar("context_assembler", default=())
"""The calls that a task is making, with their runs: one of its hooks fits a call, another gets the bill."""


def worth_keeping(state: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state, or None if a new process can derive all of it from the messages."""
    return state if any(value for key, value in state.items() if key != "state") else None


@attrs.frozen
class Asked:
    """What a framework's call has besides its messages."""

    system: str | None = None
    """The framework's own prompt. The base's instruction and knowledge follow it."""
    tools: Sequence[Any] | None = None
    """All tools that the framework sends; None to use the base's."""
    output: OutputSchema | None = None
    """The output schema, if it is sent as the API's own answer format."""
    choice: str | None = None
    """The tool choice, as `set_tools` takes it; only with `tools`."""
    options: tuple[tuple[str, Any], ...] = ()
    """Other keys of the call that may cost tokens, as its API spells them: `parallel_tool_calls` of OpenAI's."""

    def onto(self, base: Assembler) -> Assembler:
        """Return a fork of the base with all of these."""
        assembler = with_own_system(base, self.system)
        draft, settings = assembler.inside
        choice, options = in_form_of(settings.dialect.api, self.choice, self.options)
        if self.tools is not None:
            assembler.set_tools(self.tools, choice=choice if self.tools else None)
        if self.output is None and not options:
            return assembler
        draft, _ = assembler.inside
        regions = attrs.evolve(draft.regions, output=self.output or draft.regions.output, options=options)
        return Assembler.around(attrs.evolve(draft, regions=regions), settings)


def _is_function(tool: Mapping[str, Any]) -> bool:
    return "function" in tool or "parameters" in tool or "input_schema" in tool


class Fitting:
    """Fits the calls of any number of conversations. Safe to share between threads.

    The base assembler is forked here and for each call, so later changes to it have no effect. A conversation is
    recognised by its `run`, if the framework names it, and by its first messages: an agent and its sub-agent in one
    thread are two conversations. The most recent `conversations` are remembered. One that returns later is read again.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        if not isinstance(assembler, Assembler):
            raise BudgetError(f"expected an Assembler, got {type(assembler).__name__}; pass Assembler(budget=…)")
        if as_whole_number(conversations, "conversations") < 1:
            raise BudgetError(f"conversations is {conversations}; expected at least 1")
        self.assembler = assembler.fork()
        self.conversations = conversations
        _, settings = self.assembler.inside
        self.dialect = settings.dialect.name
        self.last_context: Context | None = None
        """The latest context of any conversation."""
        self._known = KnownCalls(conversations)

    def context_of(self, run: Hashable) -> Context | None:
        """Return the latest context of a run; None for an unknown or forgotten one."""
        return next((known.context for known in self._known if known.run == run), None)

    def fit(
        self, messages: Sequence[object], asked: Asked, *, run: Hashable = None, state: State | None = None
    ) -> Context:
        """Return the context of one call. Raises the errors of `build`, and then remembers nothing.

        `messages` may be new objects at each call: those equal to the last call's are recognised. `state` is the
        `context.state()` of the conversation's last call, if the framework can store it.
        """
        assembler, remember = self._gather_call(messages, asked, run, state)
        with _note_refusals():
            return remember(assembler.build())

    async def afit(
        self, messages: Sequence[object], asked: Asked, *, run: Hashable = None, state: State | None = None
    ) -> Context:
        """Do the same as `fit` in a thread, and await async summarizers. The event loop is never blocked."""
        assembler, remember = self._gather_call(messages, asked, run, state)
        with _note_refusals():
            return remember(await assembler.abuild())

    def priced(self, tools: Sequence[Any], is_function: Callable[[Any], bool] = _is_function) -> list[Any]:
        """Return the definitions to price: all, unless the budget has an `overhead`, or there is no budget.

        Then tools that run at the provider are left out: their price is in the `overhead`. Otherwise they are priced by
        a dated table, with bounds.
        """
        budget = self.assembler.budget
        keeps_none = budget is not None and not budget.overhead
        return [tool for tool in tools if keeps_none or is_function(tool)]

    def _gather_call(
        self, messages: Sequence[object], asked: Asked, run: Hashable, state: State | None
    ) -> tuple[Assembler, Callable[[Context], Context]]:
        """Return the assembler of a call, and a function that remembers its context."""
        known = self._known.alike(messages, run)
        if known is not None and not known.is_stored_as(state):
            known = None  # another process has continued the conversation
        same = _recognise_messages(messages, known)
        if known is not None and known.asked == asked:
            assembler = known.assembler.fork()
        else:
            assembler = _give_history(asked.onto(self.assembler), known)
        if known is not None:
            assembler.anchor(known.anchor)
        assembler.set_messages(same)
        if known is None and state is not None and same:
            assembler.restore(state)
        return assembler, lambda context: self._remember(
            KnownCall(run, asked, same, assembler, context, stored=state), known
        )

    def before(self, messages: Sequence[object]) -> tuple[Context, int] | None:
        """Return the last call of this conversation, and how many of these messages it had; None if there is none."""
        known = self._known.alike(messages, None)
        if known is None or known.shared(messages) < len(known.messages):
            return None
        return known.context, len(known.messages)

    def settle(self, context: Context, usage: object, *, uncounted: Count = NOTHING) -> dict[str, Any]:
        """Take the bill of a call, so that the conversation's next calls count from it. Return its new state.

        `usage` is what `calibrate` takes; None or 0 if the framework got none. `uncounted` is what the request held
        that the context does not count. An implausible bill (`bill_of`) is ignored, and so is a late one, which comes
        after the next call. O(characters of the request).
        """
        bill = bill_of(context, usage, uncounted)
        known = self._known.called_with(context)
        self._forget_own(context)
        if known is not None and not self._known.has_gone_on(known):
            self._known.exchange(known, attrs.evolve(known, bill=bill or known.bill, is_open=False))
        return state_of(context.inside, bill)

    async def asettle(self, context: Context, usage: object, *, uncounted: Count = NOTHING) -> dict[str, Any]:
        """Do the same as `settle` in a thread."""
        self._forget_own(context)
        return await run_in_thread(partial(self.settle, context, usage, uncounted=uncounted))

    async def settle_own(self, usage: object, run: Hashable = None) -> dict[str, Any] | None:
        """Take the bill of the call of this run that this task has fitted; None if there is no open one.

        For frameworks whose hooks before and after a call share only the task. A task may read several streams at once.
        """
        context = self.own(run)
        return None if context is None else await self.asettle(context, usage)

    def learn(self, context: Context, refusal: object, *, uncounted: Count = NOTHING) -> dict[str, Any] | None:
        """Take a refusal of a call as too long, so that the conversation's next call fits. Return its new state.

        None if `refusal` is another error (`overflow_of`), if the call is forgotten, or if another attempt is useless:
        without a budget, or after `LESSONS` refusals of the same call. O(characters of the request).
        """
        overflow, known = overflow_of(refusal), self._known.called_with(context)
        if overflow is None or known is None or known.refused >= LESSONS or context.input_limit is None:
            return None
        bill = calibrate(context, subtract_uncounted(overflow, uncounted.tokens))
        earlier = (known.stored, state_of(context.inside, None), *known.earlier)
        refused = known.refused + 1
        self._known.exchange(known, attrs.evolve(known, bill=bill, refused=refused, earlier=earlier, is_open=False))
        return state_of(context.inside, bill)

    def add_summary(self, wanted: Wanted, text: str) -> bool:
        """Give a conversation a summary that its `context.wanted` asked for. False if its messages are forgotten."""
        for known in self._known:
            if wanted.question.is_about(known.assembler.inside[0].history.current()):
                known.assembler.add_summary(wanted, text)
                return True
        return False

    async def alearn(self, context: Context, refusal: object, *, uncounted: Count = NOTHING) -> dict[str, Any] | None:
        """Do the same as `learn` in a thread."""
        self._forget_own(context)
        return await run_in_thread(partial(self.learn, context, refusal, uncounted=uncounted))

    async def learn_own(self, refusal: object, run: Hashable = None) -> dict[str, Any] | None:
        """Take a refusal of the call of this run that this task has fitted, if there is an open one."""
        context = self.own(run)
        return None if context is None else await self.alearn(context, refusal)

    def own(self, run: Hashable = None) -> Context | None:
        """Return the context that this task has fitted last for a run; None once its bill was taken."""
        return next((context for fitting, of, context in _FITTED.get() if fitting is self and of == run), None)

    def fit_body(self, body: Mapping[str, Any], dialect: Dialect, *, run: Hashable = None) -> Fitted:
        """Fit the raw body of a call, as `fit_request` does."""
        known, same, steps = self._begin_steps(body, dialect, run)
        fitted = built(steps)
        self._remember(KnownCall(run, None, same, fitted.assembler, fitted.context), known)
        return fitted

    async def afit_body(self, body: Mapping[str, Any], dialect: Dialect, *, run: Hashable = None) -> Fitted:
        """Do the same as `fit_body` in a thread, and await async summarizers."""
        known, same, steps = await run_in_thread(partial(self._begin_steps, body, dialect, run))
        step = await run_in_thread(partial(advance, steps, None))
        while isinstance(step, Assembler):
            try:
                outcome: Context | ContextLengthError = await step.abuild()
            except ContextLengthError as error:
                outcome = error
            step = await run_in_thread(partial(advance, steps, outcome))
        self._remember(KnownCall(run, None, same, step.assembler, step.context), known)
        return step

    def _begin_steps(
        self, body: Mapping[str, Any], dialect: Dialect, run: Hashable
    ) -> tuple[KnownCall | None, Sequence[object], Steps]:
        raw = RawRequest.of(body, dialect)
        listed = raw.messages
        known = self._known.alike(listed, run)
        same = _recognise_messages(listed, known)
        before = None if known is None else known.assembler
        base = self.assembler if known is None else self.assembler.fork().anchor(known.anchor)
        return known, same, fit_steps(raw, base, messages=same, before=before)

    def _remember(self, new: KnownCall, known: KnownCall | None) -> Context:
        self._known.add(new, known)
        self.last_context = new.context
        others = (call for call in _FITTED.get() if call[:2] != (self, new.run))
        _FITTED.set((*others, (self, new.run, new.context))[-OPEN:])
        note(new.context)
        return new.context

    def _forget_own(self, context: Context) -> None:
        _FITTED.set(tuple(call for call in _FITTED.get() if call[2] is not context))


@contextmanager
def _note_refusals() -> Generator[None]:
    """Put a `ContextLengthError` on the framework's span too."""
    try:
        yield
    except ContextLengthError as error:
        note(error)
        raise


def _give_history(assembler: Assembler, known: KnownCall | None) -> Assembler:
    """Give an assembler the history of a conversation's last call, with everything that is known about it."""
    if known is None:
        return assembler
    draft, settings = assembler.inside
    return Assembler.around(attrs.evolve(draft, history=known.assembler.inside[0].history), settings)


class LastCall:
    """The public members that all adapters share. The subclass has its `Fitting` as `_fitting`."""

    if TYPE_CHECKING:  # not at runtime: some frameworks read the annotations of a class as its fields
        _fitting: Fitting

    @property
    def last_context(self) -> Context | None:
        """The latest context of any conversation; None before the first call."""
        return self._fitting.last_context

    def add_summary(self, wanted: Wanted, text: str) -> bool:
        """Give a conversation the summary that its `last_context.wanted` asked for, at any time.

        For `Summarize(None)`, which no call waits for. The conversation's next call uses it. Returns False if the
        summarised messages are forgotten.
        """
        return self._fitting.add_summary(wanted, text)

    @property
    def report(self) -> Report | None:
        """The report of the latest call; None before the first call."""
        context = self.last_context
        return None if context is None else context.report


def _recognise_messages(messages: Sequence[object], known: KnownCall | None) -> list[object]:
    """Replace messages by the equal objects of the last call, so that their readings are reused."""
    before = () if known is None else known.messages
    shared = [old if old == new else new for old, new in zip(before, messages, strict=False)]
    return [*shared, *messages[len(shared) :]]
