"""Reads Strands' messages, which are in Bedrock's form, as the clients of other APIs send them.

Read in strands-agents 1.62.0 (2026-11): `_format_request_message_content` and the like of each of its models.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.conversation.messages import Call, Message, Result
from assembler.integrations.kept_objects import align_parts
from assembler.integrations.openai_dicts import text_of
from assembler.text.runs import runs

Block: TypeAlias = dict[str, Any]

_NOTE: Block = {
    "text": "Tool successfully returned an image. The image is being provided in the following user message."
}
"""What Strands' OpenAI model writes into a result with pictures, which it sends in a message of the user's."""

NOVA = "nova"
"""The form of Bedrock's client for Nova, as `dialect`: it writes a result's JSON as a text, escaped."""

_WRITES_JSON = frozenset({"openai_chat", "openai_responses", "anthropic", NOVA})
"""The APIs whose clients write a result's JSON as a text."""

_JOINS_TEXTS = frozenset({"openai_chat", "openai_responses"})
"""The APIs whose clients join the texts of a result."""

_BLANK: Block = {"text": "[blank text]"}
"""What Strands sends in place of an answer without content."""

_TEXTS = frozenset({"csv", "html", "md", "txt"})
"""The formats of documents that Claude gets as a text."""

_MEDIA = {"jpg": "image/jpeg", "txt": "text/plain", "md": "text/markdown", "pdf": "application/pdf", "csv": "text/csv"}


def messages_in_form_of(dialect: str, messages: Sequence[Block]) -> list[Block]:
    """Return the messages as an API gets them."""
    if dialect != "gemini":
        return [
            {"role": one["role"], "content": _form_answer(one, _form_each(one["content"], dialect), dialect)}
            for one in messages
        ]
    uses = [block["toolUse"] for one in messages for block in one["content"] if "toolUse" in block]
    names = {use["toolUseId"]: use["name"] for use in uses}
    return [one if one["role"] == "system" else _write_content(one, names) for one in messages]


def rewrite_message(own: Block, before: Message, after: Message, dialect: str) -> Block:
    """Return the message with the content that a policy left, still in Bedrock's form."""
    if dialect == "gemini":
        return {**own, "content": list(_restore_content(own["content"], before, after))}
    content: Sequence[Block] = cast("Mapping[str, Any]", after.raw)["content"]
    return {**own, "content": list(_restore_blocks(content, own["content"], dialect))}


TAKES_BLOCKS = frozenset({"anthropic", "bedrock"})
"""The APIs that get a system prompt of blocks one by one. The others get the joined texts."""


def join_prompt(prompt: Sequence[Block]) -> str:
    """Return a system prompt of blocks as Strands joins it."""
    return "\n".join(block["text"] for block in prompt if "text" in block)


def _form_each(content: Sequence[Block], dialect: str) -> list[Block]:
    return [_form_block(block, dialect) for block in content]


def _form_answer(message: Block, blocks: list[Block], dialect: str) -> list[Block]:
    """Return the content of a message; on Responses an answer's texts as one, and an empty one as Strands fills it."""
    if dialect != "openai_responses" or message["role"] != "assistant":
        return blocks
    return _join_texts(blocks) or [_BLANK]


def _join_texts(blocks: list[Block]) -> list[Block]:
    """Return the blocks with all texts in the place of the first one."""
    texts = [block for block in blocks if block.keys() == {"text"}]
    if len(texts) < 2:
        return blocks
    joined = {"text": text_of([block["text"] for block in texts])}
    return [joined if block is texts[0] else block for block in blocks if block is texts[0] or block not in texts]


def _form_result(content: Sequence[Block], dialect: str) -> list[Block]:
    """Return the content of a result. OpenAI's clients join texts side by side; on Responses not beside media."""
    parts = _form_each(content, dialect)
    if dialect not in _JOINS_TEXTS or (dialect == "openai_responses" and any("text" not in part for part in parts)):
        return parts
    grouped = runs(parts, lambda part, before: "text" in part and "text" in before)
    return [part for group in grouped for part in _join_texts(group)]


def _form_block(block: Block, dialect: str) -> Block:
    if "toolResult" in block:
        parts = _form_result(block["toolResult"]["content"], dialect)
        noted = dialect == "openai_chat" and any("image" in part for part in parts)
        return {**block, "toolResult": {**block["toolResult"], "content": [*parts, _NOTE] if noted else parts}}
    if "toolUse" in block and dialect in _JOINS_TEXTS and isinstance(given := block["toolUse"]["input"], dict):
        return {**block, "toolUse": {**block["toolUse"], "input": json.dumps(given, ensure_ascii=False)}}
    if "json" in block and dialect in _WRITES_JSON:
        return {"text": json.dumps(block["json"], ensure_ascii=dialect == NOVA)}
    if "document" in block and dialect == "anthropic":
        return _write_claude_document(block["document"]) or block
    return block


