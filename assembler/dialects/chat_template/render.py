"""Renders and counts prompts with a private copy of a Hugging Face tokenizer.

Changes to the original by the caller or another thread do not affect the copy, and every call uses the same settings
(in tokenizers 0.23.3, calls with different settings silently disturb each other; measured 2026-11). Templates are code
of the model's maker; transformers runs them in its sandbox.
"""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, cast

import attrs

from assembler.errors import ConversationError
from assembler.validation import offers
from budgets import TokenCountError, Tokens
from budgets.errors import named_type

TemplateMessage: TypeAlias = dict[str, Any]
"""A message for a template."""

_TRIED = " Two  words,\n\u00e9 and <s> \U0001f600\n"
"""A text that a tokenizer changes if it normalises texts: blanks, an accent, a control token, an emoji."""

_NO_TOKENIZER = (
    "has no apply_chat_template: pass a tokenizer of transformers, such as AutoTokenizer.from_pretrained(name), or "
    "PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=template)"
)


class ChatTokenizer(Protocol):
    """The methods that are used of a tokenizer. Every tokenizer of transformers with a chat template has them."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, *, tools: Any, add_generation_prompt: bool, tokenize: bool) -> Any:
        """The rendered text, or its ids."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """The ids of a text."""
        ...


@attrs.frozen(eq=False, repr=False)
class Renderer:
    """Renders a conversation into text and ids. Equal input gives equal ids, unless the template reads the clock."""

    name: str
    source: str
    """The text of the template, or of all templates if there are several."""
    control: frozenset[int]
    """The ids that structure a prompt. No text of a message may produce one."""
    words: frozenset[str]
    """The words in the template's code, such as keys and roles. Masks must keep them; none is a control token."""
    _tokenizer: Any
    _variables: Mapping[str, Any]
    _of_a_piece: bool = False
    """Whether encoding a prompt's text gives its ids: then one render gives both."""

    @classmethod
    def of(cls, tokenizer: ChatTokenizer, variables: Mapping[str, Any]) -> Renderer:
        """Copy a tokenizer. Raises `TokenCountError` if it has no template or cannot be copied."""
        name = f"chat_template:{getattr(tokenizer, 'name_or_path', None) or type(tokenizer).__name__}"
        if not offers(tokenizer, "apply_chat_template"):
            raise TokenCountError(name, _NO_TOKENIZER)
        source = _read_source(getattr(tokenizer, "chat_template", None))
        if not source:
            raise TokenCountError(name, "has no chat template: set tokenizer.chat_template, or choose another dialect")
        try:
            own: Any = copy.deepcopy(tokenizer)
        except Exception as failure:
            raise TokenCountError(name, f"cannot be copied: {type(failure).__name__}") from failure
        renderer = cls(name, source, _find_control_ids(own, source), frozenset(), own, dict(variables))
        harmless = (word for word in _find_words(source) if not renderer.structure(renderer.encoded(word)))
        return attrs.evolve(renderer, words=frozenset(harmless), of_a_piece=renderer.is_of_a_piece())

    def is_of_a_piece(self) -> bool:
        """Whether encoding the text of a small prompt gives the ids that the tokenizer itself returns for it.

        It does in transformers (5.23, `apply_chat_template`, read 2026-11). Any other tokenizer is asked for the text
        and for the ids, which takes two renders a prompt.
        """
        tried: list[TemplateMessage] = [{"role": "user", "content": _TRIED}]
        try:
            return self.encoded(self.text(tried, [])) == self.ids(tried, [])
        except (ConversationError, TokenCountError):
            return False

    def prompt(self, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage]) -> tuple[str, list[int]]:
        """The prompt as text and ids. Raises `ConversationError` if the template refuses the conversation."""
        text = self.text(messages, tools)
        return text, self.encoded(text) if self._of_a_piece else self.ids(messages, tools)

    def text(self, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage]) -> str:
        """The prompt, up to where the answer begins. Raises `ConversationError` if the template refuses.

        Raises `TokenCountError` for a tokenizer that returns no text.
        """
        text: object = self._apply_template(messages, tools, "text")
        if not isinstance(text, str):
            raise self._refuse_answer("tokenize=False", text, "a text")
        return text

    def ids(self, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage]) -> list[int]:
        """The prompt's ids, with only the special tokens that the template writes. One render, one encoding."""
        found: object = self._apply_template(messages, tools, "ids")
        # transformers 5 wraps the ids in a BatchEncoding, transformers 4 does not.
        listed: object = cast("Mapping[str, object]", found)["input_ids"] if isinstance(found, Mapping) else found
        try:
            return list(map(operator.index, cast("Iterable[Any]", listed)))
        except TypeError:
            raise self._refuse_answer("tokenize=True", listed, "a list of ids") from None

    def _refuse_answer(self, asked: str, given: object, expected: str) -> TokenCountError:
        """The error of a tokenizer whose `apply_chat_template` returns what transformers' does not."""
        problem = f"answers apply_chat_template(…, {asked}) with {named_type(given)}, where {expected} is expected"
        return TokenCountError(self.name, f"{problem}; pass a tokenizer of transformers")

    def structure(self, ids: Iterable[int]) -> list[int]:
        """The control ids among `ids`, in order."""
        return [token for token in ids if token in self.control]

    def count(self, text: str) -> Tokens:
        """Estimate the tokens of a text. Text that looks like a control token counts as one."""
        return len(self.encoded(text))

    def encoded(self, text: str) -> list[int]:
        """The ids of a text. Raises `TokenCountError` if the engine fails."""
        try:
            return list(self._tokenizer.encode(text, add_special_tokens=False))
        except Exception as failure:
            raise TokenCountError(self.name, f"failed: {type(failure).__name__}") from failure

    def control_spans(self, text: str) -> list[tuple[int, int]]:
        """The spans of control tokens in a text. Only a fast tokenizer knows them; for others, none."""
        if not getattr(self._tokenizer, "is_fast", False) or not self.structure(self.encoded(text)):
            return []
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        pairs = zip(found["input_ids"], found["offset_mapping"], strict=True)
        return [(int(start), int(stop)) for token, (start, stop) in pairs if token in self.control]

    def _apply_template(
        self, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage], wanted: Literal["text", "ids"]
    ) -> Any:
        try:
            return self._tokenizer.apply_chat_template(
                list(messages),
                tools=list(tools) or None,
                add_generation_prompt=True,
                tokenize=wanted == "ids",
                **self._variables,
            )
        except Exception as failure:
            raise self._make_refusal(failure) from None  # its text may quote a message

    def _make_refusal(self, failure: Exception) -> ConversationError:
        """An error with the template's own words if they are in its code, else with the kind of failure."""
        text = str(failure)
        reason = f"it says {text!r}" if text and text in self.source else type(failure).__name__
        return ConversationError(
            f"the chat template refuses this conversation: {reason}; change the roles, the calls or the template"
        )


