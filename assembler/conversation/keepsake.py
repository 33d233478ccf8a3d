"""What a policy remembers of a history and nobody could find again: a summary that a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import attrs


@attrs.frozen
class Keepsake:
    """Says something of the messages from `start` to before `stop`, and of no others.

    It outlives an edit of a later message, a fork, a change of settings and a pickle. When one of the messages that it
    speaks of changes, it is forgotten.
    """

    start: int
    stop: int


def kept_until(stop: int, keepsakes: Mapping[object, Keepsake]) -> dict[object, Keepsake]:
    """Those that speak of the messages before `stop` alone."""
    return {key: keepsake for key, keepsake in list(keepsakes.items()) if keepsake.stop <= stop}


class Memory(Protocol):
    """How what one policy remembers of a history goes through JSON: `Traits(memory=…)` declares it."""

    def told(self, keepsakes: Mapping[object, Keepsake]) -> Iterable[tuple[Keepsake, dict[str, Any]]]:
        """Each keepsake of this policy among those of a history, with what JSON is to carry of it beside its place."""
        ...

    def remembered(self, start: int, stop: int, what: Mapping[str, Any]) -> tuple[object, Keepsake]:
        """By what a keepsake is found, and the keepsake. Raises `KeyError`, `TypeError` or `ValueError` for no such."""
        ...
