"""Writes tools, calls and responses as Gemini 2.5 and 3 are shown them, so that they can be counted.

2.5 is shown a tool as a function in Python, 3 the marked text of FunctionGemma's open template. Recorded bills are
explained to the token by that. Of some keywords no recording shows the text: a declaration with one of these is priced
by its elements, in `assembler.dialects.gemini.schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from assembler.dialects.prices.tool_schemas import Repeats, most_tokens
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, fields_of, items_of
from budgets.count import Tokens

DEEPEST: Final = 30
"""The depth of nested schemas that is written."""

_UNRECORDED = frozenset({"oneOf", "allOf", "prefixItems", "patternProperties", "not", "if"})
_READ = frozenset(
    {
        *("type", "properties", "required", "description", "items", "enum", "title", "anyOf", "$ref", "default"),
        *("$defs", "definitions", "additionalProperties", "format", "nullable"),
        *("propertyOrdering", "property_ordering"),
    }
)
"""Keywords that are written, or cost nothing. Any other one is in the bound with its value."""
_NESTED_SLACK: Tokens = 8
"""For each object inside a schema: five were recorded, of three projects."""
_RARE_SLACK: Tokens = 4
"""For each list of values or alternatives, and each default: few were recorded."""


@attrs.frozen
class Declared:
    """A declaration as it is shown: stretches of text with control tokens between them."""

    stretches: Sequence[str]
    marks: Tokens
    """The number of control tokens."""
    unsettled: Tokens
    """What its rare keywords may cost more."""


class _UnwrittenError(Exception):
    """A schema of which no recording shows how it is written."""


class Form:
    """How a generation is shown tools, calls and responses. Of this one nothing is known, so words are billed."""

    def declaration(self, tool: Tool) -> Declared | None:
        """The declaration as the model is shown it; None for one that no recording shows. O(the text)."""
        try:
            return self._declare(tool, _Walk.of(tool))
        except _UnwrittenError:
            return None

    def _declare(self, tool: Tool, walk: _Walk) -> Declared | None:
        return None

    def call(self, name: str, arguments: object) -> str | None:
        """A call as the model is shown it; None for one that no recording shows."""
        return None

    def response(self, name: str, response: object) -> str | None:
        """A response as the model is shown it; None if no recording shows one."""
        return None


class Python(Form):
    """Gemini 2.5: a function in Python, a dataclass for each nested object, and calls of that function."""

    def _declare(self, tool: Tool, walk: _Walk) -> Declared | None:
        return Declared([_write_function(tool, walk)], 0, walk.unsettled)

    def call(self, name: str, arguments: object) -> str | None:
        """None for nested arguments, which no recording has."""
        given = fields_of(arguments)
        if given is None or not all(value is None or isinstance(value, str | int | float) for value in given.values()):
            return None
        written = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
        return f"print(default_api.{name}({', '.join(written)}))"

    def response(self, name: str, response: object) -> str | None:
        """JSON whose apostrophes are escaped (5 recordings of 2 projects)."""
        written = json.dumps(response, ensure_ascii=False, default=str).replace("'", "\\'")
        return f'{{"{name}_response": {written}}}'


class Marked(Form):
    """Gemini 3: the marked text of FunctionGemma's open template."""

    def _declare(self, tool: Tool, walk: _Walk) -> Declared | None:
        stretches = f"{_MARK}{_write_marked(tool, walk)}{_MARK}".split(_MARK)
        return Declared(stretches, len(stretches) - 1, walk.unsettled)


FORMS: Mapping[str, Form] = {"python": Python(), "marked": Marked()}
"""By their names in `families.toml`."""


