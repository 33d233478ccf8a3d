"""Bedrock Converse: rules B1 to B6."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assembler.verify import definitions, shape
from assembler.verify.checker import Checker
from assembler.verify.definitions import T3, Definition, empty_tools, wrong_choice, wrong_definitions, wrong_name
from assembler.verify.neutral import MOST_MARKS, N8
from assembler.verify.pairing import N2, N3, Turn, find_repeated, find_unpaired, refs
from assembler.verify.place import Place
from assembler.verify.violation import Violation, count_noun, rules_in

RULE = rules_in(__name__)
RULES = (*RULE.values(), *definitions.RULES, N2, N3, N8)

BYTES_UNDER = frozenset({"bytes", "redactedContent"})
"""Keys under which boto3 takes bytes and writes base64 itself (botocore 1.44.5, service model bedrock-runtime)."""

# Union members: botocore 1.44.5, service model bedrock-runtime, operation Converse, read 2026-11.
_BLOCKS = frozenset(
    [
        *("text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint"),
        *("reasoningContent", "citationsContent", "searchResult", "toolAddition", "toolRemoval"),
    ]
)
_SYSTEM_BLOCKS = frozenset({"text", "guardContent", "cachePoint"})
_RESULT_BLOCKS = frozenset({"json", "text", "image", "document", "video", "searchResult"})
_TOOLS = frozenset({"toolSpec", "systemTool", "cachePoint"})

# botocore 1.44.5 also accepts `.` and `:`; Claude behind the service does not (bifrost#5097).
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in a request, for any model. Linear."""
    messages = request.at("messages")
    yield from _wrong_blocks(request.at("system"), _SYSTEM_BLOCKS)
    yield from shape.must_be_list(messages, shape.OBJECT)
    yield from _wrong_order(messages)
    for message in messages.objects():
        yield from _wrong_message(message)
    yield from _wrong_pairs(messages)
    yield from _wrong_thinking(request)
    yield from _wrong_tools(request)
    yield from _find_surplus_marks(request)


def _wrong_blocks(blocks: Place, known: frozenset[str]) -> Iterator[Violation]:
    yield from shape.may_be(blocks, shape.LIST)
    for block in blocks.each():
        yield from shape.one_member(block, known, "a block")
        text = block.at("text")
        yield from shape.may_be(text, shape.TEXT)
        if text.text is not None and not text.text.strip():
            yield RULE["B2"].broken(text.path, f"a blank text ({count_noun(len(text.text), 'character')})")


def _wrong_order(messages: Place) -> Iterator[Violation]:
    before: str | None = None
    for message in messages.objects():
        role = message.at("role").text
        if role is not None and role == before:
            yield RULE["B1"].broken(message.path, f"a second {role} message in a row")
        before = role
    listed = messages.objects()
    if messages.empty:
        yield RULE["B5"].broken(messages.path, "no messages at all")
    if listed and listed[0].at("role").text == "assistant":
        yield RULE["B5"].broken(listed[0].path, "the conversation begins with the assistant")
    if listed and before == "assistant":
        yield RULE["B5"].broken(listed[-1].path, "the conversation ends with the assistant")


def _wrong_message(message: Place) -> Iterator[Violation]:
    role, content, served = message.at("role"), message.at("content"), _find_served_ids(message)
    yield from shape.must_be_one_of(role, ("user", "assistant"), shape.S3, "role")
    yield from shape.must_be(content, shape.LIST)
    if content.empty:
        yield RULE["B2"].broken(content.path, "a message without content")
    yield from _wrong_blocks(content, _BLOCKS)
    for block in content.objects():
        call, result = block.at("toolUse"), block.at("toolResult")
        if not call.absent:
            yield from _wrong_call(call)
        if not result.absent:
            yield from _wrong_result(result)
        theirs = role.text == "assistant" and result.at("toolUseId").text not in served
        if (role.text == "user" and not call.absent) or (theirs and not result.absent):
            yield shape.S1.broken(block.path, "calls are the assistant's, results the user's")


def _wrong_call(call: Place) -> Iterator[Violation]:
    yield from shape.must_be(call.at("toolUseId"), shape.TEXT)
    yield from wrong_name(call.at("name"))
    yield from shape.must_be(call.at("input"), shape.OBJECT)


def _wrong_result(result: Place) -> Iterator[Violation]:
    content, status = result.at("content"), result.at("status")
    yield from shape.must_be(result.at("toolUseId"), shape.TEXT)
    yield from shape.must_be(content, shape.LIST)
    for block in content.each():
        yield from shape.one_member(block, _RESULT_BLOCKS, "a result block")
    if not status.absent:
        yield from shape.must_be_one_of(status, ("success", "error"), shape.S1, "status")
    filled = [block for block in content.objects() if (block.at("text").text or "-").strip()]
    if status.text == "error" and content.text is None and not filled:
        yield RULE["B4"].broken(content.path, "an error result without content")


