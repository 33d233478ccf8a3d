"""What is wrong with the requests of a run, told from the wire by rules of its own: it shares no code
with the library but the tokenizer.

The rules are those that the APIs answer with a 400 (public issue threads, read 2026-11): calls and answers in pairs,
reasoning beside the item that it was given with, and what the server said byte for byte. The recount is a floor: the
tokens of all texts, without what an API writes around them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from budgets import tiktoken_counter
from tests.integrations.converse import is_served
from tests.integrations.provider import Provider

Body: TypeAlias = dict[str, Any]

tokens = tiktoken_counter("o200k_base")


@attrs.frozen
class Verdict:
    """What is wrong with a run: each a text that names the request by its place."""

    calls: int
    over: list[str]
    invalid: list[str]


def judged(provider: Provider, limit: int, *, verbatim: bool = True) -> Verdict:
    """Every request of the run. `verbatim`: whether the client sends unsealed items back as they came. O(texts)."""
    over: list[str] = []
    invalid: list[str] = []
    served = _Served.of(provider.answers)
    for number, (path, body) in enumerate(zip(provider.paths, provider.bodies, strict=True)):
        floor = recounted(body)
        if floor > limit:
            over.append(f"request {number}: {floor} tokens of {limit}")
        invalid += [f"request {number}: {why}" for why in _broken(path, body, served, verbatim)]
    return Verdict(len(provider.bodies), over, invalid)


def recounted(body: Body) -> int:
    """Tokens of all that a model reads of a request: a floor. O(its texts)."""
    keys = ("instructions", "system", "systemInstruction", "input", "messages", "contents", "tools", "toolConfig")
    texts = [text for key in keys if body.get(key) for text in _texts(body[key])]
    return sum(map(tokens, texts))


_UNSAID = frozenset(
    [
        *("id", "call_id", "tool_call_id", "tool_use_id", "type", "role", "status", "encrypted_content", "signature"),
        *("thoughtSignature", "container_id", "file_id", "annotations", "logprobs", "cache_control", "strict"),
        *("toolUseId", "toolChoice", "functionCallingConfig", "cachePoint"),
    ]
)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, held in value.items():
            if key not in _UNSAID:
                yield from _texts(held)
    elif isinstance(value, Sequence):
        for held in value:
            yield from _texts(held)


@attrs.frozen
class _Served:
    """What the provider said: each item by its id, and what stood right after it in its answer."""

    items: dict[str, Body]
    after: dict[str, str]
    blocks: dict[str, Body]
    """Anthropic's blocks of its own tools, by what they hold."""

    @classmethod
    def of(cls, answers: Sequence[Body]) -> _Served:
        items: dict[str, Body] = {}
        after: dict[str, str] = {}
        blocks: dict[str, Body] = {}
        for answer in answers:
            output = answer.get("output") if isinstance(answer.get("output"), list) else []
            items |= {item["id"]: item for item in output}
            after |= {
                item["id"]: following["id"]
                for item, following in itertools.pairwise(output)
                if item["type"] == "reasoning"
            }
            own = (answer.get("output") or {}).get("message") if isinstance(answer.get("output"), dict) else answer
            blocks |= {json.dumps(block, sort_keys=True): block for block in (own or {}).get("content") or []}
        return cls(items, after, blocks)


def _broken(path: str, body: Body, served: _Served, verbatim: bool) -> Iterator[str]:
    if "/responses" in path:
        yield from _broken_items(
            body, served, _SEALED if not verbatim else frozenset(kind_of(item) for item in body["input"])
        )
    elif "/messages" in path:
        yield from _broken_messages(body, served)
    elif "/chat/completions" in path:
        yield from _broken_chat(body)
    elif "/converse" in path:
        yield from _broken_turns(body, served)
    else:
        yield from _broken_contents(body)


