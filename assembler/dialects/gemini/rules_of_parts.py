"""The shape of Gemini's contents, parts and tools, in both spellings."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import attrs

from assembler.verify import shape
from assembler.verify.checker import is_known
from assembler.verify.definitions import T1, T3, Definition, Legal, empty_tools, wrong_definitions, wrong_name
from assembler.verify.place import Place, is_list, is_object
from assembler.verify.violation import Rule, Violation

_CONTENTS = shape.Kind("a string, an object or a list", (str, dict, list, tuple))

# The members of a part that are its data: google-genai 3.4.0, types.Part, read 2026-11.
_DATA = frozenset(
    {
        *("text", "inline_data", "file_data", "function_call", "function_response", "executable_code"),
        *("code_execution_result", "tool_call", "tool_response", "audio_transcription"),
    }
)

_BESIDE = frozenset(
    {
        *("thought", "thought_signature", "video_metadata", "media_resolution", "part_metadata", "media_processing"),
        *("audio_metadata", "document_metadata", "speech_metadata", "spreadsheet_metadata"),
    }
)
"""The members that describe the data of their part."""

_LEGAL = Legal(name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}\Z"))
"""Function names: kaitranntt/ccs#25 quotes the API."""


@attrs.frozen
class Content:
    """One content: its place, its role (by default the user's), its parts, and the calls and responses among them."""

    place: Place
    role: str
    parts: list[Place]
    calls: list[Place]
    responses: list[Place]


@functools.cache
def _to_camel_case(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word.capitalize() for word in rest)


_DATA_KEYS = _DATA | {_to_camel_case(key) for key in _DATA}
KINDS = _DATA_KEYS | _BESIDE | {_to_camel_case(key) for key in _BESIDE}
"""Every member of a part, in both forms."""


def value_under(place: Place, key: str) -> Place:
    """The value under a key in the SDK's or the wire's form."""
    return place.first(key, _to_camel_case(key))


def setting_under(request: Place, key: str) -> Place:
    """The value under a key of the request, or of the SDK's `config`."""
    here, there = value_under(request, key), value_under(request.at("config"), key)
    return there if here.absent and not there.absent else here


def wrong_contents(contents: Place) -> Iterator[Violation]:
    """S1 of the contents: a string, one content or a list of either; objects have parts."""
    yield from shape.must_be(contents, _CONTENTS)
    for place in _list_contents(contents):
        yield from shape.must_be(place, shape.TEXT_OR_OBJECT)
        if is_object(place.value) and place.size:
            yield from shape.may_be(place.at("role"), shape.TEXT)
            yield from _must_be_listed(place.at("parts"))


def _must_be_listed(place: Place) -> Iterator[Violation]:
    """S1 unless a value is a list. The REST API accepts one object in its place (62 recordings, read 2026-11)."""
    accepted = is_object(place.value)
    for found in shape.may_be(place, shape.LIST):
        yield found.as_accepted() if accepted else found


def _list_items(place: Place) -> list[Place]:
    return [place] if is_object(place.value) else place.each()


def _list_contents(contents: Place) -> list[Place]:
    if is_list(contents.value):
        return contents.each()
    return [] if contents.nothing else [contents]


def read_contents(contents: Place) -> list[Content]:
    """Read the contents as turns. A string is a user turn of one text, as in the SDK; S1 covers other values."""
    return [
        _read_place(place) for place in _list_contents(contents) if is_object(place.value) or place.text is not None
    ]


def _read_place(place: Place) -> Content:
    if place.text is not None:
        return Content(place, "user", [Place(place.path, {"text": place.text})], [], [])
    parts = _list_items(place.at("parts"))
    calls = [call for part in parts if not (call := value_under(part, "function_call")).absent]
    responses = [answer for part in parts if not (answer := value_under(part, "function_response")).absent]
    return Content(place, place.at("role").text or "user", parts, calls, responses)


def wrong_parts(content: Content, empty: Rule) -> Iterator[Violation]:
    """The faults of each part: no data, an empty text, a call or a response without its fields."""
    for part in content.parts:
        yield from shape.must_be(part, shape.OBJECT)
        # Gemini 3 may put its signature on an empty text, and wants both back.
        signed = not value_under(part, "thought_signature").absent
        if _DATA_KEYS.isdisjoint(part.filled_keys) and is_object(part.value) and not signed:
            new = part.filled_keys and not any(map(is_known, part.filled_keys))
            yield (
                empty.unknown(part.path, "a part with members that these rules do not know")
                if new
                else empty.broken(part.path, "a part without data")
            )
        yield from shape.may_be(part.at("text"), shape.TEXT)
        if part.at("text").text == "" and not signed:
            yield empty.broken(part.at("text").path, "an empty text")
    for call in content.calls:
        yield from wrong_name(call.at("name"), _LEGAL)
        yield from shape.may_be(call.at("args"), shape.OBJECT)
    for answer in content.responses:
        for found in wrong_name(answer.at("name"), _LEGAL):  # 112 recordings have the id of the call for a name
            yield found.as_accepted() if found.rule == T1.id else found
        yield from shape.must_be(answer.at("response"), shape.OBJECT)


def wrong_tools(request: Place) -> Iterator[Violation]:
    """The faults of the tools: an empty list, functions without name or schema, two schemas for one function."""
    tools = setting_under(request, "tools")
    yield from _wrong_list(tools)
    found: list[Definition] = []
    for tool in _list_items(tools):
        declared = value_under(tool, "function_declarations")
        yield from _wrong_list(declared)
        for function in _list_items(declared):
            if not is_object(function.value):
                continue
            schema, json_schema = function.at("parameters"), value_under(function, "parameters_json_schema")
            if not schema.absent and not json_schema.absent:
                yield T3.broken(
                    function.path, "both parameters and parameters_json_schema; one function has one schema"
                )
            found.append(Definition(function.at("name"), schema if json_schema.absent else json_schema))
    yield from wrong_definitions(found, _LEGAL)


def _wrong_list(tools: Place) -> Iterator[Violation]:
    yield from _must_be_listed(tools)
    yield from shape.items_must_be(tools, shape.OBJECT)
    yield from empty_tools(tools, _LEGAL)
