"""Finds out what a chat template accepts and writes, by rendering small conversations. It reads no template's code.

A template is a program. Only its output shows whether it refuses two user messages in a row, or silently drops a system
message. Each trait takes one render of a few words.
"""

from __future__ import annotations

import json
import re
import string
from typing import Any

import attrs

from assembler.dialects.chat_template.render import Renderer, TemplateMessage
from assembler.errors import ConversationError
from budgets import Tokens

# Words that occur in no template and that no template splits.
_ONE, _TWO, _THREE, _RULE, _VALUE, _RESULT, _NAME = "qone", "qtwo", "qthree", "qrule", "qvalue", "qresult", "qname"
_LETTERS = ("q", "w", "z", "k")
_LONG = 25
"""Messages of a long conversation, the user's first and last."""

_EDGES = (
    "one",
    " two ",
    "\n3\n",
    "  - 4.\n\n",
    '{"five": 5}',
    "Six?",
    "<seven>",
    "(8)",
    "\u4e5d\u3002",
    "\ttenth'\r\n",
    "e\u0301",
    *(f"{mark}x{mark}" for mark in string.punctuation for _ in range(2)),
)
"""Texts whose first and last characters tokenizers merge with neighbours, each mark also beside itself; and others."""

_TOOL: TemplateMessage = {
    "type": "function",
    "function": {
        "name": _NAME,
        "description": "d",
        "parameters": {"type": "object", "properties": {"q": {"type": "string", "description": "d"}}},
    },
}
_IDS = ("q00000001", "q00000002")
"""Nine letters and digits: some templates demand that."""


@attrs.frozen(kw_only=True)
class Traits:
    """What a template accepts and writes."""

    system: bool
    """Whether a system message is accepted and shown."""
    several_systems: bool
    """Whether two system messages at the head are."""
    late_system: bool
    """Whether a system message in the middle is."""
    developer: bool
    """Whether the template knows the role; if not, a developer message becomes a system message."""
    alternates: bool
    """Whether two messages of one role in a row are refused or dropped."""
    user_first: bool
    """Whether the first message must be the user's, or is written as the user's."""
    user_after_result: bool
    """Whether a user message may follow a tool's answer, if it may follow an assistant's text."""
    contentless: bool
    """Whether an assistant message with calls may have no content."""
    parallel_calls: bool
    """Whether an assistant message may have several calls."""
    words_beside_calls: bool
    """Whether the text of an assistant message with calls is shown: some templates write only the calls."""
    once: Tokens
    """What a prompt costs on top of its messages."""
    asked: Tokens
    """What a user's message costs on top of its text."""
    answered: Tokens
    """What an assistant's message costs on top of its text."""
    asked_times: int = 1
    """How often the text of a user's message is shown."""
    answered_times: int = 1
    """How often the text of an assistant's message is shown."""
    called: Tokens
    """What a call costs on top of its name and arguments, plus what a result costs more than another message."""
    tooling: Tokens
    """What tools cost on top of their texts."""
    adds_up: bool
    """Whether texts with all kinds of endings cost together what each costs alone: nothing is trimmed or merged."""
    costs_alike: bool
    """Whether a message costs the same in a long conversation as in a short one, and whoever speaks last."""
    shows_tools: bool
    shows_calls: bool
    shows_results: bool
    shows_reasoning: bool


