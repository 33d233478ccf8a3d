"""The dialect of Amazon Bedrock's Converse API.

Rules and texts of 400 errors: Bedrock API reference, Converse, the service model in botocore 1.44.5, and public issue
threads, read 2026-11. Prices depend on the model's maker: `assembler.dialects.anthropic.pricing` for Claude, estimates
in `assembler.dialects.bedrock.models` for others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Message, Thinking, read_message
from assembler.dialects.anthropic.billed_settings import read_thinking
from assembler.dialects.anthropic.dialect import anthropic
from assembler.dialects.api import Api
from assembler.dialects.bedrock.api import API
from assembler.dialects.bedrock.blocks import BedrockWriter, own_thought, sends, tool_spec
from assembler.dialects.bedrock.models import OpenModelPricer, is_claude
from assembler.dialects.bedrock.nova import NOVA_EFFORT, is_nova, nova_pricer
from assembler.dialects.blocks.thinking import BEGAN_WITHOUT, without_thinking
from assembler.dialects.blocks.turns import Ending, Turn, surplus_marks, system_and_messages, turns_to_add, with_added
from assembler.dialects.blocks.unread_fields import with_own_fields
from assembler.dialects.blocks.writer import Block
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages, system_in
from assembler.dialects.writing.fields import asked_choice, bare_schema
from assembler.dialects.writing.notes import SURPLUS_MARKS
from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.text.fields import fields_in, fields_of, object_in
from budgets import TokenCounter

_OWNED = ("messages", "system", "toolConfig")


@attrs.frozen
class Bedrock:
    """Amazon Bedrock's Converse. The request is `{"system", "messages", "toolConfig"}`, without empty ones.

    Roles alternate, and all results of a step are first in one user turn. No text is blank, and the result of a failed
    call always has a text. Head system messages join `system`; one inside the conversation is folded into a user turn.
    Names, reasoning of other models and cache points beyond four are left out. A history with tool calls but no tools
    raises `ConversationError`, and so does a conversation that does not end with the user. Images and PDFs are bytes,
    which boto3 encodes; everything else is plain JSON.

    Use `Bedrock(thinking={"type": "enabled", "budget_tokens": 2_000})` for calls of Claude with thinking. It is left
    out, with a note, while a tool loop runs that does not begin with thinking, because Claude refuses it then. For Nova
    it is `{"type": "enabled", "maxReasoningEffort": "low"}`. Raises `BudgetError` for an unknown type of `thinking`.
    """

    name: str = "bedrock"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.USER
    thinking: Mapping[str, Any] | None = attrs.field(default=None, converter=read_thinking, hash=False)
    """The thinking option. It is sent in `additionalModelRequestFields`, and its hidden prompt is priced."""

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a Converse call. A cache point after a tool stays with that tool."""
        listed = listed_messages(request, "the arguments of a Converse call")
        system, head = _read_system(system_in(request))
        config: Mapping[str, Any] = request.get("toolConfig") or {}
        options = options_in(request, _OWNED)
        if "toolChoice" in config:
            options["toolChoice"] = config["toolChoice"]
        return Layout(
            system=system,
            head=head,
            messages=with_own_fields(read_messages(listed), "bedrock"),
            tools=read_tools(config.get("tools") or ()),
            options=options,
        )

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """Claude's price list for Claude or without a model, and an estimate for any other model."""
        if model is None or is_claude(model):
            return attrs.evolve(
                anthropic.pricer(model, count), shape="bedrock", sends=sends, as_messages=_spell_for_messages
            )
        return nova_pricer(model, count) if is_nova(model) else OpenModelPricer.of(model, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        """`outputConfig`, `additionalModelRequestFields`, and `toolChoice` inside `toolConfig`.

        `toolChoice` has no value for "none" (Amazon Bedrock API reference, read 2026-11).
        """
        words = {"auto": "auto", "required": "any"}
        options: dict[str, Any] = {}
        if self.thinking is not None:
            key = "reasoningConfig" if NOVA_EFFORT in self.thinking else "thinking"
            options["additionalModelRequestFields"] = {key: dict(self.thinking)}
        if layout.output is not None:
            named = {"name": layout.output.name, "schema": json.dumps(bare_schema(layout.output))}
            options["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": named}}}
        choice = asked_choice(layout)
        if choice is not None and choice != "none":
            options["toolChoice"] = {words[choice]: {}} if choice in words else {"tool": {"name": choice}}
        return options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is reasoning in Converse's own form, or Claude's with its signature."""
        return own_thought(thought) is not None

    def emit(self, layout: Layout) -> Emission:
        """`system`, `messages` and `toolConfig`. Raises `ConversationError` and `UnsupportedContentError`."""
        writer = BedrockWriter()
        request = system_and_messages(self, layout, writer, Ending.USER, _write_message)
        if layout.tools:
            request["toolConfig"] = {"tools": [block for tool in layout.tools for block in tool_spec(tool)]}
        options = self.options(layout)
        if (choice := options.pop("toolChoice", None)) is not None:
            request["toolConfig"]["toolChoice"] = choice
        asked = request | options
        request = self.thinking_as_allowed(asked)
        writer.notes[BEGAN_WITHOUT] += request is not asked
        surplus = _drop_surplus_points(request)
        writer.notes[SURPLUS_MARKS] += len(surplus)
        return Emission(request, writer.notes.lines(), writer.ids.taken, surplus, id_repeats=writer.ids.repeats)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the turns of the added messages; None if the whole request must be written again."""
        writer = BedrockWriter()
        turns = turns_to_add(self, before, added, writer, Ending.USER)
        if turns is None or (writer.ids.taken and "toolConfig" not in before.request):
            return None
        messages = list(map(_write_message, turns))
        if any("cachePoint" in block for message in messages for block in message["content"]):
            return None
        grown = with_added(before, "messages", messages, writer)
        stays = self.thinking is None or self.thinking_as_allowed(grown.request) is grown.request
        return grown if stays else None

    def thinking_as_allowed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body without Claude's thinking if a tool loop runs that does not begin with it, else the same."""
        key = "additionalModelRequestFields"
        asked = dict(fields_in(body, key))
        left = without_thinking(asked, _THINKING, body["messages"])
        if left is asked:
            return body
        others = {name: value for name, value in body.items() if name != key}
        return {**others, key: left} if left else others


