"""Anthropic Messages: rules A1 to A18.

Consecutive messages of one role are one turn, as the API combines them. Not decidable from one request: whether a
thinking block was edited (half of A15); an emptied signature is the one trace that can be seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import attrs

from assembler.dialects.anthropic.rules_of_blocks import KINDS, blocks_of, texts, wrong_blocks, wrong_shape, wrong_tools
from assembler.verify import definitions
from assembler.verify.checker import Checker
from assembler.verify.encoded import wrong_base64
from assembler.verify.foreign import walk_parts
from assembler.verify.pairing import Pairing, Turn, find_repeated, find_unpaired, refs
from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation, count_noun, rules_in

RULE = rules_in(__name__)
RULES = (*RULE.values(), *definitions.RULES)
_PAIRING = Pairing(unanswered=RULE["A5"], orphan=RULE["A8"], again=RULE["A9"])

_MOST_MESSAGES = 100_000
"""Messages in one request (A2: SDK documentation of `messages`)."""

_THINKING = ("thinking", "redacted_thinking")
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")

_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])")
"""`claude-opus-4-6`, `claude-3-5-sonnet-20241022`, `anthropic.claude-sonnet-4-20250514-v1:0`."""
_NO_PREFILL_FROM = (4, 6)
"""Claude 4.6 and later refuse an assistant message at the end (A11: llxprt-code#3695)."""
_SYSTEM_TURNS_FROM = (4, 8)
"""Opus 4.8 is the first known to take role system inside messages (A16: llm-anthropic#73). Haiku and Sonnet 4.8 are not
known."""


@attrs.frozen
class _RoleRun:
    """Consecutive messages of one role, which the API reads as one: the first one's place, and all their blocks."""

    place: Place
    role: str
    blocks: list[Place]

    def of_type(self, *types: str) -> list[Place]:
        return [block for block in self.blocks if block.at("type").text in types]


def check(request: Place, model: str | None) -> Iterator[Violation]:
    """Each violation in a request. Without a model name, A11 is not checked and A16 is at its strictest. O(n)."""
    messages = request.at("messages").objects()
    turns = _combine_turns(messages)
    yield from wrong_shape(request)
    yield from wrong_tools(request)
    for block in request.at("system").objects():
        yield from _wrong_text(block.at("text"), RULE["A3"])
    yield from _wrong_opening(request.at("messages"), turns)
    yield from _wrong_system_turns(messages, model)
    for message in messages:
        yield from _wrong_message(message, messages[-1])
    yield from _wrong_pairs(turns)
    yield from _wrong_end(messages, model)
    yield from _wrong_marks(request)
    yield from _wrong_citations(messages)
    sources = (part.at("source") for part in walk_parts(request, "messages", ("content",)))
    yield from wrong_base64((each.at("data") for each in sources if each.at("type").text == "base64"), RULE["A18"])
    yield from _find_missing_tools(request, turns)
    yield from _wrong_thinking(request, turns)


def _combine_turns(messages: list[Place]) -> list[_RoleRun]:
    turns: list[_RoleRun] = []
    for message in messages:
        role = message.at("role").text or ""
        if role == "system":
            continue
        if turns and turns[-1].role == role:
            turns[-1].blocks.extend(blocks_of(message))
        else:
            turns.append(_RoleRun(message, role, blocks_of(message)))
    return turns


def _wrong_opening(messages: Place, turns: list[_RoleRun]) -> Iterator[Violation]:
    if messages.empty:
        yield RULE["A2"].broken(messages.path, "no messages at all")
    elif turns and turns[0].role == "assistant" and not _is_compacted(turns[0]):
        yield RULE["A2"].broken(turns[0].place.path, "the conversation begins with the assistant")
    if messages.size > _MOST_MESSAGES:
        yield RULE["A2"].broken(messages.path, f"{messages.size} messages; at most {_MOST_MESSAGES} are taken")


def _is_compacted(turn: _RoleRun) -> bool:
    """Whether a turn has the server's summary of earlier turns. The API lets a conversation start with it."""
    return any(block.at("type").text == "compaction" for block in turn.blocks)


def _wrong_system_turns(messages: list[Place], model: str | None) -> Iterator[Violation]:
    before = ""
    for message in messages:
        role = message.at("role")
        if role.text == "system" and not _is_from(model, _SYSTEM_TURNS_FROM):
            yield RULE["A16"].broken(role.path, "a system message among the messages; use the top-level system field")
        elif role.text == "system" and before != "user":
            yield RULE["A16"].broken(
                role.path, f"a system message after {before or 'nothing'}, not after a user message"
            )
        before = role.text or ""


def _wrong_message(message: Place, last: Place) -> Iterator[Violation]:
    role, content = message.at("role").text, message.at("content")
    if content.empty and not (message is last and role == "assistant"):
        yield RULE["A1"].broken(content.path, "a message without content")
    if content.text:
        yield from _wrong_text(content, RULE["A3"])
    yield from wrong_blocks(content)
    for block in content.objects():
        kind = block.at("type").text
        for text in texts(block):
            yield from _wrong_text(text, RULE["A3"])
        if role == "user" and kind in ("tool_use", *_THINKING):
            yield RULE["A10"].broken(block.path, f"a {kind} block in a user message")
        if role == "assistant" and kind == "tool_result":
            yield RULE["A10"].broken(block.path, "a tool_result block in an assistant message")


def _wrong_text(place: Place, empty: Rule) -> Iterator[Violation]:
    if place.text == "":
        yield empty.broken(place.path, "an empty text")
    elif place.text is not None and not place.text.strip():
        yield RULE["A4"].broken(place.path, f"a text of whitespace only ({count_noun(len(place.text), 'character')})")


def _pair_blocks(turn: _RoleRun) -> Turn:
    calls = [block.at("id") for block in turn.of_type("tool_use")] if turn.role == "assistant" else []
    answers = [block.at("tool_use_id") for block in turn.of_type("tool_result")] if turn.role == "user" else []
    return Turn(turn.place, turn.role, refs(calls), refs(answers))


def _wrong_pairs(turns: list[_RoleRun]) -> Iterator[Violation]:
    paired = [_pair_blocks(run) for run in turns]
    yield from find_repeated((ref for turn in paired for ref in turn.calls), RULE["A7"])
    for ref in (ref for turn in paired for ref in (*turn.calls, *turn.answers)):
        if ref.id is not None and not _ID.match(ref.id):
            yield RULE["L2"].broken(ref.place.path, "the id holds characters other than letters, digits, _ and -")
    yield from find_unpaired(paired, _PAIRING)
    for run in turns:
        late = _find_late_result(run) if run.role == "user" else 0
        if late:
            yield RULE["A6"].broken(run.place.path, f"{late} of its tool_result blocks come after other content")


def _find_late_result(turn: _RoleRun) -> int:
    results = [block.at("type").text == "tool_result" for block in turn.blocks]
    leading = next((index for index, result in enumerate(results) if not result), len(results))
    return sum(results[leading:])


def _wrong_end(messages: list[Place], model: str | None) -> Iterator[Violation]:
    if not messages or messages[-1].at("role").text != "assistant":
        return
    last = messages[-1]
    if _is_from(model, _NO_PREFILL_FROM) and not _is_paused(last):
        yield RULE["A11"].broken(last.path, "the conversation ends with the assistant, and this model takes no prefill")
    content, blocks = last.at("content"), last.at("content").objects()
    text = blocks[-1].at("text") if blocks else content
    words = text.text or ""
    if words != words.rstrip():
        yield RULE["A12"].broken(text.path, f"{len(words) - len(words.rstrip())} whitespace characters at the end")


def _is_paused(last: Place) -> bool:
    """Whether the server paused this turn and goes on with it: it ends with a call of a tool of the server's."""
    blocks = last.at("content").objects()
    return bool(blocks) and blocks[-1].at("type").text in ("server_tool_use", "mcp_tool_use")


def _is_from(model: str | None, version: tuple[int, int]) -> bool:
    """Whether the name is of a Claude of this version or a later one. False for any other name."""
    found = _CLAUDE.search(model.lower()) if model else None
    return found is not None and (int(found[1]), int(found[2] or 0)) >= version


def _wrong_marks(request: Place) -> Iterator[Violation]:
    """Check A13. A mark at the top level is counted too, to be safe."""
    blocks = [*request.at("system").objects(), *request.at("tools").objects()]
    for message in request.at("messages").objects():
        blocks += _walk_blocks(message)
    marked = [block for block in (request, *blocks) if not block.at("cache_control").absent]
    if len(marked) > A13_MOST:
        yield RULE["A13"].broken(
            marked[A13_MOST].at("cache_control").path, f"{len(marked)} cache marks; at most {A13_MOST}"
        )
    for block in marked:
        if block.at("text").text == "":
            yield RULE["A13"].broken(block.at("cache_control").path, "a cache mark on an empty text")


def _wrong_citations(messages: list[Place]) -> Iterator[Violation]:
    found = [block for message in messages for block in _walk_blocks(message)]
    results = [block for block in found if block.at("type").text == "search_result"]
    enabled = [result.at("citations").at("enabled").value is True for result in results]
    if len(set(enabled)) > 1:
        other = results[enabled.index(not enabled[0])]
        yield RULE["A17"].broken(other.path, f"{sum(enabled)} of {len(enabled)} search results enable citations")


def _walk_blocks(message: Place) -> Iterator[Place]:
    """The blocks of a message in order, each before those in its content: a result may hold search results.

    A dict that is there more often than a request may have marks is not yielded again, as it may hold itself.
    """
    left, times = [*message.at("content").objects()][::-1], Counter[int]()
    while left:
        block = left.pop()
        times[id(block.value)] += 1
        if times[id(block.value)] <= A13_MOST + 1:
            yield block
            left += [*block.at("content").objects()][::-1]


A13_MOST = 4
"""The most cache marks in a request (A13)."""


def _find_missing_tools(request: Place, turns: list[_RoleRun]) -> Iterator[Violation]:
    if request.at("tools").size:
        return
    blocks = [block for turn in turns for block in turn.of_type("tool_use", "tool_result")]
    if blocks:
        yield RULE["A14"].broken(blocks[0].path, f"{len(blocks)} tool_use and tool_result blocks, and no tools")


def _wrong_thinking(request: Place, turns: list[_RoleRun]) -> Iterator[Violation]:
    by_model = [index for index, turn in enumerate(turns) if turn.role == "assistant"]
    if not by_model:
        return
    last = turns[by_model[-1]]
    for block in last.of_type("thinking"):
        if block.at("signature").text == "":
            yield RULE["A15"].broken(
                block.at("signature").path, "a thinking block of the last assistant turn without signature"
            )
    if request.at("thinking").at("type").text != "enabled" or not last.of_type("tool_use"):
        return
    first = turns[_find_loop_start(turns, by_model[-1])]
    if not any(turn.blocks[0].at("type").text in _THINKING for turn in (first, last) if turn.blocks):
        yield RULE["A15"].broken(
            last.place.path, "thinking is enabled, and this turn of calls does not begin with thinking"
        )


def _find_loop_start(turns: list[_RoleRun], index: int) -> int:
    """The index of the first assistant turn in the tool loop that the turn at `index` belongs to."""
    while index >= 2 and turns[index - 1].of_type("tool_result"):
        index -= 2
    return index


CHECKER = Checker(
    check,
    RULES,
    words=frozenset(("cache_control", "tool_use_id", "is_error", "signature", "call_id", "encrypted_content")),
    kinds=KINDS,
)
