"""The facts of each API's messages and tools that the code for all APIs needs.

`SHAPE` in the `shape.py` of a dialect's folder declares them.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast

import attrs

from budgets.lazy_names import FromFolders


class MediaOfResults(enum.Enum):
    """Where an API takes the pictures and files of a tool's result."""

    INSIDE = "in the result"
    AFTER = "after the last result, since a result is a text"
    AFTER_OTHERS = "in the result if the message is in its own shape, else after the last result"


Known: TypeAlias = Mapping[str, "Known | None"]
"""The fields of a part that have a price or are free, and for those that hold more fields, what is known of these."""

PARTS: Known = {}
"""In place of what is known of a field's own fields: it holds a part, or a list of parts."""
UNSENT = "*"
"""Stands for all other fields of a part that the API is not sent."""
MESSAGE = "message"
"""The kind under which the fields of a message itself are known."""


def fields_named(names: str = "", **holders: Known) -> Known:
    """The fields with these names, and those that hold more fields."""
    return {**dict.fromkeys(names.split()), **holders}


def _recognise_none(_: Mapping[str, Any]) -> bool:
    return False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Shape:
    """The facts of one shape. Each has a default, which is that of an API about which nothing is known."""

    name: str
    """The `Message.shape`, `Opaque.api` and `Tool.api` of what is in this shape."""
    named_by: Literal["type", "key"] | None = None
    """What names the kind of a part, and of a tool of the provider. None if an unknown kind cannot be of this API."""
    accepts: tuple[str, ...] = ()
    """The other shapes whose parts and functions the API accepts unchanged."""
    accepts_tools: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict[str, tuple[str, ...]])
    """By shape of another API, the kinds of its provider's tools that this API has too."""
    system_parts: tuple[str, ...] | None = None
    """The kinds of parts, beside texts, that may stand in its system text; None if all that a message may hold."""
    sends_all: bool = False
    """Whether it sends every message as it came, so that no part is of another API."""
    shows_media: bool = True
    """Whether an assistant's message may hold the images and files of this API."""
    fields_of_answers: bool = False
    """Whether it has the further fields of an answer of Chat's: a refusal, audio, annotations. If not, their texts are
    sent as texts."""
    media_of_results: MediaOfResults = MediaOfResults.INSIDE
    call_id: Callable[[str], str] = str
    """How the API is sent a call id. Used for the texts that name the call of a moved picture."""
    failed_block: Callable[[str | None, str], dict[str, Any]] | None = None
    """A user message's block that answers a call, by its id, with an error's text; None if messages hold no blocks."""
    is_form_of: Callable[[Mapping[str, Any]], bool] = _recognise_none
    """Whether the definition of a function is in the form of this API."""
    tool_fields: tuple[str, ...] = ()
    """The priced fields of a function beside its name, description and schema."""
    tool_examples: str | None = None
    """The field of a function with examples of its calls. How they are shown to the model is not published."""
    known_fields: Mapping[str, Known] = attrs.field(factory=dict[str, Known])
    """By kind of part, the fields whose texts have a price or are free. Texts in all others are in the bound alone."""
    summary: str | None = None
    """The field with the text of a server's summary of the conversation; None if the server writes none."""
    summary_keeps_users: bool = False
    """Whether the user messages before such a summary are still read."""


_OF_NO_API = (Shape(name=""), Shape(name="plain", fields_of_answers=True, sends_all=True))
_OF_DIALECTS: Mapping[str, Shape] = FromFolders("assembler.dialects", "shape", "SHAPE")


class _Shapes(dict[str, Shape]):
    """The facts of every shape by its name; the defaults for one that is not declared."""

    def __missing__(self, name: str) -> Shape:
        all_shapes()  # each declares itself
        return self.setdefault(name, Shape(name=name))


SHAPES: Mapping[str, Shape] = _Shapes({shape.name: shape for shape in _OF_NO_API})
"""A dialect's own is there once the dialect is loaded. Those of all dialects are loaded for any other name."""


def declare_shape(shape: Shape) -> Shape:
    """Make the facts of a shape known under its name, and return them."""
    cast("dict[str, Shape]", SHAPES)[shape.name] = shape
    return shape


def all_shapes() -> list[Shape]:
    """The shapes of all dialects in the library. Loads them."""
    return [*_OF_DIALECTS.values()]
