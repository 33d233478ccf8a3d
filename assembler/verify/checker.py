"""What the rules of one API are to `verify`: a check, the rules that it holds, and the few words that are its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping

import attrs

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation
from budgets.later import FromFolders


@attrs.frozen
class Checker:
    """The rules of one dialect, the check that holds a request against them, and the keys under which bytes may stand.

    A check is linear in the request, yields what it finds, and never raises on anything that JSON can carry.
    """

    check: Callable[[Place, str | None], Iterator[Violation]]
    rules: tuple[Rule, ...]
    bytes_under: Collection[str] = ()
    words: frozenset[str] | None = None
    """Of the keys that not every API has (`foreign.WORDS`), those that this one does; None for what is no API's."""
    turns: str = "messages"
    """The key of the conversation."""
    kinds: frozenset[str] = frozenset()
    """The types of parts, items and tools that this API has: those of another API are faults, any other is a note."""


DIALECTS: Mapping[str, Checker] = FromFolders("assembler.dialects", "rules", "CHECKER")
"""Every dialect that can be verified, by name. Its rules lie in its folder, and are loaded when they are asked for."""


@functools.cache
def _every_kind() -> frozenset[str]:
    return frozenset[str]().union(*(checker.kinds for checker in DIALECTS.values()))


_DATED = re.compile(r"\w+_20\d{6}")
"""Types of Anthropic's tools: each ends with its date."""


def is_known(kind: str) -> bool:
    """Whether some API has parts, items or tools of this type. Loads the rules of every dialect when first asked."""
    return kind in _every_kind() or _DATED.fullmatch(kind) is not None