def _read_source(template: object) -> str:
    if isinstance(template, Mapping):
        return "\n".join(str(text) for text in cast("Mapping[str, object]", template).values())
    return template if isinstance(template, str) else ""


def _find_control_ids(tokenizer: Any, source: str) -> frozenset[int]:
    """Every special token but the unknown one, and every other added token that the template writes.

    transformers 5.23 infers `chat_control_tokens` in the same way (read 2026-11).
    """
    named = cast("Sequence[int]", getattr(tokenizer, "all_special_ids", ()))
    added = cast("Mapping[int, Any]", getattr(tokenizer, "added_tokens_decoder", {}))
    written = (
        token
        for token, entry in added.items()
        if getattr(entry, "special", False) or (str(entry).strip() and str(entry) in source)
    )
    return frozenset({*named, *written} - {getattr(tokenizer, "unk_token_id", None)})


_QUOTED = re.compile(r"""['"]([A-Za-z_$][\w$-]*)['"]|\.\s*([A-Za-z_]\w*)""")


# JSON Schema and the messages' own keys.
_FIXED = frozenset(
    [
        *("role", "content", "name", "tool_calls", "tool_call_id", "id", "type", "function", "arguments", "text"),
        *("reasoning_content", "index", "system", "developer", "user", "assistant", "tool"),
        *("description", "parameters", "properties", "required", "items", "enum", "default", "title", "format"),
        *("anyOf", "oneOf", "allOf", "const", "pattern", "additionalProperties", "strict", "minimum", "maximum"),
        *("$defs", "$ref", "object", "string", "number", "integer", "boolean", "null", "array"),
    ]
)


def _find_words(source: str) -> frozenset[str]:
    return _FIXED.union(word for pair in _QUOTED.findall(source) for word in pair if word)
