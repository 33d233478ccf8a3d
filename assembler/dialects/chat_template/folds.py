"""Folds, merges and splits the messages of a conversation so that a chat template accepts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import attrs

from assembler.dialects.chat_template.render import TemplateMessage
from assembler.dialects.chat_template.traits import Traits
from assembler.dialects.writing.notes import BRIDGE, BRIDGED, SILENT, Notes
from assembler.text.runs import runs

_SEAM = "\n\n"
"""Separates two messages that are merged."""

PART_SEAM = "\n"
"""Separates two texts of one message, as vLLM does for templates that take only text (vllm-project/vllm,
vllm/entrypoints/chat_utils.py, read 2026-11)."""


@attrs.frozen
class Line:
    """One message for the template. `origin` is the index of the layout's first message in it, None for system text."""

    sent: TemplateMessage
    origin: int | None = None
    as_it_came: bool = attrs.field(default=False, kw_only=True)

    @property
    def role(self) -> str:
        """The message's role."""
        return str(self.sent.get("role"))


def _drop_silence(lines: list[Line], _: Traits, notes: Notes) -> list[Line]:
    """Leave out empty assistant messages: a template would write an empty turn, as no model does."""
    kept = [line for line in lines if line.as_it_came or line.role != "assistant" or _holds_words(line.sent)]
    notes[SILENT] += len(lines) - len(kept)
    return kept


def _holds_words(sent: TemplateMessage) -> bool:
    return any(value for key, value in sent.items() if key not in ("role", "name"))


def _join_systems(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Join several system messages at the head if the template accepts only one."""
    head = _find_end_of_head(lines)
    if head < 2 or traits.several_systems or not traits.system:
        return lines
    notes["system messages joined: the template takes one"] += head
    return [_merge_lines(lines[:head]), *lines[head:]]


def _fold_systems(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Put system messages that the template refuses or drops into the next user message."""
    head = _find_end_of_head(lines)
    kept: list[Line] = []
    carried: list[Line] = []
    for place, line in enumerate(lines):
        if _is_system(line) and not (traits.system if place < head else traits.late_system):
            carried.append(attrs.evolve(line, sent={**line.sent, "role": "user"}))
            notes["system message(s) folded into the user's: the template has no place for them"] += 1
            continue
        if carried and line.role != "user":
            kept.append(_merge_lines(carried))
            carried = []
        kept.append(_merge_lines([*carried, line]))
        carried = []
    if carried:
        kept.append(_merge_lines(carried))
    return kept


def _split_calls(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Split parallel calls into separate messages, each with its result, if the template takes one at a time."""
    if traits.parallel_calls or not any(len(line.sent.get("tool_calls") or ()) > 1 for line in lines):
        return lines
    parted: list[Line] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        calls = _list_calls(line)
        if len(calls) < 2:
            parted.append(line)
            continue
        notes["message(s) with several calls parted: the template takes one at a time"] += 1
        results: list[Line] = []
        while place < len(lines) and lines[place].role == "tool":
            results.append(lines[place])
            place += 1
        parted += _send_one_by_one(line, calls, results)
    return parted


def _put_words_before_calls(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Put the text of an assistant message with calls into a message before it if the template writes only the call.

    Messages of a request that was written for the template are not changed. If roles must alternate, the text is left
    out with a note.
    """
    if traits.words_beside_calls:
        return lines
    parted: list[Line] = []
    for line in lines:
        words, calls = _read_content(line.sent), _list_calls(line)
        if words and calls and not (line.as_it_came or traits.alternates):
            parted.append(Line({"role": line.role, "content": words}, line.origin))
            parted.append(attrs.evolve(line, sent={**line.sent, "content": ""}))
            notes["text(s) next to a call put before it: the template shows the call alone"] += 1
            continue
        notes["text(s) next to a call left out: the template shows none"] += bool(words and calls)
        parted.append(line)
    return parted


def _list_calls(line: Line) -> list[TemplateMessage]:
    return cast("list[TemplateMessage]", line.sent.get("tool_calls") or [])


def _send_one_by_one(line: Line, calls: Sequence[TemplateMessage], results: list[Line]) -> Iterator[Line]:
    rest = list(results)
    for place, call in enumerate(calls):
        sent = {**line.sent, "tool_calls": [call]}
        if place and "content" in sent:
            sent["content"] = ""
        yield attrs.evolve(line, sent=sent)
        own = call.get("id")
        answer = next((one for one in rest if own is None or one.sent.get("tool_call_id") == own), None)
        if answer is not None:
            rest.remove(answer)
            yield answer
    yield from rest


def _alternate_roles(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Merge neighbours of one role if the template demands that user and assistant alternate."""
    if not traits.alternates:
        return lines
    joined = runs(lines, _may_join)
    gone = len(lines) - len(joined)
    notes["message(s) merged into their neighbours: the template demands that roles alternate"] += gone
    return [_merge_lines(run) for run in joined]


def _bridge_answers(lines: list[Line], traits: Traits, notes: Notes) -> list[Line]:
    """Put an assistant message between a tool's answer and the user if the template demands one."""
    if traits.user_after_result:
        return lines
    bridged: list[Line] = []
    for line in lines:
        if line.role == "user" and bridged and bridged[-1].role == "tool":
            bridged.append(Line({"role": "assistant", "content": BRIDGE}, line.origin))
            notes[BRIDGED] += 1
        bridged.append(line)
    return bridged


def _may_join(line: Line, before: Line) -> bool:
    return before.role == line.role and line.role in ("user", "assistant")


def _merge_lines(lines: Sequence[Line]) -> Line:
    """Merge several messages into one with the role of the first."""
    if len(lines) == 1:
        return lines[0]
    texts = [text for line in lines if (text := _read_content(line.sent))]
    sent: TemplateMessage = {}
    for line in lines:
        sent |= line.sent
    sent |= {"role": lines[0].role, "content": _SEAM.join(texts)}
    origins = [line.origin for line in lines if line.origin is not None]
    return Line(sent, origins[0] if origins else None)


def _read_content(sent: TemplateMessage) -> str:
    content: object = sent.get("content")
    if not isinstance(content, list):
        return str(content or "")
    parts = cast("list[object]", content)
    return PART_SEAM.join(
        part if isinstance(part, str) else str(cast(TemplateMessage, part).get("text", "")) for part in parts
    )


def _is_system(line: Line) -> bool:
    return line.role in ("system", "developer")


def _find_end_of_head(lines: Sequence[Line]) -> int:
    return next((place for place, line in enumerate(lines) if not _is_system(line)), len(lines))


FOLDS: tuple[Callable[[list[Line], Traits, Notes], list[Line]], ...] = (
    _drop_silence,
    _join_systems,
    _fold_systems,
    _split_calls,
    _put_words_before_calls,
    _alternate_roles,
    _bridge_answers,
)
"""The changes to a conversation for a template, in order. Each notes what it did and is idempotent."""