def traits_of(renderer: Renderer) -> Traits:
    """Find a template's traits with about two dozen renders of a few words each."""

    def shown(messages: list[TemplateMessage], *marks: str, tools: list[TemplateMessage] | None = None) -> bool:
        text = _try_render(renderer, messages, tools)
        return text is not None and all(mark in text for mark in marks)

    def surplus(texts: list[str]) -> Tokens | None:
        return _measure_surplus(renderer, texts, once, of_user, of_assistant, *times)

    called = [_write_user(_ONE), _write_calling(1), _write_result(0), _write_assistant(_TWO)]
    with_calls = _try_render(renderer, called, [_TOOL])
    thinking = [_write_user(_ONE), {**_write_calling(1), "reasoning_content": _THREE}, _write_result(0)]
    asked = [_write_user(_ONE)]
    times = _count_times(renderer)
    once, of_user, of_assistant = _measure_framing(renderer, *times)
    alternates = not (
        shown([_write_user(_ONE), _write_user(_TWO)], _ONE, _TWO)
        and shown([*asked, _write_assistant(_TWO), _write_assistant(_THREE), _write_user("x")], _TWO, _THREE)
    )
    replied = surplus([_ONE] * (_LONG - 1))  # if roles must alternate, of the two framings only the sum is exact
    return Traits(
        once=once,
        asked=of_user,
        answered=of_assistant,
        asked_times=times[0],
        answered_times=times[1],
        called=_measure_call(renderer, called, of_assistant + of_user),
        tooling=_measure_tooling(renderer),
        system=shown([_write_system(_RULE), *asked], _RULE, _ONE),
        several_systems=shown([_write_system(_RULE), _write_system(_TWO), *asked], _RULE, _TWO, _ONE),
        late_system=shown([*asked, _write_assistant(_TWO), _write_system(_RULE)], _RULE, _ONE),
        developer="developer" in renderer.source,
        alternates=alternates,
        user_first=_hides_first_assistant(renderer, None) or _hides_first_assistant(renderer, [_TOOL]),
        user_after_result=shown([*called[:-1], _write_user(_TWO)], _TWO, tools=[_TOOL])
        or not shown([*called, _write_user(_THREE)], _THREE, tools=[_TOOL]),
        contentless=_try_render(renderer, _remove_content(called), [_TOOL]) is not None,
        parallel_calls=shown(
            [*asked, _write_calling(2), _write_result(0), _write_result(1)], f"{_VALUE}0", f"{_VALUE}1", tools=[_TOOL]
        ),
        words_beside_calls=with_calls is None
        or shown([called[0], {**called[1], "content": _THREE}, *called[2:]], _THREE, tools=[_TOOL]),
        adds_up=_do_texts_stand_apart(renderer) and surplus([_ONE, *_EDGES, *_EDGES]) == 0,
        costs_alike=surplus([_ONE] * _LONG) == 0
        and (replied is None or (-of_assistant <= replied <= of_user if alternates else replied == 0)),
        shows_tools=shown(asked, _NAME, tools=[_TOOL]),
        shows_calls=with_calls is None or f"{_VALUE}0" in with_calls,
        shows_results=with_calls is None or f"{_RESULT}0" in with_calls,
        shows_reasoning=shown(thinking, _THREE, tools=[_TOOL]),
    )


def _try_render(renderer: Renderer, messages: list[TemplateMessage], tools: list[TemplateMessage] | None) -> str | None:
    try:
        return renderer.text(messages, tools or [])
    except ConversationError:
        return None


def _count_times(renderer: Renderer) -> tuple[int, int]:
    """Count how often a template writes the text of a user message, and of an assistant message, mid-conversation."""
    messages = [_write_user(_THREE), _write_assistant(_TWO), _write_user(_ONE)]
    text = _try_render(renderer, messages, None) or ""
    return max(text.count(_ONE), 1), max(text.count(_TWO), 1)


def _do_texts_stand_apart(renderer: Renderer) -> bool:
    """Whether each text begins after a line break or a control token, and ends before white space or a control token.

    After a blank or a letter a word may be other tokens than alone. No small set of words shows that of a vocabulary.
    """
    text = _try_render(renderer, [_write_user(_THREE), _write_assistant(_TWO), _write_user(_ONE)], None) or ""
    spans = renderer.control_spans(text)
    begins = {0, *(stop for _, stop in spans)} | {place + 1 for place, mark in enumerate(text) if mark == "\n"}
    ends = {len(text), *(start for start, _ in spans)} | {place for place, mark in enumerate(text) if mark.isspace()}
    found = [match.span() for match in re.finditer("|".join((_ONE, _TWO, _THREE)), text)]
    return all(start in begins and stop in ends for start, stop in found)


