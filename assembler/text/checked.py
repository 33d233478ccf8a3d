"""Checks that a text is a `str` that UTF-8 can carry."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.errors import MarkupError
from budgets.errors import lone_surrogate, named_type


def checked_text(value: object, *, field: str) -> str:
    """The text of `value` as an exact `str`. Raises `MarkupError` naming `field` and the offset.

    A `str` subclass, and an object with `__html__`, is ordinary text: no type is trusted to be safe markup. A lone
    surrogate is refused, since it cannot be sent to any provider. O(1) for ASCII, else O(characters).
    """
    if type(value) is str:
        text = value
    elif isinstance(value, str):
        text = str.__str__(value)
    elif _read_attribute(value, "__html__") is not None:
        text = _print_value(value, field=field)
    else:
        raise MarkupError(
            f"{field}: expected text (str), got {type(value).__name__}; {_advise_instead(value, field)}", field=field
        )
    if not text.isascii():
        refuse_surrogates(text, field=field)
    return text


def _advise_instead(value: object, field: str) -> str:
    """Advice on what to pass instead of an object with one text, or several."""
    if isinstance(value, list | tuple):
        appends = field.startswith("knowledge")
        return f"pass one text; for several, {'call it once for each, or ' if appends else ''}join them"
    if isinstance(value, Mapping):
        return "pass the text in it"
    names = (name for name in ("page_content", "text", "content") if isinstance(_read_attribute(value, name), str))
    name = next(names, None)
    return "pass a str" if name is None else f"pass its .{name}"


def _read_attribute(value: object, name: str) -> object:
    try:
        return getattr(value, name, None)
    except Exception:  # an object's own property can raise anything
        return None


def _print_value(value: object, *, field: str) -> str:
    """`str(value)` as an exact `str`: it may be a subclass with methods that cannot be trusted."""
    try:
        return str.__str__(str(value))
    except Exception as error:
        problem = type(error).__name__
    raise MarkupError(f"{field}: {named_type(value)} raised {problem} when asked for its text", field=field)


def refuse_surrogates(text: str, *, field: str) -> None:
    """Raise `MarkupError` with the offset of the first lone surrogate, if there is one."""
    if (start := lone_surrogate(text)) is not None:
        raise MarkupError(
            f"{field}: lone surrogate U+{ord(text[start]):04X} at character {start}, "
            "which UTF-8 cannot carry; decode the text with errors='replace'",
            field=field,
            offset=start,
        )
