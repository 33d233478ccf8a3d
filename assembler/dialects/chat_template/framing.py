"""Measures what a chat template writes around texts, in tokens, by rendering small conversations."""

from __future__ import annotations

import json
from collections.abc import Sequence

import attrs

from assembler.dialects.chat_template.render import Renderer, TemplateMessage
from assembler.dialects.chat_template.samples import (
    NAME,
    ONE,
    RESULT,
    THREE,
    TOOL,
    TWO,
    VALUE,
    write_assistant,
    write_exchange,
    write_text_message,
    write_user,
)
from assembler.errors import ConversationError
from budgets import Tokens

_LETTERS = ("q", "w", "z", "k")


@attrs.frozen(kw_only=True)
class Framing:
    """What a template adds to the messages of a conversation."""

    once: Tokens
    """What a prompt costs on top of its messages."""
    asked: Tokens
    """What a user's message costs on top of its text."""
    answered: Tokens
    """What an assistant's message costs on top of its text."""
    asked_times: int
    """How often the text of a user's message is shown."""
    answered_times: int
    """How often the text of an assistant's message is shown."""

    @classmethod
    def of(cls, renderer: Renderer) -> Framing:
        """Measure it mid-conversation. Each text is one letter.

        If a template refuses two answers in a row, only the sum of `asked` and `answered` is exact.
        """
        asked_times, answered_times = _count_times(renderer)
        opening, reply, more, closing = _LETTERS
        first, answer, last = write_user(opening), write_assistant(reply), write_user(closing)
        prompts = [first], [first, answer, last], [first, answer, write_assistant(more), last]
        of_first, of_three, of_four = (_count_prompt(renderer, prompt) for prompt in prompts)
        if of_first is None or of_three is None:
            return cls(once=0, asked=0, answered=0, asked_times=asked_times, answered_times=answered_times)
        texts = answered_times * renderer.count(reply) + asked_times * renderer.count(closing)
        of_exchange = max(0, of_three - of_first - texts)
        of_reply = None if of_four is None else of_four - of_three - answered_times * renderer.count(more)
        answered = of_exchange // 2 if of_reply is None else min(max(0, of_reply), of_exchange)
        asked = of_exchange - answered
        return cls(
            once=max(0, of_first - asked - asked_times * renderer.count(opening)),
            asked=asked,
            answered=answered,
            asked_times=asked_times,
            answered_times=answered_times,
        )

    def surplus(self, renderer: Renderer, texts: Sequence[str]) -> Tokens | None:
        """What a conversation of these texts, the roles in turn, costs beyond its parts; None if it is refused."""
        messages = [write_text_message("assistant" if place % 2 else "user", text) for place, text in enumerate(texts)]
        framing = self.once + len(texts) // 2 * (self.asked + self.answered) + len(texts) % 2 * self.asked
        times = (self.asked_times, self.answered_times)
        shown = sum(times[place % 2] * renderer.count(text) for place, text in enumerate(texts))
        found = _count_prompt(renderer, messages)
        return None if found is None else found - framing - shown


def measure_call(renderer: Renderer, framing: Tokens) -> Tokens:
    """What a call and its result cost on top of their texts and the `framing` of two messages."""
    exchange = write_exchange()
    short, long = (_count_prompt(renderer, prompt, [TOOL]) for prompt in ([exchange[0], exchange[-1]], exchange))
    if short is None or long is None:
        return 0
    written = json.dumps({"q": f"{VALUE}0"})
    return max(0, long - short - sum(map(renderer.count, (NAME, written, f"{RESULT}0"))) - framing)


def measure_tooling(renderer: Renderer) -> Tokens:
    """What tools cost on top of their texts."""
    asked = [write_user(ONE)]
    alone, beside = _count_prompt(renderer, asked), _count_prompt(renderer, asked, [TOOL])
    return 0 if alone is None or beside is None else max(0, beside - alone - renderer.count(json.dumps(TOOL)))


def try_render(
    renderer: Renderer, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage] = ()
) -> str | None:
    """The prompt; None if the template refuses the messages."""
    try:
        return renderer.text(list(messages), list(tools))
    except ConversationError:
        return None


def _count_prompt(
    renderer: Renderer, messages: Sequence[TemplateMessage], tools: Sequence[TemplateMessage] = ()
) -> Tokens | None:
    try:
        return len(renderer.ids(list(messages), list(tools)))
    except ConversationError:
        return None


def _count_times(renderer: Renderer) -> tuple[int, int]:
    """Count how often a template writes the text of a user message, and of an assistant message, mid-conversation."""
    text = try_render(renderer, [write_user(THREE), write_assistant(TWO), write_user(ONE)]) or ""
    return max(text.count(ONE), 1), max(text.count(TWO), 1)
