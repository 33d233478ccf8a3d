"""The door: gather statement by statement, build once. Holds one frozen draft; each add replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Self, cast, overload

import attrs

from assembler.context import Context, Longest, awaited, built, tell
from assembler.conversation.door import held_to_the_law, listed_messages, read_at_the_door, read_the_newest
from assembler.conversation.wanted import Wanted
from assembler.dialects import Dialect
from assembler.errors import MessageTypeError
from assembler.pipeline.answers import unasked
from assembler.pipeline.build import measured_now
from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import emit
from assembler.pipeline.ladder import Kept
from assembler.pipeline.relief import held_by, hold
from assembler.pipeline.settings import Settings
from assembler.policies import Policy, Refuse
from assembler.pricing.held import held_count
from assembler.pricing.ledger import Ledger
from assembler.pricing.pricer import WholePricer
from assembler.regions.knowledge import Document, document, xml_tag
from assembler.regions.provenance import provenance
from assembler.report.logs import log_ignored
from assembler.strategies import ChatRegions, Strategy
from assembler.text.checked import checked_text
from assembler.validation import must_be
from budgets import Budget, BudgetError, Count, RegionCosts, Tokens

if TYPE_CHECKING:
    from assembler.plan import Plan
    from assembler.pricing.calibration import CalibratedCounter
    from assembler.report.cache import CacheMarks
    from assembler.report.status import Status


_REFUSE = Refuse()
_CHAT_REGIONS = ChatRegions()


class Assembler(Generic[Longest]):
    """Lays out one request: gathers four regions, prices them as the provider will, and fits them into a budget.

    Every `add_*` changes this assembler and returns it; one that raises leaves it as it was. `add_knowledge` and
    `add_message` append. The others replace what was there, and each has a second name that says so:
    `set_instruction`, `set_tools`, `set_output_schema`, `set_messages`. `plan` and `build` change nothing. `fork`
    copies in O(1): share one base assembler between requests and threads, and fork it for each.

    Without a budget everything passes through, still priced. `dialect` is a value of `assembler.dialects` or its name;
    without one the budget's model decides, and without a model it is `plain`. `on_overflow` is a policy or a ladder of
    them, tried in order. `cache_marks` marks the stable prefix of every request where the API caches only what is
    marked. For type checkers an `Assembler[int]` has a budget, and an `Assembler[None]` has none.
    """

    __slots__ = ("_draft", "_settings")
    _draft: Draft
    _settings: Settings

    @overload
    def __init__(
        self: Assembler[Tokens],
        budget: Budget,
        *,
        dialect: Dialect | str | None = None,
        on_overflow: Policy | Iterable[Policy] = ...,
        strategy: Strategy = ...,
        cache_marks: CacheMarks | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Assembler[None],
        budget: None = None,
        *,
        dialect: Dialect | str | None = None,
        on_overflow: Policy | Iterable[Policy] = ...,
        strategy: Strategy = ...,
        cache_marks: CacheMarks | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Assembler[Tokens | None],
        budget: Budget | None,
        *,
        dialect: Dialect | str | None = None,
        on_overflow: Policy | Iterable[Policy] = ...,
        strategy: Strategy = ...,
        cache_marks: CacheMarks | None = None,
    ) -> None: ...

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        dialect: Dialect | str | None = None,
        on_overflow: Policy | Iterable[Policy] = _REFUSE,
        strategy: Strategy = _CHAT_REGIONS,
        cache_marks: CacheMarks | None = None,
    ) -> None:
        self._settings = Settings.of(budget, dialect, on_overflow, strategy, cache_marks)
        self._draft = Draft()

    @property
    def budget(self) -> Budget | None:
        """The budget that every build is checked against."""
        return self._settings.budget

    @property
    def instruction(self) -> str | None:
        """The system instruction that was set last; None without one."""
        return self._draft.regions.instruction

    @property
    def tool_classes(self) -> list[Any]:
        """The tools that were set last, the very objects."""
        return list({id(tool.raw): tool.raw for tool in self._draft.regions.tools}.values())

    @property
    def messages(self) -> list[Any]:
        """The conversation as it stands, the very objects, in a list of its own."""
        return self._draft.history.raws()

    @property
    def knowledge(self) -> tuple[Document, ...]:
        """The documents as they were added, in order; each has its `text`, `type`, `source` and `score`."""
        return self._draft.regions.documents

    def add_instruction(self, text: str | None) -> Self:
        """Set the system instruction, replacing the one before. None or an empty text removes it."""
        instruction = None if text is None else checked_text(text, field="instruction") or None
        return self._with_regions(instruction=instruction, provenance=provenance(text))

    def add_capability(self, tools: object, *, choice: str | None = None) -> Self:
        """Set the tools that the model may call, replacing those before: a list, or a single one.

        Functions, classes, instances, pydantic models and every provider's definitions are understood. `choice` says
        which it must call: `auto`, `required`, `none` or the name of one of them; it goes out in the API's own field,
        priced as it is billed. Raises `ToolError` for an illegal or doubled name, for a schema that cannot be read, and
        for a choice of no tool.
        """
        from assembler.regions.tools.intake import (  # its readers are many; a chat may have no tools
            checked_choice,
            read_tools,
        )

        read = read_tools(tools)
        return self._with_regions(tools=read, choice=checked_choice(choice, read))

    def add_output_schema(self, schema: object, *, name: str | None = None) -> Self:
        """Set the structured answer that the model must give: a JSON schema, or a pydantic model class.

        It is priced as its API bills it, goes out in that API's own field (`response_format`, `text`, `output_config`,
        `response_json_schema`), and is a row of the report. None removes it. `name` is what the APIs that ask for one
        are given: the model's class name or the schema's title, where there is none. Raises `ToolError`.
        """
        from assembler.regions.output_schema import read_output_schema  # pydantic's models may come with it

        return self._with_regions(output=None if schema is None else read_output_schema(schema, name))

    def add_knowledge(
        self,
        text: str | None,
        *,
        type: str | Enum,
        trusted: bool = False,
        source: str | None = None,
        score: float | None = None,
        embedding: Sequence[float] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """Put a document into the knowledge region, after those already there; None is none. Raises `MarkupError`."""
        if text is None:
            return self
        known = self._draft.regions.documents
        added = document(
            text,
            type=type,
            trusted=trusted,
            source=source,
            score=score,
            embedding=embedding,
            metadata=metadata,
            place=f"knowledge[{len(known)}]",
        )
        return self._with_regions(documents=(*known, added))

    def add_messages(self, messages: Iterable[object] | None) -> Self:
        """Set the conversation, replacing the one before. A grown list is recognised by what it begins with.

        None is no message at all.

        Raises `ConversationError` for what is no list of messages and, as far as it is read here, for a history that
        an API would refuse.
        """
        if isinstance(messages, Context):
            raise MessageTypeError("conversation: expected a list of messages, got Context; pass context.messages")
        history = self._draft.history.replaced([] if messages is None else listed_messages(messages))
        held_to_the_law(history, read_at_the_door)
        self._draft = Draft(self._draft.regions, history)
        return self

    def add_message(self, message: object) -> Self:
        """Append one message to the conversation. O(1), however long it is. Raises `ConversationError`."""
        draft = self._draft
        history = draft.history.appended(message)
        held_to_the_law(history, read_the_newest)
        self._draft = Draft(draft.regions, history)
        return self

    def hold(self, tokens: Tokens | Count | None) -> Self:
        """Say what the server holds of the next request beside what is sent, and bills: it is kept free. None: nothing.

        For `previous_response_id`, `conversation`, a stored prompt or a cache: what is gathered here is then the
        increment. After an answer that the next request continues it is `input_tokens + output_tokens` of its usage.
        It is part of `costs.framing`. Raises `BudgetError` for what is no number of tokens, and for a dialect whose
        requests hold all that is billed.
        """
        held = held_count(tokens)
        if held is not None and isinstance(self._settings.pricer, WholePricer):
            raise BudgetError(f"hold: a request of {self._settings.dialect.name} holds all that its model reads")
        return self._with_regions(held=held)

    def pop_message(self) -> Any:
        """Take the last message back, and return it. O(1). Raises `IndexError` where there is none."""
        history = self._draft.history
        if not history.length:
            raise IndexError("pop_message: there is no message to take back")
        (last,) = history.raws(history.length - 1)
        self._draft = Draft(self._draft.regions, history.without_last())
        return last

    def clear_knowledge(self) -> Self:
        """Remove every document: a bot that searches anew at each turn adds that turn's finds after this."""
        return self._with_regions(documents=())

    set_instruction = add_instruction
    set_tools = add_capability
    set_output_schema = add_output_schema
    set_messages = add_messages

    def anchor(self, calibration: CalibratedCounter | None) -> Self:
        """Count from a provider's own bill: `assembler.anchor(calibrate(context, response.usage))`. None forgets it.

        Requests that continue the billed one cost the bill and, by rule, what is new; others are scaled, within
        bounds. The report says by how much the rules were off.
        """
        self._settings = self._settings.anchored(calibration)
        return self

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Go on from `context.state()` of an earlier build of these messages, in this process or another.

        A part that speaks of messages, or of policies, that are others now is ignored, with a warning on the logger: it
        spares work, and is never needed. Raises `StateError` for what is no state, and before `add_messages`.
        """
        from assembler.pipeline.state import restored

        history = self._draft.history.current()
        self._settings, held = restored(state, history, self._settings, log_ignored)
        return self if held is None else self.hold(held)

    def available_for_messages(self) -> Longest:
        """Tokens that the fixed regions leave for the conversation, 0 or more; None without a budget."""
        budget = self._settings.budget
        if budget is None:
            return cast("Longest", None)
        _, measured = measured_now(self._draft, self._settings)
        return cast("Longest", budget.available(used=measured.fixed.upper))

    def costs(self) -> RegionCosts:
        """What everything gathered costs, by region, before any cut. Prices the whole history, once."""
        seen, measured = measured_now(self._draft, self._settings)
        ledger = Ledger.of(seen.sight, seen.settings.pricer)
        return measured.costs(ledger.since(ledger.first))

    def plan(self) -> Plan:
        """What a build would keep and drop, and how full the window is, in every state of a conversation.

        One that is empty, ends with the assistant or waits for tool results is planned as it is. `build` may refuse it
        until the next message, and so does `manifest()` of the plan; its report says why. Raises
        `ContextLengthError` where nothing that may go makes it fit, `ConversationError` for what no later message can
        mend (`UnsupportedContentError` for a part without a price), `TokenCountError` where the counter fails, and
        `PlanError` for a policy that breaks its contract. A summarizer that is async is not asked: `wanted` then says
        what it would be asked, and a plan that wants a summary may cost more than the budget allows.
        """
        from assembler.plan import Plan  # it knows the report and the manifest, which a build does without

        return Plan(unasked(self._draft, self._settings))

    def status(self) -> Status:
        """Tokens used, free and cached in any state; asks no model. O(what stays), O(messages) under a mark."""
        from assembler.report.status import status_of

        return status_of(self._draft, self._settings)

    def build(self) -> Context[Longest]:
        """The request that fits. Raises what `plan` raises, and `ConversationError` for what an API would refuse.

        Raises `BudgetError` where a summarizer is async: `await assembler.abuild()`.
        """
        return built(self._draft, self._settings)

    async def abuild(self) -> Context[Longest]:
        """What `build` returns, the same bytes, with the event loop of asyncio never blocked.

        Summarizers and counters that are async are awaited; a summarizer that is not runs in a thread, and so does the
        build. It is of what was gathered when it was called: what is added meanwhile is for the next one.
        """
        return await awaited(self._draft, self._settings)

    def add_summary(self, wanted: Wanted, text: str) -> Self:
        """Set the summary that `context.wanted` or `plan().wanted` asked for, whenever it is done. O(its messages).

        Builds use it from now on, where it is no longer than it may be. It is ignored, with a warning on the logger,
        where the messages that it speaks of have changed since, or a newer one stands for them.
        """
        must_be("wanted", cast(object, wanted), (Wanted,), "what context.wanted or plan().wanted said")
        if wanted.question.speaks_of(self._draft.history.current()):
            wanted.question.settle(checked_text(text, field="summary"))
        else:
            log_ignored("a summary", "the messages that it speaks of have changed")
        return self

    def replay(self, manifest: Mapping[str, Any]) -> Context[Longest]:
        """The request of `plan.manifest()` made again from what is gathered here, byte for byte.

        Raises `ReplayError` that names what changed, `ManifestError` for what is no manifest.
        """
        from assembler.report.manifest.replay import replayed

        plan = replayed(manifest, self._draft, self._settings)
        return tell(plan, emit(plan))

    def fork(self) -> Assembler[Longest]:
        """An independent copy, in O(1): neither sees what the other adds."""
        return Assembler.around(self._draft, self._settings)

    @staticmethod
    def xml_tag(text: str, *, type: str | Enum, trusted: bool = False, source: str | None = None) -> str:
        """The knowledge tag, on its own: `text` escaped inside `<context>`. Raises `MarkupError`."""
        return xml_tag(text, type=type, trusted=trusted, source=source)

    def _with_regions(self, **changes: Any) -> Self:
        self._draft = Draft(attrs.evolve(self._draft.regions, **changes), self._draft.history)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assembler):
            return NotImplemented
        return self._draft == other._draft and self._settings.asked() == other._settings.asked()

    __hash__ = None  # type: ignore[assignment] # it changes in place

    @property
    def inside(self) -> tuple[Draft, Settings]:
        """What was gathered, and by what it will be assembled: for this library's own rooms, and no public contract."""
        return self._draft, self._settings

    @classmethod
    def around(cls, draft: Draft, settings: Settings) -> Assembler[Any]:
        """An assembler of what another one holds `inside`. O(1)."""
        made = object.__new__(cls)
        made._draft, made._settings = draft, settings
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _moved, (*self.inside, held_by(*self.inside))

    def __deepcopy__(self, memo: dict[int, Any]) -> Assembler:
        return self.fork()

    def __copy__(self) -> Assembler:
        return self.fork()

    def __repr__(self) -> str:
        regions = self._draft.regions
        return (
            f"Assembler(budget={self._settings.budget!r}, dialect={self._settings.dialect.name!r}, "
            f"instruction={'yes' if regions.instruction else 'no'}, tools={len(regions.tools)}, "
            f"documents={len(regions.documents)}, messages={len(self._draft.history)})"
        )


def _moved(draft: Draft, settings: Settings, held: tuple[int, Kept] | None) -> Assembler[Any]:
    """The assembler in another process."""
    hold(draft, settings, held)
    return Assembler.around(draft, settings)
