"""What Anthropic bills for a request.

    request = family.opening + price_system + sum(price_message) + price_tooling + sum(price_tool)

A family (`assembler.dialects.anthropic.families`) has the prices of the framing. The given counter counts the texts; it
is usually the reconstruction of Claude's vocabulary.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, assert_never

import attrs

from assembler.conversation.compaction import is_compacted
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Role, Thinking
from assembler.dialects.anthropic.families import (
    AFTER_RESULTS,
    BEGUN_BY_MODEL,
    CITED,
    INTERLEAVED,
    JOINED_SAVES,
    LOADED_TOOL,
    PARALLEL_SAVES,
    TASK_BUDGET,
    Family,
)
from assembler.dialects.anthropic.kept_reasoning import price_thinking
from assembler.dialects.prices.families import estimate_with_slack
from assembler.dialects.prices.key_order import customary_schema, price_in_order
from assembler.pricing.opaque import add_words
from assembler.pricing.pricer import Has
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, object_in
from budgets.count import NOTHING, Count, Difference, Grade, TokenCounter, Tokens, grade_of, total
from budgets.counters.guard import count_each

ToolChoice: TypeAlias = Literal["auto", "none", "any", "tool"]
ThinkingMode: TypeAlias = Literal["disabled", "enabled", "adaptive"]

CONTINUED = Difference(-3, Grade.BOUNDED)
"""What a request costs less if it ends with words of the assistant's, since no further message is opened (9 recordings
of 5 repositories: 2 once)."""
_WORD = 24
"""How many characters of a text hold its first word."""
_DIGIT = "1"
_TAG = "antml:"
"""The prefix of Claude's tags. With it, recorded calls are priced to the token, whatever their arguments."""


@attrs.frozen(kw_only=True)
class Choice:
    """A request's tool choice: the mode, the name of a forced tool, and whether calls come one at a time."""

    type: ToolChoice = "auto"
    name: str = ""
    alone: bool = False


AUTO = Choice()


_MISCOUNTED = 200
"""One token in so many may be missing from a count."""


