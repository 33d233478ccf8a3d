"""Writes prompts in a model's own format: the source system's `PromptFormatter`.

A chat template gets the tags of a prompt as messages. In every format the tags are removed. A chat template is code
that comes with the tokenizer: this library fetches none, and you should pin its revision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, cast

from assembler.errors import PromptError
from assembler.prompts.control_text import ControlTexts
from assembler.prompts.control_tokens import knows
from assembler.prompts.history import expand_history
from assembler.prompts.html import text_of
from assembler.prompts.marked_text import VALUE, Marked
from assembler.prompts.tags import sections, without_markers
from assembler.prompts.variables import HISTORIES, SUPPORTED_INPUT_VARIABLES
from assembler.validation import must_be, wrong
from budgets.errors import OfTheCaller

INSTRUCTION, INSTRUCTION_END = "[INST]", "[/INST]"
"""The source system's "Template Types" (A2rchi); the markers of Llama 2 and Mistral instruction models."""
CHAT = "<|im_start|>"
ASSISTANT = "assistant"
_ABSENT = object()
TAIL = 15
"""The characters at the end of a base model's prompt that separate it from the completion, as in A2rchi."""


class RoleMessage(TypedDict):
    """One message of a chat template."""

    role: str
    content: str


class PromptFormatter:
    """Formats prompts as the tokenizer's model expects them: `[INST]`, chat template, or plain for base models.

    `tag_roles` are the roles of tags, and may be changed. A tag without a role, and text outside tags, is the system's.
    Only the tags of SUPPORTED_INPUT_VARIABLES and of `tag_roles` are changed. In a `Prompt`, markers inside values are
    text; a plain `str` is parsed as a whole. Raises PromptError if `tokenizer` is not a tokenizer.
    """

    tokenizer: Any
    special_tokens: Mapping[str, Any]
    apply_format: Callable[[str], tuple[str, str]]
    strip_html: bool
    tag_roles: dict[str, str]

    def __init__(self, tokenizer: Any, strip_html: bool = False) -> None:
        self.tokenizer = tokenizer
        with OfTheCaller("tokenizer", PromptError):
            special: Any = _ABSENT if isinstance(tokenizer, type) else getattr(tokenizer, "special_tokens_map", _ABSENT)
        if special is _ABSENT:
            shown = wrong("tokenizer", "a tokenizer with a special_tokens_map", tokenizer)
            raise PromptError(f"{shown}; load one, such as AutoTokenizer.from_pretrained(…), and pass it")
        must_be("strip_html", strip_html, (bool,), "True or False", PromptError)
        self.special_tokens = special
        self.strip_html = strip_html
        self.tag_roles = {"question": "user", "documents": "assistant", "condensed_question": "user"}
        self.apply_format = self._get_formatter()

    def format_prompt(self, prompt: str) -> tuple[str, str]:
        """The formatted prompt, and the end tag that separates it from the completion in the model's output.

        Raises PromptError if the text contains a control token of the tokenizer, which would forge a turn. In a base
        model's prompt only the author may write them, no value. Also raises PromptError if `prompt` is not a text.
        """
        must_be("prompt", prompt, (str,), "a text (str)", PromptError)
        return self.apply_format(prompt)

    def _get_formatter(self) -> Callable[[str], tuple[str, str]]:
        if knows(self.tokenizer, INSTRUCTION):
            return self._apply_instructor_template
        if knows(self.tokenizer, CHAT):
            return self._apply_chat_template
        return self._apply_base_template

    def _apply_instructor_template(self, prompt: str) -> tuple[str, str]:
        text = self._clean_text(Marked.of(prompt))
        self._refuse_control(text, place="the prompt", tokens=(INSTRUCTION, INSTRUCTION_END))
        return f"{INSTRUCTION} {text.text} {INSTRUCTION_END}", INSTRUCTION_END

    def _apply_chat_template(self, prompt: str) -> tuple[str, str]:
        messages = self._list_messages(Marked.of(prompt))
        if not messages:
            raise PromptError("the prompt has no text for a chat template: give it a question")
        for index, (role, content) in enumerate(messages):
            self._refuse_control(content, place=f"message {index} ({role})")
        if getattr(self.tokenizer, "chat_template", "") is None:
            raise PromptError("the tokenizer knows <|im_start|> but has no chat template: set tokenizer.chat_template")
        problem, written = "", cast(object, None)
        try:
            written = self.tokenizer.apply_chat_template(
                [RoleMessage(role=role, content=content.text) for role, content in messages],
                tokenize=False,
                add_generation_prompt=True,
            )
        except Exception as error:  # a template can raise anything, and the text may quote a message
            problem = type(error).__name__
        if problem:
            roles = ", ".join(role for role, _ in messages)
            raise PromptError(f"the chat template raised {problem} for messages of these roles: {roles}")
        must_be("apply_chat_template", written, (str,), "a text (str) for tokenize=False", PromptError)
        return cast(str, written), ASSISTANT

    def _apply_base_template(self, prompt: str) -> tuple[str, str]:
        text = self._clean_text(Marked.of(prompt))
        self._refuse_control_of_values(text)
        return text.text, text.text[-TAIL:]

    def _tuplize_tagged_prompt(self, text: str) -> list[RoleMessage]:
        messages = self._list_messages(Marked.of(text))
        return [RoleMessage(role=role, content=content.text) for role, content in messages]

    def _strip_tags(self, text: str) -> str:
        return without_markers(Marked.of(text), self._supported_tags).text

    def _strip_html(self, text: str) -> str:
        return text_of(Marked.of(text)).text

    @property
    def _supported_tags(self) -> frozenset[str]:
        return frozenset(SUPPORTED_INPUT_VARIABLES) | self._read_roles().keys()

    def _read_roles(self) -> Mapping[str, str]:
        """The roles by tag in lower case, as markers are read in any case. They are the caller's to change."""
        roles: object = self.tag_roles
        must_be("tag_roles", roles, (Mapping,), "a mapping from tags to roles", PromptError)
        for each in (*self.tag_roles, *self.tag_roles.values()):
            must_be("tag_roles", each, (str,), "tags and roles that are texts (str)", PromptError)
        return {tag.lower(): role for tag, role in self.tag_roles.items()}

    def _list_messages(self, marked: Marked) -> list[tuple[str, Marked]]:
        """Roles and stripped texts in the prompt's order, without empty ones."""
        turns: list[tuple[str, Marked]] = []
        roles = self._read_roles()
        for section in sections(marked, self._supported_tags):
            if section.tag in HISTORIES:
                turns += expand_history(section.content)
            else:
                turns.append((roles.get(section.tag or "", "system"), section.content))
        cleaned = [(role, self._clean_text(content).strip()) for role, content in turns]
        return [(role, content) for role, content in cleaned if content.text]

    def _clean_text(self, marked: Marked) -> Marked:
        marked = without_markers(marked, self._supported_tags)
        # Unescaping can create a marker.
        return without_markers(text_of(marked), self._supported_tags) if self.strip_html else marked

    def _refuse_control(self, marked: Marked, *, place: str, tokens: tuple[str, ...] = ()) -> None:
        control = ControlTexts.of(self.tokenizer, also=tokens)
        for found in control.spelled(marked.text):
            whose = "a value" if VALUE in marked.mask[found.start() : found.end()] else "the prompt"
            raise _make_refusal(place, f"the control token {found[0]} at character {found.start()}, from {whose}")
        if control.uncovers(marked.text):
            raise _make_refusal(place, "a control token in letters that the tokenizer's normaliser makes plain")

    def _refuse_control_of_values(self, marked: Marked) -> None:
        """Refuse control tokens that are partly in a value, for a prompt whose author may write control tokens."""
        control = ControlTexts.of(self.tokenizer)
        for found in control.spelled(marked.text):
            if VALUE in marked.mask[found.start() : found.end()]:
                what = f"the control token {found[0]} at character {found.start()}, from a value"
                raise _make_refusal("the prompt", what)
        values = _VALUES.finditer(marked.mask)
        if any(control.uncovers(marked.text[value.start() : value.end()]) for value in values):
            raise _make_refusal("a value", "a control token in letters that the tokenizer's normaliser makes plain")


_VALUES = re.compile(b"\\x01+")
"""Matches the parts of a mask (`Marked`) that values wrote."""


def _make_refusal(place: str, what: str) -> PromptError:
    return PromptError(f"{place} holds {what}: the model would read it as its own; remove or respell it")
