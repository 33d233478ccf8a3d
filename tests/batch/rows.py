"""Rows that test a store: calls in some of them only, knowledge of several kinds, one that is bad."""

from __future__ import annotations

import json
from typing import Any

from tests.assembler.batch.made import base

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": null}'}}

CONVERSATIONS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "why?"}],
    [
        {"role": "user", "content": "find it"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "here", "tool_call_id": "c1"},
    ],
    [{"role": "tool", "content": "an orphan", "tool_call_id": "c9"}],
    [{"role": "user", "content": "w" * 500}],
] * 10

KNOWLEDGE: list[list[dict[str, Any]]] = [
    [{"text": "One.", "type": "rag", "source": "a.md"}],
    [{"text": "Two.", "type": "note", "trusted": True}],
    [],
    [{"text": "Three.", "type": "rag"}],
] * 10


def columns() -> dict[str, list[Any]]:
    return {"id": list(range(len(CONVERSATIONS))), "messages": CONVERSATIONS, "knowledge": KNOWLEDGE}


def texts() -> dict[str, list[Any]]:
    """The same columns as JSON texts: what every store keeps as it is, blocks and partitions apart."""
    given = columns()
    return {"id": given["id"], **{name: list(map(json.dumps, given[name])) for name in ("messages", "knowledge")}}


def expected() -> list[tuple[int, Any, bool]]:
    """Of every row its id, its request, and whether it is bad; by the assembler alone."""
    return [
        (number, request, request is None) for number, request in enumerate(map(_request, CONVERSATIONS, KNOWLEDGE))
    ]


def _request(messages: list[dict[str, Any]], knowledge: list[dict[str, Any]]) -> Any:
    assembler = base()
    try:
        for document in knowledge:
            assembler.add_knowledge(**document)
        return assembler.add_messages(messages).build().request()
    except ValueError:  # the orphan
        return None
    except Exception as error:
        assert type(error).__name__ == "ContextLengthError"
        return None


def outcomes(rows: list[dict[str, Any]]) -> list[tuple[int, Any, bool]]:
    """The same of the rows that a store returned."""
    ordered = sorted(rows, key=lambda row: row["id"])
    return [
        (row["id"], None if _nothing(row["request"]) else json.loads(row["request"]), not _nothing(row["error"]))
        for row in ordered
    ]


def _nothing(value: object) -> bool:
    return value is None or value != value  # pandas says NaN
