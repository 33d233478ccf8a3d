"""Reads LangChain's messages as `ChatAnthropic` sends them, where it writes more of a block than OpenAI's clients do.

Read in langchain-anthropic (2026-11): `_format_data_content_block` and `_convert_from_v1_to_anthropic`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from assembler.conversation.messages import Message
from assembler.integrations import langchain_messages as chat
from assembler.text.runs import runs

if TYPE_CHECKING:
    # The used parts of LangChain, for type checkers without it.
    is_data_content_block: Callable[[Any], bool]
else:
    from langchain_core.messages import is_data_content_block

Block: TypeAlias = dict[str, Any]

_CAPTIONS = ("citations", "title", "context")
"""What a block may say of a document, by itself, in its `extras` or in its `metadata`."""
_EMPTY: Block = {"type": "text", "text": ""}
_SERVER_TOOLS = {"code_interpreter": "code_execution"}
"""LangChain's names of Claude's own tools."""


def as_claude(message: Any) -> dict[str, Any]:
    """Return a message as Chat Completions spells it, with Claude's own blocks as its API gets them."""
    return chat.as_chat(_respell_message(message))


def rewrite_message(message: Any, before: Message, after: Message) -> Any:
    """Return a copy of the message with the texts that the policy left, and its other blocks as they were."""
    return chat.rewrite_message(message, before, after, _respell_message(message).content)


def join_answers(messages: Sequence[Any]) -> Iterator[Any]:
    """Join answers side by side, which Claude reads as one turn and the build counts as one.

    `ChatAnthropic` joins the user's messages alone. A joined answer is a copy of the last one. Answers of different
    providers or forms stay apart, as the client spells each by its origin.
    """
    for answers in runs(messages, _continues):
        yield answers[0] if len(answers) == 1 else _join_contents(answers)


def _continues(message: Any, before: Any) -> bool:
    if chat.kind_of(message) != "ai" or chat.kind_of(before) != "ai":
        return False
    return _spelling_of(message) == _spelling_of(before) and not chat.calls_of(before)


def _spelling_of(message: Any) -> tuple[Any, Any]:
    metadata: Mapping[str, Any] = message.response_metadata
    return metadata.get("model_provider"), metadata.get("output_version")


def _join_contents(answers: Sequence[Any]) -> Any:
    contents = [answer.content for answer in answers]
    blocks = [
        block
        for content in contents
        for block in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]
    return answers[-1].model_copy(update={"content": [block for block in blocks if block != _EMPTY]})


def _respell_message(message: Any) -> Any:
    content: Any = message.content
    if isinstance(content, str):
        return message
    own = message.response_metadata.get("model_provider") == "anthropic"
    blocks = [
        _respell_block(cast(Block, each), own) if isinstance(each, dict) else each
        for each in cast("Sequence[Any]", content)
    ]
    return message.model_copy(update={"content": blocks})


def _respell_block(block: Block, own: object) -> Block:
    kind = block.get("type")
    if is_data_content_block(block):
        return _respell_medium(block)
    extras = cast("Mapping[str, Any]", block.get("extras") or {})
    if kind == "reasoning" and extras.get("signature"):
        return {"type": "thinking", "thinking": block.get("reasoning", ""), "signature": extras["signature"]}
    if not own:
        return block
    match kind:
        case "non_standard" if isinstance(block.get("value"), dict):
            return cast(Block, block["value"])
        case "server_tool_call":
            name = extras.get("tool_name") or block.get("name", "")
            call = {"type": "server_tool_use", "id": block.get("id"), "name": _SERVER_TOOLS.get(name, name)}
            return {**call, "input": block.get("args", {})}
        case "server_tool_result" if "block_type" in extras:
            found = {"tool_use_id": block.get("tool_call_id"), "content": block.get("output")}
            return {"type": extras["block_type"], **found}
        case _:
            return block


def _respell_medium(block: Block) -> Block:
    """Return a picture or a document that OpenAI's form cannot tell: a file's id, a title, a context, citations."""
    places: tuple[Block, ...] = (block, block.get("extras") or {}, block.get("metadata") or {})
    captions = {key: place[key] for key in _CAPTIONS for place in reversed(places) if key in place}
    file_id = block.get("file_id") or (block.get("id") if block.get("source_type") == "id" else None)
    kind = "image" if block["type"] == "image" else "document"
    if file_id is not None:
        return {"type": kind, "source": {"type": "file", "file_id": file_id}, **captions}
    if not captions or kind == "image":
        return block
    if "url" in block:
        source = {"type": "url", "url": block["url"]}
    elif "text" in block:
        source = {"type": "text", "media_type": "text/plain", "data": block["text"]}
    else:
        data = block.get("base64") or block.get("data", "")
        source = {"type": "base64", "media_type": block.get("mime_type") or "application/pdf", "data": data}
    return {"type": "document", "source": source, **captions}
