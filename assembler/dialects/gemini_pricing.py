"""What Gemini bills for a request. Knows contents, declarations and media tiles; never spells a request.

    request = price_request + price_system + sum(price_message) + price_tools

Gemini bills texts as the Gemma vocabulary does; the stand-in is fitted to Gemma 3, and `with_own_tokenizer` says that
the counter given is a Gemma one. Evidence for every number: docs/how-it-counts-others.md, section Gemini.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, assert_never, cast

import attrs

from assembler.dialects.references import Repeats
from assembler.dialects.standin import GEMINI, Calibration, price_texts
from assembler.errors import UnsupportedContentError
from assembler.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.tools.tool import Tool
from budgets.count import Count, Grade, TokenCounter, Tokens, total

ToolChoice: TypeAlias = Literal["auto", "none", "any", "validated"]


def _about(tokens: Tokens, slack: Tokens) -> Count:
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def _guess(tokens: Tokens, upper: Tokens) -> Count:
    return Count(tokens, Grade.ESTIMATED, upper=upper)


@attrs.frozen(kw_only=True)
class Family:
    """One generation of Gemini: what stands around the texts, in tokens, and which vocabulary prices them."""

    name: str
    calibration: Calibration | None
    """None: the counter is a Gemma tokenizer."""
    content: Count
    """Each entry of `contents`; the system instruction is one more."""
    tool: Count
    argument: Count
    """Each property of a schema, beyond its key and description."""
    nested: Count
    """Each object or array inside a schema."""
    keyword: Count
    """Each further keyword of a schema: a default, a bound, an alternative."""
    call: Count
    result: Count
    image: Count
    """One tile of a picture; one page of a PDF."""
    tiled: bool


_GEMINI_2 = Family(
    name="gemini-2.0",
    calibration=GEMINI,
    content=_about(0, 1),
    tool=_about(1, 4),
    argument=_about(2, 3),
    nested=_guess(4, 30),
    keyword=_guess(1, 4),
    call=_about(0, 4),
    result=_about(0, 4),
    image=_guess(258, 258),
    tiled=True,
)
_GEMINI_2_5 = attrs.evolve(
    _GEMINI_2,
    name="gemini-2.5",
    content=_about(1, 1),
    tool=_about(18, 4),
    argument=_about(10, 2),
    nested=_guess(38, 50),
    call=_guess(12, 20),
    result=_guess(12, 20),
)
_GEMINI_3 = attrs.evolve(_GEMINI_2_5, name="gemini-3", tool=_about(13, 6), image=_guess(1_120, 1_120), tiled=False)

_FAMILIES = (
    (re.compile(r"gemini-(1|2\.0|2-0|pro$|pro-vision)"), _GEMINI_2),
    (re.compile(r"gemini-2"), _GEMINI_2_5),
)

UNROLLED = 6
"""How often a schema that refers to itself is written out: "cyclic references are unrolled to a limited degree", says
the documentation of parameters_json_schema; six times explains the bill of 776 within 6 tokens (one source)."""


DEEPEST = 100
"""Schemas inside one another that are priced, references written out: as deep as a tool may be without them."""


def family_of(model: str) -> Family:
    """The generation of a model name; an unknown name is the newest one."""
    return next((family for pattern, family in _FAMILIES if pattern.search(model.lower())), _GEMINI_3)


def with_own_tokenizer(family: Family) -> Family:
    """The same framing for a counter that is a Gemma tokenizer: its counts are then taken at their word."""
    return attrs.evolve(family, calibration=None)


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """One text alone, no framing."""
    return price_texts([text], count, family.calibration)


def price_request(family: Family) -> Count:
    """Nothing: an empty request has no framing of its own. A response schema is not billed (9 recordings of 10)."""
    return Count(0, family.content.grade)


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """The system instruction, framed like one more entry of `contents`; nothing without one."""
    return family.content + price_text(text, family, count) if text else Count(0)


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """One entry of `contents`. Raises `UnsupportedContentError` on media whose pages or seconds are not known."""
    texts: list[str] = []
    framing = [family.content, *(_part(part, family, texts) for part in message.parts)]
    return total(framing) + price_texts(texts, count, family.calibration)


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """One declaration: its words (name, descriptions, keys, enum values) and a framing for each thing it declares."""
    texts = [tool.name, tool.description]
    reading = _Schema(family=family, definitions=_definitions(tool.parameters), texts=texts)
    framing = reading.price(tool.parameters, _AT_ROOT)
    return family.tool + framing + price_texts(texts, count, family.calibration)


def price_tools(
    tools: Sequence[Tool], family: Family, count: TokenCounter, *, choice: ToolChoice | None = None
) -> Count:
    """All declarations; the calling mode costs nothing (12 recordings), whichever it is."""
    del choice
    return total(price_tool(tool, family, count) for tool in tools)


def _part(part: Part, family: Family, texts: list[str]) -> Count:
    """The framing of one part; its texts are appended."""
    match part:
        case str():
            texts.append(part)
            return Count(0)
        case Call():
            texts.append(part.name)
            texts.extend(_words(part.given if part.given is not None else _read(part.arguments)))
            return family.call
        case Result():
            texts.append(part.name or "")
            if part.given is not None:
                texts.extend(_words(part.given))
                return family.result
            return family.result + total(_part(inner, family, texts) for inner in part.parts)
        case Thinking():
            texts.append(part.text)
            return _guess(0, 4)
        case Media(kind="image"):
            # The size is inside the picture: a large photograph, sixteen tiles at most.
            return _guess(family.image.tokens, family.image.upper * (16 if family.tiled else 1))
        case Media():
            raise UnsupportedContentError(
                f"a {part.kind} part has no price: its length is not known; add your own overhead.",
                kind=part.kind,
            )
        case Opaque():
            texts.append(json.dumps(part.raw, ensure_ascii=False, default=str))
            return _guess(0, 60)
        case _:
            assert_never(part)


def _read(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _words(value: object) -> Iterator[str]:
    """The keys and the values of JSON data, as they are written."""
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            yield key
            yield from _words(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in cast("Sequence[object]", value):
            yield from _words(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _named(value: object) -> Mapping[str, Any]:
    """A mapping of schemas; nothing where a schema holds something else there."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _listed(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()


