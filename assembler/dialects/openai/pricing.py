"""Prices tools, past calls, forced tools and output schemas for OpenAI.

Plain texts need no rule: a message costs `family.per_message`, one token for the role, and its text.
`docs/how-it-counts-openai.md` says how each number was found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from assembler.conversation.messages.message import Call
from assembler.dialects.openai.framing import ENVELOPE, Arguments, Family
from assembler.dialects.openai.respelled import legal_name
from assembler.dialects.openai.tool_text import Schema, count_unsettled, tool_text
from assembler.dialects.prices.graded import counts_for_openai
from assembler.dialects.prices.key_order import customary_schema, price_in_order
from assembler.errors import ToolError
from assembler.pricing.pricer import Has
from assembler.regions.tools.tool import Tool
from assembler.text.fields import DEEPEST_READ, fields_in, fields_of, items_of, refuse_depth
from budgets.count import Count, Grade, TokenCounter, Tokens, exact

FORCED_FUNCTION: Tokens = 3
"""The cost of the legacy `function_call: {"name": …}` on top of `functions.` and the name: from the published table."""

FORCED_TOOL: Tokens = 6
"""The most that `tool_choice` of one function costs on top of `functions.` and its name in any family."""

FUNCTION_CALL: Tokens = 3
"""The cost of an assistant's legacy `function_call` on top of its name and arguments: 5 of 5 table rows."""

FUNCTION_ROLE: Tokens = -2
"""What a message of the legacy role "function" costs more than any other message with a name: it costs less."""

SCHEMA_SLACK: Tokens = 6
"""Slack of a schema: up to 6 in recordings that keep its keys in another order than was sent."""

ESTIMATE_MARGIN = 10
"""The upper bound of a model without measured rules gets one extra token for so many."""

