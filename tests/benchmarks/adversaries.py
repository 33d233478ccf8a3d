"""What an attacker may grow: texts, conversations, tools, documents, files and answers of a size n, made from nothing.

Each is a function from n to a value whose length grows as n does. `growth.py` hands them to every public function.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

Grown: TypeAlias = Callable[[int], Any]

UNITS = {
    "a": "a",
    "words": "word ",
    "blanks": " ",
    "line breaks": "\n",
    "carriage returns": "\r\n",
    "<": "<",
    "comments": "<!--",
    "tags": "<a b='",
    "[": "[",
    "citations": "[Source 1, 2] ",
    "open citations": "[Source 1, ",
    "{": "{",
    "double braces": "{{ x }}",
    "quotes": '"',
    "fences": "```\n",
    "rules": "---\n",
    "backslashes": "\\",
    "digits": "1",
    "dots": ". ",
    "accents": "e\u0301",
    "accents alone": "\u0301",
    "flags": "\U0001f1e6",
    "joiners": "\U0001f469\u200d",
    "zero widths": "\u200b",
    "tag characters": "\U000e0061",
    "selectors": "a\ufe01",
    "right to left": "\u202e\u05d0",
    "Hangul": "\u1100\u1161",
    "thoughts": "<think>",
    "closed thoughts": "<think>a</think>",
    "instructions": "[INST]",
    "control tokens": "<|im_start|>",
    "dates": "2026-11-22 10:00 ",
    "sources": "\n[Source 1]\nQUESTION: ",
}

TEXTS: dict[str, Grown] = {name: (lambda n, unit=unit: unit * (n // len(unit) + 1)) for name, unit in UNITS.items()}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def call(number: int, name: str = "f", arguments: str = "{}", call_id: str | None = None) -> dict[str, Any]:
    known = f"call{number:06d}" if call_id is None else call_id
    return {"id": known, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(number: int, content: Any = "r", call_id: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call{number:06d}" if call_id is None else call_id, "content": content}


def parallel(n: int, *, backwards: bool) -> list[dict[str, Any]]:
    results = [result(number) for number in range(n)]
    return [user("q"), asked(*map(call, range(n))), *(results[::-1] if backwards else results)]


def gemini_without_ids(n: int) -> list[dict[str, Any]]:
    calls = [{"functionCall": {"name": "f", "args": {}}} for _ in range(n)]
    answers = [{"functionResponse": {"name": "f", "response": {"a": 1}}} for _ in range(n)]
    return [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": answers},
    ]


def item_call(number: int) -> dict[str, Any]:
    return {"type": "function_call", "call_id": f"call{number:06d}", "name": "f", "arguments": "{}"}


def thought(number: int) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs{number:06d}", "summary": [{"type": "summary_text", "text": "a"}]}


def web_search(number: int) -> dict[str, Any]:
    return {"type": "web_search_call", "id": f"ws{number:06d}", "action": {"type": "search", "query": "a"}}


def side_by_side(n: int, *kinds: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of Responses that are one turn of the model, and the outputs of its calls."""
    items = [kind(number) for number in range(n) for kind in kinds]
    called = [item["call_id"] for item in items if "call_id" in item]
    outputs = [{"type": "function_call_output", "call_id": call_id, "output": "r"} for call_id in called]
    return [user("q"), *items, *outputs, user("q")]


CONVERSATIONS: dict[str, Grown] = {
    "turns": lambda n: [[user("q"), {"role": "assistant", "content": "a"}][k % 2] for k in range(n + n % 2 + 1)],
    "one text": lambda n: [user("word " * n)],
    "one text of blanks": lambda n: [user(" " * n + "x")],
    "one text of flags": lambda n: [user("\U0001f1e6" * n)],
    "parts": lambda n: [user([{"type": "text", "text": "a"}] * n)],
    "steps": lambda n: [user("q"), *(m for k in range(n) for m in (asked(call(k)), result(k)))],
    "steps under one id": lambda n: [
        *(m for k in range(n) for m in (user("q"), asked(call(k, call_id="c")), result(k, call_id="c")))
    ],
    "parallel calls": lambda n: parallel(n, backwards=False),
    "parallel calls, answered backwards": lambda n: parallel(n, backwards=True),
    "parallel calls without ids": gemini_without_ids,
    "call items side by side": lambda n: side_by_side(n, item_call),
    "reasoning items with calls, side by side": lambda n: side_by_side(n, thought, item_call),
    "search items side by side": lambda n: side_by_side(n, web_search),
    "one long result": lambda n: [user("q"), asked(call(0)), result(0, "word " * n)],
    "long arguments": lambda n: [user("q"), asked(call(0, arguments='{"a": "' + "b " * n + '"}')), result(0)],
    "wide arguments": lambda n: [
        user("q"),
        asked(call(0, arguments="{" + ", ".join(f'"k{k}": {k}' for k in range(n)) + "}")),
        result(0),
    ],
    "system messages": lambda n: [*({"role": "system", "content": "s"} for _ in range(n)), user("q")],
}