def _find_served_ids(message: Place) -> set[str | None]:
    """The ids of the assistant's calls that the server ran, as a type says: their results are beside them."""
    if message.at("role").text != "assistant":
        return set()
    blocks = message.at("content").objects()
    typed = [
        found for block in blocks for key in ("toolUse", "toolResult") if not (found := block.at(key)).at("type").absent
    ]
    results = {block.at("toolResult").at("toolUseId").text for block in blocks if not block.at("toolResult").absent}
    return {found.at("toolUseId").text for found in typed} & results


def _pair_blocks(message: Place) -> Turn:
    role = message.at("role").text or ""
    key = {"assistant": "toolUse", "user": "toolResult"}.get(role, "")
    ids = [block.at(key).at("toolUseId") for block in message.at("content").objects() if not block.at(key).absent]
    served = _find_served_ids(message)
    ids = [named for named in ids if named.text not in served]
    return Turn(message, role, refs(ids)) if role == "assistant" else Turn(message, role, answers=refs(ids))


def _wrong_pairs(messages: Place) -> Iterator[Violation]:
    turns = [_pair_blocks(message) for message in messages.objects()]
    yield from find_repeated((ref for turn in turns for ref in turn.calls), N3)
    for ref in (ref for turn in turns for ref in (*turn.calls, *turn.answers)):
        if ref.id is not None and not _ID.match(ref.id):
            yield RULE["L3"].broken(
                ref.place.path, f"a toolUseId of {len(ref.id)} characters, or with characters not allowed"
            )
    yield from find_unpaired(turns)


def _wrong_thinking(request: Place) -> Iterator[Violation]:
    """A breach if Claude is asked to think in the middle of a tool loop that does not begin with thinking."""
    extra, messages = request.at("additionalModelRequestFields"), request.at("messages").objects()
    asked = [extra.at(key).at("type").text for key in ("thinking", "reasoning_config")]
    by_model = [index for index, message in enumerate(messages) if message.at("role").text == "assistant"]
    if "enabled" not in asked or not by_model or not _has_block(messages[by_model[-1]], "toolUse"):
        return
    start = by_model[-1]
    while start >= 2 and _has_block(messages[start - 1], "toolResult"):
        start -= 2
    first = [message.at("content").objects()[:1] for message in (messages[start], messages[by_model[-1]])]
    if all(block.at("reasoningContent").absent for blocks in first for block in blocks):
        yield RULE["B6"].broken(
            messages[by_model[-1]].path, "thinking is enabled, and this turn of calls does not begin with thinking"
        )


def _has_block(message: Place, key: str) -> bool:
    return any(not block.at(key).absent for block in message.at("content").objects())


def _wrong_tools(request: Place) -> Iterator[Violation]:
    config, tools = request.at("toolConfig"), request.at("toolConfig").at("tools")
    yield from shape.may_be(config, shape.OBJECT)
    if not config.absent:
        yield from shape.must_be(tools, shape.LIST)
    yield from empty_tools(tools)
    for tool in tools.each():
        yield from shape.one_member(tool, _TOOLS, "a tool")
    specs = [tool.at("toolSpec") for tool in tools.objects() if not tool.at("toolSpec").absent]
    for spec in specs:
        if spec.at("inputSchema").at("json").nothing:
            yield T3.broken(spec.at("inputSchema").path, "a tool without inputSchema.json")
    yield from wrong_definitions(Definition(s.at("name"), s.at("inputSchema").at("json")) for s in specs)
    choice = config.at("toolChoice")
    yield from wrong_choice(choice, choice.at("tool").at("name"), tools, (spec.at("name").text for spec in specs))
    if config.absent:
        yield from _find_missing_config(request)


def _find_missing_config(request: Place) -> Iterator[Violation]:
    blocks = [block for message in request.at("messages").objects() for block in message.at("content").objects()]
    used = [block for block in blocks if not (block.at("toolUse").absent and block.at("toolResult").absent)]
    if used:
        yield RULE["B3"].broken(used[0].path, f"{len(used)} toolUse and toolResult blocks, and no toolConfig")


def _find_surplus_marks(request: Place) -> Iterator[Violation]:
    blocks = [*request.at("toolConfig").at("tools").objects(), *request.at("system").objects()]
    blocks += [block for message in request.at("messages").objects() for block in message.at("content").objects()]
    marks = [block for block in blocks if not block.at("cachePoint").absent]
    if len(marks) > MOST_MARKS:
        yield N8.broken(marks[MOST_MARKS].path, f"{len(marks)} cache points; at most {MOST_MARKS}")


CHECKER = Checker(
    check,
    RULES,
    bytes_under=BYTES_UNDER,
    words=frozenset(("cachePoint", "toolUse", "toolResult", "reasoningContent")),
    kinds=_BLOCKS | _SYSTEM_BLOCKS | _RESULT_BLOCKS | _TOOLS,
)