_UNSENT = frozenset(
    [
        *("additionalProperties", "required", "$schema", "default"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems"),
    ]
)
"""Keywords of an output schema that are not billed: openai/harmony leaves out the same two."""


def price_tools(tools: Sequence[Tool], family: Family, count: TokenCounter, has: Has) -> Count:
    """Price all tools of a request with the text around them; 0 for no tools.

    They are counted as one text, because tokens may span two declarations. Callers memoise.
    """
    if not tools:
        return Count(0, family.grade)
    framing = family.tools
    declared = "".join(f"{tool_text(tool, framing.text)}\n\n" for tool in tools)
    opening, closing = framing.heading.value
    tokens = count(f"{opening}{declared}{closing}")
    tokens += framing.beside_system if Has.SYSTEM in has else framing.alone
    return _grade_tokens(max(0, tokens), family, slack=framing.slack + sum(count_unsettled(tool) for tool in tools))


def price_one_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """Price one tool's declaration, for a row of the report.

    It is counted after the semicolon of the previous declaration, so that the declarations add up to their part of
    `price_tools`.
    """
    declared = tool_text(tool, family.tools.text)
    return _grade_tokens(count(f";\n\n{declared[:-1]}"), family, slack=count_unsettled(tool))


def price_calls(calls: Sequence[Call], family: Family, count: TokenCounter) -> Count:
    """Price the calls of one assistant message, without the message's envelope. Ids are free."""
    framing = family.calls
    if len(calls) == 1:
        slack, written = framing.slack, calls[0].arguments
        shown = count(written if framing.arguments is Arguments.AS_WRITTEN else _compact_arguments(written))
        if family.grade is Grade.ESTIMATED:  # the first generations get the arguments unchanged
            slack += max(0, count(written) - shown)
        return _grade_tokens(shown + _price_name(calls[0], family, count) + framing.one, family, slack=slack)
    if not calls:
        return Count(0, family.grade)
    slack = (framing.slack or 1) * len(calls)
    if framing.several is None:
        tokens = sum(_price_name_and_arguments(call, family, count) + framing.each for call in calls) + framing.apart
    else:
        shown = count(_write_side_by_side(calls, framing.arguments))
        tokens = shown + framing.several
        if family.grade is Grade.ESTIMATED:
            slack += max(0, count(_write_side_by_side(calls, Arguments.AS_WRITTEN)) - shown)
    return _grade_tokens(tokens, family, slack=slack)


def _price_name_and_arguments(call: Call, family: Family, count: TokenCounter) -> Tokens:
    """Price the name and the arguments of a call."""
    as_written = family.calls.arguments is Arguments.AS_WRITTEN
    return count(call.arguments if as_written else _compact_arguments(call.arguments)) + _price_name(
        call, family, count
    )


def _price_name(call: Call, family: Family, count: TokenCounter) -> Tokens:
    name = legal_name(call.name)
    return count(family.calls.recipient + name) + count(family.calls.author + name)


def _compact_arguments(arguments: str) -> str:
    """JSON without blanks between its tokens, and any other text unchanged."""
    if " " not in arguments and "\n" not in arguments and "\\" not in arguments:
        return arguments
    try:
        return _json(_read_json(arguments))
    except (ValueError, RecursionError):
        return arguments


def _read_json(arguments: str) -> Any:
    """Parse the arguments. Raises `ValueError` for all that `json_in` refuses."""
    text = arguments.strip(_BLANKS)
    try:
        read, end = _parsed(text, 0)
    except StopIteration:  # the scanner raises it where no value begins
        raise ValueError("no value") from None
    if end < len(text):
        raise ValueError("more than one value")
    if len(text) > 2 * DEEPEST_READ:  # a shorter one cannot be that deep
        refuse_depth(text, read)
    if "\\u" in arguments:
        _json(read).encode()
    return read


def _write_side_by_side(calls: Sequence[Call], arguments: Arguments) -> str:
    uses: list[dict[str, Any]] = []
    for call in calls:
        parameters: object = call.arguments
        if arguments is Arguments.COMPACT:
            parameters = _read_data(call.arguments)
        uses.append({"recipient_name": f"functions.{legal_name(call.name)}", "parameters": parameters})
    return _json({"tool_uses": uses})


def price_results(results: Sequence[str], family: Family, count: TokenCounter) -> Count:
    """Price parallel results, without the message's envelope: one JSON list, with JSON as data and other texts quoted.

    Until March 2026 characters beyond ASCII were escaped in it; the bound includes that.
    """
    read = [_read_data(text) for text in results]
    slack = sum(_find_slack(text, data, family, count) for text, data in zip(results, read, strict=True))
    return _grade_tokens(_count_list(list(map(_listed, read)), count), family, slack=slack)


def _find_slack(text: str, data: object, family: Family, count: TokenCounter) -> Tokens:
    """The slack of one of several results. Each has its own, so that the bounds add up like the prices."""
    slack = family.calls.slack
    if not text.isascii():
        slack += max(0, count(json.dumps([data])) - count(_listed([data])))
    if family.grade is Grade.ESTIMATED:  # the first generations get each in a separate message
        slack += max(0, count(text) + ENVELOPE - count(_listed([data])))
    return slack


def _count_list(entries: Sequence[str], count: TokenCounter) -> Tokens:
    """Count a JSON list of these entries.

    OpenAI's vocabularies split a text before every blank that does not follow white space. So each entry is counted in
    pieces that stay the same when another entry follows, and no piece is counted twice.
    """
    if not counts_for_openai(count):
        return count(f"[{', '.join(entries)}]")
    *before, last = entries
    shown = [*(f" {entry}," for entry in before), f" {last}]"]
    shown[0] = f"[{shown[0][1:]}"
    return sum(map(count, [stretch for piece in shown for stretch in _split_piece(piece)]))


_NEAR = 200
"""The number of characters at each end of an entry in which a split point is searched."""


def _split_piece(piece: str) -> Sequence[str]:
    """Split a piece into its first words, its last words, and the middle, which no neighbour touches."""
    start = piece.find(" ", 1, _NEAR)
    while start > 0 and piece[start - 1].isspace():
        start = piece.find(" ", start + 1, _NEAR)
    if start < 0:
        return (piece,)
    nearest = max(start, len(piece) - _NEAR)
    stop = piece.rfind(" ", nearest)
    while stop > start and piece[stop - 1].isspace():
        stop = piece.rfind(" ", nearest, stop)
    stop = max(start, stop)
    return (piece[:start], piece[start:stop], piece[stop:])


def _read_data(text: str) -> Any:
    """Parse a text as JSON, or return the text."""
    if text[:1] not in _BEGINS:  # most results; cheaper than a parse error
        return text
    if (begins := text.lstrip(_BLANKS)[:1]) not in _BEGINS_MANY and (not begins or text.strip(_BLANKS) not in _WORDS):
        return text
    try:
        return _read_json(text)
    except (ValueError, RecursionError):
        return text


def price_function_call(call: Call, family: Family, count: TokenCounter) -> Count:
    """Price the legacy `function_call` of an assistant message, without the message's envelope."""
    return _grade_tokens(count(legal_name(call.name)) + count(call.arguments) + FUNCTION_CALL, family, slack=0)


def price_tool_choice(choice: object, family: Family, count: TokenCounter, tools: Sequence[Tool] = ()) -> Count:
    """Price `tool_choice`, or the legacy `function_call`: a forced function costs its name, "auto" and None nothing."""
    if (chosen := fields_of(choice)) is not None:
        return (
            _price_allowed_tools(chosen, family, count)
            if chosen.get("type") == "allowed_tools"
            else _price_forced_tool(chosen, family, count)
        )
    if choice == "none":
        return Count(family.no_tool, family.grade, 1 if family.grade is Grade.ESTIMATED else family.no_tool)
    if choice == "required" and family.required_alone_is_forced and len(tools) == 1:
        return _price_forced_tool({"name": tools[0].name}, family, count)
    return Count(family.required_tool if choice == "required" else 0, family.grade)


def _price_allowed_tools(choice: Mapping[str, Any], family: Family, count: TokenCounter) -> Count:
    """Price a list of allowed tools: nothing for several (21 of 23 recordings of 2 repositories, all on Responses).

    No recording has a list of one, which may be a forced tool.
    """
    listed = items_of((fields_of(choice.get("allowed_tools")) or choice).get("tools"))
    only = fields_of(listed[0]) if len(listed) == 1 else None
    grade = max(family.grade, Grade.BOUNDED)
    return Count(0, grade) if only is None else Count(0, grade, _price_forced_tool(only, family, count).upper)


def _price_forced_tool(choice: Mapping[str, Any], family: Family, count: TokenCounter) -> Count:
    named = fields_of(choice.get("function")) or fields_of(choice.get("custom")) or choice
    name: object = named.get("name")
    if not isinstance(name, str):
        return Count(0, max(family.grade, Grade.BOUNDED))
    if family.forced_tool is None and family.grade is not Grade.ESTIMATED:
        return Count(0, family.grade)
    if family.forced_tool is None:
        return Count(0, family.grade, count(f"functions.{name}") + FORCED_TOOL)
    is_legacy = named is choice and family.api == "chat"
    return _grade_tokens(
        count(f"functions.{name}") + (FORCED_FUNCTION if is_legacy else family.forced_tool), family, slack=0
    )


def price_parallel_tool_calls(setting: object, family: Family) -> Count:
    """Price `parallel_tool_calls: false`: on Responses the harmony generation then gets the tools' preamble."""
    return _grade_tokens(family.serial_calls, family, slack=0) if setting is False else Count(0, family.grade)


def price_response_format(
    format: object,
    family: Family,
    count: TokenCounter,
    has: Has = Has.NOTHING,
    *,
    answers: int = 0,
) -> Count:
    """Price `response_format`, or `text.format` of Responses: a JSON schema costs its text, all else nothing.

    By default it is priced as the most expensive case: neither a system message nor tools. Raises `ToolError` for a
    schema that nests too deeply.
    """
    schema = _find_schema(format)
    if schema is None:
        return Count(0, family.grade)
    name, description, body = schema
    remark = f"// {description}\n" if description else ""
    framing = family.schema
    if Has.TOOLS in has:
        around = framing.beside_tools
    else:
        around = framing.beside_system if Has.SYSTEM in has else framing.alone
        around += count(name) if framing.names_answer else 0

    def price(sent: Schema) -> Count:
        shown = _json(_remove_unsent_keywords(sent))
        return _grade_tokens(count(f"## {name}\n\n{remark}{shown}") + around, family, slack=SCHEMA_SLACK)

    try:
        bill = price_in_order(body, customary_schema(body, fields_in(format)), price)
    except RecursionError:
        raise ToolError("the output schema nests deeper than JSON can be written; flatten it", tool=name) from None
    # The answers are added separately, because a build adds them message by message, each with its own margin.
    beside = Count(framing.each_answer * answers)
    return bill + beside


def _find_schema(format: object) -> tuple[str, str, Schema] | None:
    fields = fields_in(format)
    if fields.get("type") != "json_schema":
        return None
    named = fields_of(fields.get("json_schema")) or fields
    name, description = (text if isinstance(text := named.get(key), str) else "" for key in ("name", "description"))
    return name, description, fields_in(named, "schema")


def _remove_unsent_keywords(schema: Schema) -> dict[str, Any]:
    """The schema without the keywords that are enforced but not shown, on every level."""
    return {key: _keep_value(key, value) for key, value in schema.items() if key not in _UNSENT}


def _keep_value(key: str, value: object) -> object:
    subschema = fields_of(value)
    if key in ("properties", "$defs", "definitions") and subschema is not None:
        return {name: _keep_value("", below) for name, below in subschema.items()}
    if subschema is not None:
        return _remove_unsent_keywords(subschema)
    if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
        return [_keep_value("", one) for one in cast("list[object]", value)]
    return value


# Made once: `json.dumps` with such settings makes an encoder for each text, which takes a third of its time.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_listed = json.JSONEncoder(ensure_ascii=False).encode
_parsed: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder())["scan_once"]
_BEGINS_MANY = frozenset('{["-0123456789')
"""The first characters of texts that Python reads as JSON, except `_WORDS`."""
_WORDS = frozenset(["true", "false", "null", "NaN", "Infinity"])
_BEGINS = _BEGINS_MANY | frozenset(" \t\n\r") | {word[0] for word in _WORDS}
_BLANKS = " \t\n\r"
"""JSON's white space (RFC 8259, section 2)."""


def _grade_tokens(tokens: Tokens, family: Family, *, slack: Tokens) -> Count:
    """An exact count if the family's are, else a bounded one with `slack`, or an estimate with a margin."""
    if not slack and family.grade is Grade.EXACT:
        return exact(tokens)
    margin = tokens // ESTIMATE_MARGIN if family.grade is Grade.ESTIMATED else 0
    return Count(tokens, max(family.grade, Grade.BOUNDED), upper=tokens + slack + margin)
