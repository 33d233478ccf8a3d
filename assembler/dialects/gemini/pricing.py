"""Prices a Gemini request.

    request = system instruction + sum(price_message) + sum(price_tool)

Gemini bills texts as Gemma 3's vocabulary counts them. Evidence for every number: docs/how-it-counts-gemini.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

import attrs

from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.dialects.gemini.families import Family
from assembler.dialects.gemini.parts import UNSIGNED
from assembler.dialects.gemini.schema import price_schema
from assembler.dialects.prices.families import estimate_with_slack, guess
from assembler.pricing.opaque import add_words
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_of, json_in
from budgets.count import NOTHING, Count, Grade, TokenCounter, Tokens, total

ANSWER_FRAMING: Tokens = 30
"""Slack for the text of an output schema: the two that were billed cost their text and a few tokens."""

_CALL_SLACK = estimate_with_slack(0, 1)
"""A call or a response that is counted as it is shown."""
_SIGNED_NOTHING = frozenset({"thought", "thoughtSignature", "thought_signature"})
"""The keys of a part with a thought signature and no other content."""


def price_texts(texts: Iterable[str], count: TokenCounter) -> Count:
    """Price texts without framing."""
    return Count(sum(map(count, filter(None, texts))))


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """Price one entry of `contents` without its media."""
    texts: list[str] = []
    framing = [price_content(message, family), *(_price_part(part, family, texts) for part in message.parts)]
    return total(framing) + price_texts(texts, count)


def price_content(message: Message, family: Family) -> Count:
    """The price of an entry's role. One that came without a role goes without, and is billed for none."""
    return without_role(family) if has_no_role(message) else family.content


def without_role(family: Family) -> Count:
    """The price of an entry without a role: 55 recordings of 5 projects."""
    return Count(0, family.content.grade, family.content.upper)


def has_no_role(message: Message) -> bool:
    """Whether it was read from a content of Gemini's without a role."""
    if message.shape != "gemini":
        return False
    fields = fields_of(message.seen)
    return fields is not None and "parts" in fields and not fields.get("role")


def asks(message: Message) -> bool:
    """Whether a message holds a text of the user."""
    return message.role == "user" and any(type(part) is str for part in message.parts)


def without_signatures(message: Message) -> Message:
    """The message without the thought signatures of its calls; the same message if there are none."""
    if not any(isinstance(part, Call) and part.signature is not None for part in message.parts):
        return message
    parts = tuple(attrs.evolve(part, signature=None) if isinstance(part, Call) else part for part in message.parts)
    return attrs.evolve(message, parts=parts)


_ANSWERS = ("response", "response_json_schema", "responseJsonSchema")
"""The keys of a declaration for what its function returns."""