@attrs.define
class _Walk:
    """Reads the schemas of one tool, and sums what its rare keywords may cost more."""

    definitions: Mapping[str, Any]
    unsettled: Tokens = 0
    seen: set[str] = attrs.field(factory=set[str])
    repeats: Repeats = attrs.field(factory=Repeats)
    classes: list[str] = attrs.field(factory=list[str])
    """The dataclasses of a function in Python, each after those that it names."""

    @classmethod
    def of(cls, tool: Tool) -> _Walk:
        return cls({**fields_in(tool.parameters, "definitions"), **fields_in(tool.parameters, "$defs")})

    def read(self, given: object, inside: _Inside) -> tuple[Mapping[str, Any], _Inside]:
        """A schema without a reference, and what it is in. Raises for one that refers to itself or is not recorded."""
        schema = fields_in(given)
        while isinstance(reference := schema.get("$ref"), str):
            name = reference.rsplit("/", 1)[-1]
            definition = fields_in(self.definitions, name)
            again = name in self.seen and not self.repeats.taken(name, definition)
            if name in inside or not definition or again:
                raise _UnwrittenError
            self.seen.add(name)
            schema, inside = _follow(schema, definition), (*inside, name)
        is_recorded = _UNRECORDED.isdisjoint(schema) and fields_of(schema.get("additionalProperties")) is None
        if len(inside) > DEEPEST or not is_recorded:
            raise _UnwrittenError
        self.unsettled += sum(5 + most_tokens(_write_scalar(schema[key])) for key in schema.keys() - _READ)
        return schema, inside

    def find_description(self, given: object) -> str:
        """The description of a schema that was read, which may be that of a definition."""
        schema = fields_in(given)
        while isinstance(reference := schema.get("$ref"), str):
            schema = _follow(schema, fields_in(self.definitions, reference.rsplit("/", 1)[-1]))
        description: object = schema.get("description")
        return description if isinstance(description, str) else ""


_Inside: TypeAlias = tuple[str, ...]
"""The schemas that one is nested in: the names of definitions, and "" for others."""


