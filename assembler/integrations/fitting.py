"""One base assembler, many model calls: each conversation goes on from its last build."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.wanted import Wanted
from assembler.dialects import Dialect
from assembler.dialects.raw_request import RawRequest
from assembler.fit_request import Fitted, Steps, advance, built, fit_steps, refuse_steps
from assembler.integrations.bills import bill_of, without
from assembler.integrations.own_objects import with_own_system
from assembler.pipeline.state import state_of
from assembler.pricing.calibration import CalibratedCounter, calibrate
from assembler.pricing.overflow import overflow_of
from assembler.regions.output_schema import OutputSchema
from assembler.report.report import Report
from assembler.telemetry import note
from budgets import BudgetError, ContextLengthError, Count
from budgets.count import NOTHING
from budgets.numbers import whole

State: TypeAlias = Mapping[str, Any]
"""What `context.state()` returned."""
CONVERSATIONS = 64
"""Conversations that are gone on with, where no other number is asked for. One that comes back after that many others
is read anew: that costs time, and a new summary where `Summarize` is used, and changes nothing else."""

LESSONS = 3
"""How often one call is made smaller because the provider refused it. What it refuses then is not its length."""

STORED_AS = "context_assembler"
"""The key under which an adapter keeps a conversation's state in its framework's session."""


def worth_keeping(state: dict[str, Any]) -> dict[str, Any] | None:
    """The state; None where a rebuilt process would find all of it again in the messages."""
    return state if any(value for key, value in state.items() if key != "state") else None


_FITTED: ContextVar[tuple[Fitting, Context] | None] = ContextVar("context_assembler", default=None)
"""The call that a task is making: what one of its hooks has fitted, another one is told the bill of."""


@attrs.frozen
class Asked:
    """What a framework asks for beside its messages."""

    system: str | None = None
    """Its own prompt: the base's instruction and knowledge follow it."""
    tools: Sequence[Any] | None = None
    """All that the framework sends, whatever the base holds; None where it does not tell, and the base does."""
    output: OutputSchema | None = None
    """The schema of the answer, where it goes out as the API's own answer format."""
    choice: str | None = None
    """The tool that must be called, or a word for it, as `add_capability` takes it; only beside `tools`."""

    def onto(self, base: Assembler) -> Assembler:
        """A fork of the base that holds all of it."""
        assembler = with_own_system(base, self.system)
        if self.tools is not None:
            assembler.add_capability(self.tools, choice=self.choice if self.tools else None)
        if self.output is None:
            return assembler
        draft, settings = assembler.inside
        regions = attrs.evolve(draft.regions, output=self.output)
        return Assembler.around(attrs.evolve(draft, regions=regions), settings)


def _is_function(tool: Mapping[str, Any]) -> bool:
    return "function" in tool or "parameters" in tool or "input_schema" in tool


@attrs.frozen(eq=False)
class _Known:
    """A conversation as it was fitted last: what was gathered, and what came of it."""

    run: Hashable
    asked: Asked | None
    messages: Sequence[object]
    assembler: Assembler
    context: Context
    bill: CalibratedCounter | None = None
    """Of that very context."""
    stored: State | None = None
    """What the framework's store held of the conversation when the call was made."""
    earlier: tuple[State | None, ...] = ()
    """What the store may hold still, though more is known here: of a refused call, most stores keep nothing."""
    refused: int = 0
    """How often the provider refused this call for its length."""

    @property
    def state(self) -> dict[str, Any]:
        """What a rebuilt process needs beside the messages."""
        return state_of(self.context.inside, self.bill)

    @property
    def anchor(self) -> CalibratedCounter | None:
        """The newest bill, this call's or one before."""
        return self.bill or self.assembler.inside[1].calibration

    def is_stored_as(self, state: State | None) -> bool:
        """Whether a store that holds `state` knows of no later call."""
        return state is None or state == self.state or state in self.earlier

    def shared(self, messages: Sequence[object]) -> int:
        """How many messages at the front are the same. O(those)."""
        alike = (old is new or old == new for old, new in zip(self.messages, messages, strict=False))
        return sum(1 for _ in itertools.takewhile(bool, alike))