def _definitions(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_named(schema.get("definitions")), **_named(schema.get("$defs"))}


_SPOKEN = frozenset(
    {
        *("type", "properties", "required", "description", "items", "enum", "title"),
        *("$defs", "definitions", "additionalProperties"),
    }
)
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "prefixItems")


@attrs.frozen
class _Standing:
    """Where a schema stands: how deep, and inside which definitions."""

    depth: int = 0
    inside: frozenset[str] = frozenset()

    def below(self) -> _Standing:
        return _Standing(self.depth + 1, self.inside)

    def within(self, name: str) -> _Standing:
        return _Standing(self.depth + 1, self.inside | {name})


_AT_ROOT = _Standing()


@attrs.define(kw_only=True)
class _Schema:
    """One walk over a schema: collects its words, sums its framing.

    `cycles` is how often a cycle is written again, `times` how often what is walked over will be written.
    """

    family: Family
    definitions: Mapping[str, Any]
    texts: list[str]
    cycles: int = UNROLLED - 1
    times: int = 1
    repeated: set[str] = attrs.field(factory=set)
    seen: set[str] = attrs.field(factory=set)
    repeats: Repeats = attrs.field(factory=Repeats)

    def price(self, schema: Mapping[str, Any], at: _Standing) -> Count:
        """The framing of one schema and all inside it, references written out. O(schema)."""
        if at.depth > DEEPEST:
            return Count(0, Grade.ESTIMATED)
        reference: object = schema.get("$ref")
        if isinstance(reference, str):
            return self._followed(reference.rsplit("/", 1)[-1], at)
        self.texts.extend(str(value) for value in _listed(schema.get("enum")))
        inner: list[Count] = []
        for key, described in _named(schema.get("properties")).items():
            self.texts.append(key)
            inner.append(self.family.argument + self._inside(described, at))
        for word in _ALTERNATIVES:
            inner.extend(self.family.keyword + self._inside(option, at) for option in _listed(schema.get(word)))
        inner.extend(self._inside(schema.get(word), at) for word in ("items", "additionalProperties"))
        inner.extend(self.family.keyword for word in schema if word not in _SPOKEN and word not in _ALTERNATIVES)
        return total(inner)

    def _followed(self, name: str, at: _Standing) -> Count:
        if name in at.inside:
            return self._again(name)
        definition = self._definition(name)
        first = self.times == 1 and name not in self.seen
        if not first and not self.repeats.taken(name, definition, self.times):
            return Count(0, Grade.ESTIMATED)
        self.seen.add(name)
        return self.price(definition, at.within(name))

    def _definition(self, name: str) -> Mapping[str, Any]:
        """What a reference refers to; nothing where that is missing, or `true`."""
        return _named(self.definitions.get(name))

    def _again(self, name: str) -> Count:
        """A cycle's further rounds, once a definition: no bill is known of one with two cycles."""
        definition = self._definition(name)
        if not self.cycles or name in self.repeated or not self.repeats.taken(name, definition, self.cycles):
            return Count(0, Grade.ESTIMATED)
        self.repeated.add(name)
        once = _Schema(
            family=self.family,
            definitions=self.definitions,
            texts=[],
            cycles=0,
            times=self.cycles,
            repeats=self.repeats,
        )
        round_ = once.price(definition, _AT_ROOT.within(name))
        self.texts.extend(once.texts * self.cycles)
        return _guess(round_.tokens * self.cycles, 2 * round_.upper * self.cycles)

    def _inside(self, schema: object, at: _Standing) -> Count:
        """What a nested schema adds; `true` and other non-objects add nothing."""
        if not isinstance(schema, Mapping):
            return Count(0)
        nested = cast("Mapping[str, Any]", schema)
        self.texts.append(str(nested.get("description", "")))
        framed = self.family.nested if nested.get("properties") or "$ref" in nested else Count(0)
        return framed + self.price(nested, at.below())
