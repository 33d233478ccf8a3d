"""Makes a refused call again, smaller, in frameworks where the class that fits the messages does not make the call."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from assembler.context import Context
from assembler.integrations.fitting import Fitting, State

Messages: TypeAlias = Sequence[Any]


@attrs.frozen(eq=False)
class _LaidOut:
    """Fitted messages, and the functions that fit them again with the state that a refusal leads to."""

    sent: Messages
    context: Context
    again: Callable[[State], Messages]
    aagain: Callable[[State], Awaitable[Messages]]


class Retries:
    """The lists of messages that were fitted last, so that a call with one of them can be made again.

    A call is recognised by the objects that it sends: other messages may stand before and after them.
    """

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting
        self._latest: deque[_LaidOut] = deque(maxlen=fitting.conversations)

    def add(
        self,
        sent: Messages,
        context: Context,
        again: Callable[[State], Messages],
        aagain: Callable[[State], Awaitable[Messages]] | None = None,
    ) -> None:
        """Remember what a call is about to send. `aagain` is the async form of `again`; by default a thread runs it."""

        async def in_a_thread(state: State) -> Messages:
            return await asyncio.to_thread(again, state)

        self._latest.append(_LaidOut(sent, context, again, aagain or in_a_thread))

    def call(self, messages: Messages, model: Callable[[Messages], Any]) -> Any:
        """Return what the model returns, after up to three refusals. Raises its other errors."""
        while True:
            try:
                return model(messages)
            except Exception as error:
                found = self._find_refused(messages, error)
                if found is None:
                    raise
                laid, place, state = found
                messages = _replace_fitted(laid.again(state), laid, messages, place)

    async def acall(self, messages: Messages, model: Callable[[Messages], Awaitable[Any]]) -> Any:
        """Do the same as `call` with an async model."""
        while True:
            try:
                return await model(messages)
            except Exception as error:
                found = await asyncio.to_thread(self._find_refused, messages, error)
                if found is None:
                    raise
                laid, place, state = found
                messages = _replace_fitted(await laid.aagain(state), laid, messages, place)

    def stream(self, messages: Messages, model: Callable[[Messages], Iterator[Any]]) -> Iterator[Any]:
        """Yield what the model yields. Only a refusal before its first item leads to another call."""
        yield from self.call(messages, lambda given: _begin_stream(model(given)))

    async def astream(
        self, messages: Messages, model: Callable[[Messages], Awaitable[AsyncIterator[Any]]]
    ) -> AsyncIterator[Any]:
        """Do the same as `stream` with an async model. The stream has begun when this returns."""

        async def begun(given: Messages) -> AsyncIterator[Any]:
            return await _abegin_stream(await model(given))

        stream: AsyncIterator[Any] = await self.acall(messages, begun)
        return stream

    def _find_refused(self, messages: Messages, error: Exception) -> tuple[_LaidOut, int, State] | None:
        for laid in reversed(list(self._latest)):
            if (place := _find_place(laid.sent, messages)) is not None:
                state = self._fitting.learn(laid.context, error)
                return None if state is None else (laid, place, state)
        return None


def _find_place(sent: Messages, messages: Messages) -> int | None:
    """Return the index of the fitted messages among those of a call, compared by identity. None if they are not."""
    starts = range(len(messages) - len(sent) + 1) if sent else ()
    alike = (start for start in starts if all(new is old for new, old in zip(messages[start:], sent, strict=False)))
    return next(alike, None)


def _replace_fitted(anew: Messages, laid: _LaidOut, messages: Messages, place: int) -> list[Any]:
    return [*messages[:place], *anew, *messages[place + len(laid.sent) :]]


def _begin_stream(items: Iterator[Any]) -> Iterator[Any]:
    """Return the same items; the first has been read, so that its error is raised here."""
    first = next(items, _END)

    def whole() -> Iterator[Any]:
        if first is not _END:
            yield first
            yield from items

    return whole()


async def _abegin_stream(items: AsyncIterator[Any]) -> AsyncIterator[Any]:
    first = await anext(items, _END)

    async def whole() -> AsyncIterator[Any]:
        if first is not _END:
            yield first
            async for item in items:
                yield item

    return whole()


_END = object()