class Fitting:
    """Fits call after call of any number of conversations. Safe to share between threads.

    The base assembler is forked here and for each call, so that what is added to it later is not seen. A conversation
    is told by its `run`, where the framework has a name for it, and by what it begins with: an agent and its sub-agent
    in one thread are two. So many `conversations` are gone on with, those that were called last; one that comes back
    after them is read anew.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        if not isinstance(assembler, Assembler):
            raise BudgetError(f"expected an Assembler, got {type(assembler).__name__}; pass Assembler(budget=…)")
        if whole(conversations, "conversations") < 1:
            raise BudgetError(f"conversations is {conversations}: at least the one that is fitted is remembered")
        self.assembler = assembler.fork()
        self.conversations = conversations
        _, settings = self.assembler.inside
        self.dialect = settings.dialect.name
        self.last_context: Context | None = None
        """What was built last, for whichever conversation."""
        self._known: dict[_Known, None] = {}
        """The one that was called last stands last."""

    def context_of(self, run: Hashable) -> Context | None:
        """What was built last under one run's name; None for one that is not, or no longer, known."""
        return next((known.context for known in reversed(list(self._known)) if known.run == run), None)

    def fit(
        self, messages: Sequence[object], asked: Asked, *, run: Hashable = None, state: State | None = None
    ) -> Context:
        """The context of one call. Raises what `build` raises, and then remembers nothing of it.

        `messages` may be made anew for each call: those that equal the ones of the last call are taken for the same.
        `state` is the `context.state()` of the conversation's last call, where the framework has a place to keep it.
        """
        assembler, remember = self._gathered(messages, asked, run, state)
        with _note_refusals():
            return remember(assembler.build())

    async def afit(
        self, messages: Sequence[object], asked: Asked, *, run: Hashable = None, state: State | None = None
    ) -> Context:
        """Fit as `fit` does, in a thread, and await what is async: no event loop waits for the build."""
        assembler, remember = self._gathered(messages, asked, run, state)
        with _note_refusals():
            return remember(await assembler.abuild())

    def priced(self, tools: Sequence[Any], is_function: Callable[[Any], bool] = _is_function) -> list[Any]:
        """The definitions that are priced: all of them, those that run at the provider by its dated table, in bounds.

        Where the budget's `overhead` keeps some tokens, or there is no budget, the latter are passed over: you know
        their bill.
        """
        budget = self.assembler.budget
        keeps_none = budget is not None and not budget.overhead
        return [tool for tool in tools if keeps_none or is_function(tool)]

    def _gathered(
        self, messages: Sequence[object], asked: Asked, run: Hashable, state: State | None
    ) -> tuple[Assembler, Callable[[Context], Context]]:
        """The assembler of a call, and what remembers the context that it builds."""
        known = self._alike(messages, run)
        if known is not None and not known.is_stored_as(state):
            known = None  # another process has gone on with it
        same = _recognised(messages, known)
        if known is not None and known.asked == asked:
            assembler = known.assembler.fork()
        else:
            assembler = _with_history(asked.onto(self.assembler), known)
        if known is not None:
            assembler.anchor(known.anchor)
        assembler.add_messages(same)
        if known is None and state is not None and same:
            assembler.restore(state)
        return assembler, lambda context: self._remember(
            _Known(run, asked, same, assembler, context, stored=state), known
        )

    def before(self, messages: Sequence[object], *, run: Hashable = None) -> tuple[Context, int] | None:
        """The call that these messages go on from, and how many of them it was made with; None where none is known."""
        known = self._alike(messages, run)
        if known is None or known.shared(messages) < len(known.messages):
            return None
        return known.context, len(known.messages)

    def settle(self, context: Context, usage: object, *, beside: Count = NOTHING) -> dict[str, Any]:
        """What a conversation remembers once the call of `context` is billed: its next calls count from that bill.

        `usage` is what `calibrate` takes; None or a number of 0 where the framework was told nothing. `beside` is what
        the request held that the context does not count. A bill is passed over that cannot be this request's
        (`bill_of`), and one that comes late, when the conversation has gone on. O(characters of the request).
        """
        bill = bill_of(context, usage, beside)
        known = self._called_with(context)
        if bill is not None and known is not None:
            self._known[attrs.evolve(known, bill=bill)] = None
            self._known.pop(known, None)
        return state_of(context.inside, bill)

    async def asettle(self, context: Context, usage: object, *, beside: Count = NOTHING) -> dict[str, Any]:
        """Settle as `settle` does, in a thread."""
        return await asyncio.to_thread(self.settle, context, usage, beside=beside)

    async def settle_own(self, usage: object) -> dict[str, Any] | None:
        """Settle the call that this task has fitted; None where it has fitted none since.

        For frameworks whose hooks before and after a call share nothing but the task that makes it.
        """
        context = self._own()
        return None if context is None else await self.asettle(context, usage)

    def learn(self, context: Context, refusal: object, *, beside: Count = NOTHING) -> dict[str, Any] | None:
        """What a conversation remembers once the call of `context` was refused as too long: its next call fits.

        None where `refusal` says anything else (`overflow_of`), where the conversation has gone on, and where it is of
        no use to make the call again: without a budget nothing is cut, and after `LESSONS` refusals of the same call
        it is not for its length. O(characters of the request).
        """
        overflow, known = overflow_of(refusal), self._called_with(context)
        if overflow is None or known is None or known.refused >= LESSONS or context.input_limit is None:
            return None
        bill = calibrate(context, without(overflow, beside.tokens))
        earlier = (known.stored, state_of(context.inside, None), *known.earlier)
        self._known[attrs.evolve(known, bill=bill, refused=known.refused + 1, earlier=earlier)] = None
        self._known.pop(known, None)
        return state_of(context.inside, bill)

    def add_summary(self, wanted: Wanted, text: str) -> bool:
        """Whether a conversation goes on with a summary that its context wanted (`context.wanted`), and another task
        has written; False where none has these messages any more.
        """
        for known in reversed(list(self._known)):
            if wanted.question.speaks_of(known.assembler.inside[0].history.current()):
                known.assembler.add_summary(wanted, text)
                return True
        return False

    async def alearn(self, context: Context, refusal: object, *, beside: Count = NOTHING) -> dict[str, Any] | None:
        """Learn as `learn` does, in a thread."""
        return await asyncio.to_thread(self.learn, context, refusal, beside=beside)

    async def learn_own(self, refusal: object) -> dict[str, Any] | None:
        """Learn from a refusal of the call that this task has fitted, as `settle_own` settles it."""
        context = self._own()
        return None if context is None else await self.alearn(context, refusal)

    @property
    def own(self) -> Context | None:
        """What this task has fitted last; None once it is settled."""
        fitting, context = _FITTED.get() or (None, None)
        return context if fitting is self else None

    def _own(self) -> Context | None:
        """The same, once."""
        if (context := self.own) is not None:
            _FITTED.set(None)
        return context

    def _called_with(self, context: Context) -> _Known | None:
        return next((known for known in list(self._known) if known.context is context), None)

    def fit_body(self, body: Mapping[str, Any], dialect: Dialect, *, run: Hashable = None) -> Fitted:
        """Fit the raw body of a call, as `fit_request` does."""
        known, same, steps = self._steps(body, dialect, run)
        fitted = built(steps)
        self._remember(_Known(run, None, same, fitted.assembler, fitted.context), known)
        return fitted

    async def afit_body(self, body: Mapping[str, Any], dialect: Dialect, *, run: Hashable = None) -> Fitted:
        """Fit as `fit_body` does, in a thread, and await what is async."""
        known, same, steps = await asyncio.to_thread(self._steps, body, dialect, run)
        done, wanted = await asyncio.to_thread(advance, steps, None)
        while done is None:
            try:
                context = await wanted.abuild()
            except ContextLengthError as error:
                done, wanted = await asyncio.to_thread(refuse_steps, steps, error)
            else:
                done, wanted = await asyncio.to_thread(advance, steps, context)
        self._remember(_Known(run, None, same, done.assembler, done.context), known)
        return done

    def _steps(
        self, body: Mapping[str, Any], dialect: Dialect, run: Hashable
    ) -> tuple[_Known | None, Sequence[object], Steps]:
        raw = RawRequest.of(body, dialect)
        listed = raw.messages
        known = self._alike(listed, run)
        same = _recognised(listed, known)
        before = None if known is None else known.assembler
        base = self.assembler if known is None else self.assembler.fork().anchor(known.anchor)
        return known, same, fit_steps(raw, base, messages=same, before=before)

    def _alike(self, messages: Sequence[object], run: Hashable) -> _Known | None:
        """The conversation of this run that shares most at the front; None where none shares anything."""
        same_run = [known for known in list(self._known) if known.run == run]
        found = max(same_run, key=lambda known: known.shared(messages), default=None)
        return found if found is not None and found.shared(messages) else None

    def _remember(self, new: _Known, known: _Known | None) -> Context:
        """Put the conversation last, in place of what is known of it; one that went another way early stays known."""
        # Each step is one of the dict's own, so that there is no lock that a forked child could inherit closed.
        if known is not None and known.refused and known.messages == new.messages:
            new = attrs.evolve(new, refused=known.refused)
        if known is not None and 2 * known.shared(new.messages) > len(known.messages):
            self._known.pop(known, None)
        self._known[new] = None
        for oldest in list(self._known)[: -self.conversations]:
            self._known.pop(oldest, None)
        self.last_context = new.context
        _FITTED.set((self, new.context))
        note(new.context)
        return new.context


