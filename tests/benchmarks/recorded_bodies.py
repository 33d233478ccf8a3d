"""What becomes of requests that APIs accepted: `python -m tests.benchmarks.recorded_bodies PATH … [--sample 500]`.

PATH is a file of recordings or a folder of them, as `provider_counts` reads them. Each request is fitted into several
windows, gathered message by message in its own API, and sent to every other API. What breaks a law is printed by law,
with the file and line of the first few. No text of a request is ever printed.

| law | says |
|---|---|
| fits | a fitted body costs at most its limit; one that fits as it came is unchanged if `verify` finds nothing in it |
| smallest | at `smallest_window` it fits |
| fresh | a session builds what a new assembler builds |
| price | a request costs what its context says |
| valid | `verify` finds in a built request nothing, and in a fitted body nothing that was not in it before |
| words | no word is lost without a note or an item in `dropped` |
| typed | every refusal is an error of the library |
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from assembler import (
    Assembler,
    ClearToolResults,
    Context,
    TrimOldest,
    TrimSteps,
    Truncate,
    count_request,
    fit_request,
    verify,
)
from assembler.dialects import DIALECTS
from assembler.dialects.reading.raw_request import RawRequest
from budgets import AssemblyError, Budget, ContextLengthError
from tests.benchmarks.provider_counts import Recording, read

Fault: TypeAlias = tuple[str, str]
"""The law, and what broke it."""

SHARES: Final = (1.0, 0.97, 0.8, 0.5, 0.2)
"""Of what a request costs: the windows that it is fitted into."""

MODELS: Final = {
    "openai_chat": "gpt-4o",
    "openai_responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "bedrock": "us.amazon.nova-pro-v1:0",
    "mistral": "mistral-large-latest",
}
SHOWN: Final = 5
"""Places that are printed for each law."""


def within(window: int, model: str, dialect: str) -> Assembler[Any]:
    """An assembler for this window, with a ladder that cuts in every way."""
    budget = Budget.for_model(model, context_window=window, max_output_tokens=0)
    ladder = [ClearToolResults(), TrimOldest(), TrimSteps(), Truncate(60)]
    return Assembler(budget, dialect=dialect, on_overflow=ladder)


def faults_of(context: Context, dialect: str, model: str) -> Iterator[Fault]:
    """What is wrong with a built request by itself."""
    request = context.request()
    if count_request(request, dialect=dialect, model=model) != context.count:
        yield "price", dialect
    for found in verify(request, dialect=dialect, model=model):
        if not found.note:
            yield "valid", f"{dialect}: {found.rule}"


def fitted(recording: Recording, dialect: str) -> Iterator[Fault]:
    """Fit the body into shares of its own size."""
    body, model = recording.request, recording.named
    before = Counter(one.rule for one in verify(body, dialect=dialect, model=model) if not one.note)
    cost = count_request(body, dialect=dialect, model=model).upper
    for window in (max(1, int(cost * share)) for share in SHARES):
        try:
            found = fit_request(body, assembler=within(window, model, dialect))
        except ContextLengthError as error:
            yield from _smallest(body, model, dialect, error)
            continue
        if count_request(found, dialect=dialect, model=model).upper > window:
            yield "fits", f"{dialect}: over its limit"
        if window == cost and found != body and not before:
            yield "fits", f"{dialect}: changed though it fits"
        if after := Counter(one.rule for one in verify(found, dialect=dialect, model=model) if not one.note) - before:
            yield "valid", f"{dialect}: {min(after)} once fitted"


def _smallest(body: Mapping[str, Any], model: str, dialect: str, error: ContextLengthError) -> Iterator[Fault]:
    if error.smallest_window is None:
        return
    try:
        fit_request(body, assembler=within(error.smallest_window, model, dialect))
    except ContextLengthError:
        yield "smallest", dialect


def gathered(recording: Recording, dialect: str) -> Iterator[Fault]:
    """Add message after message to one assembler, and compare each build with that of a new one."""
    raw = RawRequest.of(recording.request, DIALECTS[dialect])
    model = recording.named

    def base(window: int) -> Assembler[Any]:
        assembler = within(window, model, dialect)
        if raw.layout.system:
            assembler.set_instruction(raw.layout.system)
        return assembler.set_tools(_distinct([tool.raw for tool in raw.layout.tools]))

    fixed, whole = (base(10**7).add_messages(list(messages)).plan().count.upper for messages in ((), raw.messages))
    live = base(window := max(1, fixed + int(0.6 * (whole - fixed))))
    for place, message in enumerate(raw.messages, 1):
        live.add_message(message)
        one, other = _outcome(live), _outcome(base(window).add_messages(raw.messages[:place]))
        if _told(one) != _told(other):
            yield "fresh", f"{dialect}: message {place}"
        if isinstance(one, Context):
            yield from faults_of(one, dialect, model)


def _outcome(assembler: Assembler[Any]) -> Context | str:
    try:
        return assembler.build()
    except AssemblyError as error:
        return str(error)


def _told(outcome: Context | str) -> object:
    if isinstance(outcome, str):
        return outcome
    return json.dumps(outcome.request(), default=repr), outcome.count, outcome.costs


def elsewhere(recording: Recording, dialect: str) -> Iterator[Fault]:
    """Send the messages and the tools to every other API."""
    raw = RawRequest.of(recording.request, DIALECTS[dialect])
    words = {word for message in raw.messages for word in _words(message)}
    for name, model in MODELS.items():
        if name == dialect:
            continue
        assembler = within(10**7, model, name).set_tools(_distinct([tool.raw for tool in raw.layout.tools]))
        outcome = _outcome(assembler.add_messages(raw.messages))
        if isinstance(outcome, str):
            continue
        yield from faults_of(outcome, name, model)
        sent = json.dumps(outcome.request(), ensure_ascii=False, default=str)
        lost = any(word not in sent and json.dumps(word)[1:-1] not in sent for word in words)
        if lost and not outcome.notes() and not outcome.dropped:
            yield "words", f"{dialect} to {name}"


_TEXTS: Final = frozenset(
    [
        *("text", "content", "parts", "output", "arguments", "input", "args", "response", "reasoning", "thinking"),
        *("functionCall", "function", "functionResponse", "toolUse", "toolResult", "tool_calls", "summary"),
    ]
)


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.findall(r"\w{4,}", value)
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            if key in _TEXTS:
                yield from _words(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _words(inner)


def _distinct(tools: Sequence[Any]) -> list[Any]:
    """A tool of Gemini's may declare several functions, and comes once for each."""
    return [tool for place, tool in enumerate(tools) if tool not in tools[:place]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many requests were tried, and what broke each law."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="how many requests to draw by the seed")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    recordings = [one for one in read(asked.paths) if one.dialect in MODELS and one.api != "cohere"]
    if asked.sample:
        recordings = random.Random(asked.seed).sample(recordings, min(asked.sample, len(recordings)))
    faults, refused = defaultdict[str, list[str]](list), 0
    for recording in recordings:
        for check in (fitted, gathered, elsewhere):
            try:
                for law, what in check(recording, str(recording.dialect)):
                    faults[law].append(f"{recording.place} {what}")
            except AssemblyError:
                refused += 1
            except Exception as error:
                faults["typed"].append(f"{recording.place} {check.__name__}: {type(error).__name__}")
    print(
        f"{len(recordings)} requests, each fitted, gathered and sent elsewhere; {refused} of these tries were refused"
    )
    for law, places in sorted(faults.items()):
        print(f"{law}: {len(places)}", *places[:SHOWN], sep="\n  ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
