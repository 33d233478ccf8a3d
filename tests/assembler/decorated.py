"""Histories with everything that a provider puts into them. Each text is marked so that it can be found again.

A said text holds `m0m`, `m1m` …, a thought `t0t`, a field beside the content `f0f`, a part that nobody reads `u0u`.
A request is searched for the marks alone: a dialect may join, quote and move texts as it must. Shares no code with what
reads and writes them.
"""

from __future__ import annotations

import base64
import copy
import itertools
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import attrs
from hypothesis import strategies as st

from assembler.drawn.conversations import Conversation, drawn_conversations

from .broken import SPELLED, History, Spoken, spelled

FORMS = (*SPELLED, "objects")
SAID, THOUGHT, FIELD, UNREAD = "§", "¤", "¶", "¿"
LETTERS = {SAID: "m", THOUGHT: "t", FIELD: "f", UNREAD: "u"}
MARK = re.compile(r"([mtfu])\d+\1")
WORDS = st.sampled_from((SAID, f"a {SAID} b", f"{SAID}\n", f'"{SAID}" <', f" {SAID}é"))
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 8, 8) + b"\x08\x02\0\0\0").decode()

Dict = dict[str, Any]
Decoration = Callable[[Any], Any]


@dataclass(frozen=True)
class Drawn:
    """A history, the kinds of what was put into it, and how often each mark stands in it."""

    form: str
    history: History
    kinds: frozenset[str]
    marks: Counter[str]


def leaves(value: Any) -> Iterator[str]:
    """Every text of JSON-like data, keys too, and of the attributes of a message object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast(Dict, value).items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from leaves(item)
    elif isinstance(value, Spoken):
        yield from leaves(vars(value))


def marks(value: Any) -> Counter[str]:
    """How often each mark stands in any text of a value."""
    return Counter(match[0] for text in leaves(value) for match in MARK.finditer(text))


# ── what can be put into a message, by the form that spells it ───────────────────────────────────────────────────────


def _chat_parts(message: Dict) -> list[Any]:
    content = message["content"]
    message["content"] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return message["content"]


def _refuse(message: Dict) -> None:
    message["refusal"], message["content"] = message["content"], None


def _refuse_in_parts(message: Dict) -> None:
    message["content"] = [{"type": "refusal", "refusal": SAID}]


def _refuse_beside_a_thought(message: Dict) -> None:
    """A refusal in its own field, and content that holds another API's reasoning alone."""
    message["refusal"], message["content"] = message["content"], [{"type": "thinking", "thinking": THOUGHT}]


def _mark_of_anthropic(message: Dict) -> None:
    _chat_parts(message)[-1]["cache_control"] = {"type": "ephemeral"}


_CONTROL: Dict = {"cache_control": {"type": "ephemeral", "ttl": FIELD}}
_POINT: Dict = {"cachePoint": {"type": "default", "ttl": FIELD}}
_STRAYS: tuple[Dict, ...] = (_POINT, {"cacheControl": FIELD}, {"cache_point": {"type": FIELD}})
"""Marks as keys that no API has, and such as Anthropic has."""


_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": UNREAD}}
_CHAT_IMAGE: Dict = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
_URL = _CHAT_IMAGE["image_url"]
_BEDROCK_IMAGE = {"image": {"format": "png", "source": {"bytes": base64.b64decode(PNG)}}}


def _calls(message: Dict) -> Iterator[Dict]:
    """The calls in a message of any API: in `tool_calls`, or blocks of the content."""
    yield from message.get("tool_calls") or ()
    for part in _parts(message):
        if part.get("type") == "tool_use" or "toolUse" in part:
            yield part.get("toolUse", part)


def _answers(message: Dict) -> Iterator[Dict]:
    """The answers in a message of blocks or of parts. A server's own, which the model's message holds, are parts."""
    for part in _parts(message) if message.get("role") not in ("assistant", "model") else ():
        if any(key in part for key in ("toolResult", "function_response", "tool_use_id")):
            yield part.get("toolResult") or part.get("function_response") or part


def _parts(message: Dict) -> list[Dict]:
    content: Any = message.get("content") or message.get("parts")
    return cast("list[Dict]", content) if isinstance(content, list) else []


def _each(found: Callable[[Dict], Iterator[Dict]], **fields: Any) -> Decoration:
    """A change of every call, or of every answer, of a message."""

    def change(message: Dict) -> None:
        for entry in found(message):
            entry.update(copy.deepcopy(fields))

    return change