def price_text(text: str, count: TokenCounter) -> Count:
    """The price of a text without framing. The bound adds one token, as tokens may span its edges, and 0.5 %."""
    tokens = count(text) if text else 0
    return estimate_with_slack(tokens, 1 + tokens // _MISCOUNTED) if tokens else NOTHING


def price_tokens(tokens: Tokens) -> Count:
    """The price of a text of so many tokens."""
    return estimate_with_slack(tokens, 1 + tokens // _MISCOUNTED) if tokens else NOTHING


def price_options(
    family: Family,
    count: TokenCounter,
    has: Has,
    *,
    thinking: ThinkingMode = "disabled",
    choice: Choice = AUTO,
    answer_format: Mapping[str, Any] | None = None,
    task_budget: object = None,
) -> Count:
    """The price of the prompts that options add: thinking, an answer format, a task budget.

    A forced tool rules thinking out, so its prompt is not billed then.
    """
    prompts: list[Count] = []
    if thinking == "enabled" and choice.type not in ("any", "tool"):
        prompts.append(family.thinking_enabled)
        if has:
            prompts.append(family.thinking_beside)
        if Has.TOOLS in has:
            prompts.append(estimate_with_slack(0, INTERLEAVED))
    if thinking == "adaptive" and choice.type not in ("any", "tool"):
        prompts.append(family.thinking_adaptive)
    if task_budget is not None:
        prompts.append(TASK_BUDGET)
    if answer_format is not None:
        prompts += [family.schema, _price_schema(answer_format, count)]
        if not prompts[:-2]:
            prompts.append(family.system_beside if has else family.system)
    return total(prompts)


def _price_schema(answer_format: Mapping[str, Any], count: TokenCounter) -> Count:
    """The price of an answer's schema, in indented JSON. Escaped like a definition, of which alone that is known."""
    schema = fields_in(answer_format, "schema")

    def price(shown: Mapping[str, Any]) -> Count:
        return price_text(json.dumps(shown, indent=2), count)

    return price_in_order(schema, customary_schema(schema, answer_format), price)


_INLINE = frozenset({"system", "developer"})


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """The price of one message with its framing, without its media."""
    texts: list[str] = []
    parts = _join_texts(message.parts) if [*map(type, message.parts)].count(str) > 1 else message.parts
    framing = [family.message, *(_price_part(part, message, family, texts) for part in parts)]
    if message.role in _INLINE:
        framing.append(family.inline_system)
    first = next((part for part in message.parts if not isinstance(part, Media)), None)
    calls = [part for part in message.parts if isinstance(part, Call)]
    if len(calls) > 1:
        texts += [text for call in calls for text in _write_within_tags([call.name])]
        framing.append(
            estimate_with_slack(max(0, family.parallel.tokens - PARALLEL_SAVES * len(calls)), 2 * len(calls) + 2)
        )
    price = total([*framing, *(price_text(text, count) for text in texts)])
    if message.has_only_results:
        return price + family.awaiting
    if isinstance(first, Result) and any(isinstance(part, str) for part in message.parts):
        return price + family.message + AFTER_RESULTS + price_first_word(message, count)
    return price


def _join_texts(parts: Sequence[Part]) -> Sequence[Part]:
    """The parts with neighbouring texts as one, as the model is shown them, even if a cache mark is between them."""
    groups = itertools.groupby((part for part in parts if not is_mark(part)), type)
    runs = ((kind, list(run)) for kind, run in groups)
    return [part for kind, run in runs for part in (["".join(map(str, run))] if kind is str else run)]


def price_lone_texts(texts: Sequence[str], roles: Sequence[Role], family: Family, count: TokenCounter) -> list[Count]:
    """What `price_message` does for messages of one text each, no better graded than their counter."""
    counts, counted = count_each(count, texts), max(grade_of(count), Grade.BOUNDED)
    prices = list[Count]()
    for role, tokens in zip(roles, counts, strict=True):
        framing = family.message + family.inline_system if role in _INLINE else family.message
        # `price_text`, without its calls for each text
        upper = framing.upper + tokens + 1 + tokens // _MISCOUNTED if tokens else framing.upper
        prices.append(Count(framing.tokens + tokens, max(framing.grade, counted), upper))
    return prices


def price_beginning(first: Message) -> Difference | None:
    """The price of the user turn that the API puts before an assistant's first message.

    It puts none before the server's own summary.
    """
    return None if is_compacted(first) else BEGUN_BY_MODEL - NOTHING


def price_first_word(message: Message, count: TokenCounter) -> Difference:
    """How much more the first word of a message costs after results than at the beginning of a message.

    Up to Claude 4.7 a word costs one more after a blank line than alone, and a digit the same. The bound of a text
    includes such a token at its edge.
    """
    first = next((part for part in message.parts if not isinstance(part, Thinking | Result)), None)
    if not isinstance(first, str) or not first:
        return Difference()
    text = first[:_WORD]
    of_line = count(f"\n\n{_DIGIT}") - count(_DIGIT)
    return Difference(count(f"\n\n{text}") - count(text) - of_line, Grade.BOUNDED)


def price_behind(message: Message, before: Message, family: Family, count: TokenCounter) -> Difference | None:
    """How much less a user message of words costs after another one, and what a message costs more after results.

    Cache marks of Converse are not in the prompt.
    """
    if message.role == "assistant" and not before.has_results:
        return None
    if Opaque in map(type, message.parts):
        message = _remove_marks(message)
    if Opaque in map(type, before.parts):
        before = _remove_marks(before)
    if before.has_only_results:
        if message.role == "assistant":
            return price_first_word(message, count) - (family.awaiting - NOTHING)
        if _has_words(message):
            return price_first_word(message, count) + (AFTER_RESULTS - family.awaiting)
    if not _is_of_words(message):
        return None
    return Difference(-min(JOINED_SAVES, family.message.tokens), AFTER_RESULTS.grade) if _is_of_words(before) else None


def _remove_marks(message: Message) -> Message:
    return message.with_parts(tuple(part for part in message.parts if not is_mark(part)))


def _has_words(message: Message) -> bool:
    kinds = set(map(type, message.parts))
    return message.role == "user" and str in kinds and Result not in kinds


def _is_of_words(message: Message) -> bool:
    return message.role == "user" and all(type(part) is str for part in message.parts)


def asks(message: Message) -> bool:
    """Whether a user message starts with words. One that starts with results continues a tool loop."""
    return message.role == "user" and not isinstance(next(iter(message.parts), None), Result)


def without_thinking(message: Message) -> Message:
    """The message without reasoning, or the same object if it has none."""
    parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
    return message if len(parts) == len(message.parts) else attrs.evolve(message, parts=parts)


def price_citations(message: Message, own: str) -> Count:
    """The price of the citations prompt if the message enables citations, as it is sent to the shape `own`.

    Every such message is priced, though the API may bill the prompt only once.
    """
    inner = [part for part in message.parts if isinstance(part, Result)]
    parts = [*message.parts, *(held for result in inner for held in result.parts)]
    return CITED if any(isinstance(part, Media | Opaque) and _cites(part, own) for part in parts) else NOTHING


def _cites(part: Media | Opaque, own: str) -> bool:
    """Whether a part enables citations in this API's form: Messages has the setting in a part, Converse in its key."""
    fields: Mapping[str, Any] = part.raw
    if own == "bedrock":
        fields = fields_in(fields, "searchResult") or fields_in(fields, "document")
    elif own != "anthropic":
        return False
    return fields_in(fields, "citations").get("enabled") is True


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """The price of a definition, as spaced JSON with sorted keys. A deferred tool is free until it is loaded.

    Anthropic sorts the keys: of 203 recordings of 12 projects that differ by order, 149 match sorted keys, and 29 the
    order that most of their clients wrote. It escapes what is not ASCII: 21 recordings of 2 projects, none against.
    """
    if tool.extra.get("defer_loading"):
        return NOTHING
    # The writer gives every schema the type "object".
    schema = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    definition = {"name": tool.name, "parameters": schema}
    if tool.description:
        definition["description"] = tool.description
    return family.tool + price_text(_write_sorted_json(definition), count)


def price_tooling(tools: Sequence[Tool], family: Family, count: TokenCounter, *, choice: Choice = AUTO) -> Count:
    """The price of the hidden system prompt of a request with tools."""
    if not tools:
        return NOTHING
    prompts = family.prompts
    match choice.type:
        case "auto" | "none":
            return prompts.auto_alone if choice.alone else prompts.auto
        case "any":
            return prompts.any
        case "tool":
            quoted = count(f'"{choice.name}') - count('"')  # counted after a quotation mark: 124 of 138 recordings
            return (prompts.named_alone if choice.alone else prompts.named) + estimate_with_slack(max(quoted, 0), 1)
        case _:
            assert_never(choice.type)


def price_forced_answer(choice: Choice, family: Family) -> Difference | None:
    """What results at the end cost more or less if the model must call a tool.

    Before a call of any tool they await no words: recorded of 4.0 and 4.5 alone, by 2 projects, to the token in all 69
    rows. The bound does without it. Before a named tool they cost 1 more up to 3.7, like words after results: the same
    loop of one project at 24 lengths, with 3.5 Haiku.
    """
    if choice.type == "tool" and not family.awaiting.tokens and not family.keeps_thinking:
        return _NAMED_AFTER_RESULTS
    if choice.type != "any" or not family.awaiting.tokens:
        return None
    return Difference(-family.awaiting.tokens, Grade.BOUNDED)


_NAMED_AFTER_RESULTS = Difference(1, Grade.BOUNDED, upper=1)


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_sorted_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _price_part(part: Part, message: Message, family: Family, texts: list[str]) -> Count:
    """Price the framing of one part, and append its texts to `texts`."""
    match part:
        case str():
            texts.append(part)
            return NOTHING
        case Call():
            texts += _write_call(part)
            return family.call
        case Result():
            inside: list[str] = []
            inner = total(_price_part(held, message, family, inside) for held in part.parts)
            texts += _write_within_tags(inside)
            return family.result + inner + (family.failed if part.error else NOTHING)
        case Thinking():
            return price_thinking(part, message, family, texts)
        case Media():
            return NOTHING  # the pricer adds it, by its size
        case Opaque(kind="tool_reference" | "tool_addition"):
            texts.append(_write_json(part.raw))
            return LOADED_TOOL
        case Opaque():
            return add_words(part, texts)
        case _:
            assert_never(part)


def _write_within_tags(texts: Sequence[str]) -> list[str]:
    """Texts with the ends of the tags that they stand between, `<output>` or `<name>`: pieces may span those edges.

    The rest of the tags is in the price of the framing.
    """
    first, *others = texts or ("",)
    *begin, last = (f"t>{first}", *others)
    return [*begin, f"{last}</"]


def _write_call(call: Call) -> list[str]:
    """A call as Claude writes it: tags with the tool's name and each argument, strings as is, others as JSON."""
    arguments = call.given if call.given is not None else object_in(call.arguments)
    if arguments is None:
        return [call.name, call.arguments]
    values = {key: value if isinstance(value, str) else _write_json(value) for key, value in arguments.items()}
    written = [f'<{_TAG}parameter name="{key}">{value}</{_TAG}parameter>' for key, value in values.items()]
    return ["\n".join([f'<{_TAG}invoke name="{call.name}">', *written, f"</{_TAG}invoke>"])]
