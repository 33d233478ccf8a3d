"""The rules of shape for every API: right types, known roles and parts, nothing that JSON cannot carry."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs

from assembler.verify.checker import is_known
from assembler.verify.place import Place, is_object
from assembler.verify.violation import Rule, Violation, shown

S1 = Rule("S1", "every value has the type that the dialect names, and every required key is there")
S2 = Rule("S2", "the request is plain JSON: no NaN, no lone surrogate, no key that is not a string, no cycle")
S3 = Rule("S3", "every role is one that the dialect knows")
S4 = Rule("S4", "every part, block, item or tool is of a type that the dialect knows")
RULES = (S1, S2, S3, S4)


@attrs.frozen
class Kind:
    """A JSON type or several, with a name for problems."""

    name: str
    types: tuple[type, ...]


TEXT = Kind("a string", (str,))
OBJECT = Kind("an object", (dict,))
LIST = Kind("a list", (list, tuple))
TEXT_OR_LIST = Kind("a string or a list", (str, list, tuple))
TEXT_OR_OBJECT = Kind("a string or an object", (str, dict))

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    tuple: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
}


def name_of_value(value: object) -> str:
    """The name of a value's type, for a problem that must not quote the value."""
    if value is None:
        return "nothing"
    return _NAMES.get(type(value)) or f"a {type(value).__name__}"


def must_be(place: Place, kind: Kind) -> Iterator[Violation]:
    """S1 unless the value is of this kind."""
    if not isinstance(place.value, kind.types):
        yield S1.broken(place.path, f"{kind.name} is required here, found {name_of_value(place.value)}")


def may_be(place: Place, kind: Kind) -> Iterator[Violation]:
    """S1 if there is a value of another kind."""
    if not place.absent:
        yield from must_be(place, kind)


def items_must_be(place: Place, kind: Kind) -> Iterator[Violation]:
    """S1 for each item of a list that is not of this kind."""
    for item in place.each():
        yield from must_be(item, kind)


def must_be_list(place: Place, kind: Kind) -> Iterator[Violation]:
    """S1 unless there is a list whose items are of this kind."""
    yield from must_be(place, LIST)
    yield from items_must_be(place, kind)


def may_be_list(place: Place, kind: Kind) -> Iterator[Violation]:
    """S1 if there is a value that is not a list of this kind."""
    if not place.absent:
        yield from must_be_list(place, kind)


def must_be_one_of(place: Place, known: Collection[str], rule: Rule, noun: str) -> Iterator[Violation]:
    """The rule's violation unless the value is a known word, or S1 if it is not a text."""
    if place.text is None:
        yield from must_be(place, TEXT)
    elif place.text not in known:
        yield rule.broken(place.path, f"{noun} {shown(place.text)} is not one of {', '.join(sorted(known))}")


def must_be_of_a_kind(place: Place, known: Collection[str], noun: str) -> Iterator[Violation]:
    """S4 unless this API has the type: a fault for another API's type, a note for an unknown type."""
    if place.text is None or place.text in known or is_known(place.text):
        yield from must_be_one_of(place, known, S4, noun)
    else:
        yield S4.unknown(place.path, f"{noun} {shown(place.text)} is not known to these rules")


def typed_parts(content: Place, known: Collection[str]) -> Iterator[Violation]:
    """Check a list of parts with a `type`: each is an object of a known type, and a text part has a text."""
    yield from items_must_be(content, OBJECT)
    for part in content.objects():
        yield from must_be_of_a_kind(part.at("type"), known, "type")
        if part.at("type").text in TEXT_TYPES:
            yield from must_be(part.at("text"), TEXT)


TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
"""The types of parts whose whole content is their `text`."""


def one_member(place: Place, known: Collection[str], noun: str) -> Iterator[Violation]:
    """S1 or S4 unless an object is a union with exactly one known member set."""
    if not is_object(place.value):
        yield from must_be(place, OBJECT)
        return
    members = [key for key in place.filled_keys if key in known]
    if len(members) == 1:
        return
    if members:
        yield S1.broken(place.path, f"{noun} must hold exactly one of its members, found {', '.join(members)}")
    elif place.filled_keys and not any(map(is_known, place.filled_keys)):
        yield S4.unknown(place.path, f"{noun} with members that these rules do not know")
    else:
        yield S4.broken(place.path, f"{noun} holds none of {', '.join(sorted(known))}")