def _write_claude_document(held: Mapping[str, Any]) -> Block | None:
    data, kind = held["source"].get("bytes"), held["format"]
    if data is None or kind not in (*_TEXTS, "pdf"):
        return None
    source = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(data).decode()}
    if kind in _TEXTS:
        source = {"type": "text", "media_type": "text/plain", "data": data.decode(errors="replace")}
    return {"type": "document", "source": source, "title": held["name"]}


def _restore_blocks(kept: Sequence[Block], own: Sequence[Block], dialect: str) -> Iterator[Block]:
    """Yield the blocks that stay: the message's own in place of an equal form, without notes."""
    formed = [(_form_block(block, dialect), block) for block in own]
    results = {block["toolResult"]["toolUseId"]: block["toolResult"] for block in own if "toolResult" in block}
    for block in kept:
        same = next((one for form, one in formed if form == block), None)
        if same is not None or "toolResult" not in block:
            if block != _NOTE:
                yield same or _restore_use(block)
            continue
        result: Block = block["toolResult"]
        before = results[result["toolUseId"]]["content"]
        yield {**block, "toolResult": {**result, "content": list(_restore_blocks(result["content"], before, dialect))}}


def _restore_use(block: Block) -> Block:
    """Return a call with the arguments that are left as an object again; any other block as it is."""
    given = block["toolUse"]["input"] if "toolUse" in block else None
    return {**block, "toolUse": {**block["toolUse"], "input": json.loads(given)}} if isinstance(given, str) else block


def _write_content(message: Block, names: Mapping[str, str]) -> Block:
    """Return a message as Gemini's content, where each block but a cache point is a part."""
    role = "model" if message["role"] == "assistant" else "user"
    return {
        "role": role,
        "parts": [_write_part(block, names) for block in message["content"] if "cachePoint" not in block],
    }


def _write_part(block: Block, names: Mapping[str, str]) -> Block:
    if "toolResult" in block:
        result = block["toolResult"]
        output = [part if "json" in part else _write_part(part, names) for part in result["content"]]
        name = names.get(result["toolUseId"], result["toolUseId"])
        return {"function_response": {"id": result["toolUseId"], "name": name, "response": {"output": output}}}
    if "toolUse" in block:
        use = block["toolUse"]
        signed = {"thought_signature": use["reasoningSignature"]} if use.get("reasoningSignature") else {}
        return {"function_call": {"id": use["toolUseId"], "name": use["name"], "args": use["input"]}, **signed}
    if "reasoningContent" in block:
        thought = block["reasoningContent"].get("reasoningText", {})
        signed = {"thought_signature": thought["signature"]} if thought.get("signature") else {}
        return {"text": thought.get("text", ""), "thought": True, **signed}
    kind = next((kind for kind in ("image", "document", "video") if kind in block), None)
    if kind is None or (data := block[kind]["source"].get("bytes")) is None:
        return block
    media = _MEDIA.get(block[kind]["format"], f"{kind}/{block[kind]['format']}")
    return {"inline_data": {"mime_type": media, "data": base64.b64encode(data).decode()}}


def _restore_content(content: Sequence[Block], before: Message, after: Message) -> Iterator[Block]:
    """Yield what a policy left of the blocks of a message that was read as Gemini's content."""
    became = align_parts(before.parts, after.parts)
    written = {part["function_response"]["id"]: part["function_response"]["response"] for part in _list_results(after)}
    for block in content:
        old, new = (None, None) if "cachePoint" in block else next(became, (None, None))
        if new is old:
            yield block
        elif isinstance(new, str):
            yield {**block, "text": new}
        elif isinstance(new, Call):
            yield {**block, "toolUse": {**block["toolUse"], "input": json.loads(new.arguments)}}
        elif isinstance(new, Result):
            result: Block = block["toolResult"]
            left = _restore_output(written[result["toolUseId"]], new, result["content"])
            yield {**block, "toolResult": {**result, "content": left}}


def _list_results(message: Message) -> list[Block]:
    parts: Sequence[Block] = cast("Mapping[str, Any]", message.raw)["parts"]
    return [part for part in parts if "function_response" in part]


def _restore_output(response: Mapping[str, Any], new: Result, own: Sequence[Block]) -> list[Block]:
    """Return the content of a shortened result: its own media, and its texts as they are now; one text if cleared."""
    if "output" in response:
        return [was if "inline_data" in now else now for now, was in zip(response["output"], own, strict=True)]
    return [{"text": response["result"] if response.keys() == {"result"} else text_of(new.parts)}]