def _follow(reference: Mapping[str, Any], definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """A definition with the keywords that stand beside the reference to it."""
    beside = {key: value for key, value in reference.items() if key != "$ref"}
    return {**definition, **beside} if beside else definition


def _write_scalar(value: object) -> str:
    """A value of a keyword as Python writes it. Raises for one that may be deep."""
    if value is not None and not isinstance(value, str | bool | int | float):
        raise _UnwrittenError
    return repr(value)


_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict"}
_INDENT = "    "


def _write_function(tool: Tool, walk: _Walk) -> str:
    """The function, after the dataclasses of its nested objects."""
    root, inside = walk.read(tool.parameters, ())
    arguments = [f"{_INDENT}{written},\n" for written in _write_fields(root, tool.name, inside, walk)]
    about = _write_about(tool.description, "Args", root, walk)
    return "".join([*walk.classes, f"def {tool.name}(\n", *arguments, ") -> dict:\n", about])


def _write_class(schema: Mapping[str, Any], path: str, inside: _Inside, walk: _Walk) -> str:
    """Write a dataclass for a nested object. Returns its name."""
    name = "".join(word[:1].upper() + word[1:] for word in _NO_WORD.split(path))
    walk.unsettled += _NESTED_SLACK
    attributes = [f"{_INDENT}{written}\n" for written in _write_fields(schema, path, inside, walk)]
    about = _write_about(walk.find_description(schema), "Attributes", schema, walk)
    walk.classes.append("".join(["@dataclasses.dataclass(kw_only=True)\n", f"class {name}:\n", about, *attributes]))
    return name


_NO_WORD = re.compile(r"[^A-Za-z0-9]+")


def _write_fields(schema: Mapping[str, Any], path: str, inside: _Inside, walk: _Walk) -> Iterator[str]:
    required = {key for key in items_of(schema.get("required")) if isinstance(key, str)}
    for key, held in fields_in(schema, "properties").items():
        written = f"{key}: {_write_type(held, f'{path}_{key}', inside, walk)}"
        default: object = fields_in(held).get("default")
        if "default" in fields_in(held):
            walk.unsettled += _RARE_SLACK
        has_default = key not in required or "default" in fields_in(held)
        yield f"{written} | None = {_write_scalar(default)}" if has_default else written


def _write_type(given: object, path: str, inside: _Inside, walk: _Walk) -> str:
    """A schema as a type of Python. One that may be null is written without it."""
    schema, inside = walk.read(given, (*inside, ""))
    if values := items_of(schema.get("enum")):
        walk.unsettled += _RARE_SLACK
        return f"Literal[{', '.join(map(_write_scalar, values))}]"
    named: object = schema.get("type")
    choices: list[object] = [option for option in items_of(schema.get("anyOf")) if not _is_null(option)]
    choices += [{**schema, "type": one} for one in items_of(named) if one != "null"]
    if choices:
        walk.unsettled += _RARE_SLACK
        return " | ".join(_write_type(choice, path, inside, walk) for choice in choices)
    kind = str(named).lower()
    if kind == "array":
        walk.unsettled += _RARE_SLACK
        return f"list[{_write_type(schema['items'], path, inside, walk)}]" if "items" in schema else "list"
    if kind == "object" and fields_in(schema, "properties"):
        return _write_class(schema, path, inside, walk)
    return _TYPES.get(kind, "Any")


def _is_null(schema: object) -> bool:
    return fields_in(schema).get("type") == "null"


def _write_about(description: str, heading: str, schema: Mapping[str, Any], walk: _Walk) -> str:
    """A docstring of a description and the properties of a schema."""
    properties = fields_in(schema, "properties").items()
    listed = [f"{_INDENT}{key}: {walk.find_description(held)}" for key, held in properties]
    lines = "\n".join([f'"""{description}', "", f"{heading}:", *listed, '"""']).split("\n")
    return "".join(f"{_INDENT}{line}\n" if line.strip() else "\n" for line in lines)


_MARK = "\x00"
"""Stands for a control token: no text of a tool has this character, which JSON escapes."""


def _write_marked(tool: Tool, walk: _Walk) -> str:
    """The declaration between its own two marks, with one before and behind each value."""
    written = [f"description:{_quote(tool.description)}"] if tool.description else []
    if tool.parameters:
        written.append(f"parameters:{_write_marked_schema(tool.parameters, (), walk)}")
    return f"declaration:{tool.name}{_join(written)}"


def _write_marked_schema(given: object, inside: _Inside, walk: _Walk) -> str:
    schema, inside = walk.read(given, (*inside, ""))
    written: list[str] = []
    if description := walk.find_description(schema):
        written.append(f"description:{_quote(description)}")
    if values := items_of(schema.get("enum")):
        walk.unsettled += _RARE_SLACK
        written.append(f"enum:[{_list(map(str, values))}]")
    if fields_of(schema.get("items")) is not None:
        walk.unsettled += _RARE_SLACK
        written.append(f"items:{_write_marked_schema(schema['items'], inside, walk)}")
    if properties := fields_in(schema, "properties"):
        walk.unsettled += _NESTED_SLACK if len(inside) > 1 else 0
        each = [f"{key}:{_write_marked_schema(held, inside, walk)}" for key, held in properties.items()]
        written.append(f"properties:{_join(each)}")
    if required := [key for key in items_of(schema.get("required")) if isinstance(key, str)]:
        written.append(f"required:[{_list(required)}]")
    if isinstance(title := schema.get("title"), str):
        written.append(f"title:{_quote(title)}")
    named: object = schema.get("type")
    if isinstance(named, list) or "anyOf" in schema:
        raise _UnwrittenError
    return _join([*written, f"type:{_quote(str(named or 'object').upper())}"])


def _quote(text: str) -> str:
    return f"{_MARK}{text}{_MARK}"


def _list(texts: Iterable[str]) -> str:
    return ",".join(map(_quote, texts))


def _join(written: Sequence[str]) -> str:
    return f"{{{','.join(written)}}}"
