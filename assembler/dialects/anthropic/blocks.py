"""Writes neutral parts, the system text and tools as Anthropic's blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.stray_cache_marks import CONTROL, MARK_KEYS, TakenMarks
from assembler.dialects.blocks.ids import IdRule
from assembler.dialects.blocks.media import IMAGES, PDF, Inline, Link, content_of, not_carried, without_given
from assembler.dialects.blocks.writer import NO_ERROR_TEXT, Block, Raw, Writer, arguments_of, parts_as_they_came
from assembler.dialects.writing.fields import named_tool, object_schema, own_fields
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of, items_of

_SHAPE = "anthropic"
_MARKS = TakenMarks(in_parts=[CONTROL], in_tools=[CONTROL])
_SEALS = {"thinking": "signature", "redacted_thinking": "data"}
_TEXT_KEYS = frozenset(["type", "text", "cache_control", "citations"])
"""Keys of a text block (Messages API reference, TextBlockParam): others are kept only in a message of Anthropic's."""
_ANSWER_ONLY = frozenset(
    [
        *("container", "context_management", "diagnostics", "id", "input_transformations", "model", "stop_details"),
        *("stop_reason", "stop_sequence", "usage"),
    ]
)
"""Keys of an answer that a request must not have: people append a dumped answer unchanged."""


