"""Validated templates: the source system's interface to the two engines."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Literal, Self, TypeAlias, cast

import attrs

from assembler.errors import PromptError
from assembler.loggers import logger
from assembler.prompts.jinja import JinjaTemplate, jinja_template
from assembler.prompts.placeholders import Placeholders, placeholders
from assembler.prompts.prompt import Prompt
from assembler.prompts.values import PlainValue, plain_values
from assembler.prompts.variables import SUPPORTED_INPUT_VARIABLES
from assembler.validation import must_be
from budgets.errors import named_type
from budgets.numbers import as_whole_number

MAX_TEMPLATE_CHARACTERS = 1_048_576
"""The longest template: as many characters as `read_prompt` reads bytes."""
MAX_PROMPT_CHARACTERS = 4_194_304
"""The default limit of a rendered prompt: at four characters a token, a window of a million tokens."""

_log = logger("prompts")


class MissingVariableError(PromptError):
    """Variables have no value when the template is formatted. `missing` lists all of them, sorted."""

    def __init__(self, template: str, missing: tuple[str, ...]) -> None:
        self.missing = missing
        names = ", ".join(missing)
        super().__init__(f"template {template!r} needs a value for: {names}; pass each to format()", name=template)


@attrs.frozen
class ValidatedPromptTemplate:
    """A template whose variables are found at creation, and whose values stay text.

    `template_format` is "f-string" (`{question}`; `{{` is a literal brace) or "jinja2" (`{{ question }}`); by default
    the braces decide. Variables outside SUPPORTED_INPUT_VARIABLES are logged in one warning, by name. A template is the
    developer's code: never make one from a user's text. `max_characters` bounds the rendered prompt. Raises PromptError
    for a template that cannot be parsed, or that uses something that is not offered. Frozen; pickles.
    """

    name: str
    prompt_template: str = attrs.field(repr=False)
    template_format: Style | None = attrs.field(default=None, kw_only=True)
    max_characters: int = attrs.field(default=MAX_PROMPT_CHARACTERS, kw_only=True)
    _parsed: Placeholders | JinjaTemplate = attrs.field(init=False, repr=False, eq=False)
    _bound: Mapping[str, PlainValue] = attrs.field(init=False, factory=dict[str, "PlainValue"], repr=False, hash=False)

    def __attrs_post_init__(self) -> None:
        must_be("template's name", self.name, (str,), "a text (str)", PromptError)
        as_whole_number(self.max_characters, "max_characters")
        if not isinstance(cast(object, self.prompt_template), str):
            kind = type(self.prompt_template).__name__
            raise PromptError(f"template {self.name!r}: expected a text, got {kind}; pass a str", name=self.name)
        if len(self.prompt_template) > MAX_TEMPLATE_CHARACTERS:
            raise PromptError(
                f"template {self.name!r} has {len(self.prompt_template)} characters but "
                f"{MAX_TEMPLATE_CHARACTERS} is the limit: pass long texts as values",
                name=self.name,
            )
        source = str.__str__(self.prompt_template)
        given = self.template_format
        style: object = _find_style(source, template=self.name) if given is None else given
        if not isinstance(style, str) or style not in ("f-string", "jinja2"):
            shown = repr(style) if isinstance(style, str) else named_type(style)
            raise PromptError(
                f"template {self.name!r}: template_format is 'f-string' or 'jinja2', got {shown}", name=self.name
            )
        object.__setattr__(self, "template_format", style)
        parse = placeholders if style == "f-string" else jinja_template
        object.__setattr__(self, "_parsed", parse(source, template=self.name))
        unsupported = sorted(self._names.difference(SUPPORTED_INPUT_VARIABLES))
        if unsupported:
            _log.warning("prompt template %r: unsupported input variables: %s", self.name, ", ".join(unsupported))

    @property
    def template(self) -> str:
        """The template's text."""
        return str.__str__(self.prompt_template)

    @property
    def input_variables(self) -> list[str]:
        """The variables that `format` needs, sorted: neither bound nor optional."""
        return sorted(self._parsed.required.difference(self._bound))

    @property
    def optional_variables(self) -> list[str]:
        """The variables that a Jinja template does not need, since it tests them (`is defined`, `default`), sorted."""
        return sorted(self._parsed.optional.difference(self._bound))

    def partial(self, /, **values: object) -> Self:
        """The template with these values bound. `format` may still override them."""
        bound = copy.copy(self)
        object.__setattr__(bound, "_bound", {**self._bound, **plain_values(values, template=self.name)})
        return bound

    def format(self, /, **values: object) -> Prompt:
        """Fill in the values. The result knows which of its parts were values.

        Values are plain data. They are never read as a template, and no marker in a value becomes a tag. A list of
        messages under `history` is written as "User: …" and "AI: …". Values that the template does not use are ignored.
        Raises MissingVariableError with every missing name, and PromptError for other errors.
        """
        given = plain_values({name: values[name] for name in self._names if name in values}, template=self.name)
        known = {**{name: value for name, value in self._bound.items() if name in self._names}, **given}
        missing = tuple(sorted(self._parsed.required.difference(known)))
        if missing:
            raise MissingVariableError(self.name, missing)
        rendered = self._parsed.render(known, template=self.name, max_characters=self.max_characters)
        source = self.prompt_template.source if isinstance(self.prompt_template, Prompt) else None
        return Prompt("".join((rendered,)), name=self.name, source=source, values=rendered.values)

    @property
    def _names(self) -> frozenset[str]:
        return self._parsed.required | self._parsed.optional


Style: TypeAlias = Literal["f-string", "jinja2"]

# Both formats use `{{`: one to print a value, the other for a literal brace. These decide, in this order: a Jinja
# statement or comment; an f-string placeholder; a Jinja expression, which has a blank before or an operator after its
# first word, or is a supported variable's name. A template with placeholders of both kinds is refused.
_FIRST = r"""\w++|'[^'\n]*+'|"[^"\n]*+\"|(?<=\s)(?=[\[(])"""
"""The beginning of a Jinja expression: a name, a number, a text (in JSON a colon follows), or a blank and a bracket."""
_NEXT = r"\}\}|\s*+(?:[-+~*/%|.\[(<>=!}]|(?:if|in|is|and|or)\b)"
"""What may follow the first name of a Jinja expression: its end, an operator, a filter, an attribute, a word."""
_TOKENS = re.compile(
    rf"""(?P<statement>(?<!\{{)\{{[%\#])
      | (?P<expression>(?<!\{{)\{{\{{(?!\{{)[-+]?(?P<blank>\s*+)(?P<first>{_FIRST})(?P<rest>{_NEXT}))
      | (?P<escape>\{{\{{|\}}\}})
      | (?P<placeholder>\{{[^\W\d]\w*+\}})""",
    re.VERBOSE,
)


def _find_style(source: str, *, template: str) -> Style:
    """The format of a template. O(characters). Raises PromptError if it has both."""
    placeholder = spaced = named = False
    for token in _TOKENS.finditer(source):
        match token.lastgroup:
            case "statement":
                return "jinja2"
            case "placeholder":
                placeholder = True
            case "escape":
                pass
            case _:
                spaced = spaced or token["blank"] != "" or token["rest"] != "}}"
                named = named or token["first"] in SUPPORTED_INPUT_VARIABLES
    if placeholder and spaced:
        raise PromptError(
            f"template {template!r} has placeholders of both styles: pass template_format='f-string' or 'jinja2'",
            name=template,
        )
    return "jinja2" if not placeholder and (spaced or named) else "f-string"