def _among(*parts: Dict, at: int) -> Decoration:
    """Parts of the server's among those of a message: before its first part, between the others, or behind all."""

    def change(message: Dict) -> None:
        listed = message["parts"] if "parts" in message else _chat_parts(message)
        place = min(at, len(listed))
        listed[place:place] = copy.deepcopy([*parts])

    return change


def _with_objects(message: Dict) -> None:
    """Arguments as objects, as some templates want them, with fields and marks around the calls."""
    for call in message.get("tool_calls") or ():
        if "function" in call:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            call.update(copy.deepcopy(_CONTROL))
    message["x_new"] = FIELD


def _custom(message: Dict) -> None:
    for call in message.get("tool_calls") or ():
        if "function" in call:
            call.update(type="custom", custom={"name": call.pop("function")["name"], "input": SAID})


def _put_in(*items: Dict) -> Decoration:
    """Items behind one of the user's messages, in a list of items."""

    def change(history: History) -> None:
        place = next(at for at, message in enumerate(history) if _role(message) == "user")
        history[place + 1 : place + 1] = copy.deepcopy([*items])
        if history[-1].get("type") == items[-1]["type"]:  # some APIs want the user's word at the end
            history.append({"role": "user", "content": SAID})

    return change


def _put_between(*items: Dict) -> Decoration:
    """Items between a call and what follows it: the next call of its step, or the first output."""

    def change(history: History) -> None:
        calls = (at for at, message in enumerate(history) if _role(message) == "function_call")
        if (place := next(calls, None)) is not None:
            history[place + 1 : place + 1] = copy.deepcopy([*items])

    return change


def _text(text: str, **beside: Any) -> Dict:
    return {"type": "text", "text": text, **beside}


