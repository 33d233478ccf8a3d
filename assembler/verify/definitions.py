"""Checks tool definitions in any dialect: names, schemas, the list itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from assembler.verify.place import Place, is_list, is_object
from assembler.verify.shape import OBJECT, TEXT, may_be_list, must_be
from assembler.verify.violation import Rule, Violation, shown

L0 = Rule("L0", "a list of tools is never empty: leave the key out")
T1 = Rule("T1", "a tool's name is legal for the dialect")
T2 = Rule("T2", "tool names are unique")
T3 = Rule("T3", "a tool's parameters are a JSON schema of an object")
T4 = Rule("T4", "a tool choice comes with tools, and names one of them")
RULES = (L0, T1, T2, T3, T4)

NAME_64 = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""A tool's name in most dialects (OpenAI; the validator of mistral-common 1.13.1; botocore 1.44.5's service model)."""


@attrs.frozen
class Definition:
    """The places of a function tool's name and schema."""

    name: Place
    schema: Place


@attrs.frozen(kw_only=True)
class Legal:
    """A dialect's rules for tools."""

    name: re.Pattern[str] = NAME_64
    name_rule: Rule = T1
    unique_rule: Rule = T2
    empty_rule: Rule = L0


LEGAL = Legal()
"""The rules of most dialects."""


def wrong_definitions(definitions: Iterable[Definition], legal: Legal = LEGAL) -> Iterator[Violation]:
    """Check function tools: names exist, are legal and unique, and schemas are valid. Linear."""
    taken: set[str] = set()
    for tool in definitions:
        yield from wrong_name(tool.name, legal)
        if (name := tool.name.text) is not None:
            if name in taken:
                yield legal.unique_rule.broken(tool.name.path, f"tool name {shown(name)} is already taken")
            taken.add(name)
        yield from _wrong_schema(tool.schema)


def wrong_name(place: Place, legal: Legal = LEGAL) -> Iterator[Violation]:
    """Check that the name of a tool, in a definition or a call, exists and is legal."""
    if place.text is None:
        yield from must_be(place, TEXT)
    elif not legal.name.match(place.text):
        pattern = legal.name.pattern.removesuffix(r"\Z")
        yield legal.name_rule.broken(place.path, f"tool name {shown(place.text)} does not match {pattern}")


def listed_tools(tools: Place, legal: Legal = LEGAL) -> Iterator[Violation]:
    """Check that the tools are a non-empty list of objects."""
    yield from may_be_list(tools, OBJECT)
    yield from empty_tools(tools, legal)


def empty_tools(tools: Place, legal: Legal = LEGAL) -> Iterator[Violation]:
    """The dialect's rule against an empty list of tools."""
    if is_list(tools.value) and not tools.value:
        yield legal.empty_rule.broken(tools.path, "an empty list of tools; leave the key out")


def wrong_choice(choice: Place, chosen: Place, tools: Place, names: Iterable[str | None]) -> Iterator[Violation]:
    """T4 for a choice without tools, and for a choice of a missing tool."""
    if choice.absent:
        return
    if not tools.size:
        yield T4.broken(choice.path, "a tool choice without tools")
    elif chosen.text is not None and chosen.text not in set(names):
        yield T4.broken(chosen.path, f"chooses {shown(chosen.text)}, which is not among the tools")


def _wrong_schema(schema: Place) -> Iterator[Violation]:
    if schema.absent or (is_object(schema.value) and schema.empty):
        return
    if not is_object(schema.value):
        yield from (T3.broken(fault.where, fault.problem) for fault in must_be(schema, OBJECT))
    elif str(schema.at("type").text).lower() != "object":
        yield T3.broken(schema.path, 'the schema of a tool\'s parameters must say "type": "object"')
