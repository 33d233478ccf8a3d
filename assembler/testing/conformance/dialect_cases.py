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
from assembler.errors import ConversationError
from assembler.strategies.cited_sources import CitedSources
from assembler.strategies.sources.layout import NativeSources
from assembler.strategies.strategy import Placement
from assembler.testing.conformance.checking import AMPLE, Checked
from budgets import Budget

History = Sequence[Mapping[str, Any]]

TOOL: Mapping[str, Any] = {
    "name": "look",
    "description": "Looks around.",
    "parameters": {"type": "object", "properties": {"corner": {"type": "string"}}},
}
OTHER_TOOL: Mapping[str, Any] = {
    "name": "wait",
    "description": "Waits.",
    "parameters": {"type": "object", "properties": {}},
}
SCHEMA: Mapping[str, Any] = {
    "title": "weather",
    "type": "object",
    "properties": {"rainfall": {"type": "string"}},
    "required": ["rainfall"],
    "additionalProperties": False,
}

UNNAMED: History = (
    {"role": "user", "parts": [{"text": "Look twice."}]},
    {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}} for _ in range(2)]},
    {"role": "user", "parts": [{"function_response": {"name": "look", "response": {}}} for _ in range(2)]},
)
"""Two calls without ids, in Gemini's form, and their answers."""

_CUSTOM = {"name": "look", "input": "north by northwest"}
_FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [{"title": "Northwest", "url": "n.example"}],
}
_USED: Mapping[str, Any] = {"type": "tool_use", "id": "c1", "name": "look", "input": {"corner": "northwest"}}
_SEEN: Mapping[str, Any] = {"type": "tool_result", "tool_use_id": "c1", "content": "a road"}
_FAILED = {"type": "tool_result", "tool_use_id": "c1", "content": "too dark to look", "is_error": True}

OF_OTHERS: Mapping[str, History] = {
    "a call of a custom tool": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "custom", "custom": _CUSTOM}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a road"},
    ),
    "an item that calls a custom tool": (
        {"role": "user", "content": "Look around."},
        {"type": "custom_tool_call", "call_id": "c1", **_CUSTOM},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a road"},
    ),
    "the result of a search": (
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [_FOUND, {"type": "text", "text": "It is a road."}]},
        {"role": "user", "content": "And then?"},
    ),
    "a call that failed": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, _USED]},
        {"role": "user", "content": [_FAILED, {"type": "text", "text": "Again."}]},
    ),
    "two results in one message": (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [_USED, {**_USED, "id": "c2"}]},
        {"role": "user", "content": [{**_SEEN, "tool_use_id": call_id} for call_id in ("c1", "c2")]},
    ),
    "a cache mark of Bedrock": (
        {"role": "user", "content": [{"text": "Look around."}, {"cachePoint": {"type": "default"}}]},
    ),
    "an empty text beside another": (
        {"role": "user", "content": [{"type": "text", "text": "Look around."}, {"type": "text", "text": ""}]},
    ),
    "a greeting before the first question": (
        {"role": "assistant", "content": "Good morning, traveller."},
        {"role": "user", "content": "Look around."},
    ),
    "a text of three thousand words": ({"role": "user", "content": "wander " * 3_000 + "home"},),
    "sixty messages": (
        *({"role": ("user", "assistant")[place % 2], "content": f"step number {place}"} for place in range(60)),
        {"role": "user", "content": "Look around."},
    ),
}
"""Parts that only some APIs have, in their form, and conversations that seldom occur."""

_RAIN = "It rained on the road."
_ANSWER = {"type": "text", "text": "Wet."}
_LISTED = [{"type": "text", "text": _RAIN}]

THOUGHT = _RAIN
"""The reasoning in each of `THOUGHTS`."""
THOUGHTS: Mapping[str, Mapping[str, Any]] = {
    "in a field of its own": {"content": "Wet.", "reasoning_content": _RAIN},
    "under a signature": {"content": [{"type": "thinking", "thinking": _RAIN, "signature": "c2ln"}, _ANSWER]},
    "without a signature": {"content": [{"type": "thinking", "thinking": _RAIN}, _ANSWER]},
    "in a list of texts": {"content": [{"type": "thinking", "thinking": _LISTED}, _ANSWER]},
}
"""Messages of an assistant with reasoning in four forms."""

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

