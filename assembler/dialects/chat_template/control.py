"""Detects texts that become control tokens, by comparing a prompt's control ids with those of the same prompt masked.

Since it checks the rendered prompt, it also finds control tokens that a template or normalisation puts together, and
those in keys and lists that a template writes out. It sees only ids: a marker in ordinary tokens, such as Llama 2's
`[INST]`, is not a control token. A template that branches on the texts themselves can cause a false alarm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import attrs

from assembler.dialects.chat_template.render import Renderer, TemplateMessage
from assembler.dialects.chat_template.spelling import Spelling
from assembler.errors import UnsupportedContentError

CONTROL_TEXT = "control token"
"""The `kind` of the error."""

_SAME_LENGTH = 64
"""Texts up to this length keep their length when masked, and stay distinct: templates check the length of ids."""

_OWN_REASONING = re.compile(r"\s*<think>(.*?)</think>", re.DOTALL)
"""The markers of reasoning in an answer, which templates look for (Qwen 3, DeepSeek R1). In other roles: an attack."""

_ROUNDS = 8
"""How often a text is searched again after a control token in it was broken."""


def refuse_control_text(spelling: Spelling, ids: Sequence[int], renderer: Renderer) -> None:
    """Raise `UnsupportedContentError` if a text added, removed or moved a control id. One extra render of masked texts.

    Only then is the message searched for, with O(log messages) renders.
    """
    messages, tools = spelling.messages, list(spelling.tools)
    masks = _Masks(renderer)
    masked, no_tools = masks.messages(messages), masks.tools(tools)
    expected = renderer.structure(renderer.ids(masked, no_tools))
    if renderer.structure(ids) == expected:
        return
    if renderer.structure(renderer.ids(masked, tools)) != expected:
        raise _make_control_error("a tool's definition holds", None)
    low, high = 0, len(messages)  # the first `low` messages are harmless, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        found = renderer.structure(renderer.ids([*messages[:middle], *masked[middle:]], no_tools))
        low, high = (middle, high) if found == expected else (low, middle)
    origin = spelling.lines[low].origin
    raise _make_control_error("the instruction or knowledge holds" if origin is None else "it holds", origin)


def _make_control_error(where: str, index: int | None) -> UnsupportedContentError:
    return UnsupportedContentError(
        f"{where} the text of a control token of this tokenizer; "
        "remove it, or pass chat_template another control_text, such as ControlText.NEUTRALISE of assembler.dialects",
        kind=CONTROL_TEXT,
        index=index,
    )


@attrs.frozen(eq=False)
class _Masks:
    """Replaces the texts of a request by masks that are equal, blank and as long as the originals, where it matters."""

    renderer: Renderer
    numbers: dict[str, int] = attrs.field(factory=dict[str, int])

    def tools(self, tools: Sequence[TemplateMessage]) -> list[TemplateMessage]:
        return [_change_texts(tool, self._mask_text) for tool in tools]

    def messages(self, messages: Sequence[TemplateMessage]) -> list[TemplateMessage]:
        return [_change_message(message, self._mask_text, self.renderer) for message in messages]

    def _mask_text(self, text: str) -> str:
        if text in self.renderer.words or not text.strip():
            return text
        number = str(self.numbers.setdefault(text, len(self.numbers)))
        return number.rjust(len(text), "x") if len(number) < len(text) <= _SAME_LENGTH else f"x{number}"


def neutralise(values: Sequence[TemplateMessage], renderer: Renderer) -> tuple[list[TemplateMessage], int]:
    """Put a blank inside the text of every control token. Returns the messages and the number of changed texts."""
    changed = 0

    def break_up(text: str) -> str:
        nonlocal changed
        broken = _break_up(text, renderer)
        changed += broken != text
        return broken

    return [_change_message(value, break_up, renderer) for value in values], changed


def _break_up(text: str, renderer: Renderer) -> str:
    for _ in range(_ROUNDS):
        spans = renderer.control_spans(text)
        if not spans:
            break
        for start, _stop in reversed(spans):
            after_first = start + len(text[start:]) - len(text[start:].lstrip()) + 1
            text = f"{text[:after_first]} {text[after_first:]}"
    return text


def _change_message(message: TemplateMessage, change: Callable[[str], str], renderer: Renderer) -> TemplateMessage:
    """Apply `change` to every text of a message, but keep the markers around an answer's own reasoning."""
    changed: TemplateMessage = _change_texts(message, change)
    content: object = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, str) or "<think>" not in renderer.source:
        return changed
    if own := _OWN_REASONING.match(content):
        changed["content"] = f"<think>{change(own[1])}</think>{change(content[own.end() :])}"
    return changed


def _change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply `change` to every text of a structure, including keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        fields = cast("dict[object, Any]", value)
        return {change(key) if isinstance(key, str) else key: _change_texts(one, change) for key, one in fields.items()}
    if isinstance(value, list | tuple):
        return [_change_texts(one, change) for one in cast("list[Any]", value)]
    return value