@contextmanager
def _note_refusals() -> Generator[None]:
    """A refusal is an attribute of the framework's span, too."""
    try:
        yield
    except ContextLengthError as error:
        note(error)
        raise


def _with_history(assembler: Assembler, known: _Known | None) -> Assembler:
    """An assembler with the history of a conversation's last call: what was found out about it is found again."""
    if known is None:
        return assembler
    draft, settings = assembler.inside
    return Assembler.around(attrs.evolve(draft, history=known.assembler.inside[0].history), settings)


class LastCall:
    """What an adapter says of its last call, for the classes that keep their `Fitting` as `_fitting`."""

    if TYPE_CHECKING:  # each class has its own: some frameworks read the annotations of a class as its fields
        _fitting: Fitting

    @property
    def last_context(self) -> Context | None:
        """What was built last, for whichever conversation; None before the first."""
        return self._fitting.last_context

    def add_summary(self, wanted: Wanted, text: str) -> bool:
        """Give a conversation the summary that its `last_context.wanted` asked for, whenever it is written.

        For `Summarize(None)`, which no call waits for. The conversation's next call uses it. False where the summary
        speaks of messages that are not known any more.
        """
        return self._fitting.add_summary(wanted, text)

    @property
    def report(self) -> Report | None:
        """What the last call kept and dropped, and why; None before the first."""
        context = self.last_context
        return None if context is None else context.report


def _recognised(messages: Sequence[object], known: _Known | None) -> list[object]:
    """`messages`, with the earlier objects in place of those that equal them: what is known of them is found again."""
    before = () if known is None else known.messages
    both = [old if old == new else new for old, new in zip(before, messages, strict=False)]
    return [*both, *messages[len(both) :]]


def as_data(tool: Any) -> Any:
    """A tool of Google's types as plain data; anything else as it is."""
    return tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool
