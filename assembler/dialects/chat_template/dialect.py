"""The dialect of a Hugging Face tokenizer: it renders the prompt with the chat template and counts its ids.

This module does not import `transformers`; the caller does. The arguments and results of a chat template are those of
`apply_chat_template` in transformers 5.23, read 2026-11.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.parts import CHAT_SHAPES
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api
from assembler.dialects.chat_template.control import neutralise, refuse_control_text
from assembler.dialects.chat_template.pricing import ChatTemplatePricer
from assembler.dialects.chat_template.prompts import Prompt, Prompts
from assembler.dialects.chat_template.render import ChatTokenizer, Renderer
from assembler.dialects.chat_template.spelling import CHAT_TEMPLATE, Spelling, spell_layout
from assembler.dialects.chat_template.traits import Traits, traits_of
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages
from assembler.errors import ConversationError
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from budgets import TokenCounter, Tokens
from budgets.errors import named_type

WRITTEN = "prompt_token_ids"
"""The key of the ids in a rendered request."""


class ControlText(enum.Enum):
    """What to do about a text that the tokenizer would read as one of its control tokens."""

    REFUSE = "an error that names the message"
    NEUTRALISE = "a blank inside it, and a line in the report; what that does not help against is an error"
    ALLOW = "nothing: the text becomes a control token"


@attrs.frozen(eq=False)
class ChatTemplate:
    """Reads `{"messages", "tools"}` and writes `{"prompt", "prompt_token_ids"}` with one chat template.

    The ids include the beginning-of-text token that the template writes: pass them to the engine unchanged, or pass the
    text with `add_special_tokens=False`. Notes list what had to change for the template: several system messages are
    joined, a system message that it refuses is put before the next user text, neighbours of one role are merged if
    roles must alternate, and parallel calls are split if it takes one at a time. Arguments become objects, except a
    text that is not a JSON object. Compared by identity.
    """

    name: str
    traits: Traits
    control_text: ControlText
    _renderer: Renderer
    _prompts: Prompts = attrs.field(factory=Prompts, init=False, repr=False)
    api: Api = attrs.field(default=Api(priced=("prompt",)), init=False, repr=False, eq=False)

    @property
    def opening(self) -> Opening:
        """A user message, if the template refuses an assistant's greeting or writes it as the user's."""
        return Opening.USER if self.traits.user_first else Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a template's arguments. Messages that the template accepts are passed on unchanged.

        A rendered prompt is accepted too: it has no regions, and its price is the number of its ids.
        """
        if WRITTEN in request:
            return Layout(options={key: request[key] for key in ("prompt", WRITTEN) if key in request})
        listed = listed_messages(request, "what apply_chat_template takes")
        read = read_messages(listed)
        messages = [_take_unchanged(message) for message in read]
        head = head_length(messages)
        options = options_in(request, ("messages", "tools"))
        return Layout(
            head=messages[:head],
            messages=messages[head:],
            tools=read_tools(request.get("tools") or ()),
            options=options,
        )

    def pricer(self, model: str | None, count: TokenCounter) -> ChatTemplatePricer:
        """A pricer that counts whole prompts with the template's tokenizer. It ignores `model` and `count`."""
        return ChatTemplatePricer(self.traits, self._count_prompt, self.estimated)

    def spell(self, layout: Layout) -> dict[str, Any]:
        """The template's arguments: `messages`, and `tools` if there are any. You may change them."""
        spelling, _ = self._spell_harmless(layout)
        request: dict[str, Any] = {"messages": spelling.messages}
        return request | ({"tools": list(spelling.tools)} if spelling.tools else {})

    def render(self, layout: Layout) -> list[int]:
        """The ids of the prompt, without checking texts. One render; none for recently rendered messages."""
        return self._make_prompt(layout).ids.tolist()

    def options(self, layout: Layout) -> dict[str, Any]:
        """No keys: a template has none for an output schema. A server takes it separately."""
        return {}

    def emit(self, layout: Layout) -> Emission:
        """The prompt as text and ids, with notes on what was folded, left out or neutralised.

        Raises `ConversationError` if the template refuses the conversation, and `UnsupportedContentError` for control
        tokens in a text.
        """
        if WRITTEN in layout.options:
            return Emission(dict(layout.options))
        prompt = self._check_prompt(layout)
        broken = (f"{prompt.broken} text(s) with a control token broken up",) if prompt.broken else ()
        request = {"prompt": prompt.text, WRITTEN: prompt.ids.tolist()}
        return Emission(request, (*prompt.spelling.notes, *broken, *_note_left_out(layout)))

    def estimated(self, text: str) -> Tokens:
        """Count one text alone, without the template."""
        return self._renderer.count(text)

    def _count_prompt(self, layout: Layout) -> int:
        written: object = layout.options.get(WRITTEN)
        if written is None:
            return len(self._make_prompt(layout).ids)
        if not isinstance(written, Sequence) or isinstance(written, str | bytes):
            raise ConversationError(f"{WRITTEN} is {named_type(written)}; expected the list of ids of the prompt")
        return len(cast("Sequence[object]", written))

    def _check_prompt(self, layout: Layout) -> Prompt:
        prompt = self._make_prompt(layout)
        if self.control_text is not ControlText.ALLOW and not prompt.harmless:
            refuse_control_text(prompt.spelling, prompt.ids, self._renderer)
            prompt.harmless = True
        return prompt

    def _make_prompt(self, layout: Layout) -> Prompt:
        known = self._prompts.of(layout)
        if known is not None:
            return known
        spelling, broken = self._spell_harmless(layout)
        if not spelling.lines:
            raise ConversationError("a chat template needs at least one message; add an instruction or a message")
        text, ids = self._renderer.prompt(spelling.messages, spelling.tools)
        prompt = Prompt(spelling, text, array("q", ids), broken)
        self._prompts.remember(layout, prompt)
        return prompt

    def _spell_harmless(self, layout: Layout) -> tuple[Spelling, int]:
        spelling = spell_layout(layout, self.traits)
        if self.control_text is not ControlText.NEUTRALISE:
            return spelling, 0
        messages, in_messages = neutralise(spelling.messages, self._renderer)
        tools, in_tools = neutralise(spelling.tools, self._renderer)
        lines = tuple(attrs.evolve(line, sent=sent) for line, sent in zip(spelling.lines, messages, strict=True))
        return attrs.evolve(spelling, lines=lines, tools=tuple(tools)), in_messages + in_tools


def _note_left_out(layout: Layout) -> tuple[str, ...]:
    named = {"output schema": layout.output, "tool choice": layout.choice}
    asked = [name for name, value in named.items() if value is not None]
    return tuple(f"{name} left out: pass it to the server with the prompt" for name in asked)


def _take_unchanged(message: Message) -> Message:
    return attrs.evolve(message, shape=CHAT_TEMPLATE) if message.shape in CHAT_SHAPES else message


def chat_template(
    tokenizer: ChatTokenizer,
    *,
    control_text: ControlText = ControlText.REFUSE,
    variables: Mapping[str, Any] | None = None,
) -> ChatTemplate:
    """The dialect of a tokenizer's chat template. It copies the tokenizer (seconds for a large one).

    `variables` are the template's other variables, such as `enable_thinking` or `date_string`. If the template writes
    today's date, pass the date, or the prompts change overnight. About two dozen small renders find out what the
    template accepts. Raises `TokenCountError` for a tokenizer without a template, or whose template gives no text.
    """
    renderer = Renderer.of(tokenizer, {} if variables is None else variables)
    return ChatTemplate(CHAT_TEMPLATE, traits_of(renderer), control_text, renderer)