_DECLARED_SLACK: Tokens = 1
"""The slack of a declaration in a recorded form: every recorded one is counted to the token."""


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """Price a declaration as it is shown, or its words (name, descriptions, keys, enum values) and each element."""
    answer = fields_of(next(filter(None, map(tool.extra.get, _ANSWERS)), None))
    shown = None if answer else family.shown_as.declaration(tool)
    if shown is not None:
        tokens = shown.marks + sum(map(count, filter(None, shown.stretches)))
        grade = Grade.ESTIMATED if shown.unsettled else Grade.BOUNDED
        return Count(tokens, grade, upper=tokens + _DECLARED_SLACK + shown.unsettled)
    texts = [tool.name, tool.description]
    framing = [family.tool, family.described if tool.description else NOTHING]
    if family.bills_line_breaks and (breaks := tool.description.count("\n")):
        framing.append(Count(breaks // 2, Grade.BOUNDED, upper=breaks))
    if tool.parameters:
        framing.extend(_price_parameters(tool.parameters, family, texts))
    if answer is not None:
        framing += [family.response, price_schema(answer, family, texts)]
    return total(framing) + price_texts(texts, count)


def _price_parameters(schema: Mapping[str, Any], family: Family, texts: list[str]) -> Iterator[Count]:
    yield family.parameters
    if schema.get("properties"):
        yield family.object
    description: object = schema.get("description")
    if family.root_described is not None and isinstance(description, str) and description:
        texts.append(description)
        yield family.root_described
    yield price_schema(schema, family, texts)


def price_answer_schema(schema: Mapping[str, Any], family: Family, count: TokenCounter) -> Count:
    """Price `response_schema`, which 2.0 bills. Its titles are billed, unlike those of declarations."""
    texts = [str(schema.get("description") or "")]
    read = attrs.evolve(family, titled=family.titled or NOTHING)
    framing = family.parameters + price_schema(schema, read, texts)
    return framing + price_texts(texts, count)


def price_answer_as_json(schema: Mapping[str, Any], count: TokenCounter) -> Count:
    """Price an output schema by its JSON text."""
    written = count(json.dumps(schema, ensure_ascii=False))
    return guess(written, written + ANSWER_FRAMING)


def _price_part(part: Part, family: Family, texts: list[str]) -> Count:
    """Price the framing of one part, and append its texts to `texts`."""
    match part:
        case str():
            texts.append(part)
            return Count(0)
        case Call():
            arguments = part.given if part.given is not None else _read_arguments(part.arguments)
            if (written := family.shown_as.call(part.name, arguments)) is not None:
                texts.append(written)
                return _CALL_SLACK + _price_signature(part, family)
            texts.append(part.name)
            texts.extend(_list_words(arguments, family))
            keys = _price_each_key(arguments, family.call_argument)
            return total([family.call, _price_signature(part, family), *keys])
        case Result():
            if part.given is not None:
                beside = [_price_part(held, family, texts) for held in part.parts if not isinstance(held, str)]
                if (written := family.shown_as.response(part.name or "", part.given)) is not None:
                    texts.append(written)
                    return total([_CALL_SLACK, *beside])
                texts += [part.name or "", *_list_texts_of_response(part.given, family)]
                return total([family.result, *beside])
            texts.append(part.name or "")
            return family.result + total(_price_part(inner, family, texts) for inner in part.parts)
        case Thinking():
            texts.append(part.text)
            return guess(0, 4)
        case Media():
            return NOTHING  # by its size: the pricer adds it
        case Opaque() if all(held is None or key in _SIGNED_NOTHING for key, held in part.raw.items()):
            return guess(0, 4)  # the end of a text turn: its signature is not billed (6 recordings, one source)
        case Opaque():
            return add_words(part, texts)
        case _:
            assert_never(part)


def _price_signature(call: Call, family: Family) -> Count:
    """Price the thought signature of a call, which is base64 on the wire."""
    match call.signature:
        case None:
            return NOTHING
        case str() as written if written == UNSIGNED:
            return NOTHING  # the dummy signature holds no reasoning
        case str() as written:
            return family.signature.price(len(written))
        case bytes() as octets:
            return family.signature.price(4 * math.ceil(len(octets) / 3))


def _price_each_key(given: object, price: Count) -> list[Count]:
    """`price` for each key of JSON data at any depth. Without recursion: a model may write any depth."""
    keys, unread = 0, [given]
    while unread:
        inner = unread.pop()
        if isinstance(inner, Mapping):
            values = cast("Mapping[str, object]", inner).values()
            keys += len(values)
            unread.extend(values)
        elif isinstance(inner, list | tuple):
            unread.extend(cast("Sequence[object]", inner))
    return [price] * keys


def _read_arguments(arguments: str) -> Any:
    try:
        return json_in(arguments)
    except ValueError:
        return arguments


def _list_texts_of_response(value: object, family: Family) -> Iterable[str]:
    if family.writes_results:
        return [json.dumps(value, ensure_ascii=False, default=str)]
    return _list_words(value, family)


def _list_words(value: object, family: Family) -> Iterator[str]:
    """The keys and values of JSON data as texts, in their order. Without recursion, as the keys are priced."""
    unread = [value]
    while unread:
        inner = unread.pop()
        if isinstance(inner, Mapping):
            for pair in reversed(list(cast("Mapping[str, object]", inner).items())):
                unread.extend(reversed(pair))
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            unread.extend(reversed(cast("Sequence[object]", inner)))
        elif family.whole_numbers and isinstance(inner, int | float):
            yield "0"
        else:
            yield inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False, default=str)