def schema(properties: Any, **more: Any) -> dict[str, Any]:
    return {"name": "f", "parameters": {"type": "object", "properties": properties, **more}}


def mesh(n: int) -> dict[str, Any]:
    named = {
        f"D{k}": {"type": "object", "properties": {f"p{j}": {"$ref": f"#/$defs/D{(3 * k + j) % n}"} for j in range(3)}}
        for k in range(n)
    }
    return schema({"x": {"$ref": "#/$defs/D0"}}, **{"$defs": named})


def referring(n: int) -> dict[str, Any]:
    whole = {"type": "object", "description": "d " * n, "properties": {f"q{k}": {"type": "string"} for k in range(n)}}
    return schema({f"p{k}": {"$ref": "#/$defs/D"} for k in range(n)}, **{"$defs": {"D": whole}})


TOOLS: dict[str, Grown] = {
    "tools": lambda n: [{"name": f"tool_{k}", "description": "d"} for k in range(n)],
    "properties": lambda n: [schema({f"p{k}": {"type": "string"} for k in range(n)})],
    "an enum": lambda n: [schema({"p": {"enum": [f"v{k}" for k in range(n)]}})],
    "alternatives": lambda n: [schema({"p": {"anyOf": [{"type": "string"}] * n}})],
    "types": lambda n: [schema({"p": {"type": ["object", "null"] * n, "properties": {"a": {"type": "string"}}}})],
    "a description": lambda n: [{"name": "f", "description": "d " * n}],
    "a mesh of references": lambda n: [mesh(n)],
    "a chain of references": lambda n: [
        schema({"x": {"$ref": "#/$defs/D0"}}, **{"$defs": {f"D{k}": {"$ref": f"#/$defs/D{k + 1}"} for k in range(n)}})
    ],
    "references to one definition": lambda n: [referring(n)],
}

DOCUMENTS: dict[str, Grown] = {
    "alike": lambda n: ["the same text"] * n,
    "each its own": lambda n: [f"text number {k}" for k in range(n)],
    "one of words": lambda n: ["word " * n],
    "one of rules": lambda n: ["---\n[Source 1]\n" * n],
    "one of sentences": lambda n: ["A word. " * n],
    "neighbours": lambda n: [f"word {k} word {k + 1}" for k in range(n)],
}

_OBJECTS = b"%%PDF-1.7\n%b%%EOF"


def pdf(*objects: bytes) -> bytes:
    return _OBJECTS % b"".join(b"1 0 obj\n%b\nendobj\n" % each for each in objects)


def stream(content: bytes, first: int) -> bytes:
    packed = zlib.compress(content)
    return b"<< /Type /ObjStm /First %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (first, packed)


FILES: dict[str, Grown] = {
    "blanks after /Filter": lambda n: pdf(b"<< /Type /ObjStm /Filter" + b" " * n + b"x >>\nstream\nx"),
    "blanks after /Type": lambda n: pdf(b"<< /Type" + b" " * n),
    "digits after /Count": lambda n: pdf(b"<< /Type /Pages /Count 1 " + b"1" * n),
    "objects": lambda n: pdf(*[b"<< /Type /Pages /Count 1 >>"] * n),
    "objects that never end": lambda n: b"%PDF-1.7 " + b"1 0 obj " * n,
    "offsets": lambda n: pdf(stream(b"0 0 " * n, 4 * n)),
    "blanks in a stream": lambda n: pdf(stream(b" " * n, n)),
    "segments of a JPEG": lambda n: b"\xff\xd8" + b"\xff\xe0\x00\x02" * n,
    "chunks of a WAV": lambda n: b"RIFF\0\0\0\0WAVE" + b"JUNK\0\0\0\0" * n,
    "boxes of an AVIF": lambda n: struct.pack(">I", 16) + b"ftypavif\0\0\0\0" + struct.pack(">I", 8) * 2 * n,
}
