"""Cases of the rules on tools that all APIs share, written by each API's spelling: L0, T1, T2 and T3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from assembler.drawn.conversations import Conversation, Definition, Exchange
from assembler.drawn.spelling import SPELLINGS
from assembler.verify import rules

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
    """A broken and a valid request for each of these rules that a dialect has."""
    for dialect, spelling in SPELLINGS.items():
        valid = asked(dialect, LOOK)
        broken = {
            "L0": replaced(valid, [spelling.tool(LOOK)], []),
            "T1": asked(dialect, attrs.evolve(LOOK, name="look around")),
            "T2": asked(dialect, LOOK, LOOK),
            "T3": replaced(valid, LOOK.schema, {"type": "string"}),
        }
        for rule in {rule.id for rule in rules(dialect)} & broken.keys():
            yield {"dialect": dialect, "rule": rule, "broken": broken[rule], "valid": valid}
