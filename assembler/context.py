"""The finished request: a plan that was spelled for an API."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

import attrs

from assembler.conversation.messages.dicts import private_copy
from assembler.dialects import Dialect
from assembler.pipeline.build import build
from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import emission_for, make_request
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.summarizing import must_await_error, run_answering
from assembler.pipeline.trimming import held_decision, restore_decision
from assembler.regions.knowledge import Document
from assembler.report.logs import find_listening_logger, log_build, log_refused, log_warnings
from assembler.report.plan_view import PlanView
from assembler.validation import must_be
from budgets import ContextLengthError, Count, Tokens

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from assembler.dialects.caching.marks import CacheMarks
    from assembler.dialects.typed_requests import (
        AnthropicRequest,
        BedrockRequest,
        ChatRequest,
        GeminiRequest,
        MistralRequest,
        ResponsesRequest,
    )
    from assembler.pricing.calibration import CalibratedCounter

    Longest = TypeVar("Longest", bound=Tokens | None, default=Tokens, covariant=True)
    _Unpacked = tuple[str | None, list[Any], list[Any]]  # type checkers only know the types of unpacked tuples
else:
    from typing import TypeVar

    Longest = TypeVar("Longest", covariant=True)

    class _Unpacked:
        __slots__ = ()


@attrs.frozen(repr=False, order=False)
class Context(PlanView, _Unpacked, Generic[Longest]):  # type: ignore[misc] # a tuple only for type checkers
    """One request that fits: unpacks to `system, messages, tool_classes`.

    For type checkers a `Context` was built with a budget: its `max_output_tokens` is a number. In one that was built
    without, a `Context[None]`, it is None.

    `system` is the instruction with the knowledge, or None. `messages` and `tool_classes` hold the objects that you
    passed. Only summaries, notes, shortened messages and messages that carry knowledge are new objects. Two contexts
    are equal if their content is.
    """

    system: str | None
    messages: list[Any]
    tool_classes: list[Any]
    inside: Planned = attrs.field(eq=False, repr=False)
    """The plan. Private to this library."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.system, self.messages, self.tool_classes))

    if not TYPE_CHECKING:  # type checkers take these from the tuple

        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            return (self.system, self.messages, self.tool_classes)[index]

    @property
    def by_rule(self) -> Count:
        """The cost of the request by our own rules. It differs from `count` only if that starts from a bill."""
        return self.inside.by_rule

    @property
    def first_kept(self) -> int:
        """The index of the first message after the cut: every turn from here on stays."""
        return self.inside.first

    @property
    def input_limit(self) -> Tokens | None:
        """The most that the request may cost: the budget's `input_limit`; None without a budget."""
        budget = self.inside.settings.budget
        return None if budget is None else budget.input_limit

    @property
    def calibration(self) -> CalibratedCounter | None:
        """The bill from which the count starts, as passed to `anchor` or restored; None without one."""
        return self.inside.settings.calibration

    @property
    def dialect(self) -> str:
        """The name of the dialect that the request was priced for."""
        return self.inside.settings.dialect.name

    @property
    def model(self) -> str | None:
        """The model that the request was priced for, or None if the budget names none."""
        return self.inside.settings.model

    @property
    def sources(self) -> tuple[Document, ...]:
        """The documents in the request, in reading order: with numbered sources, the first is number 1."""
        return self.inside.measured.rendered.sources

    @property
    def max_output_tokens(self) -> Longest:
        """How long the answer may be: pass it as `max_tokens`. None without a budget.

        It is the budget's `longest_answer`, or all that is left if that is not known. It is never more than the window
        has left, and never less than the budget's `least_output_tokens`.
        """
        return cast("Longest", self.inside.settings.longest_answer(self.count.upper))

    def manifest(self) -> dict[str, Any]:
        """The decisions as JSON-ready data for `Assembler.replay`: ids, hashes, tokens, versions, no text."""
        from assembler.report.manifest.writing import manifest_of

        return manifest_of(self.inside)

    def state(self, usage: object = None) -> dict[str, Any]:
        """What a session remembers besides its messages: small, JSON-ready data for `Assembler.restore`.

        With the provider's `usage` for this request, or the `Overflow` of its refusal, later counts start from that
        bill, as with `anchor(calibrate(context, usage))`. The only text in it is that of the current summary.
        O(characters of the messages that it covers).
        """
        from assembler.pipeline.state import state_of
        from assembler.pricing.calibration import calibrate

        return state_of(self.inside, None if usage is None else calibrate(self, usage))

    @property
    def prefix_hash(self) -> str:
        """SHA-256 of everything before the newest turn, as it is sent. Equal hashes mean equal cacheable prefixes."""
        from assembler.report.cache.entries import prefix_hash

        return prefix_hash(self.inside)

    def first_changed(self, previous: Context[Any]) -> int | None:
        """The first message of this request whose bytes differ from the previous one's, as both are sent.

        An index into the request's `messages`, `input` or `contents`, or -1 (`assembler.report.cache.OPENING`) if the
        system text or the tools differ. None if the whole previous request is a prefix of this one.
        """
        from assembler.report.cache.entries import first_changed, request_bytes_of

        must_be("previous", cast(object, previous), (Context,), "the Context of an earlier build")
        return first_changed(request_bytes_of(self.inside), request_bytes_of(previous.inside))

    @property
    def cacheable(self) -> Count:
        """Tokens before the newest turn that a prefix cache can serve. Always an estimate.

        Providers cache from a minimum length on and in steps: see `assembler.report.cache.rule_for`. If no rule is
        known, `tokens` is 0 and `upper` is the whole prefix.
        """
        from assembler.report.cache.estimate import cacheable

        return cacheable(self.inside)

    def served_after(self, previous: Context[Any]) -> Count:
        """Tokens of this request that a cache can serve after the previous one. Always an estimate."""
        from assembler.report.cache.estimate import count_served

        must_be("previous", cast(object, previous), (Context,), "the Context of an earlier build")
        return count_served(self.inside, previous.inside)

    def unmarked(self) -> dict[str, Any]:
        """The request without any cache marks. Compare two builds by it."""
        return cast("dict[str, Any]", private_copy(self.inside.emission.request))

    # A name that only the program knows gets a dict, which is what all of these are.
    @overload
    def request(self, dialect: None = None, *, cache_marks: CacheMarks | None = None) -> dict[str, Any]: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["openai_chat"], *, cache_marks: CacheMarks | None = None
    ) -> ChatRequest: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["openai_responses"], *, cache_marks: CacheMarks | None = None
    ) -> ResponsesRequest: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["anthropic"], *, cache_marks: CacheMarks | None = None
    ) -> AnthropicRequest: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["gemini"], *, cache_marks: CacheMarks | None = None
    ) -> GeminiRequest: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["bedrock"], *, cache_marks: CacheMarks | None = None
    ) -> BedrockRequest: ...
    @overload
    def request(  # type: ignore[overload-overlap]
        self, dialect: Literal["mistral"], *, cache_marks: CacheMarks | None = None
    ) -> MistralRequest: ...
    @overload
    def request(self, dialect: Dialect | str | None, *, cache_marks: CacheMarks | None = None) -> dict[str, Any]: ...

    def request(self, dialect: Dialect | str | None = None, *, cache_marks: CacheMarks | None = None) -> Any:
        """The keyword arguments of the API's call, as new dicts and lists. You add model, length and sampling.

        Without an argument this is the request that was priced. With another dialect, as a value or a name, it is the
        same conversation written for that API, where it may cost more or less. Name the dialect for a type checker: it
        then knows the keys of the request. The name of the assembler's own dialect means that dialect with its
        settings, such as `thinking`. `cache_marks` marks the stable prefix for APIs that cache only what is marked, and
        costs no tokens; by default the assembler's own marks apply. Raises `UnsupportedContentError` for content that
        the dialect cannot express.
        """
        return make_request(self.inside, dialect, cache_marks)

    def notes(self, dialect: Dialect | str | None = None) -> tuple[str, ...]:
        """What was folded, moved or left out on the way to `request(dialect)`, one line each.

        Without an argument these are also lines of the report; those of another dialect are only here. Raises what
        `request` raises.
        """
        return emission_for(self.inside, dialect).notes

    def __reduce__(self) -> tuple[object, ...]:
        draft, settings = self.inside.draft, self.inside.settings
        return _build_again, (draft, settings, held_decision(draft, settings))

    def __repr__(self) -> str:
        return (
            f"Context(tokens={self.count.tokens}, grade={self.count.grade}, messages={len(self.messages)}, "
            f"tools={len(self.tool_classes)}, left_out={self.inside.left_out})"
        )


