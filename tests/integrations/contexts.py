"""Notes what an adapter fits, call by call."""

from __future__ import annotations

from typing import Any

from assembler import Context


def contexts_of(adapter: Any) -> list[Context]:
    """The contexts of the adapter's calls from now on, in a list that grows. A call that is made again has two."""
    contexts: list[Context] = []
    fitting = adapter._fitting
    remember = fitting._remember

    def noted(new: Any, known: Any) -> Context:
        contexts.append(new.context)
        return remember(new, known)

    fitting._remember = noted
    return contexts
