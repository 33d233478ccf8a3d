"""The rules of one API as `verify` uses them: a check, its rules, and the API's own keys and types."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping

import attrs

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation
from budgets.lazy_names import FromFolders


@attrs.frozen
class Checker:
    """The rules of one dialect, the check of a request against them, and the keys that may hold bytes.

    A check is linear in the request, yields violations, and never raises on a value that JSON can carry.
    """

    check: Callable[[Place, str | None], Iterator[Violation]]
    rules: tuple[Rule, ...]
    bytes_under: Collection[str] = ()
    words: frozenset[str] | None = None
    """The keys of `foreign.WORDS`, which not every API has, that this API has; None if the dialect is no API."""
    turns: str = "messages"
    """The key of the conversation."""
    parts: tuple[str, ...] = ("content", "parts", "output")
    """The keys of a message that may hold its parts."""
    kinds: frozenset[str] = frozenset()
    """The types of parts, items and tools of this API. Another API's type is a fault; an unknown type is a note."""


DIALECTS: Mapping[str, Checker] = FromFolders("assembler.dialects", "rules", "CHECKER")
"""Every dialect that can be verified, by name. The rules are loaded from its folder when they are first used."""


@functools.cache
def _list_every_kind() -> frozenset[str]:
    return frozenset[str]().union(*(checker.kinds for checker in DIALECTS.values()))


_DATED = re.compile(r"\w+_20\d{6}")
"""Types of Anthropic's tools, each of which ends with its date."""


def is_known(kind: str) -> bool:
    """Whether some API has parts, items or tools of this type. The first call loads the rules of every dialect."""
    return kind in _list_every_kind() or _DATED.fullmatch(kind) is not None
