"""Writes drawn conversations for block APIs: thinking, texts and calls in one message, results in the user's next."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from assembler.drawn.conversations import Call, Conversation, Exchange
from assembler.drawn.spelling import Request


@attrs.frozen(kw_only=True)
class Blocks:
    """Functions that write each kind of block for one API."""

    text: Callable[[str], Request]
    thought: Callable[[str], Request]
    calls: Callable[[tuple[Call, ...]], list[Request]]
    result: Callable[[Call], Request]
    assistant: str = "assistant"
    content: str = "content"
    """The key of a message's blocks."""

    def messages(self, conversation: Conversation) -> list[Request]:
        """Every message of the conversation, new ones each time."""
        return [message for exchange in conversation.exchanges for message in self._write_exchange(exchange)]

    def texts(self, texts: tuple[str, ...]) -> list[Request]:
        """A block for each text."""
        return [self.text(text) for text in texts]

    def _write_exchange(self, exchange: Exchange) -> Iterator[Request]:
        yield {"role": "user", self.content: self.texts(exchange.question)}
        for step in exchange.steps:
            yield self._write_answer(step.thinking, [*self.texts(step.words), *self.calls(step.calls)])
            yield {"role": "user", self.content: [self.result(call) for call in step.answered]}
        if exchange.answer:
            yield self._write_answer(exchange.thinking, self.texts(exchange.answer))

    def _write_answer(self, thinking: str | None, blocks: list[Request]) -> Request:
        thoughts = [] if thinking is None else [self.thought(thinking)]
        return {"role": self.assistant, self.content: [*thoughts, *blocks]}
