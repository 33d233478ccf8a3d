"""Reads the description and the parameters of a tool from a docstring in Google, NumPy or Sphinx style."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import attrs


@attrs.frozen
class Documented:
    """A parsed docstring: the prose, and the description of each parameter by name."""

    prose: str = attrs.field(repr=False)
    parameters: dict[str, str] = attrs.field(repr=False)


def own_docstring(owner: type) -> str:
    """The class's own docstring without indentation, never an inherited one."""
    docstring: object = owner.__doc__
    return inspect.cleandoc(docstring) if isinstance(docstring, str) else ""


def read_docstring(docstring: str | None) -> Documented:
    """The prose and parameters of a cleaned docstring, in the style of most of its section marks.

    Sections on results, errors and examples are left out, because they are for callers in Python. A docstring with only
    such sections is kept whole. A single line needs no parser and loads none.
    """
    text = (docstring or "").strip()
    if "\n" not in text:
        return Documented(text, {})
    sections = _split_sections(text)
    parameters = {item.name: " ".join(item.description.split()) for item in _find_items(sections)}
    prose = "\n\n".join(_find_prose(sections))
    return Documented(prose if prose or parameters else text, parameters)


def _split_sections(text: str) -> list[Any]:
    import griffe

    # Its warnings would put lines of the docstring into logs.
    quiet: Any = {style: {"warnings": False} for style in ("google", "numpy", "sphinx")}
    docstring = griffe.Docstring("")
    # Not passed to the constructor, which would clean it again and remove the indentation below the first line. Begins
    # with a line break, because the style is detected by section marks after one.
    docstring.value = "\n" + text
    return griffe.parse_auto(docstring, per_style_options=quiet)


def _find_items(sections: list[Any]) -> Iterator[Any]:
    for section in sections:
        if section.kind.value in {"parameters", "other parameters"}:
            yield from section.value


def _find_prose(sections: list[Any]) -> Iterator[str]:
    for section in sections:
        if section.kind.value == "text":
            yield section.value.strip()
        elif section.kind.value == "admonition":  # "Warning: …" is meant for every reader
            yield f"{section.title or section.value.kind.title()}: {section.value.contents.strip()}"
