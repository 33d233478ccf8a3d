"""Reads tool definitions in the dicts of all providers.

An API whose definitions have another form has a `read_tool` in the `tools.py` of its dialect's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from assembler.regions.tools.hosted import read_hosted
from assembler.regions.tools.reading import Reading
from assembler.regions.tools.refusal import kind_of, shown, tool_error
from budgets.lazy_names import FromFolders

Definition: TypeAlias = Mapping[str, object]

# The word for the schema: OpenAI and Gemini · Anthropic · MCP and Bedrock · Gemini, in both of its cases.
SCHEMA_WORDS = ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "parametersJsonSchema")


def read_definition(tool: object) -> tuple[Reading, ...] | None:
    """Read a dict of OpenAI (nested or flat), Anthropic, MCP, Bedrock (`toolSpec`) or Gemini (a list of declarations).

    A tool that a provider defines (web search, code execution, computer use, bash) has no schema and is only for its
    own API. A definition without the usual name and schema is tried by the readers in the folders of dialects. Returns
    None for anything but a dict.
    """
    if not isinstance(tool, Mapping):
        return None
    definition = cast("Definition", tool)
    for word, read in _WRAPPED.items():
        if definition.get(word) is not None:
            return read(definition, word)
    if "name" not in definition or _OF_FUNCTIONS.isdisjoint(definition):
        for read_own in _OF_DIALECTS.values():
            if (own := read_own(definition)) is not None:
                return own
    hosted = read_hosted(definition)
    return (_read_flat(definition) if hosted is None else hosted,)


def _read_nested(definition: Definition, word: str) -> tuple[Reading, ...]:
    """Read `{"type": "function", "function": {…}}` or `{"toolSpec": {…}}`. Keys beside the inner dict are extra too."""
    inner = definition[word]
    if not isinstance(inner, Mapping):
        raise tool_error(f"{word} holds {kind_of(inner)}, not a dict")
    reading = _read_flat(cast("Definition", inner))
    others = {key: value for key, value in definition.items() if key not in {word, "type"} and value is not None}
    if twice := sorted(shown(key) for key in others.keys() & reading.extra.keys()):
        raise tool_error(f"{twice[0]} is given twice, inside and next to {word}", tool=reading.name)
    return (Reading(reading.name, reading.description, reading.parameters, {**reading.extra, **others}),)


def _read_declarations(definition: Definition, word: str) -> tuple[Reading, ...]:
    """Read Gemini's list of declarations, and Google's own tools beside it."""
    declarations = definition[word]
    if not isinstance(declarations, list | tuple):
        raise tool_error(f"{word} holds {kind_of(declarations)}, not a list")
    others = {key: value for key, value in definition.items() if key != word and value is not None}
    hosted = (read_hosted({key: value}) for key, value in others.items())
    declared = tuple(_read_declaration(each) for each in cast("list[object]", declarations))
    return (*declared, *(reading for reading in hosted if reading is not None))


def _read_declaration(declaration: object) -> Reading:
    if not isinstance(declaration, Mapping):
        raise tool_error(f"a function declaration is {kind_of(declaration)}, not a dict")
    return _read_flat(cast("Definition", declaration))


def _read_flat(definition: Definition) -> Reading:
    name = definition.get("name")
    if name is None:
        raise tool_error(f"a definition without a name (its keys: {_name_keys(definition)})")
    given = [word for word in SCHEMA_WORDS if definition.get(word) is not None]
    if len(given) > 1:
        raise tool_error(f"two schemas, {given[0]} and {given[1]}; keep one", tool=name)
    read = {"name", "description", *SCHEMA_WORDS}
    extra = {
        key: value for key, value in definition.items() if key not in read and (key, value) != ("type", "function")
    }
    return Reading(name, definition.get("description"), _find_schema(definition, given), extra)


def _find_schema(definition: Definition, given: list[str]) -> object:
    schema = definition[given[0]] if given else None
    if not isinstance(schema, Mapping):
        return schema
    words = cast("Definition", schema)
    return words["json"] if [*words] == ["json"] else words  # Bedrock's inputSchema is a one-of with one member


def _name_keys(definition: Mapping[Any, object]) -> str:
    # Five are enough to recognise it by.
    return ", ".join(shown(key) for key in list(definition)[:5]) or "none"


_OF_FUNCTIONS = frozenset(SCHEMA_WORDS)
_OF_DIALECTS: Mapping[str, Callable[[Definition], tuple[Reading, ...] | None]] = FromFolders(
    "assembler.dialects", "tools", "read_tool"
)

_WRAPPED: dict[str, Callable[[Definition, str], tuple[Reading, ...]]] = {
    "function": _read_nested,  # OpenAI Chat, Mistral
    "toolSpec": _read_nested,
    "function_declarations": _read_declarations,
    "functionDeclarations": _read_declarations,
}