def _measure_framing(renderer: Renderer, asked_times: int, answered_times: int) -> tuple[Tokens, Tokens, Tokens]:
    """Measure the framing of a prompt, of a user message and of an assistant message, mid-conversation.

    Each text is one letter. If a template refuses two answers in a row, only the sum of the last two is exact.
    """
    opening, reply, more, closing = _LETTERS
    first, answer, last = (
        _write_user(opening),
        _write_assistant(reply),
        _write_user(closing),
    )
    prompts = [first], [first, answer, last], [first, answer, _write_assistant(more), last]
    of_first, of_three, of_four = (_count_prompt(renderer, prompt) for prompt in prompts)
    if of_first is None or of_three is None:
        return 0, 0, 0
    of_exchange = max(
        0, of_three - of_first - answered_times * renderer.count(reply) - asked_times * renderer.count(closing)
    )
    of_reply = None if of_four is None else of_four - of_three - answered_times * renderer.count(more)
    of_assistant = of_exchange // 2 if of_reply is None else min(max(0, of_reply), of_exchange)
    return (
        max(0, of_first - (of_exchange - of_assistant) - asked_times * renderer.count(opening)),
        of_exchange - of_assistant,
        of_assistant,
    )


def _measure_surplus(
    renderer: Renderer,
    texts: list[str],
    once: Tokens,
    of_user: Tokens,
    of_assistant: Tokens,
    asked_times: int,
    answered_times: int,
) -> Tokens | None:
    """What a conversation of these texts, the roles in turn, costs beyond its parts; None if it is refused."""
    messages = [_write_text_message("assistant" if place % 2 else "user", text) for place, text in enumerate(texts)]
    framing = once + len(texts) // 2 * (of_user + of_assistant) + len(texts) % 2 * of_user
    shown = sum(
        (answered_times if place % 2 else asked_times) * renderer.count(text) for place, text in enumerate(texts)
    )
    found = _count_prompt(renderer, messages)
    return None if found is None else found - framing - shown


def _measure_call(renderer: Renderer, called: list[TemplateMessage], framing: Tokens) -> Tokens:
    """What a call and its result cost on top of their texts and the framing of two messages."""
    short, long = (_count_prompt(renderer, messages, [_TOOL]) for messages in ([called[0], called[-1]], called))
    if short is None or long is None:
        return 0
    written = json.dumps({"q": f"{_VALUE}0"})
    return max(0, long - short - sum(map(renderer.count, (_NAME, written, f"{_RESULT}0"))) - framing)


def _count_prompt(
    renderer: Renderer, messages: list[TemplateMessage], tools: list[TemplateMessage] | None = None
) -> Tokens | None:
    try:
        return len(renderer.ids(messages, tools or []))
    except ConversationError:
        return None


def _measure_tooling(renderer: Renderer) -> Tokens:
    """The framing of one tool."""
    asked = [_write_user(_ONE)]
    alone, beside = _count_prompt(renderer, asked), _count_prompt(renderer, asked, [_TOOL])
    return 0 if alone is None or beside is None else max(0, beside - alone - renderer.count(json.dumps(_TOOL)))


def _hides_first_assistant(renderer: Renderer, tools: list[TemplateMessage] | None) -> bool:
    greeted, asked = (
        _try_render(renderer, [_write_text_message(role, _ONE), _write_user(_TWO)], tools)
        for role in ("assistant", "user")
    )
    return greeted is None or _ONE not in greeted or greeted == asked


def _write_system(text: str) -> TemplateMessage:
    return _write_text_message("system", text)


def _write_user(text: str) -> TemplateMessage:
    return _write_text_message("user", text)


def _write_assistant(text: str) -> TemplateMessage:
    return _write_text_message("assistant", text)


def _write_text_message(role: str, text: str) -> TemplateMessage:
    return {"role": role, "content": text}


def _write_calling(calls: int) -> TemplateMessage:
    uses: list[dict[str, Any]] = [
        {"id": _IDS[place], "type": "function", "function": {"name": _NAME, "arguments": {"q": f"{_VALUE}{place}"}}}
        for place in range(calls)
    ]
    return {"role": "assistant", "content": "", "tool_calls": uses}


def _write_result(place: int) -> TemplateMessage:
    return {"role": "tool", "tool_call_id": _IDS[place], "name": _NAME, "content": f"{_RESULT}{place}"}


def _remove_content(messages: list[TemplateMessage]) -> list[TemplateMessage]:
    return [
        {key: value for key, value in message.items() if key != "content" or "tool_calls" not in message}
        for message in messages
    ]