bedrock = Bedrock()


def _write_message(turn: Turn) -> Block:
    return {**turn.keys(), "role": turn.side, "content": [*turn.results, *turn.blocks]}


def _read_system(blocks: str | Sequence[Any]) -> tuple[str | None, list[Message]]:
    """A single text as the system text, and several blocks as the head."""
    if isinstance(blocks, str):
        return blocks or None, []
    lone = fields_of(blocks[0]) if len(blocks) == 1 else None
    if lone is not None and [*lone] == ["text"] and isinstance(lone["text"], str):
        return lone["text"] or None, []
    return None, [read_message({"role": "system", "content": list(blocks)}, 0)] if blocks else []


def _drop_surplus_points(request: dict[str, Any]) -> Sequence[Block]:
    """Keep four cache points, and return the others. No turn becomes empty: none consists of a cache point alone."""
    lists: list[list[Block]] = [message["content"] for message in request["messages"]]
    tools = _find_points(request.get("toolConfig", {}).get("tools", []))
    system = _find_points(request.get("system", []))
    in_messages = [point for blocks in lists for point in _find_points(blocks)]
    surplus = surplus_marks(tools, system, in_messages)
    gone = {id(point) for point in surplus}
    for blocks in (request.get("toolConfig", {}).get("tools", []), request.get("system", []), *lists) if gone else ():
        blocks[:] = [block for block in blocks if id(block) not in gone]
    return surplus


def _find_points(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if "cachePoint" in block]


_THINKING = ("thinking", "reasoning_config")
"""The keys of `additionalModelRequestFields` that turn reasoning on: Anthropic's, and one of Bedrock alone."""


def _spell_for_messages(options: Mapping[str, Any]) -> dict[str, Any]:
    """The billed settings of a call in the form of Anthropic's own API."""
    extra = fields_in(options, "additionalModelRequestFields")
    spelled: dict[str, Any] = {}
    for word in _THINKING:
        if word in extra:
            spelled["thinking"] = extra[word]
    for kind, chosen in fields_in(options, "toolChoice").items():
        spelled["tool_choice"] = {"type": kind, **fields_in(chosen)}
    schema = _find_answer_schema(options)
    if schema is not None:
        spelled["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return spelled


def _find_answer_schema(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of `outputConfig.textFormat`, which is JSON text."""
    schema: object = fields_in(options, "outputConfig", "textFormat", "structure", "jsonSchema").get("schema")
    return object_in(schema) if isinstance(schema, str) else fields_of(schema)
