"""Splits Pydantic AI's messages into parts, reads each as a message, and joins the kept parts again.

One `ModelRequest` may hold a system prompt, the results of several calls and the next question. A cut may fall between
them, so each of its parts is a message here. Read in pydantic-ai-slim 2.68.0 (2026-11): the model gets what
`OpenAIChatModel._map_messages` makes of the messages that `Model.prepare_messages` returns.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages import Call, Message, Result, Thinking
from assembler.integrations.kept_objects import align_parts
from assembler.integrations.openai_dicts import call_item, chat_call, message_item, reasoning_item, text_of
from assembler.integrations.pydantic_forms import (
    Takes,
    content_of,
    contents_of,
    holds_files,
    in_form_of,
    is_cache_point,
    json_value,
    parts_with,
    takes_nothing,
)

_AS_BLOCKS = frozenset({"anthropic", "bedrock", "gemini"})
"""The dialects whose APIs take reasoning back unchanged. The others get it as text between tags."""


Place: TypeAlias = tuple[int, int]
"""A part: the index of its message, and its index there."""


@attrs.frozen(eq=False)
class Piece:
    """One message for the assembler: a response, or one part of a request.

    `places` are its parts, all of one message, and `changed` are their new versions if a policy shortened them.
    `before` and `after` are parts that are never sent; they stay in place while the piece stays. A piece without a
    place is a summary or, if `sent` is also empty, something that the framework adds.
    """

    places: tuple[Place, ...] = ()
    sent: Any = None
    """The part or response as it will be sent, with the framework's framing."""
    message_dict: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    before: tuple[Place, ...] = ()
    after: tuple[Place, ...] = ()
    changed: Sequence[Any] | None = None
    takes: Takes = takes_nothing
    """Whether the model takes the signature of a part back."""


def pieces(
    messages: Sequence[Any], prepared: Sequence[Any], *, dialect: str, tags: tuple[str, str], takes: Takes
) -> Iterator[Piece]:
    """Yield the pieces of a history, oldest first. `prepared` is the sent history; `tags` enclose reasoning.

    `takes(response, part)` is True if the model takes a part's signature back.
    """
    silent: list[Place] = []
    last: Piece | None = None
    matched = prepared if len(prepared) == len(messages) else messages
    for at, (message, sent) in enumerate(zip(messages, matched, strict=True)):
        for places, form, message_dict in _read_parts(at, message, sent, dialect, tags, takes):
            if message_dict is None:
                silent += places
                continue
            if last is not None:
                yield last
            last, silent = Piece(tuple(places), form, message_dict, tuple(silent), takes=takes), []
    if last is not None:
        yield attrs.evolve(last, after=tuple(silent))


def join_pieces(messages: Sequence[Any], kept: Sequence[Piece]) -> list[Any]:
    """Join the kept pieces to a history. A message that stays whole is the same object, others get new objects.

    A piece without a place is a summary and becomes a message.
    """
    together: list[Any] = []
    found = (entry for piece in kept for entry in _list_parts(piece, messages))
    for at, entries in itertools.groupby(found, key=operator.itemgetter(0)):
        parts = [part for _, listed in entries for part in listed]
        if at < 0:
            together += parts
            continue
        own = messages[at]
        # In the order of the request, which the framework makes again.
        same = {*map(id, parts)} == {*map(id, own.parts)}
        together.append(own if same else dataclasses.replace(own, parts=parts))
    return together


