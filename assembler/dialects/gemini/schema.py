"""Prices the schema of a declaration or an answer for Gemini: its words, and a framing for each of its elements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assembler.dialects.gemini.families import Family
from assembler.dialects.prices.families import guess
from assembler.dialects.prices.tool_schemas import Repeats, most_tokens
from assembler.text.fields import fields_in, fields_of, items_of
from budgets.count import NOTHING, Count, Grade, total

UNROLLED = 6
"""How often a schema that refers to itself is expanded. The documentation of parameters_json_schema says "cyclic
references are unrolled to a limited degree"; six times explains the bill of 776 within 6 tokens (one source)."""

DEEPEST = 100
"""The depth of nested schemas that is priced, with references expanded: the largest depth of a tool without them."""


def price_schema(schema: Mapping[str, Any], family: Family, texts: list[str]) -> Count:
    """Price the framing of a schema and its nested schemas, and append the words to `texts`. O(schema)."""
    definitions = {**fields_in(schema, "definitions"), **fields_in(schema, "$defs")}
    walk = _Schema(family=family, definitions=definitions, texts=texts)
    return walk.price(schema, _AT_ROOT)


_PRICED_APART = frozenset(
    {
        *("type", "properties", "required", "description", "items", "enum", "title"),
        *("$defs", "definitions", "additionalProperties", "propertyOrdering", "property_ordering"),
    }
)
_FREE = frozenset({"default", "format"})
"""Keywords whose words are free: a default in two recordings of two projects, both counted to the token."""
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "prefixItems")


@attrs.frozen
class _Position:
    """A schema's depth, and the definitions that it is nested in."""

    depth: int = 0
    inside: frozenset[str] = frozenset()

    def below(self) -> _Position:
        return _Position(self.depth + 1, self.inside)

    def within(self, name: str) -> _Position:
        return _Position(self.depth + 1, self.inside | {name})


_AT_ROOT = _Position()
_UNPRICED = Count(0, Grade.ESTIMATED)


@attrs.define(kw_only=True)
class _Schema:
    """Walks over a schema, collects its words and sums its framing.

    `cycles` is how often a cycle is expanded, `times` how often the current part of the schema is counted.
    """

    family: Family
    definitions: Mapping[str, Any]
    texts: list[str]
    cycles: int = UNROLLED - 1
    times: int = 1
    repeated: set[str] = attrs.field(factory=set)
    seen: set[str] = attrs.field(factory=set)
    repeats: Repeats = attrs.field(factory=Repeats)

    def price(self, schema: Mapping[str, Any], at: _Position) -> Count:
        """The framing of a schema and its nested schemas, with references expanded. O(schema)."""
        if at.depth > DEEPEST:
            return _UNPRICED
        reference: object = schema.get("$ref")
        if isinstance(reference, str):
            return self._price_reference(reference.rsplit("/", 1)[-1], at)
        values = [str(value) for value in items_of(schema.get("enum"))]
        self.texts.extend(values)
        inner = [self.family.value] * len(values)
        inner.append(self._price_title(schema))
        inner.extend(self._price_arguments(schema, at))
        for word in _ALTERNATIVES:
            inner.extend(
                self.family.alternative + self._price_nested(option, at) for option in items_of(schema.get(word))
            )
        if isinstance(schema.get("items"), Mapping):
            inner.append(self.family.items)
        inner.extend(self._price_nested(schema.get(word), at) for word in ("items", "additionalProperties"))
        inner.extend(
            self._price_keyword(word, held)
            for word, held in schema.items()
            if word not in _PRICED_APART and word not in _ALTERNATIVES
        )
        return total(inner)

    def _price_keyword(self, word: str, held: object) -> Count:
        """The framing of a keyword. Its text is in the bound where no recording shows that it is free."""
        price = self.family.keyword
        if word in _FREE or held is None or isinstance(held, bool | int | float):
            return price
        return guess(price.tokens, price.upper + most_tokens(json.dumps(held, ensure_ascii=False, default=str)))

    def _price_title(self, schema: Mapping[str, Any]) -> Count:
        title: object = schema.get("title")
        if not isinstance(title, str) or self.family.titled is None:
            return NOTHING
        self.texts.append(title)
        return self.family.titled

    def _price_arguments(self, schema: Mapping[str, Any], at: _Position) -> Iterator[Count]:
        """The framing of each property and its schema."""
        required = frozenset(key for key in items_of(schema.get("required")) if isinstance(key, str))
        for key, held in fields_in(schema, "properties").items():
            self.texts.append(key)
            yield self.family.described_argument if fields_in(held).get("description") else self.family.argument
            if key not in required:
                yield self.family.optional
            elif self.family.repeats_required:
                self.texts.append(key)
            yield self._price_nested(held, at)
        if self.family.repeats_required:
            ordered = schema.get("propertyOrdering") or schema.get("property_ordering")
            self.texts.extend(key for key in items_of(ordered) if isinstance(key, str))

    def _price_reference(self, name: str, at: _Position) -> Count:
        if name in at.inside:
            return self._price_further_rounds(name)
        definition = self._find_definition(name)
        first = self.times == 1 and name not in self.seen
        if not first and not self.repeats.taken(name, definition, self.times):
            return _UNPRICED
        self.seen.add(name)
        return self.price(definition, at.within(name))

    def _find_definition(self, name: str) -> Mapping[str, Any]:
        """The definition of a reference; empty if it is missing, or `true`."""
        return fields_in(self.definitions, name)

    def _price_further_rounds(self, name: str) -> Count:
        """Price the further rounds of a cycle, once a definition: no bill shows a definition with two cycles."""
        definition = self._find_definition(name)
        if not self.cycles or name in self.repeated or not self.repeats.taken(name, definition, self.cycles):
            return _UNPRICED
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
        return guess(round_.tokens * self.cycles, 2 * round_.upper * self.cycles)

    def _price_nested(self, schema: object, at: _Position) -> Count:
        """Price a nested schema; `true` and other non-objects cost nothing."""
        if (nested := fields_of(schema)) is None:
            return NOTHING
        if isinstance(described := nested.get("description"), str):
            self.texts.append(described)
        framed = self.family.nested if nested.get("properties") or "$ref" in nested else NOTHING
        return framed + self.price(nested, at.below())
