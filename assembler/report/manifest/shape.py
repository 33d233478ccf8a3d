"""What a manifest looks like, field by field.

A field that this version does not know is let pass: it may come from a later one of the same format. What it knows
must be there and of its kind, or a replay would compare with nothing and name what never was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

import attrs

from assembler.validation import named

_SHA256 = re.compile("[0-9a-f]{64}")


@attrs.frozen
class Wrong:
    """One field that is not what it should be: its path, what was expected, and what was found, by type."""

    place: str
    expected: str
    found: str


class Shape(Protocol):
    """What a field must be."""

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """What is wrong with `value`, found lazily."""
        ...


@attrs.frozen
class One:
    """A value of one of these types; a bool is no number."""

    kinds: tuple[type, ...]
    expected: str
    pattern: re.Pattern[str] | None = None

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """The field, where it is none of them."""
        if isinstance(value, bool) or not isinstance(value, self.kinds):
            yield Wrong(place, self.expected, _kind(value))
        elif self.pattern is not None and isinstance(value, str) and not self.pattern.fullmatch(value):
            yield Wrong(place, self.expected, f"{len(value)} other characters")


@attrs.frozen
class Fields:
    """A mapping with these fields."""

    fields: Mapping[str, Shape]

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """Every field that is missing or wrong."""
        if not isinstance(value, Mapping):
            yield Wrong(place, "an object", _kind(value))
            return
        given = cast("Mapping[str, object]", value)
        for name, shape in self.fields.items():
            inner = f"{place}.{name}" if place else name
            if name not in given:
                yield Wrong(inner, "a field", "none")
            else:
                yield from shape.wrong(inner, given[name])


@attrs.frozen
class Each:
    """A list of these."""

    item: Shape

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """Every item that is wrong."""
        if not isinstance(value, list):
            yield Wrong(place, "a list", _kind(value))
            return
        for index, item in enumerate(cast("list[object]", value)):
            yield from self.item.wrong(f"{place}[{index}]", item)


@attrs.frozen
class Maybe:
    """One of these, or nothing."""

    item: Shape

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """What is wrong with something."""
        if value is not None:
            yield from self.item.wrong(place, value)


@attrs.frozen
class Anything:
    """A setting, described as its own type describes it."""

    def wrong(self, place: str, value: object) -> Iterator[Wrong]:
        """Whatever JSON has no word for."""
        if value is not None and not isinstance(value, bool | int | float | str | list | dict):
            yield Wrong(place, "plain data", _kind(value))


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {named(value)}"


_HASH = One((str,), "64 hexadecimal digits", _SHA256)
_TEXT = One((str,), "a text")
_NUMBER = One((int,), "a whole number")
_ANYTHING = Anything()
_HASHED = Fields({"sha256": _HASH})
_NAMED = {"id": _TEXT, "sha256": _HASH}

_BUDGET = Fields(
    {
        "model": Maybe(_TEXT),
        "limits": Fields({}),
        **dict.fromkeys(
            ("context_window", "max_output_tokens", "reasoning_tokens", "overhead", "safety_margin"), _NUMBER
        ),
        **dict.fromkeys(("least_output_tokens", "max_input_tokens"), Maybe(_NUMBER)),
    }
)

MANIFEST = Fields(
    {
        "items": Fields(
            {
                "instruction": Maybe(Fields({"sha256": _HASH, "characters": _NUMBER, "prompt": Maybe(_TEXT)})),
                "tools": Each(Fields(_NAMED)),
                "knowledge": Each(Fields(_NAMED)),
                "output": Maybe(_HASH),
                "choice": Maybe(_TEXT),
                "messages": Each(Fields({"id": _TEXT, "role": Maybe(_TEXT), "sha256": Maybe(_HASH)})),
            }
        ),
        "terms": Fields(
            {
                "dialect": Fields({"name": _TEXT, "sha256": _HASH}),
                "budget": Maybe(_BUDGET),
                "counter": _TEXT,
                "on_overflow": Each(_ANYTHING),
                "strategy": _ANYTHING,
                "cache_marks": _ANYTHING,
                "calibration": _ANYTHING,
            }
        ),
        "versions": Fields(
            {
                "context-assembler": Maybe(_TEXT),
                "engine": Maybe(Fields({"name": _TEXT, "version": Maybe(_TEXT)})),
                "vocabulary": Maybe(_TEXT),
            }
        ),
        "decision": Fields(
            {
                "tokens": _NUMBER,
                "upper": _NUMBER,
                "grade": _TEXT,
                "regions": Fields(
                    dict.fromkeys(("instruction", "capability", "knowledge", "conversation", "framing"), _NUMBER)
                ),
                "tools": Each(Fields({"id": _TEXT, "tokens": _NUMBER})),
                "knowledge": Each(Fields({"id": Maybe(_TEXT), "sha256": _HASH})),
                "messages": Each(Fields({"id": _TEXT, "outcome": _TEXT, "tokens": _NUMBER})),
                "summary": Maybe(_HASHED),
                "policies": Each(Fields({"policy": _TEXT, "saved": _NUMBER})),
            }
        ),
        "request": Fields({"sha256": _HASH, "bytes": _NUMBER}),
    }
)
"""What `manifest_of` writes; the tests hold the two against each other."""
