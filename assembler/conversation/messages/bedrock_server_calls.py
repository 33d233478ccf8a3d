"""Recognises the calls that Bedrock runs itself, with their results, in a message of the model.

Nova searches the web and runs code in its own turn: `toolUse` has the type `server_tool_use`, and `toolResult`, which
stands in the same message, one such as `nova_grounding_result` (botocore 1.44.5, ToolUseBlock and ToolResultBlock).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assembler.conversation.messages.message import Opaque, Part
from assembler.text.fields import fields_in


def without_served_calls(parts: tuple[Part, ...], originals: Sequence[object]) -> tuple[Part, ...]:
    """The parts of a message of the model, with calls and results of the server as opaque parts. O(parts).

    `originals` holds the caller's part for each.
    """
    served = set(_find_served_ids(originals))
    if not served:
        return parts
    return tuple(_read_served(part, raw, served) for part, raw in zip(parts, originals, strict=True))


def _find_served_ids(originals: Sequence[object]) -> Iterator[str]:
    """The ids of the results beside their calls, if the type of either says that the server ran it."""
    ran = {
        use.get("toolUseId") for raw in originals if (use := fields_in(raw, "toolUse")).get("type") == "server_tool_use"
    }
    for raw in originals:
        answer = fields_in(raw, "toolResult")
        named: object = answer.get("toolUseId")
        if isinstance(named, str) and (named in ran or "type" in answer):
            yield named


def _read_served(part: Part, raw: object, served: set[str]) -> Part:
    fields = fields_in(raw)
    for kind in ("toolUse", "toolResult"):
        if fields_in(fields, kind).get("toolUseId") in served:
            return Opaque(kind, fields, "bedrock")
    return part
