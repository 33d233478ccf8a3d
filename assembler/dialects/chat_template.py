"""Any Hugging Face tokenizer with a Jinja chat template: the prompt as its template writes it, counted id by id.

`transformers` is the caller's: this module imports nothing of it. What a chat template is given and returns:
transformers 5.23, `apply_chat_template`, read 2026-11.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.dialects.chat_template_control import neutralised, refuse_control_text
from assembler.dialects.chat_template_render import ChatTokenizer, Renderer
from assembler.dialects.chat_template_spelling import CHAT_TEMPLATE, Spelling, spelled
from assembler.dialects.chat_template_traits import Traits, traits_of
from assembler.dialects.dialect import Opening
from assembler.dialects.openai_wire import tool_definition
from assembler.errors import ConversationError
from assembler.layout import Layout
from assembler.messages import Call, Message, Result, Thinking, read_message
from assembler.messages.parts import NEUTRAL
from assembler.pricing import FixedPrices, Piece
from assembler.tools import Tool, read_tools
from assembler.turns import head_length
from budgets import Count, Grade, TokenCounter, Tokens


class ControlText(enum.Enum):
    """What is done about a text that the tokenizer would read as one of its control tokens."""

    REFUSE = "an error that names the message"
    NEUTRALISE = "a blank inside it, and a line in the report; what that does not help against is an error"
    ALLOW = "nothing: the text becomes a control token"


@attrs.frozen(eq=False)
class _Prompt:
    """One layout, spelled and rendered."""

    layout: Layout
    spelling: Spelling
    ids: list[int] = attrs.field(repr=False)
    broken: int


@attrs.define(eq=False)
class _Latest:
    """The last prompt: `price`, `notes` and `emit` of one build ask for the same. One entry, replaced whole."""

    prompt: _Prompt | None = None


@attrs.frozen(eq=False)
class ChatTemplate:
    """One template's spelling. Request in: `{"messages", "tools"}`; out: `{"prompt", "prompt_token_ids"}`.

    The ids hold the beginning-of-text token that the template writes: give them to the engine as they are, or the text
    with `add_special_tokens=False`. What the template cannot say is folded, and `notes` says so: several system
    messages joined; a system message where there is no place for one put before the next user text; neighbours of one
    role merged where roles must alternate; calls side by side parted where it takes one at a time. Arguments become
    objects, except a text that is no JSON object. Compared by identity.
    """

    name: str
    traits: Traits
    control_text: ControlText
    _renderer: Renderer
    _latest: _Latest = attrs.field(factory=_Latest, init=False, repr=False)

    @property
    def opening(self) -> Opening:
        """A user message where the template refuses a greeting, or takes it for the user's."""
        return Opening.USER if self.traits.user_first else Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of what a template is given; messages that it takes go out again as they came."""
        listed = request.get("messages")
        if not isinstance(listed, list | tuple):
            raise ConversationError("request has no list of messages; expected what apply_chat_template takes")
        read = [read_message(raw, index) for index, raw in enumerate(cast("list[object]", listed))]
        messages = [_as_given(message) for message in read]
        head = head_length(messages)
        options = {key: value for key, value in request.items() if key not in ("messages", "tools")}
        return Layout(
            head=messages[:head],
            messages=messages[head:],
            tools=read_tools(request.get("tools") or ()),
            options=options,
        )

    def pricer(self, model: str | None, count: TokenCounter) -> ChatTemplatePricer:
        """Whole prompts, by the template's own tokenizer: the model's name and any other counter are not asked."""
        return ChatTemplatePricer(self)

    def spell(self, layout: Layout) -> dict[str, Any]:
        """What the template is given: `messages`, and `tools` where there are any. Dicts and lists of your own."""
        spelling, _ = self._spelled(layout)
        request: dict[str, Any] = {"messages": spelling.messages}
        return request | ({"tools": list(spelling.tools)} if spelling.tools else {})

    def render(self, layout: Layout) -> list[int]:
        """The ids of the prompt. One render, none where this very layout was the last. Checks no text."""
        return self._prompt(layout).ids

    def notes(self, layout: Layout) -> tuple[str, ...]:
        """What the template folds, leaves out or had broken up. Raises `UnsupportedContentError` for control text."""
        prompt = self._checked(layout)
        broken = (f"{prompt.broken} text(s) with a control token broken up",) if prompt.broken else ()
        return (*prompt.spelling.notes, *broken)

    def emit(self, layout: Layout) -> dict[str, Any]:
        """The prompt as text and as ids. Raises `ConversationError` where the template refuses it."""
        prompt = self._checked(layout)
        text = self._renderer.text(prompt.spelling.messages, prompt.spelling.tools)
        return {"prompt": text, "prompt_token_ids": list(prompt.ids)}

    def estimated(self, text: str) -> Tokens:
        """Tokens of one text alone, without the template."""
        return self._renderer.count(text)

    def _checked(self, layout: Layout) -> _Prompt:
        prompt = self._prompt(layout)
        if self.control_text is not ControlText.ALLOW:
            refuse_control_text(prompt.spelling, prompt.ids, self._renderer)
        return prompt

    def _prompt(self, layout: Layout) -> _Prompt:
        latest = self._latest.prompt
        if latest is not None and latest.layout is layout:
            return latest
        spelling, broken = self._spelled(layout)
        if not spelling.lines:
            raise ConversationError("a chat template needs at least one message; add an instruction or a message")
        prompt = _Prompt(layout, spelling, self._renderer.ids(spelling.messages, spelling.tools), broken)
        self._latest.prompt = prompt
        return prompt

    def _spelled(self, layout: Layout) -> tuple[Spelling, int]:
        spelling = spelled(layout, self.traits)
        if self.control_text is not ControlText.NEUTRALISE:
            return spelling, 0
        messages, in_messages = neutralised(spelling.messages, self._renderer)
        tools, in_tools = neutralised(spelling.tools, self._renderer)
        lines = tuple(attrs.evolve(line, spoken=spoken) for line, spoken in zip(spelling.lines, messages, strict=True))
        return attrs.evolve(spelling, lines=lines, tools=tuple(tools)), in_messages + in_tools


def _as_given(message: Message) -> Message:
    return attrs.evolve(message, shape=CHAT_TEMPLATE) if message.shape in (NEUTRAL, "openai") else message


def chat_template(
    tokenizer: ChatTokenizer,
    *,
    control_text: ControlText = ControlText.REFUSE,
    variables: Mapping[str, Any] | None = None,
) -> ChatTemplate:
    """The dialect of a tokenizer's chat template, on a private copy of the tokenizer (seconds for a large one).

    `variables` are what the template reads beside messages and tools (`enable_thinking`, `date_string`): a template
    that writes today's date needs them, or its prompts change overnight. What the template takes is found here, by
    about a dozen small renders. Raises `TokenCountError` for a tokenizer without a template.
    """
    renderer = Renderer.of(tokenizer, {} if variables is None else variables)
    return ChatTemplate(CHAT_TEMPLATE, traits_of(renderer), control_text, renderer)


@attrs.frozen(eq=False)
class ChatTemplatePricer:
    """Prices a prompt whole, since no template promises that its parts add up; its parts, for order and report only."""

    dialect: ChatTemplate

    def whole(self, layout: Layout) -> Count:
        """Exactly the ids of the prompt that `emit` returns. One render."""
        return Count(len(self.dialect.render(layout)))

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Estimates: each text alone, framed as a typical message."""
        traits = self.dialect.traits
        return FixedPrices(
            pieces=tuple(self._guess([piece.text]) for piece in pieces),
            head=tuple(self.message(message) for message in head),
            tools=tuple(self._guess([json.dumps(tool_definition(tool))]) for tool in tools),
            tooling=Count(traits.tooling if tools else 0, Grade.ESTIMATED),
            framing=Count(traits.once + (traits.each if pieces else 0), Grade.ESTIMATED),
        )

    def message(self, message: Message) -> Count:
        """An estimate: the texts of the message, each alone, and its framing."""
        texts = [text for part in message.parts for text in _texts_of(part)]
        return self._guess(texts) + Count(self.dialect.traits.each)

    def options(self, layout: Layout) -> Count:
        """Nothing: what else a request says is no part of the prompt."""
        return Count(0)

    def _guess(self, texts: Sequence[str]) -> Count:
        return Count(sum(map(self.dialect.estimated, texts)), Grade.ESTIMATED)


def _texts_of(part: object) -> list[str]:
    match part:
        case str():
            return [part]
        case Call():
            return [part.name, part.arguments]
        case Result():
            return [text for text in part.parts if isinstance(text, str)]
        case Thinking():
            return [part.text]
        case _:
            return []  # no template carries it: `notes` and `emit` say so
