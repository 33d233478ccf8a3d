"""Documents, and the tag in which they are sent."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, cast

import attrs

from assembler.errors import MarkupError
from assembler.text.checked import checked_text
from assembler.validation import name_of_value, offers, wrong
from budgets import BudgetError
from budgets.errors import OfTheCaller, named_type
from budgets.lazy_patterns import compile_later
from budgets.value import Value

SEPARATOR = "\n\n"
"""Separates the instruction from the tags, and the tags from each other. Token counts add at this seam."""

# Everything that is not a Char of XML 1.0 (Fifth Edition), section 2.2, production [2].
_NOT_XML = compile_later("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

TEXT_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Line breaks and tabs are escaped too: a parser turns them into blanks in an attribute (XML 1.0, section 3.3.3).
_ATTRIBUTE_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


@attrs.frozen(eq=False, repr=False)
class Document(Value):
    """One piece of knowledge: its text, its type, its source, and whether it is trusted.

    `score`, `embedding` and `metadata` are for strategies that choose among documents; the tag does not show them.
    """

    text: str = attrs.field(repr=False)
    type: str
    trusted: bool = False
    source: str | None = None
    score: float | None = None
    embedding: Sequence[float] | None = attrs.field(default=None, repr=False, eq=False)
    metadata: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    provenance: str | None = attrs.field(default=None, eq=False, repr=False)
    """The prompt from which the text was rendered, for the report. The tag does not show it."""

    @property
    def shown(self) -> str | None:
        """Its name in reports, or None."""
        return self.source or self.provenance

    def tag(self) -> str:
        """The document in its tag."""
        origin = "" if self.source is None else f' source="{self.source.translate(_ATTRIBUTE_ESCAPES)}"'
        kind, trusted = self.type.translate(_ATTRIBUTE_ESCAPES), "true" if self.trusted else "false"
        return f'<context type="{kind}"{origin} trusted="{trusted}">\n{self.text.translate(TEXT_ESCAPES)}\n</context>'


def provenance(value: object) -> str | None:
    """The name or source of a rendered `Prompt`, or both, in one line; None for any other text."""
    if type(value) is str or not isinstance(value, str):
        return None
    from assembler.prompts.prompt import Prompt  # already loaded if `value` is a `Prompt`

    if not isinstance(value, Prompt):
        return None
    known = dict.fromkeys(str(part) for part in (value.name, value.source) if part)
    return " ".join(", ".join(known).split()) or None


def document(
    text: object,
    *,
    type: object,
    trusted: object = False,
    source: object = None,
    score: float | None = None,
    embedding: Sequence[float] | None = None,
    metadata: Mapping[str, Any] | None = None,
    place: str = "knowledge",
) -> Document:
    """A document whose tag is well-formed, whatever its text. Raises `MarkupError`, which names the field.

    Raises `BudgetError` for a `score`, `embedding` or `metadata` of a wrong type, which the tag does not show. The
    numbers of `embedding` are checked when they are compared.
    """
    word: object = type.value if isinstance(type, Enum) else type
    kind = _check_text(word, field=f"{place}.type")
    if not kind:
        raise MarkupError(f"{place}.type: expected a word such as 'rag' or 'entity', got ''", field=f"{place}.type")
    return Document(
        text=_check_text(text, field=f"{place}.text"),
        type=kind,
        trusted=_read_flag(trusted, field=f"{place}.trusted"),
        source=None if source is None else _check_text(source, field=f"{place}.source"),
        score=_read_score(score, field=f"{place}.score"),
        embedding=_read_vector(embedding, field=f"{place}.embedding"),
        metadata=_read_mapping(metadata, field=f"{place}.metadata"),
        provenance=provenance(text),
    )


def xml_tag(text: str, *, type: str | Enum, trusted: bool = False, source: str | None = None) -> str:
    """`text` inside `<context type source trusted>`. An XML parser reads back the same text, with folded line breaks.

    Raises `MarkupError` for a character that XML cannot carry, and for a `trusted` that is not a bool.
    """
    return document(text, type=type, trusted=trusted, source=source).tag()


def _check_text(value: object, *, field: str) -> str:
    text = checked_text(value, field=field)
    if bad := _NOT_XML.search(text):
        raise MarkupError(
            f"{field}: character U+{ord(bad[0]):04X} at offset {bad.start()} cannot be carried by XML 1.0; "
            "remove it or replace it with U+FFFD",
            field=field,
            offset=bad.start(),
        )
    return text


def _read_flag(value: object, *, field: str) -> bool:
    if value is True or value is False:
        return value
    raise MarkupError(f"{field}: expected True or False, got {type(value).__name__}", field=field)


def _read_score(value: object, *, field: str) -> float | None:
    """A score: an int or a float unchanged, any other number as a float."""
    if value is None:
        return None
    try:
        # float() accepts bools and texts, which are not scores. numpy's bool is recognised by name.
        foreign = isinstance(value, str | bytes) or type(value).__name__ in ("bool", "bool_")
        number = math.nan if foreign else float(cast(float, value))
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = value if isinstance(value, float) else name_of_value(value)
        step = "; pass float(score)" if isinstance(value, str) else ""
        raise BudgetError(f"{field}: expected a finite number or None, got {shown}{step}")
    return value if isinstance(value, int | float) else number


def _read_vector(value: object, *, field: str) -> Sequence[float] | None:
    if value is None:
        return None
    given: object = value
    if not offers(given, "__len__", "__getitem__") or isinstance(given, str | bytes | Mapping):
        raise BudgetError(wrong(field, "a list of numbers or None", value))
    if isinstance(given, list) and type(cast("object", given)) is not list:
        with OfTheCaller(field, BudgetError):
            given = [*iter(cast("list[float]", given))]  # a subclass may have any `__len__`
    with OfTheCaller(field, BudgetError):
        _must_begin_with_number(cast("Sequence[object]", given), field)
    return cast("Sequence[float]", given)


def _must_begin_with_number(vector: Sequence[object], field: str) -> None:
    """Raise `BudgetError` unless a vector is empty or begins with a number. O(1)."""
    try:
        first = vector[0] if len(vector) else 0.0
    except (TypeError, LookupError):  # what has no items is refused where vectors are compared
        return
    is_text = isinstance(first, str | bytes)
    if not is_text:
        with contextlib.suppress(TypeError, ValueError, OverflowError, RuntimeError):  # the last for a tensor
            float(cast(float, first))
            return
    several = offers(first, "__len__") and not is_text
    step = "; of several vectors pass the one of this document" if several else ""
    raise BudgetError(
        f"{field}: expected a list of numbers or None, got one that begins with {named_type(first)}{step}"
    )


def _read_mapping(value: object, *, field: str) -> Mapping[str, Any] | None:
    """A copy, since the caller may fill one dict anew for each document."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise BudgetError(wrong(field, "a mapping (dict) or None", value))
    with OfTheCaller(field, BudgetError):
        return dict(cast("Mapping[str, Any]", value).items())
