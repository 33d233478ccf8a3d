"""Writes neutral parts, the system text and tools as Converse's blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assembler.conversation.messages import Call, Media, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.stray_cache_marks import NONE_TAKEN, POINT
from assembler.dialects.anthropic.blocks import is_own_reasoning
from assembler.dialects.anthropic.blocks import sends as anthropic_sends
from assembler.dialects.blocks.ids import IdRule
from assembler.dialects.blocks.media import IMAGES, PDF, Inline, content_of, not_carried, without_given
from assembler.dialects.blocks.writer import NO_ERROR_TEXT, Block, Raw, Writer, arguments_of
from assembler.dialects.writing.fields import object_schema, own_fields
from assembler.pricing.opaque import is_audio_or_video
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of, items_of

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MEDIA = ("image", "document", "video", "audio")


class BedrockWriter(Writer):
    """Writes Converse's blocks."""

    shape = "bedrock"
    id_rule = IdRule(_LEGAL, needed=True)
    tool_name = _LEGAL

    def text(self, text: str, raw: Raw | None, shape: str) -> Block | None:
        """A text block without Anthropic's cache mark; None for a blank text."""
        if not text.strip():
            self.notes["blank text(s) left out"] += 1
            return None
        return {"text": text}

    def call(self, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `toolUse` block; one of the caller's own is copied."""
        own_use = fields_of((raw or {}).get("toolUse"))
        use: Block = {} if own_use is None else own_fields(own_use)
        use["toolUseId"], use["name"] = call_id, self.named(call)
        if not isinstance(use.get("input"), dict):
            use["input"] = arguments_of(call, self.notes)
        return {"toolUse": use}

    def result(self, result: Result, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `toolResult` block; one of the caller's own is copied without its blank texts."""
        own_result = fields_of((raw or {}).get("toolResult"))
        if own_result is not None:
            answer: Block = own_fields(own_result)
            answer["toolUseId"] = call_id
        else:
            answer = {"toolUseId": call_id}
        raws = items_of(answer.get("content"))
        content = [
            block
            for place, part in enumerate(result.parts)
            if (block := self._write_held(part, fields_of(raws[place]) if raws else None)) is not None
        ]
        answer["content"] = content or ([{"text": NO_ERROR_TEXT}] if result.error else [])
        if result.error:
            answer["status"] = "error"
        elif answer.get("status") != "success":
            answer.pop("status", None)
        return {"toolResult": answer}

    def thinking(self, part: Thinking, shape: str) -> Block | None:
        """The model's own reasoning unchanged, or Claude's with its signature; None for other reasoning."""
        return own_thought(part)

    def media(self, part: Media) -> Block:
        """A block for an image or a PDF, with its bytes."""
        if "type" not in part.raw and any(isinstance(part.raw.get(key), Mapping) for key in _MEDIA):
            return without_given(part.raw)
        match content_of(part):
            case Inline(mime=mime) as inline if mime in IMAGES:
                return {"image": {"format": IMAGES[mime], "source": {"bytes": inline.octets}}}
            case Inline(mime=mime) as inline if mime == PDF:
                return {"document": {"format": "pdf", "name": "document", "source": {"bytes": inline.octets}}}
            case _:
                raise not_carried(part, "bedrock")

    def opaque(self, part: Opaque) -> Block | None:
        """The part as it came, also a cache mark; a sound or a film without the length that the caller gave."""
        return without_given(part.raw) if is_audio_or_video(part) else own_fields(part.raw)

    def _write_held(self, part: str | Media | Opaque, raw: Raw | None) -> Block | None:
        """A block of a result; JSON stays JSON. A cache mark is left out: the API has none in a result."""
        if raw is not None and "json" in raw:
            return own_fields(raw)
        if isinstance(part, str):
            return self.text(part, raw, NEUTRAL)
        return None if is_mark(part) else self.other(part, NEUTRAL)


def tool_spec(tool: Tool) -> list[Block]:
    """A tool's definition, and the cache point after it. One in Converse's own form is copied."""
    fields = fields_in(tool.seen)
    if tool.api is not None:
        block = own_definition(tool)
    elif "toolSpec" in fields:
        block = own_fields(fields)
        schema = fields_in(block["toolSpec"], "inputSchema").get("json")
        block["toolSpec"]["inputSchema"] = {"json": object_schema(schema or {})}
        NONE_TAKEN.drop_from_tool(block)
    else:
        spec: Block = {"name": tool.name}
        if tool.description.strip():
            spec["description"] = tool.description
        spec["inputSchema"] = {"json": object_schema(tool.parameters)}
        block = {"toolSpec": spec}
    point: object = tool.extra.get(POINT)
    return [block] if point is None else [block, {POINT: private_copy(point)}]


def sends(part: Part, shape: str) -> bool:
    """Whether Converse is sent a part: no blank text, no other API's reasoning without a signature, no cache mark."""
    if type(part) is Thinking:
        return "reasoningContent" in part.raw or _is_signed(part)
    return anthropic_sends(part, shape)


def _is_signed(part: Thinking) -> bool:
    return part.raw.get("type") == "thinking" and is_own_reasoning(part)


def own_thought(part: Thinking) -> Block | None:
    """Reasoning as a block of this API; None without a signature of Claude's."""
    if "reasoningContent" in part.raw:
        return own_fields(part.raw)
    if _is_signed(part):
        # Anthropic, "Extended thinking": signatures are compatible across platforms, Bedrock included.
        signed = {"text": part.text, "signature": part.raw["signature"]}
        return {"reasoningContent": {"reasoningText": signed}}
    return None
