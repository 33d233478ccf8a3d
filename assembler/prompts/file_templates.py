"""Prepares the text of a prompt file as a template: removes comments, and puts variables into tags."""

from __future__ import annotations

import re

from assembler.errors import PromptError
from assembler.prompts.prompt import Prompt
from assembler.prompts.variables import SUPPORTED_INPUT_VARIABLES
from assembler.validation import must_be

_COMMENT = re.compile(r"^[ \t]*+#[^\n]*+(?:\n|\Z)", re.MULTILINE)
_NAMES = "|".join(sorted(SUPPORTED_INPUT_VARIABLES, key=len, reverse=True))
_VARIABLE = re.compile(rf"\{{\{{|\}}\}}|\{{({_NAMES})\}}")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^\W\d]\w*)\}")
_EXPRESSION = re.compile(rf"\{{\{{-?\s*+({_NAMES})\s*+-?\}}\}}")

_NEAR = 80
"""The characters before a variable in which its tag is searched, including blanks."""


def without_comments(text: str) -> Prompt:
    """Remove comments: lines whose first character, after any blanks, is `#`. O(characters).

    Headlines of Markdown are such lines too, so do not use it on a Markdown file. A `Prompt` keeps its name and source.
    Raises PromptError if `text` is not a text, and for a rendered prompt, in which a line may come from a value.
    """
    return _replace_text(text, _COMMENT.sub("", _read_template(text)))


def with_tags(text: str) -> Prompt:
    """Put a tag around each supported variable: `{question}` becomes `<question> {question} </question>`.

    `PromptFormatter` can then turn a prompt that was written without tags into messages. If the template has no
    f-string variable, Jinja's `{{ question }}` is wrapped. A variable inside its own tag is not changed. O(characters).
    Raises PromptError as `without_comments` does.
    """
    plain = _read_template(text)
    placeholders = any(found[1] for found in _PLACEHOLDER.finditer(plain))
    pattern = _VARIABLE if placeholders else _EXPRESSION
    return _replace_text(text, pattern.sub(lambda found: _add_tags(found, plain), plain))


def _add_tags(found: re.Match[str], text: str) -> str:
    name = found[1]
    if name is None:
        return found[0]
    before = text[max(0, found.start() - _NEAR) : found.start()]
    inside = before.rstrip().lower().endswith(f"<{name}>")
    return found[0] if inside else f"<{name}> {found[0]} </{name}>"


def _read_template(text: str) -> str:
    must_be("text", text, (str,), "the text of a template (str)", PromptError)
    if isinstance(text, Prompt) and text.values:
        raise PromptError("this prompt was rendered already: prepare the template, before its values are filled in")
    return str.__str__(text)


def _replace_text(text: str, changed: str) -> Prompt:
    return Prompt(changed, name=text.name, source=text.source) if isinstance(text, Prompt) else Prompt(changed)
