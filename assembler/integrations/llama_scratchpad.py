"""Gives one call of a LlamaIndex agent a scratchpad of its own."""

from __future__ import annotations

from typing import Any


class OneCall:
    """The context of a run, and its store, with a scratchpad of its own for one call.

    The parent's `take_step` sends the scratchpad besides its messages, and appends the answer to it. The run's own
    stays whole during the call: a run may be cancelled then, or saved.
    """

    def __init__(self, ctx: Any, key: str) -> None:
        self._ctx, self._key = ctx, key
        self.scratchpad: list[Any] = []
        self.store = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    async def get(self, key: str, default: Any = None) -> Any:
        """Return a value of the run's store."""
        return list(self.scratchpad) if key == self._key else await self._ctx.store.get(key, default=default)

    async def set(self, key: str, value: Any) -> None:
        """Put a value into the run's store."""
        if key == self._key:
            self.scratchpad = value
        else:
            await self._ctx.store.set(key, value)
