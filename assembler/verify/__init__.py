"""An independent checker of what the APIs demand of a request.

A dialect's rules are one file, and one line in `DIALECTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

import attrs

from assembler.verify import (
    anthropic,
    bedrock,
    chat_template,
    gemini,
    mistral,
    openai_chat,
    openai_responses,
    plain,
    shape,
)
from assembler.verify.foreign import APIS, S5, foreign_keys
from assembler.verify.jsonable import unjsonable
from assembler.verify.place import Place, request_place
from assembler.verify.shape import OBJECT, must_be
from assembler.verify.violation import Rule, Violation


class Named(Protocol):
    """Anything that carries a dialect's name."""

    @property
    def name(self) -> str:
        """The name under which `DIALECTS` knows the dialect."""
        ...


@attrs.frozen
class Checker:
    """The rules of one dialect, the check that holds a request against them, and the keys under which bytes may stand.

    A check is linear in the request, yields what it finds, and never raises on anything that JSON can carry.
    """

    check: Callable[[Place, str | None], Iterator[Violation]]
    rules: tuple[Rule, ...]
    bytes_under: Collection[str] = ()


DIALECTS: Mapping[str, Checker] = {
    "anthropic": Checker(anthropic.check, anthropic.RULES),
    "bedrock": Checker(bedrock.check, bedrock.RULES, bedrock.BYTES_UNDER),
    "chat_template": Checker(chat_template.check, chat_template.RULES),
    "gemini": Checker(gemini.check, gemini.RULES, gemini.BYTES_UNDER),
    "mistral": Checker(mistral.check, mistral.RULES),
    "openai_chat": Checker(openai_chat.check, openai_chat.RULES),
    "openai_responses": Checker(openai_responses.check, openai_responses.RULES),
    "plain": Checker(plain.check, plain.RULES),
}
"""Every dialect that can be verified, by name."""


def verify(request: Mapping[str, Any], *, dialect: str | Named, model: str | None = None) -> list[Violation]:
    """The rules of the dialect's API that this request breaks: `[]` for a request that it accepts, as far as is known.

    `request` is the keyword arguments of the API's call, as plain JSON; other values are violations (S2), never
    errors. `model` decides the rules that not all models of a provider share (A11, A16, G8). Linear; no recursion.
    Raises `ValueError` for a dialect that has no checker. Rules and error texts: public issue threads, read 2026-11;
    none was checked against a live endpoint.
    """
    checker = _checker(dialect)
    root = request_place(request)
    found = [*must_be(root, OBJECT), *unjsonable(root.value, bytes_under=checker.bytes_under)]
    if not isinstance(root.value, dict):
        return found
    return [*found, *foreign_keys(root, _named(dialect)), *checker.check(root, model)]


def rules(dialect: str | Named) -> tuple[Rule, ...]:
    """Every rule that `verify` holds for a dialect, those of shape first. Raises `ValueError` as `verify` does."""
    own = _checker(dialect).rules
    return (*shape.RULES, S5, *own) if _named(dialect) in APIS else (*shape.RULES, *own)


def _named(dialect: str | Named) -> str:
    name: object = dialect if isinstance(dialect, str) else getattr(dialect, "name", None)
    if not isinstance(name, str):
        raise ValueError(  # noqa: TRY004 - what `verify` raises for every dialect that it has no rules for
            f"a dialect is known by its name, got {type(dialect).__name__}; known: {', '.join(DIALECTS)}"
        )
    return name


def _checker(dialect: str | Named) -> Checker:
    name = _named(dialect)
    checker = DIALECTS.get(name)
    if checker is None:
        raise ValueError(f"no rules are known for the dialect {name!r}; known: {', '.join(DIALECTS)}")
    return checker


__all__ = ["DIALECTS", "Checker", "Named", "Rule", "Violation", "rules", "verify"]