def context_of(plan: Planned) -> Context[Any]:
    """The context of a plan. Its counts and report are computed on first use."""
    return Context(
        system=plan.measured.system,
        messages=plan.objects,
        tool_classes=[*plan.measured.tool_classes],
        inside=plan,
    )


def tell(plan: Planned) -> Context[Any]:
    """The last stage: make the context of a plan and log the build."""
    context = context_of(plan)
    if plan.trimmed.failures:
        log_warnings(context)
    if (logger := find_listening_logger()) is not None:
        log_build(logger, context)
    return context


def build_context(draft: Draft, settings: Settings) -> Context[Any]:
    """The context of a draft. Raises `BudgetError` if a summarizer must be awaited. Logs a refusal."""
    if settings.awaits:
        raise must_await_error()
    try:
        return run_answering(partial(build, draft, settings, tell))
    except ContextLengthError as error:
        log_refused(error)
        raise


async def build_context_later(draft: Draft, settings: Settings) -> Context[Any]:
    """`build_context`, with async summarizers and counters awaited."""
    from assembler.pipeline.awaiting import run_awaiting  # asyncio comes with it

    try:
        return await run_awaiting(settings, partial(build, draft, settings, tell))
    except ContextLengthError as error:
        log_refused(error)
        raise


def _build_again(draft: Draft, settings: Settings, held: tuple[int, Trimmed] | None) -> Context[Any]:
    """Unpickle a context by building it again."""
    restore_decision(draft, settings, held)
    return run_answering(partial(build, draft, settings, context_of))
