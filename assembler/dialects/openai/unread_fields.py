"""Bounds the text in fields that no one reads, of what is sent to OpenAI's APIs and to those that copy them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.calls_in_content import call_items
from assembler.conversation.messages.foreign_parts import adapt_message, has_an_object
from assembler.conversation.messages.items_in_content import is_sent_item
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.dialects.openai.framing import OpenAIApi
from assembler.dialects.openai.wire import goes_as_it_came
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.unread_fields import price_fields_of_message, price_fields_of_parts
from assembler.text.fields import fields_of
from budgets import Count

_CHAT = "openai"


def price_unread(message: Message, api: OpenAIApi) -> Count:
    """The bound of the unread fields of a message that the API is sent with it."""
    return _price_on_chat(message) if api == "chat" else _price_on_responses(message)


def _price_on_chat(message: Message) -> Count:
    sent = adapt_with_media(message, _CHAT)
    if goes_as_it_came(sent):
        return price_fields_of_message(sent, _CHAT)
    media = [part.raw for part in sent.parts if type(part) is Media and has_an_object(part)]
    return price_fields_of_parts(media, (), _CHAT)


def _price_on_responses(message: Message) -> Count:
    if is_sendable(message):
        return price_fields_of_message(message, RESPONSES)
    sent = without_compacted_parts(adapt_message(message, RESPONSES))
    return price_fields_of_parts(_find_unchanged_parts(sent), sent.parts, RESPONSES)


def _find_unchanged_parts(message: Message) -> Iterator[Mapping[str, Any]]:
    """The parts that Responses gets with all their fields from a message that is written anew."""
    calls = call_items(message)
    for part in message.parts:
        match part:
            case Call() if (item := calls.get(part.id)) is not None:
                yield item
            case Result():
                yield from (_find_sent_form(held) for held in part.parts if type(held) is Media)
            case Media():
                yield _find_sent_form(part)
            case Opaque() | Thinking() if is_sent_item(part, message):
                yield part.raw
            case _:
                continue


def _find_sent_form(part: Media) -> Mapping[str, Any]:
    """A medium as it is sent if it keeps its fields: one of Responses, or a file of Chat's; else nothing."""
    inner = fields_of(part.raw.get("file"))
    return part.raw if inner is None or part.raw.get("type") != "file" else {**inner, "type": "input_file"}
