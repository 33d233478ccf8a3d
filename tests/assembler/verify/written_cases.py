"""Cases that follow from the folder of a dialect: its breaches, and the rules on tools that all APIs share.

The rules on tools are L0, T1, T2 and T3: the spelling of the API writes a request with tools, in which each is broken.
A breach is done to `STEPPED`, with the first of its choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from assembler.drawn.conversations import Conversation, Definition, Exchange
from assembler.drawn.spelling import SPELLINGS
from assembler.testing.faults import BREACHES
from assembler.verify import rules
from tests.assembler.verify.conversations import STEPPED

LOOK = Definition("look", "Looks around.", ())


def asked(dialect: str, *tools: Definition) -> dict[str, Any]:
    """A request with one question and these tools."""
    return SPELLINGS[dialect].request(Conversation(None, (Exchange(("hi",), None, (), None, ()),), tools))


def replaced(value: Any, old: Any, new: Any) -> Any:
    """The value with `new` wherever it holds one that equals `old`."""
    if value == old:
        return new
    if isinstance(value, dict):
        return {key: replaced(item, old, new) for key, item in value.items()}
    return [replaced(item, old, new) for item in value] if isinstance(value, list) else value


def cases() -> Iterator[dict[str, Any]]:
    """A broken and a valid request for each of these rules, and for each rule with a breach."""
    yield from of_tools()
    for dialect, breaches in BREACHES.items():
        for rule, breach in breaches.items():
            valid, broken = (SPELLINGS[dialect].request(STEPPED) for _ in range(2))
            breach(DRAW, broken)
            yield {"dialect": dialect, "rule": rule, "broken": broken, "valid": valid}


def draw_first(strategy: Any) -> Any:
    return strategy.elements[0]


DRAW: Any = draw_first


def of_tools() -> Iterator[dict[str, Any]]:
    """A broken and a valid request for each rule on tools that a dialect has."""
    for dialect, spelling in SPELLINGS.items():
        valid = asked(dialect, LOOK)
        broken = {
            "L0": replaced(valid, [spelling.tool(LOOK)], []),
            "T1": asked(dialect, attrs.evolve(LOOK, name="look around")),
            "T2": asked(dialect, LOOK, LOOK),
            "T3": replaced(valid, LOOK.schema, {"type": "string"}),
        }
        for rule in sorted({rule.id for rule in rules(dialect)} & broken.keys()):
            yield {"dialect": dialect, "rule": rule, "broken": broken[rule], "valid": valid}
