"""Draws conversations independent of any API."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assembler.drawn.engine import DrawFn, SearchStrategy, st
from assembler.drawn.texts import identifiers, texts


@attrs.frozen
class Property:
    """One argument of a tool. `kind` is an index into `KINDS`."""

    name: str
    kind: int
    required: bool


@attrs.frozen
class Definition:
    """A tool: its name, what it does, and its arguments."""

    name: str
    description: str
    properties: tuple[Property, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments, a new one each time."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {each.name: dict(KINDS[each.kind][0]) for each in self.properties},
        }
        required = [each.name for each in self.properties if each.required]
        return {**schema, "required": required} if required else schema


@attrs.frozen
class Call:
    """A call and its answer. `number` counts the calls of the conversation, and becomes the call's id."""

    number: int
    name: str
    arguments: Mapping[str, Any]
    result: str
    failed: bool


@attrs.frozen
class Step:
    """Thoughts, texts and calls, and the order in which the calls are answered."""

    thinking: str | None
    words: tuple[str, ...]
    calls: tuple[Call, ...]
    order: tuple[int, ...]

    @property
    def answered(self) -> tuple[Call, ...]:
        """The calls in the order of their answers."""
        return tuple(self.calls[place] for place in self.order)


@attrs.frozen
class Exchange:
    """The user's texts, the steps that follow, and the answer, which is empty if the user continues without one."""

    question: tuple[str, ...]
    speaker: str | None
    steps: tuple[Step, ...]
    thinking: str | None
    answer: tuple[str, ...]


@attrs.frozen
class Conversation:
    """A whole conversation. The last exchange has no answer yet, as in a request."""

    system: str | None
    exchanges: tuple[Exchange, ...]
    tools: tuple[Definition, ...]

    @property
    def calls(self) -> Iterator[Call]:
        """Every call, in order."""
        return (call for exchange in self.exchanges for step in exchange.steps for call in step.calls)


KINDS: tuple[tuple[dict[str, Any], SearchStrategy[Any]], ...] = (
    ({"type": "string"}, texts()),
    ({"type": "integer"}, st.integers(-(2**53) + 1, 2**53 - 1)),  # exact in every JSON parser: RFC 8259, 6
    ({"type": "number", "description": "a measure"}, st.sampled_from([0.5, -1.25, 1e-9, 3.0])),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "string", "enum": ["low", "high"]}, st.sampled_from(["low", "high"])),
    ({"type": "array", "items": {"type": "string"}}, st.lists(texts(), max_size=2)),
    (
        {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]},
        st.fixed_dictionaries({"where": texts()}),
    ),
)
"""Kinds of properties: a JSON schema, and its values."""

_PROPERTIES = (
    (),
    *((Property("it", kind, required=True),) for kind in range(len(KINDS))),
    (Property("query", 0, required=True), Property("limit", 1, required=False)),
    (Property("price", 2, required=False), Property("urgent", 3, required=False), Property("level", 4, required=True)),
    (Property("names", 5, required=True), Property("place", 6, required=False), Property("straße", 0, required=True)),
)
"""The arguments that a tool may take."""
_STEPS = ((), (), (1,), (), (2,), (1, 1), (), (3, 1), (1, 2, 1), (1, 1, 1, 1, 1))
"""The steps of an exchange: the number of parallel calls of each."""

# Shapes are sampled whole, because every single choice costs a tenth of a millisecond.
_ORDERS = {size: st.sampled_from([*itertools.permutations(range(size))]) for size in (1, 2, 3)}
_PICKS = {size: st.integers(0, size - 1) for size in (1, 2, 3)}
_DEFINITION_PROPERTIES = st.sampled_from(_PROPERTIES)
_STEP_SIZES = {fewest: st.sampled_from([each for each in _STEPS if len(each) >= fewest]) for fewest in (0, 1)}
_SPEAKERS = st.sampled_from((None, None, None, "ann", "Bob_2-x"))


@st.composite
def definitions(draw: DrawFn) -> Definition:
    """Draw one tool. Shrinks to one without arguments."""
    return Definition(draw(identifiers), draw(texts()), draw(_DEFINITION_PROPERTIES))


def _draw_call(draw: DrawFn, number: int, tool: Definition, words: SearchStrategy[str]) -> Call:
    given = [each for each in tool.properties if each.required or draw(st.booleans())]
    arguments = {each.name: draw(KINDS[each.kind][1]) for each in given}
    return Call(number, tool.name, arguments, draw(words), draw(st.booleans()))


@attrs.frozen
class _Words:
    """The strategies for the texts of one conversation, made once."""

    word: SearchStrategy[str]
    maybe: SearchStrategy[str | None]
    some: SearchStrategy[tuple[str, ...]]
    any: SearchStrategy[tuple[str, ...]]

    @classmethod
    def of(cls, word: SearchStrategy[str]) -> _Words:
        one, two = st.tuples(word), st.tuples(word, word)
        return cls(word, st.none() | word, st.one_of(one, one, one, two), st.one_of(st.just(()), one, two))


@st.composite
def _draw_exchange(
    draw: DrawFn, tools: tuple[Definition, ...], words: _Words, fewest_answers: int, fewest_steps: int
) -> Exchange:
    question, speaker = draw(words.some), draw(_SPEAKERS)
    steps: list[Step] = []
    for size in draw(_STEP_SIZES[fewest_steps]) if tools else ():
        thinking, text = draw(words.maybe), draw(words.any)
        calls = [_draw_call(draw, number, tools[draw(_PICKS[len(tools)])], words.word) for number in range(size)]
        steps.append(Step(thinking, text, tuple(calls), draw(_ORDERS[size])))
    answer = draw(words.some if fewest_answers else words.any)
    return Exchange(question, speaker, tuple(steps), draw(words.maybe) if answer else None, answer)


def drawn_conversations(
    *,
    words: SearchStrategy[str],
    turns: tuple[int, int],
    fewest_answers: int,
    fewest_tools: int,
    fewest_steps: int = 0,
) -> SearchStrategy[Conversation]:
    """Draw conversations of `turns` (fewest, most) exchanges.

    `fewest_answers` is the least number of parts of an answer: with 0 the user may continue without one.
    `fewest_steps`, 0 or 1, is the least number of steps in an exchange if there is a tool to call.
    """
    tools = st.lists(definitions(), min_size=fewest_tools, max_size=max(_PICKS), unique_by=lambda tool: tool.name)
    return _draw_conversation(tools, _Words.of(words), turns, (fewest_answers, fewest_steps))


@st.composite
def _draw_conversation(
    draw: DrawFn,
    defined: SearchStrategy[list[Definition]],
    words: _Words,
    turns: tuple[int, int],
    least: tuple[int, int],
) -> Conversation:
    tools = tuple(draw(defined))
    fewest, most = turns
    exchanges = draw(st.lists(_draw_exchange(tools, words, *least), min_size=fewest, max_size=most))
    exchanges[-1] = attrs.evolve(exchanges[-1], answer=(), thinking=None)
    return Conversation(draw(words.maybe), tuple(_number_calls(exchanges)), tools)


def _number_calls(exchanges: list[Exchange]) -> Iterator[Exchange]:
    """Number the calls of all exchanges. This happens last, so that shrinking can remove an exchange."""
    number = 0
    for exchange in exchanges:
        steps: list[Step] = []
        for step in exchange.steps:
            calls = tuple(attrs.evolve(call, number=number + place) for place, call in enumerate(step.calls))
            steps.append(attrs.evolve(step, calls=calls))
            number += len(calls)
        yield attrs.evolve(exchange, steps=tuple(steps))
