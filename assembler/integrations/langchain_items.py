"""Reads LangChain's messages as items of the Responses API, and makes copies with other texts.

An answer of the model is several items: reasoning, texts, calls, and those of hosted tools. Read in langchain-openai
1.7.3 (2026-11): `_construct_responses_api_input`, and its three output versions.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.conversation.messages import Call, Message
from assembler.integrations.langchain_messages import as_chat, calls_of, kind_of, with_arguments
from assembler.integrations.langchain_messages import rewrite_message as rewrite_chat_message
from assembler.integrations.openai_dicts import call_item, text_of

Item: TypeAlias = dict[str, Any]
Place: TypeAlias = int | str | None
"""The place of an item in a message: the index of a content block, the name of an additional field, or None for a call,
which has an id."""

_AS_TEXT = frozenset({"text", "output_text", "refusal"})
_CALLS = frozenset({"function_call", "tool_call", "tool_use"})
"""Blocks that repeat `tool_calls`. One that keeps the server's item is sent in its place."""
_OF_OTHERS = frozenset({"thinking", "redacted_thinking", "reasoning_content", "server_tool_use", "mcp_tool_use"})
_RESULT_OF_OTHERS = "_tool_result"
"""Reasoning of other providers, and calls of their own tools with their results, which the client leaves out."""
_OWN = ("index", "sub_index")
"""LangChain's own keys of a block, which are not sent."""


def items_of(message: Any) -> list[Item]:
    """Return a message as it is sent: an answer of the model as items, any other as one message."""
    return [item for _, item in _place_items(message)]


def _place_items(message: Any) -> list[tuple[Place, Item]]:
    if kind_of(message) != "ai":
        return [(None, as_chat(message))]
    items = [*_list_items_outside_content(message), *_list_items_in_content(message)]
    items += _write_calls(message, {item.get("call_id") for _, item in items})
    return items or [(0, {"role": "assistant", "content": ""})] if message.content == "" else items


def _list_items_outside_content(message: Any) -> Iterator[tuple[Place, Item]]:
    """Yield the items that `output_version="v0"` keeps outside of the content."""
    held: Any = message.additional_kwargs.get("reasoning")
    if isinstance(held, dict):
        yield "reasoning", cast(Item, held)


def _list_items_in_content(message: Any) -> Iterator[tuple[Place, Item]]:
    content: Any = message.content
    if isinstance(content, str):
        if content:
            yield 0, {"role": "assistant", "content": content}
        return
    for place, block in enumerate(cast("Sequence[Any]", content)):
        if isinstance(block, str):
            yield place, {"role": "assistant", "content": block}
            continue
        fields = {key: value for key, value in cast(Item, block).items() if key not in _OWN}
        kind = fields.get("type")
        if kind in _AS_TEXT:
            text = fields.get("text") or fields.get("refusal") or ""
            yield place, {"role": "assistant", "content": text}
        elif kind == "reasoning":
            yield place, _write_reasoning(fields)
        elif kind in _OF_OTHERS or str(kind).endswith(_RESULT_OF_OTHERS):
            continue
        elif kind not in _CALLS:
            yield place, fields
        elif (item := _find_served_call(fields, message)) is not None:
            yield None, item


def _write_reasoning(block: Item) -> Item:
    """Return a reasoning item. A `v1` block has its encrypted content in `extras`; other versions keep the item."""
    if "summary" in block or "reasoning" not in block:
        return block
    extras = cast("Mapping[str, Any]", block.get("extras") or {})
    sealed = block.get("encrypted_content") or extras.get("encrypted_content")
    item: Item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": block["reasoning"]}]}
    item |= {"id": block["id"]} if "id" in block else {}
    return item | ({"encrypted_content": sealed} if sealed else {})


def _find_served_call(block: Item, message: Any) -> Item | None:
    """Return a call as the server's item, which a block keeps; None if the message's `tool_calls` is sent instead."""
    if block.get("type") == "function_call":
        return block if block.get("call_id") else None
    extras = cast("Mapping[str, Any]", block.get("extras") or {})
    call = next((call for call in message.tool_calls if call["id"] == block.get("id")), None)
    if call is None or "item_id" not in extras:
        return None
    arguments = extras.get("arguments") or json.dumps(call["args"], separators=(",", ":"))
    status = {"status": extras["status"]} if "status" in extras else {}
    return {**call_item(call["id"], call["name"], arguments), "id": extras["item_id"], **status}


def _write_calls(message: Any, in_content: Container[object]) -> Iterator[tuple[Place, Item]]:
    for call, arguments in calls_of(message):
        if call["id"] not in in_content:
            yield None, call_item(call["id"], call["name"] or "", arguments)


def rewrite_items(message: Any, became: Sequence[tuple[Message, Message | None]]) -> Any:
    """Return a copy of the message with the texts that are left of its items, and the same ids and metadata."""
    if kind_of(message) != "ai":
        before, after = became[0]
        return rewrite_chat_message(message, before, cast(Message, after))
    pairs = list(zip((place for place, _ in _place_items(message)), became, strict=True))
    left: dict[Place, Message | None] = {place: after for place, (_, after) in pairs if place is not None}
    same = {place for place, (before, after) in pairs if after is before}
    extra = dict(message.additional_kwargs)
    if left.get("reasoning", message) is None:
        del extra["reasoning"]
    arguments = {
        part.id: part.arguments for _, (_, after) in pairs if after for part in after.parts if type(part) is Call
    }
    has_new_arguments = any(old is not new for place, (old, new) in pairs if place is None)
    untrue = _CALLS if has_new_arguments else frozenset[str]()
    changes = {"content": _rewrite_content(message.content, left, same, untrue), "additional_kwargs": extra}
    return message.model_copy(update=changes | with_arguments(message, arguments))


def _rewrite_content(
    content: Any, left: Mapping[Place, Message | None], same: set[Place], untrue: frozenset[str]
) -> Any:
    """Return the content that is left, without blocks that the change has made untrue."""
    if isinstance(content, str):
        return content if not content or 0 in same else _join_texts(left[0])
    kept: list[Any] = []
    for place, block in enumerate(cast("Sequence[Any]", content)):
        if place in same or (place not in left and block.get("type") not in untrue):
            kept.append(block)
        elif (after := left.get(place)) is not None:
            own = cast(Item, block) if isinstance(block, dict) else {"type": "text"}
            kept.append({**own, "text": _join_texts(after)})
    return kept


def _join_texts(message: Message | None) -> str:
    return "" if message is None else text_of(message.parts)
