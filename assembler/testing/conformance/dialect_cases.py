"""Checks a dialect with conversations that seldom occur, and with what only some APIs have."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.count_request import count_request
from assembler.dialects import Dialect
from assembler.dialects.dialect import ReasoningDialect
from assembler.dialects.writing.emit import OF_NO_API
from assembler.errors import ConversationError
from assembler.strategies.cited_sources import CitedSources
from assembler.strategies.sources.layout import NativeSources
from assembler.strategies.strategy import Placement
from assembler.testing.conformance.checking import AMPLE, Checked
from assembler.testing.conformance.dialect_histories import (
    ITEM_BY_ITEM,
    MORE,
    OF_OTHERS,
    OTHER_TOOL,
    PLACES,
    SCHEMA,
    SEEN_OR_NOTED,
    THOUGHT,
    THOUGHTS,
    TOOL,
    with_longer,
)
from budgets import Budget

_OF_ANY_API = ("a cache mark of Bedrock", "two results in one message", "an empty text beside another")
"""What no dialect refuses."""
STRANGER = "nobodys-model-1"
_OF_MESSAGES = frozenset(("a speaker's name", "a field that nobody reads"))
"""What a template may be given and not show."""

_LEAST_RATE = 20
"""The most characters of plain words that a tokenizer puts into one token, on the average."""

Rules: TypeAlias = Callable[[Mapping[str, Any]], Sequence[object]]
"""Returns the faults of a request; none for one that the API accepts."""

COMPLETE = "it says everything, or notes what it leaves out"


@attrs.define(eq=False)
class SeldomCases(Checked):
    """A dialect under check, in one conversation of each kind."""

    dialect: Dialect
    rules: Rules | None

    def check(self, body: Mapping[str, Any]) -> None:
        """Check them all; `body` is the request of an ordinary conversation."""
        self.sends_or_notes_everything(body)
        self.marks_failures()
        self.begins_as_its_api_demands()
        self.joins_items()
        self.sends_schema_and_choice()
        self.bills_parts_of_other_apis()
        self.prices_what_is_longer()
        self.notes_reasoning(body)
        self.sends_sources()

    def _build_context(self, history: Iterable[object], budget: Budget | None = None) -> Context[Any] | None:
        """A context in a budget that is ample; None if the dialect refuses the conversation."""
        budget = budget or Budget(AMPLE, counter=len)
        assembler = Assembler(budget, dialect=self.dialect).set_tools([TOOL, OTHER_TOOL]).set_messages(history)
        try:
            return assembler.build()
        except ConversationError:
            return None

    def _is_prompt(self, body: Mapping[str, Any]) -> bool:
        """Whether requests are rendered prompts: then a template chooses what it shows of a message."""
        return self.dialect.api.history not in body

    def sends_or_notes_everything(self, body: Mapping[str, Any]) -> None:
        """Check what conversations seldom hold, and a tool's definition."""
        written = _write_request(body)
        for words in (TOOL["description"], *TOOL["parameters"]["properties"], "Be brief."):
            if words not in written:
                raise self.broken(COMPLETE, f"{words!r} of a tool or of the instruction is gone")
        for what, (words, history) in SEEN_OR_NOTED.items():
            if self._is_prompt(body) and what in _OF_MESSAGES:
                continue
            context = self._build_context(history)
            if context is not None and not context.notes() and words not in _write_request(context.request()):
                raise self.broken(COMPLETE, f"{what} is gone without a note; count it in notes")

    def marks_failures(self) -> None:
        """Check that the mark of a failed call is sent, or noted."""
        context = self._build_context(OF_OTHERS["a call that failed"])
        if context is not None and not context.notes():
            well = [{**each, "content": _drop_errors(each["content"])} for each in OF_OTHERS["a call that failed"]]
            other = self._build_context(well)
            if other is not None and other.request() == context.request():
                raise self.broken(COMPLETE, "that a call failed is gone without a note; count it in notes")

    def begins_as_its_api_demands(self) -> None:
        """Check a conversation that begins with the assistant."""
        greeted = self._build_context(OF_OTHERS["a greeting before the first question"])
        if greeted is not None and self.rules is not None and (broken := list(self.rules(greeted.request()))):
            problem = f"a conversation that begins with the assistant: {broken[0]}"
            raise self.broken("its requests are valid", problem)

    def joins_items(self) -> None:
        """Check a step whose calls and results came as items. A dialect of no API sends these as they came."""
        step = None if self.dialect.api.shape in OF_NO_API else self._build_context(ITEM_BY_ITEM)
        if step is not None and self.rules is not None and (broken := list(self.rules(step.request()))):
            problem = (
                f"calls that came item by item: {broken[0]}; send join_steps(messages), and join them in the pricer"
            )
            raise self.broken("its requests are valid", problem)

    def sends_schema_and_choice(self) -> None:
        """Check that the schema of the answer and the choice of a tool change the request, or leave a note."""
        asked = Assembler(Budget(AMPLE, counter=len), dialect=self.dialect).add_message(("user", "Look around."))
        plain = asked.set_tools([TOOL, OTHER_TOOL]).build()
        wanted = asked.fork().set_output_schema(SCHEMA).build()
        if "rainfall" not in _write_request(wanted.request()) and not wanted.notes():
            raise self.broken(COMPLETE, "the schema of the answer is gone; write it in options, or note it")
        chosen = asked.fork().set_tools([TOOL, OTHER_TOOL], choice="wait").build()
        if chosen.request() == plain.request() and not chosen.notes():
            raise self.broken(COMPLETE, "the choice of a tool is gone; write it in options, or note it")

    def bills_parts_of_other_apis(self) -> None:
        """Check that parts of other APIs cost what is sent for them."""
        for words, history in OF_OTHERS.items():
            context = self._build_context(history)
            if context is None and words in _OF_ANY_API:
                raise self.broken(COMPLETE, f"{words} is refused; leave it out, with a note")
            if context is None:
                continue
            sent = count_request(context.request(), dialect=self.dialect, counter=len)
            if context.count != sent:
                problem = (
                    f"{words} costs {context.count}, its request {sent}; price what adapt_message(message) returns"
                )
                raise self.broken("it bills what it emits", problem)
            unknown = self._build_context(history, Budget(AMPLE, model=STRANGER))
            sent = count_request(context.request(), dialect=self.dialect, model=STRANGER)
            if unknown is not None and unknown.count != sent:
                problem = f"{words} costs {unknown.count} with an unknown model, its request {sent}"
                step = (
                    "pass unknown_model_pricer a function that splits a message as you send it, such as answers_alone"
                )
                raise self.broken("it bills what it emits", f"{problem}; {step}")

    def prices_what_is_longer(self) -> None:
        """Check that no text is free: a longer one costs more, at about the same rate as the others."""
        costs = {
            place: [
                None if context is None else context.count.tokens
                for context in (self._build_context(with_longer(None)), self._build_context(with_longer(place)))
            ]
            for place in PLACES
        }
        tools = [self._price_tool(TOOL["description"]), self._price_tool("Looks around. " * (len(MORE) // 14))]
        for place, (short, long) in (costs | {"the description of a tool": tools}).items():
            if short is not None and long is not None and long - short < len(MORE) / _LEAST_RATE:
                problem = f"{place} costs {short}, and {long} with {len(MORE):,} characters more"
                raise self.broken("what is longer costs more", problem)

    def _price_tool(self, description: str) -> int | None:
        tool = {**TOOL, "description": description}
        asked = Assembler(Budget(AMPLE, counter=len), dialect=self.dialect).add_message(("user", "Look around."))
        try:
            return asked.set_tools([tool]).build().count.tokens
        except ConversationError:
            return None

    def notes_reasoning(self, body: Mapping[str, Any]) -> None:
        """Check that reasoning is sent, or is among what is left out, as `sends_reasoning` says."""
        declares = isinstance(cast(object, self.dialect), ReasoningDialect)
        for spelling, fields in THOUGHTS.items():
            context = self._build_context([("user", "Look around."), {"role": "assistant", **fields}, ("user", "Why?")])
            if context is None:
                continue
            sent, noted = THOUGHT in _write_request(context.request()), bool(context.dropped or context.notes())
            if not sent and not noted:
                raise self.broken(COMPLETE, f"reasoning {spelling} is gone without a note; count it in notes")
            if sent is bool(context.dropped) and not self._is_prompt(body):
                fault = "says that it is not" if declares else "is missing: without it, all is taken to be sent"
                problem = f"reasoning {spelling} is {'sent' if sent else 'left out'}, and sends_reasoning {fault}"
                raise self.broken("it declares the reasoning that it sends", problem)

    def sends_sources(self) -> None:
        """Check that a block for a source is sent as its API writes it, and billed."""
        sources, text = self.dialect.api.sources, "It rains in Oslo."
        if sources is None or not sources.takes(None):
            return
        strategy = CitedSources(layout=NativeSources(), placement=Placement.QUESTION)
        made = Assembler(Budget(AMPLE, counter=len), dialect=self.dialect, strategy=strategy)
        context = made.add_knowledge(text, type="rag", source="oslo.md").add_message(("user", "Where?")).build()
        request = context.request()
        if sources.block("oslo.md", "oslo.md", text) not in [*containers(request)]:
            problem = "it is changed or gone; send the raw of an Opaque part as it is"
            raise self.broken("a block for a source is sent as its API writes it", problem)
        billed = count_request(request, dialect=self.dialect, counter=len)
        if billed != context.count or context.costs.knowledge < len(text):
            problem = f"a source costs {context.costs.knowledge}, the context {context.count}, its request {billed}"
            raise self.broken("it bills what it emits", problem)


def containers(value: object) -> Iterator[object]:
    """Every dict and list in a value, itself included."""
    if isinstance(value, dict):
        yield cast(object, value)
        for item in cast("dict[str, object]", value).values():
            yield from containers(item)
    elif isinstance(value, list | tuple):
        yield cast(object, value)
        for item in cast("Sequence[object]", value):
            yield from containers(item)


def strings(value: object) -> Iterator[str]:
    """Every text in a value, the keys of its dicts included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield base64.b64encode(value).decode()
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[object]", value):
            yield from strings(item)


def _write_request(request: object) -> str:
    return "\n".join(strings(request))


def _drop_errors(content: Any) -> object:
    if not isinstance(content, list):
        return content
    parts = cast("list[dict[str, Any]]", content)
    return [{key: value for key, value in part.items() if key != "is_error"} for part in parts]