SEEN_OR_NOTED: Mapping[str, tuple[str, History]] = {
    "a speaker's name": ("wanderer_7", ({"role": "user", "name": "wanderer_7", "content": "Look around."},)),
    "a field that nobody reads": ("drizzling", ({"role": "user", "content": "Look around.", "weather": "drizzling"},)),
    "the text of a failed call": ("too dark to look", OF_OTHERS["a call that failed"]),
    "the arguments of a call": ("northwest", OF_OTHERS["a call that failed"]),
    "the input of a custom tool": ("north by northwest", OF_OTHERS["a call of a custom tool"]),
    "an image": (
        _PIXEL,
        (
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}},
                ],
            },
        ),
    ),
    "an image of Anthropic's": (
        _PIXEL,
        (
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}},
                    {"type": "text", "text": "What is this?"},
                ],
            },
        ),
    ),
    "a text in another script": ("привет, 世界", ({"role": "user", "content": "привет, 世界"},)),
    "the end of a long text": ("home", OF_OTHERS["a text of three thousand words"]),
    "an early message of many": ("step number 2", OF_OTHERS["sixty messages"]),
}
"""What a request holds, or a note says that it was left out: a text in it, and the conversation."""

GROWING: Sequence[History] = (
    (
        {"role": "user", "content": "Look around."},
        {"role": "assistant", **THOUGHTS["under a signature"]},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "Clouds."},
        {"role": "user", "content": "Thanks."},
    ),
    tuple(
        message
        for _ in range(2)
        for message in (
            {"role": "user", "content": "Look around."},
            {"role": "assistant", "content": [_USED]},
            {"role": "user", "content": [_SEEN]},
            {"role": "assistant", "content": "There is a road."},
        )
    )[:-1],
)
"""Conversations that `emit_after` may append to wrongly: one with a note, and one with a call id that comes again."""

_OF_ANY_API = ("a cache mark of Bedrock", "two results in one message", "an empty text beside another")
"""What no dialect refuses."""
STRANGER = "nobodys-model-1"
_OF_MESSAGES = frozenset(("a speaker's name", "a field that nobody reads"))
"""What a template may be given and not show."""

_MORE = "wander " * 300
_PLACES = ("the user's text", "the assistant's text", "the arguments of a call", "the result of a call")
_LEAST_RATE = 20
"""The most characters of plain words that a tokenizer puts into one token, on the average."""


