"""Writes a function tool as OpenAI's servers put it into the prompt: as TypeScript.

The text is not published for the API. It was reconstructed from the bills of recorded requests, the TypeScript that
openai/harmony (Apache-2.0, src/encoding.rs, read 2026-11) renders for gpt-oss, and the tables of earlier counters.
`docs/how-it-counts-openai.md` has the number of recordings for each rule.

    // DESCRIPTION                            of the tool, a comment for each of its lines
    type NAME = (_: // SCHEMA DESCRIPTION     of the arguments, if the schema has a title or a description
    {
    // DESCRIPTION                            of a property; its title before, its default after
    KEY?: TYPE, // minimum: 1, maximum: 9
    }) => any;

An object whose properties have no comments is on one line, `{ a: string, b?: number }`.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.dialects.prices.tool_schemas import Repeats, most_tokens
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, fields_of, items_of

Schema: TypeAlias = Mapping[str, Any]

DEEPEST = 32
"""The levels of nesting, and of nested references, that are written; deeper ones become `any`. OpenAI accepts 10
(Structured Outputs guide, read 2026-11)."""

LARGEST = 10_000
"""The number of schemas that are written for one tool; the rest become `any`. OpenAI accepts 5,000 properties."""


LONGEST_ROUNDS = 500
"""The tokens that references that are not expanded may add to the bound of one tool."""


class ToolText(enum.Enum):
    """The generation of the text."""

    FIRST = "2023"
    """Every property on its own line, nested keys indented by two, nested descriptions left out."""
    CURRENT = "2024 and later"


def tool_text(tool: Tool, generation: ToolText = ToolText.CURRENT) -> str:
    """One tool's declaration, without a line break at the end. O(its schema)."""
    comment = _write_comment(tool.description)
    if not properties(tool.parameters):
        return f"{comment}type {tool.name} = () => any;"
    scope = _Scope.of(tool.parameters, generation)
    return f"{comment}type {tool.name} = (_: {_write_object(tool.parameters, scope, 0)}) => any;"


def properties(schema: Schema) -> Mapping[str, Schema]:
    """The properties of an object's schema. A value that is not a schema becomes an empty one."""
    return {key: fields_in(value) for key, value in fields_in(schema, "properties").items()}


def alternatives(schema: Schema) -> Sequence[Schema]:
    """The schemas of `anyOf`, `oneOf`, or a list-valued `type`; empty if there are none."""
    for keyword in ("anyOf", "oneOf"):
        listed: object = schema.get(keyword)
        if isinstance(listed, list) and listed:
            return [one for one in map(fields_of, cast("list[object]", listed)) if one is not None]
    kinds: object = schema.get("type")
    if isinstance(kinds, list) and "enum" not in schema:
        named = [kind if isinstance(kind, str) and kind in _KINDS else None for kind in cast("list[object]", kinds)]
        return [_choose_kind(schema, kind) for kind in dict.fromkeys(named)]
    return ()


_KINDS = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})


def _choose_kind(schema: Schema, kind: str | None) -> Schema:
    """The schema with one of its types. Only an object keeps the properties, so that they are written once."""
    others = {key: value for key, value in schema.items() if key != "properties" or kind == "object"}
    return {**others, "type": kind}


def definitions(schema: Schema) -> Mapping[str, Schema]:
    """The root's definitions and properties by their reference: `#/$defs/Address`, `#/properties/home`."""
    found = {f"#/properties/{key}": held for key, held in properties(schema).items()}
    for place in ("$defs", "definitions"):
        named = ((name, fields_of(one)) for name, one in fields_in(schema, place).items())
        found |= {f"#/{place}/{name}": one for name, one in named if one is not None}
    return found


@attrs.define
class _Allowance:
    """The number of schemas that may still be written, or of tokens that may still be added to a bound."""

    left: int

    def taken(self) -> bool:
        """Use up one schema. Returns False if none is left."""
        self.left -= 1
        return self.left >= 0


