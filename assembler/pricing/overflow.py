"""Reads the numbers from a provider's refusal of a request that was too long."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import attrs

from budgets import Tokens

if TYPE_CHECKING:
    from assembler.pricing.refusals import Words

_READ = 100_000
"""Characters of a refusal to read. A body may repeat the prompt, but says first what is wrong."""


@attrs.frozen
class Overflow:
    """What a provider said about a request that was too long: it has `used` input tokens, and `limit` are allowed.

    `limit` is the window less the answer that was asked for. Either is None if the provider did not say. `excess` is
    how many tokens were too many, if only that is known.
    """

    used: Tokens | None = None
    limit: Tokens | None = None
    excess: Tokens | None = None


def overflow_of(refusal: object) -> Overflow | None:
    """What a provider said about a request that was too long; None if this is any other error.

    Takes an exception of an SDK, an HTTP client or a framework, the response or its body (dict, text or bytes), an
    event of a stream, or a text. `refusals.toml` next to this module lists the known wordings with their sources. Other
    wordings are read if they say that the input is longer than its limit, with or without numbers. Refusals for too
    many tokens in a minute, bytes, images or output tokens are not read. O(characters), 100,000 at most.
    """
    from assembler.pricing.refusals import ALIKE, RATE, TOO_LONG, UNNUMBERED  # patterns, for who was refused

    for text in _find_texts(refusal):
        plain = text[:_READ].replace("\\", "")
        known = next(_read_numbers(TOO_LONG, plain), None)
        if known is not None and known != Overflow():
            return known
        if known is None and RATE.search(plain):
            continue
        alike = (read for read in _read_numbers(ALIKE, plain) if (read.used or 0) > (read.limit or 0))
        if (found := next(alike, known) or next(_read_numbers(UNNUMBERED, plain), None)) is not None:
            return found
    return None


def _read_numbers(words: Iterable[Words], plain: str) -> Iterator[Overflow]:
    """The numbers of each wording that the text contains."""
    for found in (wording.found_in(plain) for wording in words):
        if found is not None:
            numbers = {name: tokens for name, tokens in found.groupdict().items() if tokens}
            yield _make_overflow({name: int(tokens.replace(",", "")) for name, tokens in numbers.items()})


def _make_overflow(numbers: Mapping[str, Tokens]) -> Overflow:
    window, reserved = numbers.get("window"), numbers.get("reserved", 0)
    used = numbers["total"] - reserved if "total" in numbers else numbers.get("used")
    return Overflow(used, None if window is None else max(window - reserved, 0), numbers.get("excess"))


def _find_texts(refusal: object, depth: int = 0) -> Iterator[str]:
    """The texts of a refusal, the most specific first: the body, response and message of an exception, then those of
    the exceptions that it holds or was raised from; the fields of an event; the text of an HTTP response.
    """
    if depth > _DEEPEST:
        return
    if isinstance(refusal, bytes | bytearray):
        yield bytes(refusal).decode("utf-8", "replace")
    elif isinstance(refusal, str):
        yield refusal
    elif isinstance(refusal, Mapping | list | tuple):
        yield from _write_json(cast(object, refusal))
    elif isinstance(refusal, BaseException):
        for name in ("body", "details", "response"):
            yield from _find_texts(getattr(refusal, name, None), depth + 1)
        yield str(refusal)
        held: tuple[object, ...] = getattr(refusal, "exceptions", ())
        for inner in (*held, refusal.__cause__):
            yield from _find_texts(inner, depth + 1)
    elif (dump := _read_attribute(refusal, "model_dump")) is not None:
        with contextlib.suppress(Exception):  # any class may have such a method
            yield from _write_json(dump())
    else:
        text = _read_attribute(refusal, "text")
        yield from (text,) if isinstance(text, str) else ()


_DEEPEST = 16


def _read_attribute(answer: object, name: str) -> Any:
    """An attribute of a response; None if it is missing, or raises because a stream was not read yet."""
    try:
        return None if answer is None or isinstance(answer, type) else getattr(answer, name, None)
    except Exception:
        return None


def _write_json(body: object) -> Iterator[str]:
    with contextlib.suppress(Exception):  # nested too deeply, in itself, or an object of any class: not from an API
        plain = dict(cast("Mapping[object, object]", body)) if isinstance(body, Mapping) else body
        yield json.dumps(plain, default=repr, ensure_ascii=False, skipkeys=True)