def _paired(asked: Sequence[tuple[int, str]], answered: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Each call once and before its answer, each answer once."""
    calls, answers = dict[str, int](), dict[str, int]()
    for where, found in ((asked, calls), (answered, answers)):
        for place, name in where:
            if name in found:
                yield f"{name} stands twice"
            found[name] = place
    for name, place in calls.items():
        if answers.get(name, -1) <= place:
            yield f"{name} is not answered after it was asked"
    yield from (f"{name} answers nothing" for name in answers.keys() - calls.keys())


def _broken_items(body: Body, served: _Served, verbatim: frozenset[str]) -> Iterator[str]:
    items: list[Body] = body["input"] if isinstance(body["input"], list) else []
    kinds = [kind_of(item) for item in items]
    yield from _paired(
        [
            (place, item["call_id"])
            for place, item in enumerate(items)
            if kinds[place].endswith("_call") and "call_id" in item
        ],
        [(place, item["call_id"]) for place, item in enumerate(items) if kinds[place].endswith("_output")],
    )
    ids = [item["id"] for item in items if item.get("id")]
    yield from (f"{name} stands twice" for name in {name for name in ids if ids.count(name) > 1})
    before = {later: earlier for earlier, later in served.after.items()}
    for place, item in enumerate(items):
        name = item.get("id")
        if name is None:
            continue
        following = items[place + 1] if place + 1 < len(items) else {}
        if name in served.after and not _is(following, served.items[served.after[name]]):
            yield f"reasoning {name} stands before {following.get('id')}, and came before {served.after[name]}"
        if name in before and (not place or items[place - 1].get("id") != before[name]):
            yield f"{name} stands without the reasoning that it came with"
        if name in served.items and kinds[place] in verbatim and _bare(served.items[name]) != _bare(item):
            yield f"{name} is not what the server said"
    if "compaction" in kinds:
        newest = max(place for place, kind in enumerate(kinds) if kind == "compaction")
        if any(
            kind != "message" or items[place].get("role") == "assistant" for place, kind in enumerate(kinds[:newest])
        ):
            yield "what the server summed up is sent again"
    spoken = [item for item in items if item.get("role") == "user"]
    if not spoken and "compaction" not in kinds and not isinstance(body["input"], str):
        yield "no user message"
    names = [tool.get("name") for tool in body.get("tools") or () if tool["type"] == "function"]
    if len(set(names)) != len(names):
        yield "two tools of one name"


_SEALED = frozenset({"reasoning", "compaction"})
"""Items that the server checks, whatever a client makes of the others."""


def kind_of(item: Body) -> str:
    """The type of an item, which a message may leave out."""
    return str(item.get("type", "message"))


def _is(item: Body, own: Body) -> bool:
    """Whether this is what the server said: some clients leave out a message's id, or give a call one of their own."""
    if "call_id" in own:
        return item.get("call_id") == own["call_id"]
    return item.get("id") == own["id"] or ("id" not in item and [*_texts(item)] == [*_texts(own)])


def _bare(item: object) -> object:
    """An item without what says nothing: fields that are null or empty, which the SDKs add and leave out."""
    if isinstance(item, Mapping):
        kept = {key: _bare(value) for key, value in item.items()}
        return {key: value for key, value in kept.items() if value not in (None, [], {})}
    if isinstance(item, list):
        return [_bare(value) for value in item]
    return item


def _blocks(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _broken_messages(body: Body, served: _Served) -> Iterator[str]:
    messages: list[Body] = body["messages"]
    if not messages or (messages[0]["role"] != "user" and not _compacted(messages[0])):
        yield "the first message is not the user's"
    for place, message in enumerate(messages):
        if not _blocks(message):
            yield f"message {place} is empty"
        calls = [block["id"] for block in _blocks(message) if block["type"] == "tool_use"]
        after = _blocks(messages[place + 1]) if place + 1 < len(messages) else []
        answers = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
        if sorted(calls) != sorted(answers):
            yield f"message {place}: calls {calls} get answers {answers}"
        own = [block["id"] for block in _blocks(message) if block["type"] == "server_tool_use"]
        results = [block["tool_use_id"] for block in _blocks(message) if block["type"].endswith("_tool_result")]
        if own != results:
            yield f"message {place}: the server's calls {own} have results {results}"
        for block in _blocks(message):
            if block["type"] in ("server_tool_use", "web_search_tool_result", "thinking", "compaction"):
                bare = {key: value for key, value in block.items() if key != "cache_control"}
                if not any(
                    _bare(bare) == _bare(known) for known in served.blocks.values() if known["type"] == block["type"]
                ):
                    yield f"message {place}: a {block['type']} that the server never said"


def _compacted(message: Body) -> bool:
    return any(block["type"] == "compaction" for block in _blocks(message))


def _broken_chat(body: Body) -> Iterator[str]:
    messages: list[Body] = body["messages"]
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"message {place} answers {message['tool_call_id']}, which nobody asked"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"message {place} stands before the answers of {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] == "assistant" and not message.get("content") and not waiting:
            yield f"message {place} says nothing"
    if waiting:
        yield f"nobody answers {waiting}"
    if not any(message["role"] == "user" for message in messages):
        yield "no user message"


def _broken_turns(body: Body, served: _Served) -> Iterator[str]:
    """Bedrock's Converse."""
    messages: list[Body] = body["messages"]
    if not messages or messages[0]["role"] != "user" or messages[-1]["role"] != "user":
        yield "the conversation does not begin and end with the user"
    for place, message in enumerate(messages):
        for block in message["content"]:
            if is_served(block) and json.dumps(block, sort_keys=True) not in served.blocks:
                yield f"message {place}: a call of the server's that it never said"
        blocks: list[Body] = [block for block in message["content"] if not is_served(block)]
        if not blocks or any(not block["text"].strip() for block in blocks if "text" in block):
            yield f"message {place} has an empty text"
        calls = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
        after = messages[place + 1]["content"] if place + 1 < len(messages) else []
        answers = [
            block["toolResult"]["toolUseId"] for block in after if "toolResult" in block and not is_served(block)
        ]
        if sorted(calls) != sorted(answers):
            yield f"message {place}: calls {calls} get answers {answers}"
        for block in blocks:
            if "reasoningContent" in block and json.dumps(block, sort_keys=True) not in served.blocks:
                yield f"message {place}: reasoning that the server never said"
    if any("toolUse" in block for message in messages for block in message["content"]) and "toolConfig" not in body:
        yield "calls without tools"


def _broken_contents(body: Body) -> Iterator[str]:
    contents: list[Body] = body["contents"]
    if not contents or contents[0]["role"] != "user":
        yield "the first content is not the user's"
    for place, content in enumerate(contents):
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        after = contents[place + 1]["parts"] if place + 1 < len(contents) else []
        answers = [part["functionResponse"] for part in after if "functionResponse" in part]
        if sorted(call["name"] for call in calls) != sorted(answer["name"] for answer in answers):
            yield f"content {place}: {len(calls)} calls get {len(answers)} answers"
        if calls and not any("thoughtSignature" in part for part in content["parts"]):
            yield f"content {place}: calls without their signature"