def _told(longest: str | None) -> History:
    """A conversation that says much more at one of `_PLACES`."""
    asked, words, given, found = (_MORE if place == longest else "" for place in _PLACES)
    function = {"name": "look", "arguments": f'{{"corner": "north{given}"}}'}
    return (
        {"role": "user", "content": f"Look around.{asked}"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": f"a road{found}"},
        {"role": "assistant", "content": f"There is a road.{words}"},
        {"role": "user", "content": "And then?"},
    )


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
        self.says_or_notes_everything(body)
        self.tells_failures_apart()
        self.begins_as_the_api_demands()
        self.sends_wishes()
        self.bills_what_others_say()
        self.prices_what_is_longer()
        self.notes_reasoning(body)
        self.sends_sources()

    def _built(self, history: Iterable[object], budget: Budget | None = None) -> Context[Any] | None:
        """A context in a budget that is ample; None if the dialect refuses the conversation."""
        budget = budget or Budget(AMPLE, counter=len)
        assembler = Assembler(budget, dialect=self.dialect).add_capability([TOOL, OTHER_TOOL]).add_messages(history)
        try:
            return assembler.build()
        except ConversationError:
            return None

    def _is_prompt(self, body: Mapping[str, Any]) -> bool:
        """Whether requests are rendered prompts: then a template chooses what it shows of a message."""
        return self.dialect.api.history not in body

    def says_or_notes_everything(self, body: Mapping[str, Any]) -> None:
        """Check what conversations seldom hold, and a tool's definition."""
        written = _written(body)
        for words in (TOOL["description"], *TOOL["parameters"]["properties"], "Be brief."):
            if words not in written:
                raise self.broken(COMPLETE, f"{words!r} of a tool or of the instruction is gone")
        for what, (words, history) in SEEN_OR_NOTED.items():
            if self._is_prompt(body) and what in _OF_MESSAGES:
                continue
            context = self._built(history)
            if context is not None and not context.notes() and words not in _written(context.request()):
                raise self.broken(COMPLETE, f"{what} is gone without a note; count it in notes")

    def tells_failures_apart(self) -> None:
        """Check that the mark of a failed call is sent, or noted."""
        context = self._built(OF_OTHERS["a call that failed"])
        if context is not None and not context.notes():
            well = [{**each, "content": _without_errors(each["content"])} for each in OF_OTHERS["a call that failed"]]
            other = self._built(well)
            if other is not None and other.request() == context.request():
                raise self.broken(COMPLETE, "that a call failed is gone without a note; count it in notes")

    def begins_as_the_api_demands(self) -> None:
        """Check a conversation that begins with the assistant."""
        greeted = self._built(OF_OTHERS["a greeting before the first question"])
        if greeted is not None and self.rules is not None and (broken := list(self.rules(greeted.request()))):
            problem = f"a conversation that begins with the assistant: {broken[0]}"
            raise self.broken("its requests are valid", problem)

    def sends_wishes(self) -> None:
        """Check that the schema of the answer and the choice of a tool change the request, or leave a note."""
        asked = Assembler(Budget(AMPLE, counter=len), dialect=self.dialect).add_message(("user", "Look around."))
        plain = asked.add_capability([TOOL, OTHER_TOOL]).build()
        wished = asked.fork().add_output_schema(SCHEMA).build()
        if "rainfall" not in _written(wished.request()) and not wished.notes():
            raise self.broken(COMPLETE, "the schema of the answer is gone; write it in options, or note it")
        chosen = asked.fork().add_capability([TOOL, OTHER_TOOL], choice="wait").build()
        if chosen.request() == plain.request() and not chosen.notes():
            raise self.broken(COMPLETE, "the choice of a tool is gone; write it in options, or note it")

    def bills_what_others_say(self) -> None:
        """Check that parts of other APIs cost what is sent for them."""
        for words, history in OF_OTHERS.items():
            context = self._built(history)
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
            unknown = self._built(history, Budget(AMPLE, model=STRANGER))
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
                for context in (self._built(_told(None)), self._built(_told(place)))
            ]
            for place in _PLACES
        }
        tools = [self._cost_of_tool(TOOL["description"]), self._cost_of_tool("Looks around. " * (len(_MORE) // 14))]
        for place, (short, long) in (costs | {"the description of a tool": tools}).items():
            if short is not None and long is not None and long - short < len(_MORE) / _LEAST_RATE:
                problem = f"{place} costs {short}, and {long} with {len(_MORE):,} characters more"
                raise self.broken("what is longer costs more", problem)

    def _cost_of_tool(self, description: str) -> int | None:
        tool = {**TOOL, "description": description}
        asked = Assembler(Budget(AMPLE, counter=len), dialect=self.dialect).add_message(("user", "Look around."))
        try:
            return asked.add_capability([tool]).build().count.tokens
        except ConversationError:
            return None

    def notes_reasoning(self, body: Mapping[str, Any]) -> None:
        """Check that reasoning is sent, or is among what is left out, as `sends_reasoning` says."""
        declares = isinstance(cast(object, self.dialect), ReasoningDialect)
        for spelling, fields in THOUGHTS.items():
            context = self._built([("user", "Look around."), {"role": "assistant", **fields}, ("user", "Why?")])
            if context is None:
                continue
            sent, noted = THOUGHT in _written(context.request()), bool(context.dropped or context.notes())
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
    """Yield every dict and list in a value, itself included."""
    if isinstance(value, dict):
        yield cast(object, value)
        for item in cast("dict[str, object]", value).values():
            yield from containers(item)
    elif isinstance(value, list | tuple):
        yield cast(object, value)
        for item in cast("Sequence[object]", value):
            yield from containers(item)


def strings(value: object) -> Iterator[str]:
    """Yield every text in a value, the keys of its dicts included."""
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


def _written(request: object) -> str:
    return "\n".join(strings(request))


def _without_errors(content: Any) -> object:
    if not isinstance(content, list):
        return content
    parts = cast("list[dict[str, Any]]", content)
    return [{key: value for key, value in part.items() if key != "is_error"} for part in parts]
