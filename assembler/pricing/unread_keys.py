"""Bounds the text under keys of a request or of a tool that no dialect reads, such as documents of a host's own search.

An API that does not know a key refuses it or ignores it; a host that does may show its text to the model. So such text
costs nothing but is in the bound. Numbers and single words are settings, which no API bills.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from assembler.conversation.messages.parts import compact_json
from assembler.regions.tools import Tool
from assembler.text.fields import fields_of, items_of
from budgets.count import NOTHING, Count, Grade

_PRICED = "mcp_servers web_search_options plugins data_sources search_parameters"
"""Keys that `assembler.pricing.hosted` prices."""
_NEVER_SHOWN = (
    "model models user metadata stop stop_sequences stopSequences prediction logit_bias extra_headers "
    "extra_query headers http_options httpOptions labels requestMetadata safety_settings safetySettings "
    "inferenceConfig prompt_cache_key safety_identifier "
    "grammar guided_json guided_regex guided_choice guided_grammar structured_outputs format fallbacks tags"
)
"""Keys whose values may be sentences, and which steer the server, the sampling or the log."""
_KNOWN = frozenset(f"{_PRICED} {_NEVER_SHOWN}".split())


def price_unread_keys(options: Mapping[str, Any], priced: Collection[str] = ()) -> Count:
    """An estimate of 0 tokens, with every byte of the unknown keys' texts in the bound; exact without such texts.

    `priced` are the keys that the dialect prices.
    """
    return bound_of_texts([value for key, value in options.items() if key not in _KNOWN and key not in priced])


def price_fields_of_tool(tool: Tool, shape: str | None) -> Count:
    """The price of what stands beside a function's name, description and schema in a request of an API of this shape.

    None is a raw request, whose tools are in the form of its API. Other APIs' forms lose these fields.

    Examples of calls are shown to the model, so they are estimated. Unknown fields are bounded as unknown keys of a
    request are.
    """
    if tool.api is not None or not tool.extra or (form := tool.form(shape)) is None:
        return NOTHING
    read = (*form.tool_fields, form.tool_examples)
    unread = bound_of_texts([value for key, value in tool.extra.items() if key not in read])
    shown: object = tool.extra.get(form.tool_examples) if form.tool_examples else None
    if not shown or tool.extra.get("defer_loading"):
        return unread
    length = len(compact_json(shown))
    return unread + Count(length // _CHARACTERS_PER_TOKEN, Grade.ESTIMATED, upper=length + _AROUND_EXAMPLES)


_CHARACTERS_PER_TOKEN = 4
_AROUND_EXAMPLES = 50
"""What may stand around the examples: a bound of ours."""


def bound_of_texts(unread: Iterable[object]) -> Count:
    """0 tokens, with every byte of the texts in these values in the bound; exact without such texts.

    A single word in ASCII is a setting or an id. Other scripts may write sentences without blanks.
    """
    texts = (text for value in unread for text in _find_texts(value))
    sentences = [text for text in texts if not text.isascii() or len(text.split(maxsplit=1)) > 1]
    if not sentences:
        return NOTHING
    return Count(0, Grade.ESTIMATED, upper=sum(len(text.encode("utf-8", "surrogatepass")) for text in sentences))


def _find_texts(value: object) -> Iterator[str]:
    """Every text in a value, however deep. Not recursive, since a request may nest deeper than Python calls."""
    left, seen = [value], set[int]()
    while left:
        inner = left.pop()
        if isinstance(inner, str):
            yield inner
            continue
        inside = [*fields.values()] if (fields := fields_of(inner)) is not None else [*items_of(inner)]
        if inside and id(inner) not in seen:
            seen.add(id(inner))
            left += inside
