"""The rules N1 to N9, which belong to no dialect.

N9 can only be checked in part: an edited thinking block shows only if its signature is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from assembler.verify import shape
from assembler.verify.definitions import Definition, listed_tools, wrong_definitions
from assembler.verify.pairing import N3, Turn, find_repeated, find_unpaired, refs
from assembler.verify.place import Place, is_list
from assembler.verify.violation import Rule, Violation

N1 = Rule("N1", "the conversation is not empty, and its first turn after any system turn is the user's")
N4 = Rule("N4", "no content is empty")
N5 = Rule("N5", "the last turn is the user's or a tool's")
N6 = Rule("N6", "reasoning stays with what follows it")
N7 = Rule("N7", "tools are defined if the history has any call")
N8 = Rule("N8", "at most four cache marks")
N9 = Rule("N9", "the last assistant turn is as the model wrote it: its thinking keeps its signature")

MOST_MARKS = 4
"""Cache marks in one request (N8; Anthropic's limit, the only published one)."""

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_REASONING = ("thinking", "redacted_thinking", "reasoning")


def is_speechless(message: Place) -> bool:
    """Whether a message has neither content nor calls nor a refusal."""
    return all(message.at(key).nothing for key in ("content", "tool_calls", "function_call", "refusal", "audio"))


def wrong_messages(messages: Place, arguments: shape.Kind = shape.TEXT_OR_OBJECT) -> Iterator[Violation]:
    """Check the shape of neutral messages: role, content, calls with an id, a name and arguments of this kind."""
    yield from shape.must_be_list(messages, shape.OBJECT)
    for message in messages.objects():
        yield from shape.must_be_one_of(message.at("role"), _ROLES, shape.S3, "role")
        yield from shape.may_be(message.at("content"), shape.TEXT_OR_LIST)
        yield from shape.items_must_be(message.at("content"), shape.TEXT_OR_OBJECT)
        for part in message.at("content").objects():
            yield from shape.must_be(part.at("type"), shape.TEXT)
            if part.at("type").text in shape.TEXT_TYPES:
                yield from shape.must_be(part.at("text"), shape.TEXT)
        yield from shape.may_be(message.at("tool_calls"), shape.LIST)
        for call in message.at("tool_calls").each():
            yield from shape.must_be(call, shape.OBJECT)
            spelled = call.first("function", "custom") if call.at("name").absent else call
            yield from shape.must_be(spelled.at("name"), shape.TEXT)
            yield from shape.must_be(spelled.first("arguments", "args", "input", "parameters"), arguments)


def wrong_tools(tools: Place) -> Iterator[Violation]:
    """Check tools in the form of Chat, Anthropic or MCP."""
    yield from listed_tools(tools)
    inner = [tool if tool.at("function").absent else tool.at("function") for tool in tools.objects()]
    found = (Definition(tool.at("name"), tool.first("parameters", "input_schema", "inputSchema")) for tool in inner)
    yield from wrong_definitions(found)


def read_turns(messages: Place) -> list[Turn]:
    """Read the calls and answers of each message, in either form."""
    return [_read_turn(message) for message in messages.objects()]


def _read_turn(message: Place) -> Turn:
    blocks = message.at("content").objects()
    calls = [call.at("id") for call in message.at("tool_calls").objects()]
    calls += [block.at("id") for block in blocks if block.at("type").text == "tool_use"]
    answers = [block.at("tool_use_id") for block in blocks if block.at("type").text == "tool_result"]
    if message.at("role").text == "tool" and not answers:
        answers = [message.at("tool_call_id")]
    return Turn(message, message.at("role").text or "", refs(calls), refs(answers))


def wrong_pairs(turns: list[Turn]) -> Iterator[Violation]:
    """Check N2 and N3. System turns are ignored: they may be between a call and its answer."""
    yield from find_repeated((ref for turn in turns for ref in turn.calls), N3)
    yield from find_unpaired(turn for turn in turns if turn.role not in ("system", "developer"))


def empty_contents(turns: list[Turn]) -> Iterator[Violation]:
    """Check N4. A tool's answer may be empty."""
    for turn in turns:
        if turn.role != "tool" and is_speechless(turn.place):
            yield N4.broken(turn.place.path, "a message without content")
        for part in turn.place.at("content").objects():
            if part.at("type").text == "text" and part.at("text").text == "":
                yield N4.broken(part.at("text").path, "an empty text part")


def wrong_ends(messages: Place, turns: list[Turn]) -> Iterator[Violation]:
    """Check N1 and N5."""
    if is_list(messages.value) and not messages.value:
        yield N1.broken(messages.path, "no messages at all")
    conversation = [turn for turn in turns if turn.role not in ("system", "developer")]
    if conversation and conversation[0].role in ("assistant", "tool"):
        yield N1.broken(conversation[0].place.path, f"the conversation begins with role {conversation[0].role}")
    if conversation and conversation[-1].role == "assistant":
        yield N5.broken(conversation[-1].place.path, "the conversation ends with the assistant")


def unfollowed_reasoning(turns: list[Turn]) -> Iterator[Violation]:
    """Check N6: reasoning at the end of a message is followed by a call or by another assistant message."""
    after = ""
    for turn in reversed(turns):
        parts = turn.place.at("content").objects()
        ends = bool(parts) and parts[-1].at("type").text in _REASONING
        if ends and not turn.calls and after != "assistant":
            yield N6.broken(parts[-1].path, "reasoning that nothing follows")
        after = turn.role


def lost_signatures(turns: list[Turn]) -> Iterator[Violation]:
    """Check N9, as far as one request shows it."""
    last = next((turn for turn in reversed(turns) if turn.role == "assistant"), None)
    for part in last.place.at("content").objects() if last else ():
        kind = part.at("type").text
        seal = {"thinking": "signature", "redacted_thinking": "data"}.get(kind or "")
        if seal and part.at(seal).nothing:
            yield N9.broken(part.path, f"a {kind} part without its {seal}")


def too_many_marks(request: Place) -> Iterator[Violation]:
    """Check N8."""
    places = [*request.at("system").objects(), *request.at("tools").objects()]
    for message in request.at("messages").objects():
        places += [message, *message.at("content").objects()]
    marks = [place.at("cache_control") for place in places if not place.at("cache_control").absent]
    if len(marks) > MOST_MARKS:
        yield N8.broken(marks[MOST_MARKS].path, f"{len(marks)} cache marks; at most {MOST_MARKS}")
