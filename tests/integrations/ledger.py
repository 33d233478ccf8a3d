"""The row of the results table for one run on the wire: its usage, and what the referee found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from assembler import Context, count_request
from tests.integrations.provider import Provider
from tests.integrations.referee import judged, tokens

LINES: list[Line] = []
"""All that this process ran, for the summary at the end."""


@attrs.frozen
class Line:
    """One run: its name, what it used, and its faults, each with the requests that show it."""

    framework: str
    client: str
    hosted: str
    calls: int
    over: list[str]
    invalid: list[str]
    unpriced: list[str]

    def __str__(self) -> str:
        found = (str(len(self.over)), str(len(self.invalid)), str(len(self.unpriced)))
        return " | ".join(["", self.framework, self.client, self.hosted, str(self.calls), *found, ""]).strip()


def line(
    framework: str,
    client: str,
    provider: Provider,
    contexts: Sequence[Context],
    *,
    dialect: Any,
    model: str,
    limit: int,
    hosted: str = "",
    verbatim: bool = True,
) -> Line:
    """The line of a run, where `contexts` has what was priced for each request, in order.

    `hosted` names the server's tools; without it they are those that the server ran.
    """
    verdict = judged(provider, limit, verbatim=verbatim)
    over = [*verdict.over]
    unpriced: list[str] = []
    if len(contexts) != len(provider.bodies):
        unpriced.append(f"{len(contexts)} contexts for {len(provider.bodies)} requests")
    for number, (body, context) in enumerate(zip(provider.bodies, contexts, strict=False)):
        wire = count_request(body, dialect=dialect, model=model)
        if wire.upper > limit:
            over.append(f"request {number}: up to {wire.upper} tokens of {limit}")
        if wire.tokens > context.count.tokens:
            unpriced.append(f"request {number}: {wire.tokens} on the wire, {context.count.tokens} priced")
    for kind, item in _own_items(provider).items():
        if (words := _words_unpriced(item, dialect, model)) > 0:
            unpriced.append(f"{kind}: {words} tokens of its words are not in its price")
    found = Line(
        framework, client, hosted or ", ".join(sorted(provider.ran)), verdict.calls, over, verdict.invalid, unpriced
    )
    LINES.append(found)
    return found


def _own_items(provider: Provider) -> dict[str, Any]:
    """One item of each kind that the server made with its own tools, as it was sent back."""
    found: dict[str, Any] = {}
    for body in provider.bodies:
        for item in body.get("input") or ():
            kind = item.get("type", "message")
            if kind.endswith("_call") and "call_id" not in item:
                found[kind] = item
    return found


def _words_unpriced(item: Any, dialect: Any, model: str) -> int:
    """Tokens of an item's words beyond its price, counted by hand."""
    asked = {"role": "user", "content": "q"}
    with_it = count_request({"input": [asked, item]}, dialect=dialect, model=model)
    without = count_request({"input": [asked]}, dialect=dialect, model=model)
    words = [item.get("code") or "", *[result["text"] for result in item.get("results") or ()]]
    return sum(map(tokens, words)) - (with_it.tokens - without.tokens)
