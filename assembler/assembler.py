"""The Assembler gathers a request call by call and builds it. Each `set_*` and `add_*` replaces its frozen draft.

Importing this loads neither attrs nor any reader: they come with the first assembler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from assembler import pipeline
from assembler.errors import MessageTypeError
from assembler.pipeline.argument_hints import of_an_assembler, of_one_document, of_one_message
from assembler.report.logs import log_ignored
from assembler.text.checked import checked_text
from budgets import BudgetError

if TYPE_CHECKING:
    from assembler.context import Context, Longest
    from assembler.conversation.summary_request import Wanted
    from assembler.dialects import Dialect
    from assembler.pipeline import Draft
    from assembler.plan import Plan
    from assembler.policies import Policy
    from assembler.pricing.calibration import CalibratedCounter
    from assembler.regions.knowledge import Document
    from assembler.report.cache import CacheMarks
    from assembler.report.status import Status
    from assembler.strategies import Strategy
    from budgets import Budget, Count, RegionCosts, Tokens
else:
    Longest = TypeVar("Longest", covariant=True)

_BY_DEFAULT: Any = ...  # resolved by the settings, which are loaded with the first assembler


class Assembler(Generic[Longest]):
    """Lays out one request: gathers four regions, prices them as the provider will, and fits them into a budget.

    `set_instruction`, `set_tools`, `set_output_schema` and `set_messages` replace what was there; `add_knowledge` and
    `add_message` append. (The older names `add_instruction`, `add_capability`, `add_output_schema` and `add_messages`
    replace too.) Each returns the assembler, and one that raises leaves it as it was. `plan` and `build` change
    nothing. `fork` copies in O(1): share one base assembler between requests and threads, and fork it for each.

    Without a budget nothing is cut, but everything is priced. `dialect` is a value of `assembler.dialects` or its name;
    by default the budget's model decides, and without a model it is `plain`. `on_overflow` is a policy, or a list of
    policies that are tried in order. `cache_marks` marks the stable prefix of every request, for APIs that cache only
    what is marked. For type checkers an `Assembler` has a budget; one without is an `Assembler[None]`.
    """

    __slots__ = ("_draft", "_settings")
    _draft: Draft
    _settings: pipeline.Settings

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

    @of_an_assembler
    def __init__(
        self,
        budget: Budget | None = None,
        *,
        dialect: Dialect | str | None = None,
        on_overflow: Policy | Iterable[Policy] = _BY_DEFAULT,
        strategy: Strategy = _BY_DEFAULT,
        cache_marks: CacheMarks | None = None,
    ) -> None:
        self._settings = pipeline.Settings.of(budget, dialect, on_overflow, strategy, cache_marks)
        self._draft = pipeline.Draft()

    @property
    def budget(self) -> Budget | None:
        """The budget that every build is checked against."""
        return self._settings.budget

    @property
    def instruction(self) -> str | None:
        """The system instruction, or None."""
        return self._draft.regions.instruction

    @property
    def tool_classes(self) -> list[Any]:
        """The tools that the model may call, as you passed them."""
        return list({id(tool.raw): tool.raw for tool in self._draft.regions.tools}.values())

    @property
    def messages(self) -> list[Any]:
        """The conversation so far: a new list of the objects that you passed."""
        return self._draft.history.raws()

    @property
    def knowledge(self) -> tuple[Document, ...]:
        """The documents as they were added, in order; each has its `text`, `type`, `source` and `score`."""
        return self._draft.regions.documents

    def set_instruction(self, text: str | None) -> Self:
        """Set the system instruction, replacing the one before. None or an empty text removes it."""
        self._draft = self._draft.with_instruction(text)
        return self

    def set_tools(self, tools: object, *, choice: str | None = None) -> Self:
        """Set the tools that the model may call, replacing those before: a list, or a single one.

        Functions, classes, instances, pydantic models and the definitions of every provider are understood. They are
        read now: if you change one, set them again. `choice` is `auto`, `required`, `none`, or the name of the tool
        that must be called. It is sent in the API's own field and priced as it is billed. Raises `ToolError` for a name
        that is illegal or given twice, for a schema that cannot be read, and for a `choice` that names no tool.
        """
        from assembler.regions.tools.intake import checked_choice, read_tools  # many readers; a chat may have no tools

        read = read_tools(tools)
        return self._with_regions(tools=read, choice=checked_choice(choice, read))

    def set_output_schema(self, schema: object, *, name: str | None = None) -> Self:
        """Set the structured answer that the model must give: a JSON schema, or a pydantic model class.

        The schema is priced as its API bills it, sent in that API's own field (`response_format`, `text`,
        `output_config`, `response_json_schema`), and shown as a row of the report. None removes it. `name` is sent to
        the APIs that ask for one; by default it is the class name or the schema's title. Raises `ToolError`.
        """
        from assembler.regions.output_schema import read_output_schema  # pydantic's models may come with it

        return self._with_regions(output=None if schema is None else read_output_schema(schema, name))

    @of_one_document
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
        """Add a document after those already there. None adds nothing.

        `type`, `source` and `trusted` are attributes of the tag around the text. Under a limit, the documents with the
        highest `score` stay. Strategies also use `embedding` and `metadata`. Raises `MarkupError` for a text or a name
        that a tag cannot carry, and `BudgetError` for a `score`, `embedding` or `metadata` of another type.
        """
        if text is None:
            return self
        self._draft = self._draft.with_document(
            text, type=type, trusted=trusted, source=source, score=score, embedding=embedding, metadata=metadata
        )
        return self

    def set_messages(self, messages: Iterable[object] | None) -> Self:
        """Set the conversation, replacing the one before. None stands for an empty conversation.

        A list that has grown since the last call is recognised, and only its new messages are read. Raises
        `ConversationError` for anything but a list of messages, and for a history that an API would refuse.
        """
        if type(cast(object, messages)) is not list:
            from assembler.context import Context  # a list is none, so most calls need not load it

            if isinstance(messages, Context):
                raise MessageTypeError("conversation: expected a list of messages, got Context; pass context.messages")
        self._draft = self._draft.with_messages(messages, self._settings.dialect.api.shape)
        return self

    @of_one_message
    def add_message(self, message: object) -> Self:
        """Append one message to the conversation. O(1), however long it is. Raises `ConversationError`."""
        self._draft = self._draft.with_message(message, self._settings.dialect.api.shape)
        return self

    def hold(self, tokens: Tokens | Count | None) -> Self:
        """Keep tokens free that the server adds to the next request and bills. None means that it adds nothing.

        Use it with `previous_response_id`, `conversation`, a stored prompt or a cache: the messages gathered here are
        then only what is new. To continue an answer, pass `input_tokens + output_tokens` of its usage. The tokens are
        part of `costs.framing`. Raises `BudgetError` for anything else, and if a request holds all that is billed.
        """
        from assembler.pricing.server_state import held_count

        held = held_count(tokens)
        if held is not None and self._settings.whole_pricer is not None:
            raise BudgetError(f"hold: a request of {self._settings.dialect.name} holds everything that its model reads")
        self._draft = self._draft.holding(held, self._settings.dialect.api.shape)
        return self

    def pop_message(self) -> Any:
        """Remove the last message and return it. O(1). Raises `IndexError` if there is none."""
        history = self._draft.history
        if not history.length:
            raise IndexError("pop_message: there is no message to remove")
        self._draft = self._draft.without_last()
        return history.raws(history.length - 1)[0]

    def clear_knowledge(self) -> Self:
        """Remove every document. A bot that searches at every turn calls this before it adds the new results."""
        return self._with_regions(documents=())

    # The older names.
    add_instruction = set_instruction
    add_capability = set_tools
    add_output_schema = set_output_schema
    add_messages = set_messages

    def anchor(self, calibration: CalibratedCounter | None) -> Self:
        """Count from a provider's bill: `assembler.anchor(calibrate(context, response.usage))`. None forgets the bill.

        A request that continues the billed one costs the bill plus our count of its new part. Other counts are scaled
        by the bill, within bounds, as the report says. A bill of another model or dialect is ignored, with a log line.
        """
        self._settings = self._settings.billed(calibration, log_ignored)
        return self

    def restore(self, state: Mapping[str, Any] | None) -> Self:
        """Continue from `context.state()` of an earlier build of these messages, in this process or another.

        A part of the state is ignored, with a warning on the logger, if its messages or policies have changed since:
        the state saves work and is never needed. So is a bill of another model or dialect. Raises `StateError` for
        anything but a state, and for any state before messages are added. None restores nothing.
        """
        history = self._draft.history.current()
        self._settings, held = pipeline.restore_settings(state, history, self._settings, log_ignored)
        return self if held is None else self.hold(held)

    def available_for_messages(self) -> Longest:
        """Tokens that instruction, tools and knowledge leave for the conversation, 0 or more. None without a budget.

        After a bill or a refusal the number is lower, so that a conversation of this size also fits as it is billed.
        """
        return cast("Longest", pipeline.tokens_left_now(self._draft, self._settings))

    def costs(self) -> RegionCosts:
        """The cost of everything that was added, by region, before any cut. The first call prices the whole history."""
        return pipeline.costs_now(self._draft, self._settings)

    def plan(self) -> Plan:
        """What a build would keep and drop, and how full the window is, at any point of a conversation.

        It also answers while the conversation is empty, ends with the assistant or waits for tool results. `build` may
        refuse such a conversation until the next message, as does `manifest()` of the plan; the plan's report says why.
        An async summarizer is not called: `wanted` holds what it would be asked, and such a plan may exceed the budget.

        Raises `ContextLengthError` if the policies cannot make it fit, `ConversationError` for a fault that no later
        message can mend (`UnsupportedContentError` for a part without a price), `TokenCountError` if the counter fails,
        and `PlanError` for a policy that breaks its contract.
        """
        from assembler.plan import Plan  # imports the report and the manifest, which a build does not need

        return Plan(pipeline.plan_without_awaiting(self._draft, self._settings))

    def status(self) -> Status:
        """Tokens used, free and cached, at any point of a conversation. Calls no model.

        Raises what `plan` raises, except `ContextLengthError`: it says by how much a conversation is too large instead.
        It does raise `UnsupportedContentError`, because a part without a price has no bound either.
        O(messages that stay), or O(messages) with a low-water mark.
        """
        from assembler.report.status import status_of

        return status_of(self._draft, self._settings)

    def build(self) -> Context[Longest]:
        """Build the request that fits.

        Raises what `plan` raises, `ConversationError` for a conversation that the API would refuse, and `BudgetError`
        if a summarizer is async: use `await assembler.abuild()`.
        """
        from assembler.context import build_context

        return build_context(self._draft, self._settings)

    async def abuild(self) -> Context[Longest]:
        """Build what `build` builds, byte for byte, without blocking the event loop of asyncio.

        Async summarizers and counters are awaited. Any other summarizer runs in a thread, and so does the build itself.
        Messages that are added while it runs are left to the next build.
        """
        from assembler.context import build_context_later

        return await build_context_later(self._draft, self._settings)

    def add_summary(self, wanted: Wanted, text: str) -> Self:
        """Set the summary that `context.wanted` or `plan().wanted` asked for, whenever it is ready. O(its messages).

        From now on builds use it, unless it is longer than `wanted.max_tokens`. It is ignored, with a warning on the
        logger, if its messages have changed since or a newer summary covers them.
        """
        from assembler.conversation.summary_request import Wanted
        from assembler.validation import must_be

        must_be("wanted", cast(object, wanted), (Wanted,), "what context.wanted or plan().wanted holds")
        if not wanted.question.settle_in(self._draft.history.current(), checked_text(text, field="summary")):
            log_ignored("a summary", "its messages have changed")
        return self

    def replay(self, manifest: Mapping[str, Any]) -> Context[Longest]:
        """Build the request of a manifest again, byte for byte, from what was added here.

        Raises `ReplayError`, which names what changed since, and `ManifestError` for anything but a manifest.
        """
        from assembler.context import context_of
        from assembler.report.manifest.replay import replay_manifest

        plan = replay_manifest(manifest, self._draft, self._settings)
        pipeline.emit(plan)
        return context_of(plan)

    def fork(self) -> Self:
        """An independent copy of the same class, made in O(1). Neither of the two sees what the other adds."""
        own, slots = cast("tuple[dict[str, Any] | None, dict[str, Any]]", self.__getstate__())
        made = object.__new__(type(self))
        for name, value in {**(own or {}), **slots}.items():
            object.__setattr__(made, name, value)
        return made

    @staticmethod
    def xml_tag(text: str, *, type: str | Enum, trusted: bool = False, source: str | None = None) -> str:
        """The knowledge tag, on its own: `text` escaped inside `<context>`. Raises `MarkupError`."""
        from assembler.regions.knowledge import xml_tag

        return xml_tag(text, type=type, trusted=trusted, source=source)

    def _with_regions(self, **changes: Any) -> Self:
        self._draft = self._draft.with_regions(**changes)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assembler):
            return NotImplemented
        return self._draft == other._draft and self._settings.choices() == other._settings.choices()

    __hash__ = None  # type: ignore[assignment] # it changes in place

    @property
    def inside(self) -> tuple[Draft, pipeline.Settings]:
        """What was added, and the settings. Private to this library."""
        return self._draft, self._settings

    @classmethod
    def around(cls, draft: Draft, settings: pipeline.Settings) -> Assembler[Any]:
        """An assembler from what another one has `inside`. Private to this library. O(1)."""
        made = object.__new__(cls)
        made._draft, made._settings = draft, settings
        return made

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ("around", "inside")]

    def __reduce__(self) -> tuple[Any, ...]:
        draft, settings = self.inside
        draft.history.current()  # forgets what policies remember of messages that have changed
        return _rebuild, (draft, settings, pipeline.held_decision(draft, settings), type(self)), self.__getstate__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    __copy__ = fork

    def __repr__(self) -> str:
        regions = self._draft.regions
        return (
            f"Assembler(budget={self._settings.budget!r}, dialect={self._settings.dialect.name!r}, "
            f"instruction={'yes' if regions.instruction else 'no'}, tools={len(regions.tools)}, "
            f"documents={len(regions.documents)}, messages={len(self._draft.history)})"
        )


def _rebuild(draft: Draft, settings: pipeline.Settings, held: Any, kind: type[Assembler[Any]]) -> Assembler[Any]:
    """Unpickle an assembler."""
    pipeline.restore_decision(draft, settings, held)
    return kind.around(draft, settings)
