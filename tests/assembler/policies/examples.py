"""The library's policies, from their table, with examples of each for the tests of every law."""

from __future__ import annotations

from typing import Any, cast

from assembler.policies import (
    ClearToolResults,
    Offload,
    Policy,
    Summarize,
    TrimOldest,
    Truncate,
    built_in,
    first_user,
)

BUILT_IN: list[type[Policy]] = [getattr(built_in, name) for name in built_in.__all__]


def they_spoke(messages: list[Any], before: str | None, room: int) -> str:
    return f"They spoke, {len(messages)} messages, {before is None}."[:room]


EXAMPLES: dict[type[Policy], list[Policy]] = {
    ClearToolResults: [ClearToolResults(keep=0)],
    Offload: [Offload({}, min_tokens=100, preview=40)],
    Summarize: [Summarize(they_spoke), Summarize(None)],
    TrimOldest: [
        TrimOldest(),
        TrimOldest(0.5),
        TrimOldest("auto"),
        TrimOldest(keep_turns=2),
        TrimOldest(pins=first_user),
        TrimOldest(note="Older turns are gone."),
    ],
    Truncate: [Truncate(40)],
}
"""Of policies that need an option, or have ways that differ; of any other, the one that is made without options."""

HISTORIES: dict[type[Policy], list[list[Any]]] = {}
"""Conversations that a policy changes, for one that leaves those of `check_policy` as they are."""


def examples_of(policy: type[Policy]) -> list[Policy]:
    if policy in EXAMPLES:
        return EXAMPLES[policy]
    try:
        return [cast(Any, policy)()]
    except TypeError as error:
        raise TypeError(f"{error}: add an example to EXAMPLES of tests/assembler/policies/examples.py") from error


EVERY: list[Policy] = [example for policy in BUILT_IN for example in examples_of(policy)]