@attrs.frozen
class _Scope:
    """A schema's surroundings: the definitions, those that it is nested in, and how much may still be written.

    `seen` are the definitions that were written already: writing one again takes from `repeats`.
    """

    generation: ToolText
    definitions: Mapping[str, Schema]
    inside: frozenset[str]
    allowance: _Allowance
    repeats: Repeats
    seen: set[str]
    counted: set[str] = attrs.field(factory=set[str])
    """The definitions whose further rounds are in the bound."""
    rounds: _Allowance = attrs.field(factory=lambda: _Allowance(LONGEST_ROUNDS))
    """The tokens that further rounds may still add to the bound."""
    hidden: list[_Scope] = attrs.field(factory=list["_Scope"])
    """The scope of what the text leaves out and the bound includes, once there is something."""
    cut: bool = False
    """Whether the reference to this schema is not expanded."""
    among_others: bool = False
    """Whether this is one of several alternatives, which stay on one line."""

    @classmethod
    def of(cls, root: Schema, generation: ToolText) -> _Scope:
        return cls(
            generation, {"#": root, **definitions(root)}, frozenset(["#"]), _Allowance(LARGEST), Repeats(), set()
        )

    def follow(self, schema: Schema) -> tuple[Schema, _Scope]:
        """The schema that a reference names, updated with the keys next to the reference.

        A reference to the root, an enclosing definition or nothing becomes `any`, and so does one beyond the limits.
        """
        inside = self.inside
        while isinstance(target := schema.get("$ref"), str):
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            named = self.definitions.get(target)
            if named is None or target in inside or len(inside) >= DEEPEST or not self._may_write(target, named):
                return beside, attrs.evolve(self, inside=inside, cut=True)
            schema = {**named, **beside}
            inside |= {target}
        return (schema, self) if inside is self.inside else (schema, attrs.evolve(self, inside=inside))

    def _may_write(self, target: str, named: Schema) -> bool:
        """Whether a definition may be written: the first time, or while `repeats` has enough left. Uses it up."""
        first = target not in self.seen
        self.seen.add(target)
        return first or self.repeats.taken(target, named)

    def apart(self) -> _Scope:
        """This place in what the text leaves out, which has limits of its own."""
        if not self.hidden:
            self.hidden.append(_Scope.of(self.definitions["#"], self.generation))
        return attrs.evolve(self.hidden[0], inside=self.inside)

    def size_of_round(self, target: object) -> int:
        """The tokens of another round of a definition that is not expanded. Only its first costs more."""
        named = self.definitions.get(target) if isinstance(target, str) else None
        if named is None or target in self.counted or not self.rounds.left:
            return _CYCLE
        self.counted.add(str(target))
        within = attrs.evolve(self.apart(), inside=self.inside | {str(target)})
        tokens = min(self.rounds.left, most_tokens(_write_type(named, within, DEEPEST // 2)))
        self.rounds.left -= tokens
        return max(_CYCLE, tokens)


_NAMED = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


def _write_type(schema: Schema, scope: _Scope, depth: int) -> str:
    schema, scope = scope.follow(schema)
    if depth > DEEPEST or not scope.allowance.taken():
        return "any"
    if choice := alternatives(schema):
        scope = attrs.evolve(scope, among_others=scope.generation is ToolText.CURRENT)
        return " | ".join(_write_type(one, scope, depth + 1) for one in choice)
    members: object = schema.get("enum")
    if isinstance(members, list) and members:
        return " | ".join(_write_json(member) for member in cast("list[object]", members))
    kind: object = schema.get("type")
    if kind == "array":
        return _write_array(schema, scope, depth)
    if kind == "object" or properties(schema):
        return _write_object(schema, scope, depth)
    return _NAMED.get(kind, "any") if isinstance(kind, str) else "any"


def _write_array(schema: Schema, scope: _Scope, depth: int) -> str:
    items = fields_of(schema.get("items"))
    if items is None:
        return "any[]"
    inner, scope = scope.follow(items)
    text = _write_type(inner, scope, depth + 1)
    if scope.generation is ToolText.CURRENT and properties(inner):
        return f"Array<{text}>" if scope.among_others and "\n" not in text else f"Array<\n{text}\n>"
    return f"{text}[]"


def _write_object(schema: Schema, scope: _Scope, depth: int) -> str:
    named = properties(schema)
    if not named:
        return "object"
    listed: object = schema.get("required")
    required = frozenset(cast("list[object]", listed)) if _are_texts(listed) else frozenset[object]()
    lines: list[tuple[str, str, str]] = []
    for key, value in named.items():
        resolved, inner = scope.follow(value)
        mark = "" if key in required else "?"
        line = f"{key}{mark}: {_write_type(resolved, inner, depth + 1)}"
        lines.append((_write_remarks(resolved, scope, depth), line, _write_limits(resolved, scope)))
    if scope.generation is ToolText.FIRST:
        indent = "  " * depth
        return "{\n" + "".join(f"{remarks}{indent}{line},\n" for remarks, line, _ in lines) + "}"
    heading = "" if depth else _write_heading(schema)
    if any(remarks or limits or "\n" in line for remarks, line, limits in lines):
        return f"{heading}{{\n" + "".join(f"{remarks}{line},{limits}\n" for remarks, line, limits in lines) + "}"
    return f"{heading}{{ {', '.join(line for _, line, _ in lines)} }}"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))


def _write_remarks(schema: Schema, scope: _Scope, depth: int) -> str:
    """The comment lines above a property: title, description, and the default if there is no description."""
    if scope.generation is ToolText.FIRST:
        return "" if depth else _write_comment(schema.get("description"))
    heading = _write_heading(schema)
    if "default" not in schema or _is_described(schema):
        return heading
    return f"{heading}// default: {_write_json(schema['default'])}\n"


def _write_limits(schema: Schema, scope: _Scope) -> str:
    """The comment after a property: its limits, and the default if there is a description."""
    if scope.generation is ToolText.FIRST:
        return ""
    shown = (*(("default",) if _is_described(schema) else ()), "minimum", "maximum")
    limits = ", ".join(f"{key}: {_write_json(schema[key])}" for key in shown if key in schema)
    return f" // {limits}" if limits else ""


def _is_described(schema: Schema) -> bool:
    return bool(schema.get("description")) and not properties(schema)


def _write_heading(schema: Schema) -> str:
    """Title and description as comment lines."""
    return _write_comment(schema.get("title")) + _write_comment(schema.get("description"))


def _write_comment(text: object) -> str:
    """Each line as a comment, without its indentation; a blank line is an empty comment."""
    if not isinstance(text, str) or not text.strip():
        return ""
    return "".join(f"{f'// {line.strip()}'.rstrip()}\n" for line in text.strip().split("\n"))


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# ── how sure

_SETTLED = frozenset(
    [
        *("type", "properties", "required", "description", "enum", "items", "anyOf", "additionalProperties"),
        *("strict", "$schema", "$defs", "definitions"),
    ]
)
_RULED = frozenset(["title", "default", "minimum", "maximum", "format", "oneOf"])
"""Keywords that a rule writes or leaves out, with too few recordings to be certain."""

_CYCLE = 10
"""The least that a reference that is not expanded may cost beyond `any`: a guess, there is no recording."""


def count_unsettled(tool: Tool) -> int:
    """Count the tokens of a schema that no recording settles, 0 if its whole text is certain.

    Defaults, titles, limits, nested objects, arrays of objects and references have few recordings: one token each.
    Others have none, such as `allOf`, `const`, `pattern` and descriptions of alternatives. The text leaves these out,
    and the server may show them: as many tokens as they need.
    """
    if not properties(tool.parameters):
        return 0
    return _count_unsettled(tool.parameters, _Scope.of(tool.parameters, ToolText.CURRENT), 0)


def _count_unsettled(schema: Schema, scope: _Scope, depth: int) -> int:
    target: object = schema.get("$ref")
    schema, scope = scope.follow(schema)
    if scope.cut:
        return scope.size_of_round(target)
    if depth > DEEPEST or not scope.allowance.taken():
        return 1
    own = sum(_may_cost(key, held, scope) for key, held in schema.items() if key not in _SETTLED)
    if depth and properties(schema):
        own += 1
    items = fields_of(schema.get("items"))
    choice = alternatives(schema)
    below = [*properties(schema).values(), *choice, *([items] if items is not None else [])]
    if schema.get("additionalProperties"):
        own += _may_cost_in(schema["additionalProperties"], scope)
    if items is None and "items" in schema:
        own += sum(_may_cost_in(one, scope) for one in items_of(schema.get("items")))
    if "anyOf" in schema or "oneOf" in schema:
        own += sum(most_tokens(_write_heading(scope.apart().follow(one)[0])) for one in choice)
    return own + _count_repeated(schema) + sum(_count_unsettled(one, scope, depth + 1) for one in below)


def _may_cost(keyword: str, held: object, scope: _Scope) -> int:
    """The tokens of a keyword that the text leaves out: of its schemas as they would be written, or its JSON."""
    if keyword in _RULED or held is None or isinstance(held, bool | int | float):
        return 2 if keyword == "nullable" else 1  # ` | null` in openai/harmony
    if keyword in _BY_NAME:
        return 1 + sum(_may_cost_in(one, scope) for one in fields_in(held).values())
    if keyword in _OF_SCHEMAS:
        return 1 + sum(_may_cost_in(one, scope) for one in (held, *items_of(held)))
    return most_tokens(_write_json(held)) + _EXAMPLE * len(items_of(held))


def _may_cost_in(schema: object, scope: _Scope) -> int:
    """The tokens of a schema that the text leaves out, as it would be written; 0 for anything else."""
    fields = fields_of(schema)
    if not fields:
        return 0
    resolved, inner = scope.apart().follow(fields)
    return most_tokens(f"{_write_heading(resolved)}{_write_type(resolved, inner, DEEPEST // 2)}")


_EXAMPLE = 5
"""What stands around an example in openai/harmony, which writes each as a comment."""
_BY_NAME = frozenset(["patternProperties", "dependentSchemas"])
_OF_SCHEMAS = frozenset(["allOf", "prefixItems", "not", "if", "then", "else", "contains", "propertyNames"])
"""Keywords that hold schemas."""


def _count_repeated(schema: Schema) -> int:
    """The tokens of a description that was repeated for each of several types until the end of 2025.

    8 recordings of 2 repositories, all with two types; the same request cost the text once in August 2026.
    """
    kinds, description = schema.get("type"), schema.get("description")
    if not isinstance(kinds, list) or not isinstance(description, str):
        return 0
    return len(cast("list[object]", kinds)) * (len(description.encode(errors="replace")) // 3 + 2)