class AnthropicWriter(Writer):
    """Writes Anthropic's blocks."""

    shape = _SHAPE
    marks = _MARKS
    id_rule = IdRule(re.compile(r"[a-zA-Z0-9_-]+"), needed=True)
    tool_name = re.compile(r"[a-zA-Z0-9_-]{1,128}")
    """64 characters until 2025, 128 since (modelcontextprotocol#1345)."""
    citing: frozenset[bool] = frozenset()
    """Whether citations are enabled, of the search results that were written."""

    def frame(self, message: Message) -> Block:
        """The message's own keys, without those of a dumped answer that a request must not have."""
        if message.shape != _SHAPE:
            return super().frame(message)
        fields = super().frame(message)
        if fields.get("type") == "message":
            return {key: value for key, value in fields.items() if key not in _ANSWER_ONLY and key != "type"}
        return fields

    def text(self, text: str, raw: Raw | None, shape: str) -> Block | None:
        """A text block with its cache mark and citations; None for a blank one."""
        if not text.strip():
            self.notes["blank text(s) left out"] += 1
            return None
        if raw is None or raw.get("type") != "text":
            return {"type": "text", "text": text}
        own = shape in (_SHAPE, NEUTRAL)
        return {
            key: private_copy(value)
            for key, value in raw.items()
            if key in _TEXT_KEYS or (own and key not in MARK_KEYS)
        }

    def call(self, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `tool_use` block; one of the caller's own is copied."""
        own = raw is not None and raw.get("type") == "tool_use"
        block: Block = own_fields(raw) if raw is not None and own else {"type": "tool_use"}
        block["id"], block["name"] = call_id, self.named(call)
        if not isinstance(block.get("input"), dict):
            block["input"] = arguments_of(call, self.notes)
        return block

    def result(self, result: Result, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `tool_result` block; one of the caller's own is copied without its blank texts."""
        if raw is not None and raw.get("type") == "tool_result":
            block: Block = own_fields(raw)
            block["tool_use_id"] = call_id
            content: object = self._write_answer(result, block.get("content"))
        else:
            block = {"type": "tool_result", "tool_use_id": call_id}
            content = self._write_answer(result, None)
            if marks := _find_marks(raw):  # the API caches whole results, not the texts in them
                block[CONTROL] = own_fields(marks[-1])
        if content is None and result.error:
            content = NO_ERROR_TEXT
        if content is not None:
            block["content"] = content
        else:
            block.pop("content", None)
        if result.error:
            block["is_error"] = True
        return block

    def thinking(self, part: Thinking, shape: str) -> Block | None:
        """Claude's reasoning unchanged, or with its signature from Bedrock; None for another model's."""
        return own_thought(part)

    def media(self, part: Media) -> Block:
        """A block for an image or a PDF, with its content or its URL."""
        if part.raw.get("type") in ("image", "document") and isinstance(part.raw.get("source"), Mapping):
            return without_given(part.raw)
        source: Block
        match content_of(part):
            case Inline(mime=mime, data=data) if mime in IMAGES or mime == PDF:
                source = {"type": "base64", "media_type": mime, "data": data}
                return {"type": "image" if mime in IMAGES else "document", "source": source}
            case Link(url=url) if part.kind in ("image", "document"):
                return {"type": part.kind, "source": {"type": "url", "url": url}}
            case _:
                raise not_carried(part, "anthropic")

    def opaque(self, part: Opaque) -> Block | None:
        """Copy a part that this library does not read; None for Bedrock's cache mark."""
        if part.kind == "search_result":
            self.citing |= {cites(part.raw)}
        return super().opaque(part)

    def system_field(self, system: str | None, head: Sequence[Message]) -> str | list[Block] | None:
        """The `system` field: one text as a text, several as blocks with their marks. Raises for other parts."""
        blocks = self.system(system, head)
        listed = any(parts_as_they_came(message) for message in head)
        return str(blocks[0]["text"]) if not listed and len(blocks) == 1 else blocks or None

    def _write_answer(self, result: Result, given: object) -> object:
        """The content of a result without blank texts; None if nothing is left."""
        originals = items_of(given)
        if not originals and len(result.parts) == 1 and isinstance(result.parts[0], str):
            return result.parts[0] if result.parts[0].strip() else None
        blocks: list[Block] = []
        for place, part in enumerate(result.parts):
            if isinstance(part, str):
                block = self.text(part, fields_of(originals[place]) if originals else None, _SHAPE)
            else:
                block = self.other(part, _SHAPE if originals else NEUTRAL)
            if block is not None:
                blocks.append(block)
        return blocks or None


def _find_marks(message: Raw | None) -> list[Raw]:
    """The cache marks on the texts of a Chat tool message, as gateways to this API take them."""
    texts = map(fields_in, items_of((message or {}).get("content")))
    return [mark for text in texts if (mark := fields_of(text.get(CONTROL))) is not None]


def cites(block: Raw) -> bool:
    """Whether a search result enables citations."""
    return fields_in(block, "citations").get("enabled") is True


def own_thought(part: Thinking) -> Block | None:
    """Reasoning as a block of this API; None for another model's."""
    if is_own_reasoning(part):
        return own_fields(part.raw)
    signed = _find_signed_text(part)
    if signed is None:
        return None
    return {"type": "thinking", "thinking": signed.get("text", ""), "signature": signed["signature"]}


def is_own_reasoning(part: Thinking) -> bool:
    """Whether a reasoning part is a block of this API with a signature, which the API requires."""
    kind: object = part.raw.get("type")
    if kind == "thinking" and not isinstance(part.raw.get("thinking"), str):  # Mistral's list may have a signature too
        return False
    seal = _SEALS.get(str(kind))
    return seal is not None and _is_seal(part.raw.get(seal))


def _is_seal(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _find_signed_text(part: Thinking) -> Raw | None:
    """The content of Bedrock's reasoning block if it has a signature of Claude's.

    Signatures work across platforms, Bedrock included: Anthropic, "Extended thinking", read 2026-11.
    """
    signed = fields_in(part.raw, "reasoningContent", "reasoningText")
    return signed if _is_seal(signed.get("signature")) and isinstance(signed.get("text", ""), str) else None


def sends(part: Part, shape: str) -> bool:
    """Whether a part is sent to Claude here: no blank text, no other model's reasoning, no cache mark."""
    match part:
        case str():
            return bool(part.strip())
        case Thinking():
            return is_own_reasoning(part) or _find_signed_text(part) is not None
        case Opaque():
            return "cachePoint" not in part.raw
        case _:
            return True


def tool_definition(tool: Tool) -> Block:
    """A tool's definition; one in Anthropic's own form is copied. The schema always has `"type": "object"`."""
    if tool.api is not None:
        return own_definition(tool)
    fields = fields_in(tool.seen)
    if "input_schema" in fields:
        own = own_fields(fields)
        own["input_schema"] = object_schema(own["input_schema"] or {})
        _MARKS.drop_from_tool(own)
        return own
    block: Block = {**named_tool(tool), "input_schema": object_schema(tool.parameters)}
    if (mark := fields_of(tool.extra.get(CONTROL))) is not None:
        block[CONTROL] = own_fields(mark)
    return block
