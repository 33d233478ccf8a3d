"""Reads and writes Converse's cache marks: each is a separate block, a cache point, after the marked block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assembler.dialects.blocks.writer import Raw
from assembler.dialects.caching import mark_places as places
from assembler.text.fields import fields_in, items_of

_NOVA = "nova"
_TAKERS = ("claude", _NOVA)
"""The models that accept cache points in Converse; Nova only in system and messages, for five minutes (Amazon Bedrock
user guide, Prompt caching, read 2026-11 in third parties' copies of its table). Others refuse the request."""


class BedrockMarks(places.Marks):
    """Converse's marks: `{"cachePoint": {"type": "default"}}`."""

    _taking = ("text", "image", "document", "toolUse", "toolResult", "toolSpec")

    def refusal(self, model: str | None) -> str | None:
        """A line for a model that is neither Claude nor Nova."""
        if model is None or any(taker in model.lower() for taker in _TAKERS):
            return None
        return "this model takes no cache marks: none set"

    def lifetime(self, asked: places.Lifetime, model: str | None) -> places.Lifetime:
        """`asked`, or five minutes for Nova."""
        return "5m" if _is_nova(model) else asked

    def tools(self, request: Raw) -> Sequence[object]:
        """The tools in `toolConfig`."""
        return items_of(fields_in(request, "toolConfig").get("tools"))

    def marks(self, request: Raw) -> list[tuple[places.Place, str | None]]:
        """The place of the block before each cache point."""
        return [
            ((region, index, at - 1), places.ttl_of(point))
            for region, index, blocks in self.runs(request)
            for at, block in enumerate(blocks)
            if (point := fields_in(block).get("cachePoint")) is not None
        ]

    def takes_mark(self, region: int, block: object, model: str | None) -> bool:
        """False for reasoning, another cache point, a blank text, and a tool for Nova."""
        if region == places.TOOLS and _is_nova(model):
            return False
        fields = fields_in(block)
        return any(key in fields for key in self._taking) and ("text" not in fields or places.says_something(fields))

    def is_users_own(self, block: object) -> bool:
        """Whether it is any block but a result or a cache point."""
        fields = fields_in(block)
        return "toolResult" not in fields and "cachePoint" not in fields

    def put(self, request: Raw, wanted: Mapping[places.Place, str]) -> dict[str, Any]:
        """A copy with a cache point after each block."""
        copy = dict(request)
        for region, index, blocks in places.with_marks(self.runs(request), wanted, _add_point):
            if region == places.TOOLS:
                copy["toolConfig"] = {**copy["toolConfig"], "tools": blocks}
            else:
                places.replace(copy, "system" if region == places.SYSTEM else index, blocks)
        return copy


def _is_nova(model: str | None) -> bool:
    return model is not None and _NOVA in model.lower()


def _add_point(block: object, ttl: str) -> list[object]:
    return [block, {"cachePoint": {"type": "default", **({} if ttl == "5m" else {"ttl": ttl})}}]