def _list_parts(piece: Piece, messages: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the parts of a piece with the index of their message; -1 for a summary."""
    if not piece.places and piece.sent is not None:
        yield -1, [piece.sent]
    for at, part in piece.before:
        yield at, [messages[at].parts[part]]
    unchanged = piece.places
    if piece.changed is not None:
        unchanged = ()
        yield piece.places[0][0], piece.changed
    for at, part in (*unchanged, *piece.after):
        yield at, [messages[at].parts[part]]


def rewrite_piece(piece: Piece, before: Message, after: Message) -> Piece:
    """Return the piece with the texts that a policy left, and the same ids and signatures.

    A result becomes its remaining text with the framing that was sent, and is marked a success, so that the framework
    does not frame it again. Several texts of one response become one.
    """
    if piece.sent is None:
        return piece  # added by the framework, which will make it again
    became = list(align_parts(before.parts, after.parts))
    if getattr(piece.sent, "part_kind", None) in _OF_A_RESPONSE:
        return attrs.evolve(piece, changed=[_rewrite_item(piece.sent, became[0][1])])
    if hasattr(piece.sent, "parts") and "parts" in piece.message_dict:
        return attrs.evolve(piece, changed=list(parts_with(piece.sent, became, piece.takes)))
    if hasattr(piece.sent, "parts"):
        return attrs.evolve(piece, changed=list(_rewrite_response(piece.sent, piece.message_dict, became)))
    new = became[0][1]
    if isinstance(new, Result):
        result = dataclasses.replace(piece.sent, content=text_of(new.parts), outcome="success")
        return attrs.evolve(piece, changed=[result])
    if isinstance(piece.sent.content, str):
        return attrs.evolve(piece, changed=[dataclasses.replace(piece.sent, content=new)])
    left = iter(new for _, new in became)
    content = [item if is_cache_point(item) else _rewrite_content(item, next(left)) for item in piece.sent.content]
    kept = [item for item in content if item is not None]
    return attrs.evolve(piece, changed=[dataclasses.replace(piece.sent, content=kept)])


_Reading: TypeAlias = tuple[list[Place], Any, dict[str, Any] | None]
"""The places of what is sent together, the object that is sent, and its message dict; None if it is not sent."""


def _read_parts(
    at: int, message: Any, sent: Any, dialect: str, tags: tuple[str, str], takes: Takes
) -> Iterator[_Reading]:
    """Yield each part of a request, and a response as a whole or, as items of the Responses API, part by part."""
    if message.kind != "response":
        yield from _read_request(at, message, sent, dialect)
    elif dialect == "openai_responses":
        yield from _read_items(at, message, tags)
    else:
        places = [(at, part) for part in range(len(message.parts))]
        gemini = dialect == "gemini"
        yield places, message, content_of(message, takes) if gemini else _write_response(message, dialect, tags, takes)


def _read_request(at: int, message: Any, sent: Any, dialect: str) -> Iterator[_Reading]:
    """Yield each part of a request as it is sent, then the notes that the framework added, which have no place.

    The framework sends results first, where a tool has enqueued words between two. The notes come last, so that they do
    not separate a call from its result. Files of tool results are told with the last result, also for an API that gets
    them as the user's: a message with a result begins no turn.
    """
    added, framed = _match_framed(message.parts, sent.parts)
    files: list[Any] = []
    order = _order_parts(framed, sent.parts)
    last = next((index for index in reversed(order) if message.parts[index].part_kind == "tool-return"), -1)
    for index in order:
        part, form = message.parts[index], framed[index]
        message_dict = None if form is None else _write_request_part(form, files, dialect)
        if message_dict is not None and part.part_kind.startswith("retry") and message_dict["role"] == "user":
            message_dict["role"] = "system"  # the framework's own words must not begin a turn
        if message_dict is not None and files and (dialect in _AS_BLOCKS or index == last):
            message_dict = _add_files(message_dict, files, dialect)
            files.clear()
        yield [(at, index)], form, None if message_dict is None else in_form_of(dialect, form, message_dict)
    for note in added:
        yield [], None, _write_request_part(note, files, dialect)


def _add_files(result: dict[str, Any], files: Sequence[Any], dialect: str) -> dict[str, Any]:
    """Return the message dict of a result with files: in the result itself, or as the user's, beside the result."""
    contents = contents_of(files, dialect)
    if dialect in _AS_BLOCKS:
        return {**result, "content": [{"type": "text", "text": result["content"]}, *contents]}
    block = {"type": "tool_result", "tool_use_id": result["tool_call_id"], "content": result["content"]}
    return {"role": "user", "content": [block, *contents]}


_OF_A_RESPONSE = frozenset({"text", "thinking", "tool-call", "builtin-tool-call", "compaction"})
_HOSTED = {
    "web_search": "web_search_call",
    "code_execution": "code_interpreter_call",
    "file_search": "file_search_call",
    "image_generation": "image_generation_call",
    "tool_search": "tool_search_call",
}
"""The item types of hosted tools' calls in the Responses API. Any other is an MCP server's."""
_SYNTHETIC = frozenset({"content", "reasoning", "reasoning_content"})
"""Ids of reasoning from Chat Completions, which has no item."""


def _read_items(at: int, message: Any, tags: tuple[str, str]) -> Iterator[_Reading]:
    """Yield each part of a response as an item of the Responses API; None for one that is not sent back.

    Results of hosted tools stay at the server, except those of searches, which are sent with their call.
    """
    results = {part.tool_call_id: part for part in message.parts if part.part_kind == "builtin-tool-return"}
    for index, part in enumerate(message.parts):
        yield [(at, index)], part, _write_item(part, results, tags)


def _write_item(part: Any, results: Mapping[str, Any], tags: tuple[str, str]) -> dict[str, Any] | None:
    match part.part_kind:
        case "text":
            return message_item(part.content)
        case "tool-call":
            return call_item(part.tool_call_id, part.tool_name, part.args_as_json_str())
        case "thinking" if part.id and part.id not in _SYNTHETIC:
            return reasoning_item(part.id, part.content, part.signature)
        case "thinking":
            return message_item("\n".join((tags[0], part.content, tags[1])))
        case "builtin-tool-call":
            result = results.get(part.tool_call_id)
            return _write_hosted_call(part, None if result is None else result.model_response_str())
        case "compaction":
            details: Mapping[str, Any] = part.provider_details or {}
            return {"type": "compaction", "id": part.id, "encrypted_content": details.get("encrypted_content", "")}
        case _:
            return None


def _write_hosted_call(part: Any, result: str | None) -> dict[str, Any]:
    kind = _HOSTED.get(part.tool_name, "mcp_call")
    call = {"type": kind, "id": part.tool_call_id, "status": "completed"}
    match kind:
        case "web_search_call":
            return {**call, "action": part.args_as_dict()}
        case "code_interpreter_call":
            return {**call, **part.args_as_dict(), "outputs": None}
        case "file_search_call":
            return {**call, **part.args_as_dict(), "results": result}
        case "mcp_call":
            named = {"server_label": part.tool_name, "name": part.tool_name}
            return {**call, **named, "arguments": part.args_as_json_str(), "output": result}
        case _:
            return {**call, **part.args_as_dict()}


def _rewrite_item(part: Any, new: Any) -> Any:
    if isinstance(new, Call):
        return dataclasses.replace(part, args=json.loads(new.arguments))
    return dataclasses.replace(part, content=new) if isinstance(new, str) else part


def _match_framed(own: Sequence[Any], sent: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the parts that the framework added to a request, and its own parts with framing; None for one left out.

    A framed part is a new object with the same timestamp and call as the original.
    """
    left = list(sent)
    framed: list[Any] = []
    for part in own:
        same = (form for form in left if form is part)
        alike = (form for form in left if _stamp_part(form) is not None and _stamp_part(form) == _stamp_part(part))
        found = next(same, None) or next(alike, None)
        left = [form for form in left if form is not found]
        framed.append(found)
    return left, framed


def _order_parts(framed: Sequence[Any], sent: Sequence[Any]) -> list[int]:
    """Return the indexes of a request's parts in the order in which they are sent; one left out stays in its place."""
    places = {id(part): place for place, part in enumerate(sent)}
    found = itertools.accumulate(framed, lambda place, form: places.get(id(form), place), initial=-1)
    return sorted(range(len(framed)), key=list(found)[1:].__getitem__)


def _stamp_part(part: Any) -> object:
    """Return what a part and its framed form share; a retry of no tool has an id of a call that its form lacks."""
    time, tool = getattr(part, "timestamp", None), getattr(part, "tool_name", None)
    return None if time is None else (time, getattr(part, "tool_call_id", None) if tool else None)


def _write_request_part(part: Any, files: list[Any], dialect: str) -> dict[str, Any] | None:
    """Return the message dict of one part. The files of a tool result are appended to `files`."""
    match part.part_kind:
        case "system-prompt":
            return {"role": "system", "content": part.content} if part.content else None
        case "user-prompt":
            return {"role": "user", "content": contents_of(part.content, dialect)}
        case "tool-return":
            text, held = part.model_response_str_and_user_content()
            files += () if holds_files(dialect, part) else held
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
        case _:
            return None


def _rewrite_content(item: Any, part: object) -> Any:
    """Return an item of a prompt with the text that is left of it; None if it was dropped."""
    if not isinstance(part, str):
        return None if part is None else item
    return item if getattr(item, "content", item) == part else part


def _is_block(part: Any, message: Any, dialect: str, takes: Takes) -> bool:
    """Whether reasoning is sent as such: Claude takes only its own signatures, and gets other reasoning as text."""
    return dialect in _AS_BLOCKS and bool(part.signature) and (part.provider_name is None or takes(message, part))


def _write_response(message: Any, dialect: str, tags: tuple[str, str], takes: Takes) -> dict[str, Any] | None:
    """Return a response as one assistant message. Its texts are joined by a blank line, as they are sent."""
    texts: list[str] = []
    blocks: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for part in message.parts:
        if part.part_kind == "text":
            texts.append(part.content)
        elif part.part_kind == "thinking" and _is_block(part, message, dialect, takes):
            blocks.append({"type": "thinking", "thinking": part.content, "signature": part.signature or ""})
        elif dialect in _AS_BLOCKS and part.part_kind in _OF_A_SERVER:
            blocks.append(_write_server_block(part, dialect))
        elif part.part_kind == "thinking":
            texts.append("\n".join((tags[0], part.content, tags[1])))
        elif part.part_kind == "tool-call":
            calls.append(chat_call(part.tool_call_id, part.tool_name, part.args_as_json_str()))
    if not (texts or calls or blocks):
        return None
    message_dict: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if blocks:
        text_blocks = [{"type": "text", "text": "\n\n".join(texts)}] if texts else []
        message_dict["content"] = [*blocks, *text_blocks]
    return {**message_dict, "tool_calls": calls} if calls else message_dict


_OF_A_SERVER = frozenset({"builtin-tool-call", "builtin-tool-return", "compaction"})


def _write_server_block(part: Any, dialect: str) -> dict[str, Any]:
    """Return a hosted tool's call or result in Anthropic's form, or as words for another API, to price them."""
    if part.part_kind == "compaction":
        return {"type": "compaction", "content": part.content}
    if dialect != "anthropic":  # Bedrock
        words = part.args_as_json_str() if part.part_kind == "builtin-tool-call" else part.model_response_str()
        return {"type": "code_execution_tool_result", "content": [{"type": "text", "text": words}]}
    if part.part_kind == "builtin-tool-call":
        called = {"type": "server_tool_use", "id": part.tool_call_id, "name": part.tool_name}
        return {**called, "input": part.args_as_dict()}
    return {
        "type": f"{part.tool_name}_tool_result",
        "tool_use_id": part.tool_call_id,
        "content": json_value(part.content),
    }


def _rewrite_response(
    response: Any, message_dict: Mapping[str, Any], became: Sequence[tuple[Any, Any]]
) -> Iterator[Any]:
    """Yield the parts of a response with what is left of its texts, its reasoning and the arguments of its calls."""
    arguments = iter([new.arguments for _, new in became if isinstance(new, Call)])
    thoughts = iter([new for old, new in became if isinstance(old, Thinking)])
    texts = [(old, new) for old, new in became if isinstance(old, str)]
    unchanged = all(new is old for old, new in texts)
    text = next((new for _, new in texts), None)
    content = message_dict.get("content")
    listed = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
    blocks = [block.get("thinking") for block in listed]
    for part in response.parts:
        if part.part_kind == "tool-call":
            new = next(arguments)
            yield part if new == part.args_as_json_str() else dataclasses.replace(part, args=json.loads(new))
        elif part.part_kind == "thinking" and part.content in blocks:
            if next(thoughts) is not None:
                yield part
        elif unchanged or part.part_kind not in ("text", "thinking"):
            yield part
        elif text and part.part_kind == "text":
            yield dataclasses.replace(part, content=text)
            text = None  # the first text stands for all