_CITED = {"type": "char_location", "cited_text": FIELD}
_FOUND = {"type": "search_result", "source": "s", "title": SAID, "content": [_text(SAID)]}
_LISTED = {"type": "web_search_result", "title": SAID, "url": SAID}
_SEARCHED = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": [_LISTED]}
_SEARCHING: Dict = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {}}
_PAPER = {"type": "document", "title": SAID, "source": {"type": "text", "media_type": "text/plain", "data": SAID}}
_BEDROCK_PAPER: Dict = {"format": "txt", "name": "n", "context": FIELD}
_CITING = {"citations": {"enabled": True}}
_TEXTS: tuple[Dict, ...] = ({"source": {"text": SAID}}, {"source": {"content": [{"text": SAID}]}})
_BEDROCK_FOUND: Dict = {"source": "s", "title": SAID, "content": [{"text": SAID}]}
_PICTURE = {"inline_data": {"mime_type": "image/png", "data": PNG}}
_ITEMS: dict[str, tuple[Dict, ...]] = {
    "web": (
        {"type": "web_search_call", "id": "ws", "status": "completed", "results": [{"title": SAID, "text": SAID}]},
    ),
    "code": ({"type": "code_interpreter_call", "id": "ci", "code": SAID, "outputs": [{"type": "logs", "logs": SAID}]},),
    "files": (
        {"type": "file_search_call", "id": "fs", "queries": ["q"], "results": [{"text": SAID, "filename": SAID}]},
    ),
    "mcp": ({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "s", "output": SAID},),
    "drawn": ({"type": "image_generation_call", "id": "ig", "status": "completed", "result": PNG},),
    "held": ({"type": "item_reference", "id": UNREAD},),
    "pair": (
        {"type": "dream_call", "id": "d", "call_id": "d1", "input": {"said": UNREAD}},
        {"type": "dream_call_output", "call_id": "d1", "output": SAID},
    ),
    "pair in parts": (
        {"type": "dream_call", "id": "d", "call_id": "d2", "input": {"said": UNREAD}},
        {"type": "dream_call_output", "call_id": "d2", "output": [{"type": "output_text", "text": SAID}]},
    ),
    "custom": (
        {"type": "custom_tool_call", "id": "ct", "call_id": "ct1", "name": "any", "input": SAID},
        {"type": "custom_tool_call_output", "call_id": "ct1", "output": SAID},
    ),
    "shell": (
        {"type": "shell_call", "id": "sh", "call_id": "sh1", "action": {"commands": [SAID]}},
        {
            "type": "shell_call_output",
            "call_id": "sh1",
            "output": [{"stdout": SAID, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
}

_FOUND_BY_NOVA: tuple[Dict, ...] = (
    {"toolUse": {"toolUseId": "srv1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "srv1", "content": [{"text": SAID}], "type": "nova_grounding_result"}},
)
_RAN: tuple[Dict, ...] = (
    {"executableCode": {"language": "PYTHON", "code": SAID}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": SAID}},
)
_RAN_BY_TOOL: tuple[Dict, ...] = (
    {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}},
    {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"output": SAID}}},
)
_CITED_BY_BEDROCK: Dict = {
    "citationsContent": {"content": [{"text": SAID}], "citations": [{"title": FIELD, "sourceContent": []}]}
}
_LISTED_ITEM: Dict = {"type": "web_search_call", "id": "ws", "status": "completed", "results": [{"text": SAID}]}
_LISTED_THOUGHT: Dict = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": THOUGHT}]}

# (kind, whose message, what is done to it). Kinds "image" and "unread" may be refused, typed; no other may.
DECORATIONS: dict[str, list[tuple[str, str, Decoration]]] = {
    "openai_chat": [
        ("image", "user", lambda m: _chat_parts(m).append(dict(_CHAT_IMAGE))),
        ("empty text", "user", lambda m: _chat_parts(m).append({"type": "text", "text": ""})),
        ("mark", "user", _mark_of_anthropic),
        ("unread", "user", lambda m: _chat_parts(m).append({"type": "mystery", "say": UNREAD})),
        ("name", "user", lambda m: m.update(name="ann")),
        ("refusal", "assistant", _refuse),
        ("refusal", "assistant", _refuse_in_parts),
        ("refusal", "assistant", _refuse_beside_a_thought),
        ("objects", "assistant", _with_objects),
        ("heard", "assistant", lambda m: m.update(audio={"id": "a", "transcript": SAID})),
        ("field", "tool", lambda m: m.update(annotations=[{"title": FIELD}])),
        ("image", "user", lambda m: _chat_parts(m).append({**_CHAT_IMAGE, "image_url": {**_URL, "x_new": FIELD}})),
        ("thought", "assistant", lambda m: m.update(reasoning_content=THOUGHT)),
        ("thought", "assistant", lambda m: m.update(reasoning_details=[{"type": "reasoning.text", "text": THOUGHT}])),
        ("thought", "assistant", lambda m: _chat_parts(m).insert(0, {"type": "thinking", "thinking": THOUGHT})),
        ("field", "assistant", lambda m: m.update(annotations=[{"type": "url_citation", "title": FIELD}])),
        ("shown", "tool", lambda m: m.update(content=[_text(SAID), dict(_CHAT_IMAGE)])),
        ("signature", "assistant", _each(_calls, extra_content={"google": {"thought_signature": FIELD}})),
        ("own field", "user", lambda m: m.update(x_new=FIELD)),
        ("own field", "tool", lambda m: m.update(x_new=FIELD)),
        ("own key", "user", lambda m: m.update(content=[_text(SAID, x_new=FIELD)])),
        ("custom", "assistant", _custom),
        ("mark", "tool", lambda m: m.update(content=[_text(SAID, **_CONTROL)])),
        *(("mark", "tool", lambda m, by=by: m.update(content=[_text(SAID, **by)])) for by in _STRAYS),
        *(("mark", "tool", lambda m, by=by: m.update(copy.deepcopy(by))) for by in (*_STRAYS, _CONTROL)),
        *(("mark", "assistant", _each(_calls, **by)) for by in _STRAYS),
        *(("mark", "user", lambda m, by=by: m.update(copy.deepcopy(by))) for by in _STRAYS),
        ("listed", "assistant", lambda m: _chat_parts(m).append(copy.deepcopy(_LISTED_ITEM))),
        ("listed", "tool", lambda m: m.update(content=[_text(SAID), copy.deepcopy(_LISTED_ITEM)])),
        ("nulls", "assistant", lambda m: m.update(function_call=None, refusal=None, annotations=[])),
    ],
    "anthropic": [
        ("image", "user", lambda m: _chat_parts(m).append(dict(_IMAGE))),
        ("empty text", "user", lambda m: _chat_parts(m).append({"type": "text", "text": ""})),
        ("mark", "user", _mark_of_anthropic),
        ("unread", "assistant", lambda m: _chat_parts(m).insert(0, dict(_SEARCH))),
        ("unread", "user", lambda m: _chat_parts(m).append({"type": "mystery", "say": UNREAD})),
        ("thought", "assistant", lambda m: _chat_parts(m).insert(0, {"type": "redacted_thinking", "data": THOUGHT})),
        ("cited", "assistant", lambda m: _chat_parts(m).append(_text(SAID, citations=[dict(_CITED)]))),
        ("caller", "assistant", _each(_calls, caller={"type": FIELD})),
        ("shown", "tool", _each(_answers, content=[_text(SAID), dict(_IMAGE)])),
        ("found", "tool", _each(_answers, content=[dict(_FOUND)])),
        (
            "searched",
            "assistant",
            lambda m: _chat_parts(m).__setitem__(slice(0, 0), [dict(_SEARCHING), dict(_SEARCHED)]),
        ),
        ("paper", "user", lambda m: _chat_parts(m).append(dict(_PAPER))),
        ("paper", "user", lambda m: _chat_parts(m).append({**_PAPER, **_CITING})),
        ("paper", "tool", _each(_answers, content=[dict(_PAPER)])),
        ("mark", "tool", _each(_answers, content=[_text(SAID, cache_control={"type": "ephemeral"})])),
        ("mark", "tool", _each(_answers, content=[_text(SAID, **_CONTROL)])),
        *(("mark", "tool", _each(_answers, content=[_text(SAID, **by)])) for by in _STRAYS),
        *(("shown", "tool", _each(_answers, content=[_text(SAID, **by), _IMAGE | by])) for by in _STRAYS),
        *(("mark", "tool", _each(_answers, **by)) for by in _STRAYS),
        *(("mark", "assistant", _each(_calls, **by)) for by in _STRAYS),
        *(("searched", "assistant", _among(_SEARCHING, _SEARCHED, at=at)) for at in (1, 2, 3, 9)),
        *(("unread", "assistant", _among(_SEARCH, at=at)) for at in (1, 2, 9)),
        ("listed", "assistant", _among(_LISTED_ITEM, at=1)),
        ("own field", "user", lambda m: (_mark_of_anthropic(m), m.update(x_new=FIELD))),
        ("answer", "assistant", lambda m: m.update(type="message", id="msg_1", usage={"output_tokens": 1})),
    ],
    "bedrock": [
        ("image", "user", lambda m: m["content"].append(dict(_BEDROCK_IMAGE))),
        ("image", "user", lambda m: m["content"].append({"image": {**_BEDROCK_IMAGE["image"], "x_new": FIELD}})),
        *(
            ("paper", "user", lambda m, by=by: m["content"].append({"document": {**_BEDROCK_PAPER, **by}}))
            for by in _TEXTS
        ),
        ("empty text", "user", lambda m: m["content"].append({"text": ""})),
        ("mark", "user", lambda m: m["content"].append({"cachePoint": {"type": "default"}})),
        ("mark", "assistant", lambda m: m["content"].append({"cachePoint": {"type": "default"}})),
        ("cited", "assistant", lambda m: m["content"].append({"citationsContent": {"content": [{"text": SAID}]}})),
        ("guarded", "user", lambda m: m["content"].append({"guardContent": {"text": {"text": SAID}}})),
        ("caller", "assistant", _each(_calls, x_new=FIELD)),
        ("shown", "tool", _each(_answers, content=[{"text": SAID}, dict(_BEDROCK_IMAGE)])),
        ("found", "tool", _each(_answers, content=[{"searchResult": {"title": SAID, "content": [{"text": SAID}]}}])),
        ("found", "user", lambda m: m["content"].append({"searchResult": {**_BEDROCK_FOUND, **_CITING}})),
        ("json", "tool", _each(_answers, content=[{"json": {"k": SAID}}])),
        ("mark", "tool", _each(_answers, content=[{"text": SAID}, {"cachePoint": {"type": "default"}}])),
        *(("mark", "tool", _each(_answers, content=[{"text": SAID, **by}])) for by in (*_STRAYS, _CONTROL)),
        *(("mark", "tool", _each(_answers, **by)) for by in (*_STRAYS, _CONTROL)),
        *(("mark", "assistant", _each(_calls, **by)) for by in (*_STRAYS, _CONTROL)),
        ("caller", "tool", _each(_answers, type=FIELD)),
        ("caller", "assistant", _each(_calls, type=FIELD)),
        *(("searched", "assistant", _among(*_FOUND_BY_NOVA, at=at)) for at in (0, 1, 2, 9)),
        ("thought", "assistant", lambda m: m["content"].insert(0, _reasoned(reasoningText={"text": THOUGHT}))),
        ("thought", "assistant", lambda m: m["content"].insert(0, _reasoned(redactedContent=b"abc" * 60))),
        *(("cited", "assistant", _among(_CITED_BY_BEDROCK, at=at)) for at in (0, 1, 9)),
    ],
    "gemini": [
        ("image", "user", lambda m: m["parts"].append({"inline_data": {"mime_type": "image/png", "data": PNG}})),
        ("empty text", "user", lambda m: m["parts"].append({"text": ""})),
        ("unread", "assistant", lambda m: m["parts"].append({"executable_code": {"code": UNREAD}})),
        ("thought", "assistant", lambda m: m["parts"].insert(0, {"text": THOUGHT, "thought": True})),
        ("signature", "assistant", lambda m: m["parts"].append({"text": SAID, "thoughtSignature": FIELD})),
        ("ran", "assistant", lambda m: m["parts"].append({"codeExecutionResult": {"outcome": "OK", "output": SAID}})),
        ("shown", "tool", _each(_answers, parts=[_PICTURE])),
        ("caller", "tool", _each(_answers, scheduling=FIELD)),
        ("own key", "user", lambda m: m["parts"].append({"text": SAID, "partMetadata": {"x": FIELD}})),
        ("own field", "user", lambda m: m.update(x_new=FIELD)),
        ("unread", "user", lambda m: m["parts"].append({"dream": {"said": UNREAD}})),
        *(("ran", "assistant", _among(*_RAN, at=at)) for at in (0, 1, 2, 9)),
        *(("ran", "assistant", _among(*_RAN_BY_TOOL, at=at)) for at in (0, 1, 2, 9)),
        *(("mark", "tool", _each(_answers, **by)) for by in (*_STRAYS, _CONTROL)),
        *(("mark", "user", lambda m, by=by: m["parts"].append({"text": SAID, **by})) for by in (*_STRAYS, _CONTROL)),
    ],
    "openai_responses": [
        ("image", "user", lambda m: m.update(content=[_item_image(), {"type": "input_text", "text": SAID}])),
        ("image", "user", lambda m: m.update(content=[_item_image() | {"width": 8, "height": 8}])),
        ("empty text", "user", lambda m: m.update(content=[{"type": "input_text", "text": ""}, _item_text()])),
        ("refusal", "assistant", lambda m: m.update(content=[{"type": "refusal", "refusal": SAID}])),
        ("unread", "user", lambda m: m.update(content=[{"type": "mystery", "say": UNREAD}, _item_text()])),
        ("part of Chat", "user", lambda m: m.update(content=[{"type": "text", "text": SAID}, _item_text()])),
        ("cited", "assistant", lambda m: m.update(content=[_output_text(annotations=[{"title": FIELD}])])),
        ("caller", "function_call", lambda m: m.update(namespace=FIELD)),
        ("shown", "function_call_output", lambda m: m.update(output=[_item_text(), _item_image()])),
        ("own key", "function_call_output", lambda m: m.update(output=[{**_item_text(), "x_new": FIELD}])),
        ("own field", "function_call_output", lambda m: m.update(x_new=FIELD)),
        *(
            ("mark", "function_call_output", lambda m, by=by: m.update(copy.deepcopy(by)))
            for by in (*_STRAYS, _CONTROL)
        ),
        *(
            ("mark", "function_call_output", lambda m, by=by: m.update(output=[{**_item_text(), **by}]))
            for by in (*_STRAYS, _CONTROL)
        ),
        *(("mark", "function_call", lambda m, by=by: m.update(copy.deepcopy(by))) for by in (*_STRAYS, _CONTROL)),
        ("listed", "user", lambda m: m.update(content=[_item_text(), copy.deepcopy(_LISTED_ITEM), _item_text()])),
        ("listed", "assistant", lambda m: m.update(content=[_output_text(), copy.deepcopy(_LISTED_ITEM)])),
        ("thought", "assistant", lambda m: m.update(content=[copy.deepcopy(_LISTED_THOUGHT), _output_text()])),
        *((kind, "history", _put_in(*items)) for kind, items in _ITEMS.items()),
        *((kind, "history", _put_between(*items)) for kind, items in _ITEMS.items()),
    ],
    "objects": [
        ("thought", "assistant", lambda m: m.update(additional_kwargs={"reasoning_content": THOUGHT})),
        ("thought", "assistant", lambda m: m.update(reasoning_content=THOUGHT)),
        ("thought", "assistant", lambda m: m.update(content=[{"type": "reasoning", "reasoning": THOUGHT}, SAID])),
        ("thought", "assistant", lambda m: m.update(content=[copy.deepcopy(_LISTED_THOUGHT), SAID])),
        ("listed", "assistant", lambda m: m.update(content=[SAID, copy.deepcopy(_LISTED_ITEM)])),
        ("empty text", "user", lambda m: m.update(content=["", SAID])),
        ("image", "user", lambda m: m.update(content=[SAID, dict(_CHAT_IMAGE)])),
        ("shown", "tool", lambda m: m.update(content=[_text(SAID), dict(_CHAT_IMAGE)])),
    ],
}


def _reasoned(**reasoning: Any) -> Dict:
    return {"reasoningContent": reasoning}


def _item_image() -> Dict:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}


def _item_text() -> Dict:
    return {"type": "input_text", "text": SAID}


def _output_text(**beside: Any) -> Dict:
    return {"type": "output_text", "text": SAID, **beside}


def _role(message: Any) -> str:
    fields = vars(message) if isinstance(message, Spoken) else message
    if any(key in str(fields) for key in ("tool_result", "toolResult", "function_response")):
        return "tool"
    role = str(fields.get("role") or fields["type"])
    return {"model": "assistant", "ai": "assistant", "human": "user"}.get(role, role)


@st.composite
def decorated(draw: st.DrawFn, form: str) -> Drawn:
    """A valid history in `form`, with up to three things put into its messages, that ends as every API wants it."""
    conversation = draw(drawn_conversations(words=WORDS, turns=(1, 3), fewest_answers=1, fewest_tools=1))
    history = spelled(_with_thoughts_and_notes(conversation), form)
    kinds: set[str] = set()
    changed: set[int] = set()
    for _ in range(draw(st.integers(0, 3))):
        kind, role, change = draw(st.sampled_from(DECORATIONS[form]))
        found = [message for message in history if _role(message) == role]
        if role == "history" and kind not in kinds:
            change(history)
            kinds.add(kind)
        if not found or kind in kinds:
            continue
        # Often one that holds something already: what is lost beside it is noted by another piece of code.
        again = [message for message in found if id(message) in changed]
        message = draw(st.sampled_from(again or found) | st.sampled_from(found))
        fields = vars(message) if isinstance(message, Spoken) else message
        if kind == "refusal" and (fields.get("tool_calls") or not isinstance(fields["content"], str)):
            continue
        change(fields)
        changed.add(id(message))
        kinds.add(kind)
    numbers = itertools.count()
    marked = [_marked(message, numbers) for message in history]
    return Drawn(form, marked, frozenset(kinds), marks(marked))


def _with_thoughts_and_notes(conversation: Conversation) -> Conversation:
    """The conversation with marks of their own in its thoughts, and a marked argument in every call."""

    def thought(text: str | None) -> str | None:
        return None if text is None else text.replace(SAID, THOUGHT)

    exchanges: list[Any] = []
    for exchange in conversation.exchanges:
        steps = tuple(
            attrs.evolve(
                step,
                thinking=thought(step.thinking),
                calls=tuple(attrs.evolve(c, arguments={**c.arguments, "note": SAID}) for c in step.calls),
            )
            for step in exchange.steps
        )
        exchanges.append(attrs.evolve(exchange, steps=steps, thinking=thought(exchange.thinking)))
    return attrs.evolve(conversation, exchanges=tuple(exchanges))


def _marked(value: Any, numbers: Iterator[int]) -> Any:
    if isinstance(value, str):
        for sign, letter in LETTERS.items():
            while sign in value:
                value = value.replace(sign, f"{letter}{next(numbers)}{letter}", 1)
        return value
    if isinstance(value, dict):
        return {key: _marked(item, numbers) for key, item in cast(Dict, value).items()}
    if isinstance(value, list | tuple):
        return [_marked(item, numbers) for item in cast("list[Any]", value)]
    if isinstance(value, Spoken):
        twin = Spoken(value.type, None)
        for key, item in vars(value).items():
            setattr(twin, key, _marked(item, numbers))
        return twin
    return value
